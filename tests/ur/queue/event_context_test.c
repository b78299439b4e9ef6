// SPDX-License-Identifier: MIT
// Events of other contexts, devices and platforms in wait lists.
#include "test_env.h"
#include "ur_fixture.h"

#include <criterion/criterion.h>
#include <string.h>
#include <time.h>

TestSuite(event_context, .init = ur_set_up, .fini = ur_tear_down);
TestSuite(event_of_two, .init = ur_set_up_two, .fini = ur_tear_down);

static void set_up_two_platforms(void)
{
    ze_cpu = test_ze_cpu_use();
    test_env_add_null_driver();
    ur_load();
}

TestSuite(event_of_two_platforms, .init = set_up_two_platforms);

// A second context of the gear's device, with a queue.
struct other_context {
    ur_context_handle_t context;
    ur_queue_handle_t queue;
};

static struct other_context other_context_make(void)
{
    struct other_context other;
    UR_OK(urContextCreate(1, &gear.device, NULL, &other.context));
    UR_OK(urQueueCreate(other.context, gear.device, NULL, &other.queue));
    return other;
}

static void other_context_release(struct other_context *other)
{
    UR_OK(urQueueRelease(other->queue));
    UR_OK(urContextRelease(other->context));
}

// Its command has not run when the call returns: the host may be what it waits for.
Test(event_context, of_another_context_is_waited_for_on_the_device)
{
    struct other_context other = other_context_make();
    struct host_event host = host_event_make();
    ur_event_handle_t filled;
    int32_t *memory = ur_shared(4);
    const int32_t seven = 7;
    UR_OK(urEnqueueUSMFill(other.queue, memory, 4, &seven, 4, 1, &host.event, &filled));
    ur_expect_held_up(filled);
    cr_assert_eq(*(volatile int32_t *)memory, 0);
    host_event_signal(&host);
    UR_OK(urEventWait(1, &filled));
    cr_assert_eq(*memory, 7);
    UR_OK(urEventRelease(filled));
    UR_OK(urQueueFinish(other.queue));
    host_event_release(&host);
    other_context_release(&other);
    ur_free(memory);
}

// Each launch adds to the result of the other context's last one. The events are released at once,
// so that their contexts would use them again.
Test(event_context, of_contexts_in_turn_order_their_commands)
{
    enum { LAUNCHES = 200 };
    ur_context_handle_t contexts[] = {gear.context, NULL};
    ur_queue_handle_t queues[] = {gear.queue, NULL};
    ur_kernel_handle_t kernels[2];
    struct other_context other = other_context_make();
    contexts[1] = other.context;
    queues[1] = other.queue;
    for (int i = 0; i < 2; i++) {
        gear.context = contexts[i]; // the fixture's functions mean this one
        kernels[i] = ur_kernel("twenty_kernels", "add_1");
    }
    gear.context = contexts[0];
    int32_t *data = ur_shared(4);
    ur_event_handle_t last = NULL;
    const ur_exp_kernel_arg_properties_t argument = UR_POINTER(0, data);
    for (int i = 0; i < LAUNCHES; i++) {
        ur_event_handle_t next;
        UR_OK(ur_launch(queues[i % 2], kernels[i % 2], 1, 1, &argument, last != NULL,
                        last ? &last : NULL, &next));
        if (last)
            UR_OK(urEventRelease(last));
        last = next;
    }
    UR_OK(urEventWait(1, &last));
    cr_assert_eq(*data, LAUNCHES);
    UR_OK(urEventRelease(last));
    for (int i = 0; i < 2; i++) {
        UR_OK(urQueueFinish(queues[i]));
        UR_OK(urKernelRelease(kernels[i]));
    }
    other_context_release(&other);
    ur_free(data);
}

// A driver that does not take the event: the call waits.
Test(event_context, of_another_context_is_waited_for_by_the_host_if_the_driver_refuses)
{
    struct other_context other = other_context_make();
    ur_kernel_handle_t kernel = ur_kernel("spin", "spin");
    int32_t *memory = ur_shared(8);
    const int32_t eight = 8;
    ur_event_handle_t event = ur_spin(gear.queue, kernel, 30000000, (uint32_t *)memory);
    cr_assert_eq(ze_cpu.set_fail("zeCommandListAppendBarrier:1:0x78000004"), 0);
    UR_OK(urEnqueueUSMFill(other.queue, memory + 1, 4, &eight, 4, 1, &event, NULL));
    ze_cpu.set_fail("");
    cr_assert_eq(ur_event_status(event), UR_EVENT_STATUS_COMPLETE);
    UR_OK(urQueueFinish(other.queue));
    cr_assert_eq(memory[1], 8);
    // Without memory nothing was enqueued.
    UR_OK(urEventRelease(event));
    event = ur_spin(gear.queue, kernel, 30000000, (uint32_t *)memory);
    cr_assert_eq(ze_cpu.set_fail("zeCommandListAppendBarrier:1:0x70000003"), 0);
    UR_FAILS(urEnqueueUSMFill(other.queue, memory, 4, &eight, 4, 1, &event, NULL),
             UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    ze_cpu.set_fail("");
    UR_OK(urEventWait(1, &event));
    UR_OK(urQueueFinish(other.queue));
    cr_assert_neq(memory[0], 8);
    UR_OK(urEventRelease(event));
    UR_OK(urKernelRelease(kernel));
    other_context_release(&other);
    ur_free(memory);
}

// The second platform is Level Zero's null driver.
Test(event_of_two_platforms, is_of_the_wrong_context)
{
    ur_platform_handle_t platforms[2];
    ur_device_handle_t devices[2];
    ur_context_handle_t contexts[2];
    ur_mem_handle_t buffers[2];
    ur_queue_handle_t queue;
    ur_event_handle_t event;
    uint32_t count;
    const float one = 1;
    UR_OK(urAdapterGet(1, &gear.adapter, &count));
    UR_OK(urPlatformGet(gear.adapter, 2, platforms, &count));
    cr_assert_eq(count, 2);
    char name[64];
    UR_OK(urPlatformGetInfo(platforms[0], UR_PLATFORM_INFO_VENDOR_NAME, sizeof(name), name, NULL));
    const int own = strcmp(name, "zepi") == 0 ? 0 : 1;
    for (int i = 0; i < 2; i++) {
        UR_OK(urDeviceGet(platforms[i], UR_DEVICE_TYPE_ALL, 1, &devices[i], &count));
        UR_OK(urContextCreate(1, &devices[i], NULL, &contexts[i]));
        UR_OK(urMemBufferCreate(contexts[i], UR_MEM_FLAG_READ_WRITE, 64, NULL, &buffers[i]));
    }
    const ur_result_t wrong = UR_RESULT_ERROR_INVALID_CONTEXT;
    ur_context_handle_t both;
    cr_assert_neq(urContextCreate(2, devices, NULL, &both), UR_RESULT_SUCCESS);
    cr_assert_not_null(strstr(ur_last_error(), "different platforms"));
    UR_OK(urQueueCreate(contexts[own], devices[own], NULL, &queue));
    UR_OK(urEventCreateWithNativeHandle(0, contexts[!own], NULL, &event));
    UR_FAILS_SAYING(urEnqueueEventsWait(queue, 1, &event, NULL), wrong, "another platform");
    UR_FAILS(urEnqueueMemBufferWrite(queue, buffers[!own], true, 0, 4, &one, 0, NULL, NULL), wrong);
    gear.context = contexts[own];
    ur_kernel_handle_t kernel = ur_kernel("twenty_kernels", "add_1");
    ur_exp_kernel_arg_properties_t argument = UR_MEM(0, buffers[!own]);
    UR_FAILS(ur_launch(queue, kernel, 1, 1, &argument, 0, NULL, NULL), wrong);
    argument = UR_MEM(0, buffers[own]);
    UR_FAILS(ur_launch(queue, kernel, 1, 1, &argument, 1, &event, NULL), wrong);
    ur_usm_pool_desc_t desc = {.stype = UR_STRUCTURE_TYPE_USM_POOL_DESC};
    ur_usm_pool_handle_t pool;
    UR_OK(urUSMPoolCreate(contexts[own], &desc, &pool));
    UR_FAILS(urUSMPoolTrimToExp(contexts[!own], devices[!own], pool, 0), wrong);
    size_t page;
    ur_physical_mem_handle_t physical;
    UR_OK(urVirtualMemGranularityGetInfo(contexts[own], devices[own], 1,
                                         UR_VIRTUAL_MEM_GRANULARITY_INFO_MINIMUM, sizeof(page),
                                         &page, NULL));
    UR_OK(urPhysicalMemCreate(contexts[own], devices[own], page, NULL, &physical));
    UR_FAILS(urVirtualMemMap(contexts[!own], buffers, page, physical, 0,
                             UR_VIRTUAL_MEM_ACCESS_FLAG_READ_WRITE),
             wrong);
    UR_OK(urPhysicalMemRelease(physical));
    UR_OK(urUSMPoolRelease(pool));
    UR_OK(urKernelRelease(kernel));
    UR_OK(urEventRelease(event));
    UR_OK(urQueueRelease(queue));
    for (int i = 0; i < 2; i++) {
        UR_OK(urMemRelease(buffers[i]));
        UR_OK(urContextRelease(contexts[i]));
    }
    UR_OK(urAdapterRelease(gear.adapter));
    ur_unload();
}

static uint32_t context_references(void)
{
    uint32_t count;
    UR_OK(urContextGetInfo(gear.context, UR_CONTEXT_INFO_REFERENCE_COUNT, sizeof(count), &count,
                           NULL));
    return count;
}

// The calls wait for events with times of the other device.
Test(event_of_two, of_queues_that_waited_for_each_other_keep_neither)
{
    const uint32_t references = context_references();
    ur_queue_handle_t queues[] = {ur_queue(gear.devices[0], UR_QUEUE_FLAG_PROFILING_ENABLE),
                                  ur_queue(gear.devices[1], UR_QUEUE_FLAG_PROFILING_ENABLE)};
    int32_t *memory = ur_shared(4);
    const int32_t five = 5;
    ur_event_handle_t events[3];
    UR_OK(urEnqueueUSMFill(queues[0], memory, 4, &five, 4, 0, NULL, &events[0]));
    for (int i = 1; i < 3; i++)
        UR_OK(urEnqueueEventsWait(queues[i % 2], 1, &events[i - 1], &events[i]));
    UR_OK(urEventWait(1, &events[2]));
    for (int i = 0; i < 3; i++)
        UR_OK(urEventRelease(events[i]));
    for (int i = 0; i < 2; i++)
        UR_OK(urQueueRelease(queues[i]));
    ur_free(memory);
    cr_assert_eq(context_references(), references, "a queue is left");
}

static void order_two_devices(ur_queue_flags_t flags)
{
    ur_queue_handle_t queues[] = {ur_queue(gear.devices[0], flags),
                                  ur_queue(gear.devices[1], flags)};
    ur_kernel_handle_t kernel = ur_kernel("twenty_kernels", "add_1");
    int32_t *data;
    ur_event_handle_t events[20];
    UR_OK(urUSMHostAlloc(gear.context, NULL, NULL, 4, (void **)&data));
    *data = 0;
    const ur_exp_kernel_arg_properties_t argument = UR_POINTER(0, data);
    for (int i = 0; i < 20; i++)
        UR_OK(ur_launch(queues[i % 2], kernel, 1, 1, &argument, i > 0,
                        i > 0 ? &events[i - 1] : NULL, &events[i]));
    UR_OK(urEventWait(20, events));
    cr_assert_eq(*data, 20);
    for (int i = 0; i < 20; i++)
        UR_OK(urEventRelease(events[i]));
    UR_OK(urDeviceWaitExp(gear.devices[1]));
    ur_free(data);
    UR_OK(urKernelRelease(kernel));
    for (int i = 0; i < 2; i++)
        UR_OK(urQueueRelease(queues[i]));
}

Test(event_of_two, orders_commands_of_two_devices)
{
    order_two_devices(UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE);
}

Test(event_of_two, orders_commands_of_two_devices_that_keep_their_order)
{
    order_two_devices(0);
}

// Intel's driver keeps such an event where the other device does not reach it.
Test(event_of_two, with_times_orders_commands_of_two_devices)
{
    order_two_devices(UR_QUEUE_FLAG_PROFILING_ENABLE);
}
