// SPDX-License-Identifier: MIT
//
// Buffers that move between two discrete devices, which do not reach each other's memory, and the
// host's own, while each Level Zero call and each allocation fails in turn.
#include "walk_ur.h"

#include <stdlib.h>

#define COUNT 64
#define BYTES (COUNT * sizeof(int))

static zepi_platform_t platform;
static zepi_device_t devices[2];
static zepi_context_t context;
static zepi_queue_t queues[2];
static zepi_kernel_t negate;

static ur_result_t launch(int device, ur_mem_handle_t buffer, size_t count)
{
    const ur_exp_kernel_arg_properties_t argument = {
        .stype = UR_STRUCTURE_TYPE_EXP_KERNEL_ARG_PROPERTIES,
        .type = UR_EXP_KERNEL_ARG_TYPE_MEM_OBJ,
        .size = sizeof(void *),
        .value.memObjTuple = {buffer, UR_MEM_FLAG_READ_WRITE}};
    return zepi_urEnqueueKernelLaunchWithArgsExp((ur_queue_handle_t)queues[device],
                                                 (ur_kernel_handle_t)negate, 1, NULL, &count, NULL,
                                                 1, &argument, NULL, 0, NULL, NULL);
}

static void settle(void)
{
    walk_settle(queues[0]);
    walk_settle(queues[1]);
}

static zepi_result_t move(void)
{
    static int host[COUNT];
    const ur_buffer_properties_t properties = {.stype = UR_STRUCTURE_TYPE_BUFFER_PROPERTIES,
                                               .pHost = host};
    const ur_buffer_region_t half = {.stype = UR_STRUCTURE_TYPE_BUFFER_REGION, .size = BYTES / 2};
    ur_mem_handle_t buffer = NULL;
    ur_mem_handle_t part = NULL;
    void *mapped;
    zepi_result_t result;
    for (int i = 0; i < COUNT; i++)
        host[i] = i;
    STEP(told(zepi_urMemBufferCreate((ur_context_handle_t)context,
                                     UR_MEM_FLAG_READ_WRITE | UR_MEM_FLAG_USE_HOST_POINTER, BYTES,
                                     &properties, &buffer)));
    STEP(told(zepi_urMemBufferPartition(buffer, UR_MEM_FLAG_READ_WRITE,
                                        UR_BUFFER_CREATE_TYPE_REGION, &half, &part)));
    STEP(told(launch(0, buffer, COUNT)));
    STEP(zepi.queue_finish(queues[0]));
    STEP(told(launch(1, part, COUNT / 2)));
    STEP(zepi.queue_finish(queues[1]));
    STEP(told(launch(0, buffer, COUNT)));
    STEP(zepi.queue_finish(queues[0]));
    STEP(told(zepi_urEnqueueMemBufferMap((ur_queue_handle_t)queues[1], buffer, true,
                                         UR_MAP_FLAG_READ, 0, BYTES, 0, NULL, NULL, &mapped)));
    WALK_EXPECT(mapped == host);
    for (int i = 0; i < COUNT; i++)
        WALK_EXPECT(host[i] == (i < COUNT / 2 ? -i : i));
out:
    settle();
    walk_release(part);
    walk_release(buffer);
    return result;
}

static void set_up(void)
{
    uint32_t count;
    setenv("ZE_CPU_DEVICES", "2", 1);
    setenv("ZE_CPU_INTEGRATED", "0", 1);
    setenv("ZE_CPU_PEERS", "0", 1);
    walk_begin();
    TEST_OK(zepi.platform_get(1, &platform, &count));
    TEST_OK(zepi.device_get(platform, 2, devices, &count));
    TEST_OK(zepi.context_create(2, devices, &context));
    for (int i = 0; i < 2; i++)
        TEST_OK(zepi.queue_create(context, devices[i], ZEPI_QUEUE_IN_ORDER, &queues[i]));
    zepi_module_t module = test_executable(context, "negate");
    TEST_OK(zepi.module_get_kernel(module, "negate", &negate));
    TEST_OK(zepi.release(module));
}

int main(void)
{
    set_up();
    TEST_OK(move());
    walk_rehearse(true);
    walk_calls("moves, calls, rehearsed", move, "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
    walk_rehearse(false);
    walk_calls("moves, calls", move, "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
    walk_allocations("moves, allocations", move);
    TEST_OK(zepi.release(negate));
    for (int i = 0; i < 2; i++)
        TEST_OK(zepi.release(queues[i]));
    TEST_OK(zepi.release(context));
    for (int i = 0; i < 2; i++)
        TEST_OK(zepi.release(devices[i]));
    TEST_OK(zepi.release(platform));
    return 0;
}
