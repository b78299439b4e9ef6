// SPDX-License-Identifier: MIT
// Events and queues: order, times, status, native handles.
#include "ur_fixture.h"

#include <criterion/criterion.h>
#include <level_zero/ze_api.h>

#define OUT_OF_ORDER UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE

TestSuite(event, .init = ur_set_up, .fini = ur_tear_down);

Test(event, times_are_in_order_and_nanoseconds)
{
    ur_kernel_handle_t kernel = ur_kernel("spin", "spin");
    uint32_t *out = ur_shared(4);
    ur_event_handle_t events[2];
    const uint64_t before = ur_now_ns();
    for (int i = 0; i < 2; i++)
        events[i] = ur_spin(gear.queue, kernel, 20000000, out);
    UR_OK(urEventWait(2, events));
    const uint64_t elapsed = ur_now_ns() - before;
    uint64_t last_end = 0;
    for (int i = 0; i < 2; i++) {
        const uint64_t queued = ur_time_of(events[i], UR_PROFILING_INFO_COMMAND_QUEUED);
        const uint64_t submitted = ur_time_of(events[i], UR_PROFILING_INFO_COMMAND_SUBMIT);
        const uint64_t start = ur_time_of(events[i], UR_PROFILING_INFO_COMMAND_START);
        const uint64_t end = ur_time_of(events[i], UR_PROFILING_INFO_COMMAND_END);
        cr_assert(queued <= submitted);
        cr_assert(submitted <= start, "%llu %llu", (unsigned long long)submitted,
                  (unsigned long long)start);
        // Twenty million multiplications in a row take a millisecond at least anywhere.
        cr_assert(end - start > 1000000);
        cr_assert(end - start < elapsed);
        cr_assert(start >= last_end);
        cr_assert_eq(ur_time_of(events[i], UR_PROFILING_INFO_COMMAND_COMPLETE), end);
        last_end = end;
    }
    for (int i = 0; i < 2; i++)
        UR_OK(urEventRelease(events[i]));
    ur_free(out);
    UR_OK(urKernelRelease(kernel));
}

// Without profiling on the queue, this one command has times.
Test(event, of_a_recorded_time_has_times_on_any_queue)
{
    ur_queue_handle_t queue = ur_queue(gear.device, 0);
    ur_event_handle_t event;
    uint64_t device_before, device_after, host_before, host_after;
    UR_OK(urDeviceGetGlobalTimestamps(gear.device, &device_before, &host_before));
    UR_OK(urEnqueueTimestampRecordingExp(queue, true, 0, NULL, &event));
    UR_OK(urDeviceGetGlobalTimestamps(gear.device, &device_after, &host_after));
    cr_assert(host_before < host_after);
    const uint64_t start = ur_time_of(event, UR_PROFILING_INFO_COMMAND_START);
    const uint64_t end = ur_time_of(event, UR_PROFILING_INFO_COMMAND_END);
    cr_assert_eq(start, end); // one moment
    cr_assert(device_before <= start && end <= device_after, "%llu <= %llu, %llu <= %llu",
              (unsigned long long)device_before, (unsigned long long)start, (unsigned long long)end,
              (unsigned long long)device_after);
    const uint64_t queued = ur_time_of(event, UR_PROFILING_INFO_COMMAND_QUEUED);
    cr_assert(device_before <= queued && queued <= start);
    ur_command_t type;
    UR_OK(urEventGetInfo(event, UR_EVENT_INFO_COMMAND_TYPE, sizeof(type), &type, NULL));
    cr_assert_eq(type, UR_COMMAND_TIMESTAMP_RECORDING_EXP);
    UR_OK(urEventRelease(event));
    UR_OK(urQueueRelease(queue));
}

// A command that waits for the host has been submitted, and no more is known of it; the queries
// do not wait either.
Test(event, has_no_times_of_what_has_not_happened)
{
    static const ur_profiling_info_t later[] = {UR_PROFILING_INFO_COMMAND_START,
                                                UR_PROFILING_INFO_COMMAND_END,
                                                UR_PROFILING_INFO_COMMAND_COMPLETE};
    struct host_event host = host_event_make();
    ur_queue_handle_t queue = ur_queue(gear.device, OUT_OF_ORDER | UR_QUEUE_FLAG_PROFILING_ENABLE);
    ur_event_handle_t event;
    uint64_t ns;
    size_t size;
    UR_OK(urEnqueueEventsWait(queue, 1, &host.event, &event));
    cr_assert(ur_time_of(event, UR_PROFILING_INFO_COMMAND_QUEUED) > 0);
    cr_assert_eq(ur_time_of(event, UR_PROFILING_INFO_COMMAND_SUBMIT),
                 ur_time_of(event, UR_PROFILING_INFO_COMMAND_QUEUED));
    for (int i = 0; i < 3; i++) {
        UR_FAILS(urEventGetProfilingInfo(event, later[i], sizeof(ns), &ns, NULL),
                 UR_RESULT_ERROR_PROFILING_INFO_NOT_AVAILABLE);
        UR_FAILS(urEventGetProfilingInfo(event, later[i], 0, NULL, &size),
                 UR_RESULT_ERROR_PROFILING_INFO_NOT_AVAILABLE);
    }
    host_event_signal(&host);
    UR_OK(urEventWait(1, &event));
    for (int i = 0; i < 3; i++)
        cr_assert(ur_time_of(event, later[i]) >=
                  ur_time_of(event, UR_PROFILING_INFO_COMMAND_SUBMIT));
    UR_OK(urEventRelease(event));
    UR_OK(urQueueRelease(queue));
    host_event_release(&host);
}

// For each query, in each form.
Test(event, of_a_queue_without_profiling_says_that_first)
{
    ur_queue_handle_t queue = ur_queue(gear.device, 0);
    ur_event_handle_t event;
    uint64_t ns;
    size_t size;
    UR_OK(urEnqueueEventsWait(queue, 0, NULL, &event));
    UR_OK(urEventWait(1, &event));
    const ur_result_t none = UR_RESULT_ERROR_PROFILING_INFO_NOT_AVAILABLE;
    UR_FAILS(urEventGetProfilingInfo(event, UR_PROFILING_INFO_COMMAND_QUEUED, 0, NULL, &size),
             none);
    UR_FAILS(urEventGetProfilingInfo(event, UR_PROFILING_INFO_COMMAND_END, 0, &ns, NULL), none);
    UR_FAILS(urEventGetProfilingInfo(event, UR_PROFILING_INFO_COMMAND_END, 1, &ns, NULL), none);
    UR_FAILS(urEventGetProfilingInfo(event, UR_PROFILING_INFO_FORCE_UINT32, 8, &ns, NULL), none);
    UR_OK(urEventRelease(event));
    UR_OK(urQueueRelease(queue));
}

// Each launch waits for the one before it, through events alone.
Test(event, orders_commands_of_an_out_of_order_queue)
{
    enum { LINKS = 50 };
    ur_queue_handle_t queue = ur_queue(gear.device, OUT_OF_ORDER);
    ur_kernel_handle_t add = ur_kernel("vector_add", "vector_add");
    float *numbers = ur_shared((LINKS + 2) * sizeof(float));
    ur_event_handle_t events[LINKS];
    numbers[0] = numbers[1] = 1.0f;
    for (int i = 0; i < LINKS; i++) {
        const ur_exp_kernel_arg_properties_t arguments[] = {UR_POINTER(0, &numbers[i]),
                                                            UR_POINTER(1, &numbers[i + 1]),
                                                            UR_POINTER(2, &numbers[i + 2])};
        UR_OK(ur_launch(queue, add, 1, 3, arguments, i > 0, i > 0 ? &events[i - 1] : NULL,
                        &events[i]));
    }
    UR_OK(urEventWait(1, &events[LINKS - 1]));
    for (int i = 0; i < LINKS; i++) {
        cr_assert_eq(numbers[i + 2], numbers[i + 1] + numbers[i]);
        cr_assert_eq(ur_event_status(events[i]), UR_EVENT_STATUS_COMPLETE);
        UR_OK(urEventRelease(events[i]));
    }
    ur_free(numbers);
    UR_OK(urKernelRelease(add));
    UR_OK(urQueueRelease(queue));
}

// Commands after a barrier see the results of all before it; a marker without a wait list completes
// with the commands before it.
static void check_barrier(bool is_extended)
{
    enum { LAUNCHES = 8 };
    ur_queue_handle_t queue = ur_queue(gear.device, OUT_OF_ORDER);
    ur_kernel_handle_t kernel = ur_kernel("spin", "spin");
    ur_kernel_handle_t add = ur_kernel("twenty_kernels", "add_1");
    uint32_t *out = ur_shared(LAUNCHES * sizeof(uint32_t));
    uint32_t before[LAUNCHES];
    ur_event_handle_t marker;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < LAUNCHES; i++)
            UR_OK(urEventRelease(ur_spin(queue, kernel, 300000, &out[i])));
        if (is_extended)
            UR_OK(urEnqueueEventsWaitWithBarrierExt(queue, NULL, 0, NULL, NULL));
        else
            UR_OK(urEnqueueEventsWaitWithBarrier(queue, 0, NULL, NULL));
        const ur_exp_kernel_arg_properties_t argument = UR_POINTER(0, out);
        UR_OK(ur_launch(queue, add, LAUNCHES, 1, &argument, 0, NULL, NULL));
        UR_OK(urEnqueueEventsWait(queue, 0, NULL, &marker));
        UR_OK(urEventWait(1, &marker));
        UR_OK(urEventRelease(marker));
        for (int i = 0; i < LAUNCHES; i++) {
            cr_assert_eq(out[i], out[0]);
            if (round > 0)
                cr_assert_eq(out[i], before[i]);
            before[i] = out[i];
        }
    }
    ur_free(out);
    UR_OK(urKernelRelease(kernel));
    UR_OK(urKernelRelease(add));
    UR_OK(urQueueRelease(queue));
}

Test(event, barriers_keep_apart_what_is_before_and_after)
{
    check_barrier(false);
    check_barrier(true);
}

Test(event, tells_its_command_queue_and_context)
{
    ur_event_handle_t events[3];
    static const ur_command_t types[] = {UR_COMMAND_EVENTS_WAIT,
                                         UR_COMMAND_EVENTS_WAIT_WITH_BARRIER,
                                         UR_COMMAND_EVENTS_WAIT_WITH_BARRIER};
    UR_OK(urEnqueueEventsWait(gear.queue, 0, NULL, &events[0]));
    UR_OK(urEnqueueEventsWaitWithBarrier(gear.queue, 1, &events[0], &events[1]));
    UR_OK(urEnqueueEventsWaitWithBarrierExt(gear.queue, NULL, 2, events, &events[2]));
    for (int i = 0; i < 3; i++) {
        ur_queue_handle_t queue;
        ur_context_handle_t context;
        ur_command_t type;
        uint32_t references;
        UR_OK(urEventRetain(events[i]));
        UR_OK(urEventGetInfo(events[i], UR_EVENT_INFO_COMMAND_QUEUE, sizeof(queue), (void *)&queue,
                             NULL));
        UR_OK(urEventGetInfo(events[i], UR_EVENT_INFO_CONTEXT, sizeof(context), (void *)&context,
                             NULL));
        UR_OK(urEventGetInfo(events[i], UR_EVENT_INFO_COMMAND_TYPE, sizeof(type), &type, NULL));
        UR_OK(urEventGetInfo(events[i], UR_EVENT_INFO_REFERENCE_COUNT, sizeof(references),
                             &references, NULL));
        cr_assert_eq(queue, gear.queue);
        cr_assert_eq(context, gear.context);
        cr_assert_eq(type, types[i]);
        cr_assert_eq(references, 2);
        UR_OK(urEventRelease(events[i]));
    }
    UR_OK(urEventWait(3, events));
    for (int i = 0; i < 3; i++)
        UR_OK(urEventRelease(events[i]));
}

Test(event, empties_its_queue_when_all_is_over)
{
    ur_kernel_handle_t kernel = ur_kernel("spin", "spin");
    uint32_t *out = ur_shared(4);
    ur_bool_t is_empty;
    UR_OK(urQueueGetInfo(gear.queue, UR_QUEUE_INFO_EMPTY, sizeof(is_empty), &is_empty, NULL));
    cr_assert(is_empty);
    ur_event_handle_t event = ur_spin(gear.queue, kernel, 100000000, out);
    UR_OK(urQueueGetInfo(gear.queue, UR_QUEUE_INFO_EMPTY, sizeof(is_empty), &is_empty, NULL));
    cr_assert(!is_empty);
    cr_assert_neq(ur_event_status(event), UR_EVENT_STATUS_COMPLETE);
    UR_OK(urQueueFlush(gear.queue));
    UR_OK(urDeviceWaitExp(gear.device));
    UR_OK(urQueueGetInfo(gear.queue, UR_QUEUE_INFO_EMPTY, sizeof(is_empty), &is_empty, NULL));
    cr_assert(is_empty);
    cr_assert_eq(ur_event_status(event), UR_EVENT_STATUS_COMPLETE);
    UR_OK(urEventRelease(event));
    ur_free(out);
    UR_OK(urKernelRelease(kernel));
}

static unsigned device_waits;

static void wait_for_the_device(const char *function, int is_over)
{
    if (is_over || strcmp(function, "zeCommandListCreateImmediate") != 0)
        return;
    UR_OK(urDeviceWaitExp(gear.device));
    device_waits++;
}

// The wait comes between two steps of the queue's creation, as one of another thread may.
Test(event, a_wait_for_the_device_passes_over_a_queue_that_is_being_made)
{
    test_ze_cpu_require();
    device_waits = 0;
    ze_cpu.set_hook(wait_for_the_device);
    ur_queue_handle_t in_order = ur_queue(gear.device, UR_QUEUE_FLAG_PROFILING_ENABLE);
    ur_queue_handle_t out_of_order = ur_queue(gear.device, OUT_OF_ORDER);
    ze_cpu.set_hook(NULL);
    cr_assert_gt(device_waits, 2, "an out-of-order queue has several lists");
    int32_t *memory = ur_shared(8);
    const int32_t five = 5;
    UR_OK(urEnqueueUSMFill(in_order, memory, 4, &five, 4, 0, NULL, NULL));
    UR_OK(urEnqueueUSMFill(out_of_order, memory + 1, 4, &five, 4, 0, NULL, NULL));
    UR_OK(urDeviceWaitExp(gear.device));
    cr_assert(memory[0] == 5 && memory[1] == 5);
    UR_OK(urQueueRelease(in_order));
    UR_OK(urQueueRelease(out_of_order));
    ur_free(memory);
}

// An event of the host's own holds a queue back until the host signals it.
Test(event, around_a_native_one_is_waited_for)
{
    struct host_event host = host_event_make();
    ur_event_handle_t event = host.event;
    ur_queue_handle_t queue = ur_queue(gear.device, OUT_OF_ORDER);
    ur_native_handle_t again;
    UR_OK(urEventGetNativeHandle(event, &again));
    cr_assert_eq((ze_event_handle_t)again, host.ze);
    cr_assert_neq(ur_event_status(event), UR_EVENT_STATUS_COMPLETE);
    int32_t *memory = ur_shared(8);
    const int32_t five = 5;
    ur_event_handle_t filled;
    UR_OK(urEnqueueUSMFill(queue, memory, 4, &five, 4, 1, &event, &filled));
    ur_expect_held_up(filled);
    cr_assert_eq(*(volatile int32_t *)memory, 0);
    host_event_signal(&host);
    UR_OK(urEventWait(1, &filled));
    cr_assert_eq(*memory, 5);
    cr_assert_eq(ur_event_status(event), UR_EVENT_STATUS_COMPLETE);
    UR_OK(urEventRelease(filled));
    UR_OK(urQueueFinish(queue));
    host_event_release(&host);
    ur_free(memory);
    UR_OK(urQueueRelease(queue));
}

// A host's command that needed no event: a wait for it ends.
Test(event, of_no_native_handle_is_complete)
{
    ur_event_handle_t event;
    ur_event_handle_t filled;
    ur_native_handle_t native = 0;
    int32_t *memory = ur_shared(4);
    const int32_t six = 6;
    UR_OK(urEventCreateWithNativeHandle(0, gear.context, NULL, &event));
    cr_assert_eq(ur_event_status(event), UR_EVENT_STATUS_COMPLETE);
    UR_OK(urEnqueueUSMFill(gear.queue, memory, 4, &six, 4, 1, &event, &filled));
    UR_OK(urEventWait(1, &event));
    UR_OK(urEventWait(1, &filled));
    cr_assert_eq(*memory, 6);
    UR_OK(urEventGetNativeHandle(event, &native));
    cr_assert_eq(zeEventQueryStatus((ze_event_handle_t)native), 0);
    UR_OK(urEventRelease(filled));
    UR_OK(urEventRelease(event));
    ur_free(memory);
}

Test(event, hands_out_a_native_handle_that_level_zero_waits_for)
{
    ur_kernel_handle_t kernel = ur_kernel("spin", "spin");
    uint32_t *out = ur_shared(4);
    ur_event_handle_t event = ur_spin(gear.queue, kernel, 3000000, out);
    ur_native_handle_t native;
    UR_OK(urEventGetNativeHandle(event, &native));
    cr_assert_eq(zeEventHostSynchronize((ze_event_handle_t)native, UINT64_MAX), 0);
    cr_assert_eq(ur_event_status(event), UR_EVENT_STATUS_COMPLETE);
    cr_assert_neq(*out, 0);
    UR_OK(urEventRelease(event));
    ur_free(out);
    UR_OK(urKernelRelease(kernel));
}

// The list that a queue hands out takes commands of Level Zero's own, in the queue's order.
Test(event, native_queues_go_both_ways)
{
    ur_queue_native_desc_t desc = {.stype = UR_STRUCTURE_TYPE_QUEUE_NATIVE_DESC};
    int32_t is_command_list = 0;
    ur_native_handle_t native;
    int32_t *memory = ur_shared(8);
    const int32_t first = 1;
    const int32_t second = 2;
    desc.pNativeData = &is_command_list;
    UR_OK(urQueueGetNativeHandle(gear.queue, &desc, &native));
    cr_assert_eq(is_command_list, 1);
    ze_command_list_handle_t list = (ze_command_list_handle_t)native;
    UR_OK(urEnqueueUSMFill(gear.queue, memory, 4, &first, 8, 0, NULL, NULL));
    cr_assert_eq(zeCommandListAppendMemoryFill(list, memory, &second, 4, 4, NULL, 0, NULL), 0);
    UR_OK(urQueueFinish(gear.queue));
    cr_assert_eq(memory[0], 2);
    cr_assert_eq(memory[1], 1);
    const ur_queue_native_properties_t keep = {.stype = UR_STRUCTURE_TYPE_QUEUE_NATIVE_PROPERTIES,
                                               .pNext = &desc};
    ur_queue_handle_t around;
    UR_OK(urQueueCreateWithNativeHandle(native, gear.context, NULL, &keep, &around));
    UR_OK(urEnqueueUSMFill(around, memory, 4, &second, 8, 0, NULL, NULL));
    UR_OK(urQueueFinish(around));
    cr_assert_eq(memory[1], 2);
    UR_OK(urQueueRelease(around));
    ur_free(memory);
}

// Contexts, too: one around another's ze_context shares its memory.
Test(event, native_contexts_go_both_ways)
{
    const ur_context_native_properties_t keep = {
        .stype = UR_STRUCTURE_TYPE_CONTEXT_NATIVE_PROPERTIES, .isNativeHandleOwned = false};
    ur_native_handle_t native;
    ur_native_handle_t again;
    ur_context_handle_t around;
    ur_queue_handle_t queue;
    int32_t *memory = ur_shared(4);
    const int32_t nine = 9;
    UR_OK(urContextGetNativeHandle(gear.context, &native));
    UR_OK(urContextCreateWithNativeHandle(native, gear.adapter, 1, &gear.device, &keep, &around));
    UR_OK(urContextGetNativeHandle(around, &again));
    cr_assert_eq(again, native);
    UR_OK(urQueueCreate(around, gear.device, NULL, &queue));
    UR_OK(urEnqueueUSMFill(queue, memory, 4, &nine, 4, 0, NULL, NULL));
    UR_OK(urQueueFinish(queue));
    cr_assert_eq(*memory, 9);
    UR_OK(urQueueRelease(queue));
    UR_OK(urContextRelease(around));
    ur_free(memory);
}

static void note(void *data)
{
    ++*(int *)data;
}

Test(event, contexts_call_their_deleters_when_they_go)
{
    ur_context_handle_t context;
    ur_queue_handle_t queue;
    int calls = 0;
    UR_OK(urContextCreate(1, &gear.device, NULL, &context));
    UR_OK(urQueueCreate(context, gear.device, NULL, &queue));
    UR_OK(urContextSetExtendedDeleter(context, note, &calls));
    UR_OK(urContextSetExtendedDeleter(context, note, &calls));
    UR_OK(urContextRelease(context));
    cr_assert_eq(calls, 0); // the queue holds it
    UR_OK(urQueueRelease(queue));
    cr_assert_eq(calls, 2);
}
