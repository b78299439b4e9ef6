// SPDX-License-Identifier: MIT
//
// Shares memory and opens it again, in one process, while each Level Zero call and each allocation
// fails in turn.
#include "walk_ur.h"

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
    TEST_OK(zepi.usm_free(gear.context, memory));
    test_gear_destroy(&gear);
    return 0;
}
