// SPDX-License-Identifier: MIT
//
// Shares memory and opens it again, in one process, while each Level Zero call and each allocation
// fails in turn.
#include "walk_ur.h"

#include "ze/ze.h"

#include <stdlib.h>

static struct test_gear gear;
static int32_t *memory;

static zepi_result_t share_and_open(void)
{
    const ur_context_handle_t context = (ur_context_handle_t)gear.context;
    const ur_device_handle_t device = (ur_device_handle_t)gear.device;
    const int32_t number = 42;
    int32_t *opened = NULL;
    void *handle = NULL;
    size_t size;
    zepi_result_t result;
    STEP(told(zepi_urIPCGetMemHandleExp(context, memory, &handle, &size)));
    STEP(told(zepi_urIPCOpenMemHandleExp(context, device, handle, size, (void **)&opened)));
    STEP(zepi.queue_fill(gear.queue, opened, &number, sizeof(number), 1000 * sizeof(number),
                         TEST_NO_WAIT, NULL));
    STEP(zepi.queue_finish(gear.queue));
    WALK_EXPECT(memory[0] == number && memory[999] == number);
out:
    walk_settle(gear.queue);
    if (opened)
        WALK_EXPECT(zepi_urIPCCloseMemHandleExp(context, opened) == UR_RESULT_SUCCESS);
    if (handle)
        WALK_EXPECT(zepi_urIPCPutMemHandleExp(context, handle) == UR_RESULT_SUCCESS);
    return result;
}

// ---- A driver that answers a second opening with the same memory, which the first closing ends

static __typeof__(zeMemOpenIpcHandle) *driver_open;
static __typeof__(zeMemCloseIpcHandle) *driver_close;
static void *same;

static ze_result_t ZE_APICALL open_same(ze_context_handle_t context, ze_device_handle_t device,
                                        ze_ipc_mem_handle_t handle, ze_ipc_memory_flags_t flags,
                                        void **out_memory)
{
    const ze_result_t result =
        same ? ZE_RESULT_SUCCESS : driver_open(context, device, handle, flags, &same);
    if (result == ZE_RESULT_SUCCESS)
        *out_memory = same;
    return result;
}

static ze_result_t ZE_APICALL close_same(ze_context_handle_t context, const void *opened)
{
    WALK_EXPECT(opened == same);
    same = NULL;
    return driver_close(context, opened);
}

// The memory is opened anew while commands use what was closed.
static zepi_result_t close_and_open(void)
{
    const ur_context_handle_t context = (ur_context_handle_t)gear.context;
    const ur_device_handle_t device = (ur_device_handle_t)gear.device;
    const int32_t numbers[] = {43, 44};
    int32_t *opened = NULL, *again = NULL;
    void *handle = NULL;
    size_t size;
    zepi_event_t gate = NULL;
    zepi_result_t result;
    STEP(zepi.event_create(gear.context, &gate));
    STEP(told(zepi_urIPCGetMemHandleExp(context, memory, &handle, &size)));
    STEP(told(zepi_urIPCOpenMemHandleExp(context, device, handle, size, (void **)&opened)));
    STEP(zepi.queue_fill(gear.queue, opened, &numbers[0], sizeof(int32_t), sizeof(int32_t),
                         (zepi_wait_list_t){&gate, 1}, NULL));
    WALK_EXPECT(zepi_urIPCCloseMemHandleExp(context, opened) == UR_RESULT_SUCCESS);
    opened = NULL;
    STEP(told(zepi_urIPCOpenMemHandleExp(context, device, handle, size, (void **)&again)));
    while (zepi.event_signal(gate) != ZEPI_SUCCESS)
        ;
    walk_settle(gear.queue);
    WALK_EXPECT(same && memory[0] == numbers[0]);
    STEP(zepi.queue_fill(gear.queue, again, &numbers[1], sizeof(int32_t), sizeof(int32_t),
                         TEST_NO_WAIT, NULL));
    STEP(zepi.queue_finish(gear.queue));
    WALK_EXPECT(memory[0] == numbers[1]);
out:
    while (gate && zepi.event_signal(gate) != ZEPI_SUCCESS)
        ;
    walk_settle(gear.queue);
    if (opened)
        WALK_EXPECT(zepi_urIPCCloseMemHandleExp(context, opened) == UR_RESULT_SUCCESS);
    if (again)
        WALK_EXPECT(zepi_urIPCCloseMemHandleExp(context, again) == UR_RESULT_SUCCESS);
    if (handle)
        WALK_EXPECT(zepi_urIPCPutMemHandleExp(context, handle) == UR_RESULT_SUCCESS);
    walk_release(gate);
    return result;
}

static void walk_with_one_memory(void)
{
    driver_open = zepi_ze.zeMemOpenIpcHandle;
    driver_close = zepi_ze.zeMemCloseIpcHandle;
    zepi_ze.zeMemOpenIpcHandle = open_same;
    zepi_ze.zeMemCloseIpcHandle = close_same;
    walk_rehearsed("IPC, one memory", close_and_open, "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
    zepi_ze.zeMemOpenIpcHandle = driver_open;
    zepi_ze.zeMemCloseIpcHandle = driver_close;
}

int main(void)
{
    setenv("ZE_CPU_IPC", "1", 1);
    walk_begin();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_DEVICE, 1000 * sizeof(*memory), 0,
                              (void **)&memory));
    TEST_OK(share_and_open());
    walk_keep();
    walk_calls("IPC, calls", share_and_open, "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
    walk_calls("IPC, device lost", share_and_open, "ZE_RESULT_ERROR_DEVICE_LOST");
    walk_allocations("IPC, allocations", share_and_open);
    walk_with_one_memory();
    TEST_OK(zepi.usm_free(gear.context, memory));
    test_gear_destroy(&gear);
    return 0;
}
