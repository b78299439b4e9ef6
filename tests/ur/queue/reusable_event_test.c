// SPDX-License-Identifier: MIT
// Events that are made once and signalled as often as a host likes.
#include "graph/capture_fixture.h"

#include <criterion/criterion.h>
#include <level_zero/ze_api.h>

TestSuite(reusable_event, .init = ur_set_up, .fini = ur_tear_down);
TestSuite(reusable_event_with_kernels, .init = cb_set_up, .fini = cb_tear_down);
TestSuite(reusable_event_of_two, .init = ur_set_up_two, .fini = ur_tear_down);

#define NO_TIMES UR_RESULT_ERROR_PROFILING_INFO_NOT_AVAILABLE

static ur_event_handle_t make(ur_exp_event_flags_t flags)
{
    const ur_exp_event_desc_t desc = {.stype = UR_STRUCTURE_TYPE_EXP_EVENT_DESC, .flags = flags};
    ur_event_handle_t event = NULL;
    UR_OK(urEventCreateExp(gear.context, gear.device, &desc, &event));
    return event;
}

// Behind everything in the queue, or behind the event `wait`.
static void signal_after(ur_queue_handle_t queue, ur_event_handle_t wait, ur_event_handle_t event)
{
    const ur_event_handle_t before = event;
    UR_OK(
        urEnqueueEventsWaitWithBarrierExt(queue, NULL, wait != NULL, wait ? &wait : NULL, &event));
    cr_assert_eq(event, before);
}

static void wait_in(ur_queue_handle_t queue, ur_event_handle_t event)
{
    UR_OK(urEnqueueEventsWaitWithBarrier(queue, 1, &event, NULL));
}

static uint32_t references(ur_event_handle_t event)
{
    uint32_t count = 0;
    UR_OK(urEventGetInfo(event, UR_EVENT_INFO_REFERENCE_COUNT, sizeof(count), &count, NULL));
    return count;
}

static ur_queue_handle_t queue_of(ur_event_handle_t event)
{
    ur_queue_handle_t queue = NULL;
    UR_OK(urEventGetInfo(event, UR_EVENT_INFO_COMMAND_QUEUE, sizeof(queue), &queue, NULL));
    return queue;
}

Test(reusable_event, is_told_by_the_device)
{
    ur_bool_t answer = false;
    UR_OK(urDeviceGetInfo(gear.device, UR_DEVICE_INFO_REUSABLE_EVENTS_SUPPORT_EXP, sizeof(answer),
                          &answer, NULL));
    cr_assert(answer);
    answer = false;
    UR_OK(urDeviceGetInfo(gear.device, UR_DEVICE_INFO_PER_EVENT_PROFILING_SUPPORT_EXP,
                          sizeof(answer), &answer, NULL));
    cr_assert(answer);
}

Test(reusable_event, is_complete_until_it_is_signalled)
{
    ur_event_handle_t event = make(UR_EXP_EVENT_FLAG_ENABLE_PROFILING);
    ur_context_handle_t context = NULL;
    ur_command_t type;
    uint64_t ns;
    ur_queue_handle_t queue;
    cr_assert_eq(ur_event_status(event), UR_EVENT_STATUS_COMPLETE);
    cr_assert_eq(references(event), 1);
    UR_OK(urEventWait(1, &event));
    UR_OK(urEventGetInfo(event, UR_EVENT_INFO_CONTEXT, sizeof(context), &context, NULL));
    cr_assert_eq(context, gear.context);
    UR_OK(urEventGetInfo(event, UR_EVENT_INFO_COMMAND_TYPE, sizeof(type), &type, NULL));
    cr_assert_eq(type, UR_COMMAND_EVENTS_WAIT_WITH_BARRIER);
    UR_FAILS(urEventGetInfo(event, UR_EVENT_INFO_COMMAND_QUEUE, sizeof(queue), &queue, NULL),
             UR_RESULT_ERROR_INVALID_VALUE);
    for (ur_profiling_info_t query = UR_PROFILING_INFO_COMMAND_QUEUED;
         query <= UR_PROFILING_INFO_COMMAND_COMPLETE; query++)
        UR_FAILS(urEventGetProfilingInfo(event, query, sizeof(ns), &ns, NULL), NO_TIMES);
    wait_in(gear.queue, event);
    UR_OK(urQueueFinish(gear.queue));
    UR_OK(urEventRetain(event));
    cr_assert_eq(references(event), 2);
    UR_OK(urEventRelease(event));
    UR_OK(urEventRelease(event));
}

// Two queues add to the same numbers in turn, and nothing but the event orders them.
static void check_turns(ur_queue_flags_t flags)
{
    enum { ROUNDS = 100 };
    ur_queue_handle_t queues[] = {ur_queue(gear.device, flags), ur_queue(gear.device, flags)};
    ur_event_handle_t event = make(0);
    float *memory = cb_floats(2 * ITEMS);
    float *one = memory + ITEMS;
    cap_fill(queues[0], one, 1, NULL, NULL);
    signal_after(queues[0], NULL, event);
    for (int i = 0; i < ROUNDS; i++) {
        ur_queue_handle_t queue = queues[(i + 1) % 2];
        cap_add(queue, memory, memory, one, event, NULL);
        signal_after(queue, NULL, event);
        cr_assert_eq(queue_of(event), queue);
    }
    UR_OK(urEventWait(1, &event));
    cr_assert_eq(ur_event_status(event), UR_EVENT_STATUS_COMPLETE);
    cb_expect(memory, ROUNDS);
    cr_assert_eq(references(event), 1);
    UR_OK(urEventRelease(event));
    for (int i = 0; i < 2; i++)
        UR_OK(urQueueRelease(queues[i]));
    ur_free(memory);
}

Test(reusable_event_with_kernels, orders_queues_as_often_as_it_is_signalled)
{
    check_turns(0);
    check_turns(ANY_ORDER);
    check_turns(UR_QUEUE_FLAG_PROFILING_ENABLE);
}

// A command waits for the signal that was the last when it was enqueued.
Test(reusable_event, is_waited_for_as_it_was)
{
    struct host_event host = host_event_make();
    ur_queue_handle_t held = ur_queue(gear.device, 0);
    ur_queue_handle_t waiting = ur_queue(gear.device, 0);
    ur_event_handle_t event = make(0), waited;
    signal_after(held, host.event, event);
    cr_assert_eq(ur_event_status(event), UR_EVENT_STATUS_SUBMITTED);
    UR_OK(urEnqueueEventsWait(waiting, 1, &event, &waited));
    // Another signal, which comes at once.
    signal_after(gear.queue, NULL, event);
    UR_OK(urEventWait(1, &event));
    cr_assert_eq(ur_event_status(event), UR_EVENT_STATUS_COMPLETE);
    ur_expect_held_up(waited);
    host_event_signal(&host);
    UR_OK(urEventWait(1, &waited));
    UR_OK(urEventRelease(waited));
    UR_OK(urQueueFinish(held));
    host_event_release(&host);
    UR_OK(urEventRelease(event));
    UR_OK(urQueueRelease(waiting));
    UR_OK(urQueueRelease(held));
}

// The other way round: a complete event is incomplete, once the event is to be signalled again.
Test(reusable_event, is_incomplete_again_with_each_signal)
{
    ur_queue_handle_t queue = ur_queue(gear.device, ANY_ORDER);
    ur_event_handle_t event = make(0), waited;
    for (int round = 0; round < 3; round++) {
        struct host_event host = host_event_make();
        signal_after(gear.queue, NULL, event);
        UR_OK(urEventWait(1, &event));
        UR_OK(urEnqueueEventsWait(queue, 1, &event, &waited));
        UR_OK(urEventWait(1, &waited));
        UR_OK(urEventRelease(waited));
        signal_after(queue, host.event, event);
        ur_expect_held_up(event);
        host_event_signal(&host);
        UR_OK(urEventWait(1, &event));
        UR_OK(urQueueFinish(queue));
        host_event_release(&host);
    }
    UR_OK(urEventRelease(event));
    UR_OK(urQueueRelease(queue));
}

Test(reusable_event, is_signalled_behind_its_own_signal)
{
    struct host_event host = host_event_make();
    ur_queue_handle_t held = ur_queue(gear.device, 0);
    ur_event_handle_t event = make(0);
    signal_after(held, host.event, event);
    signal_after(gear.queue, event, event);
    cr_assert_eq(queue_of(event), gear.queue);
    ur_expect_held_up(event);
    host_event_signal(&host);
    UR_OK(urEventWait(1, &event));
    UR_OK(urQueueFinish(held));
    host_event_release(&host);
    UR_OK(urEventRelease(event));
    UR_OK(urQueueRelease(held));
}

// Half of the wait list or more, as often as it likes.
// Of those that were signalled one alone is incomplete; a third was never signalled.
static void stand_among_many(uint32_t closed)
{
    enum { EVENTS = 40 };
    struct host_event host = host_event_make();
    ur_queue_handle_t held = ur_queue(gear.device, 0), queue = ur_queue(gear.device, ANY_ORDER);
    ur_queue_handle_t other = ur_queue(gear.device, 0);
    ur_event_handle_t events[EVENTS], waited;
    for (uint32_t i = 0; i < EVENTS; i++) {
        events[i] = make(0);
        if (i == closed)
            signal_after(held, host.event, events[i]);
        else if (i % 3 > 0)
            signal_after(i % 3 == 1 ? gear.queue : other, NULL, events[i]);
    }
    UR_OK(urEventRelease(events[1]));
    events[1] = events[2];
    UR_OK(urEnqueueEventsWait(queue, EVENTS, events, &waited));
    ur_expect_held_up(waited);
    host_event_signal(&host);
    UR_OK(urEventWait(1, &waited));
    UR_OK(urEventWait(EVENTS, events));
    UR_OK(urEventRelease(waited));
    UR_OK(urQueueFinish(held));
    host_event_release(&host);
    for (uint32_t i = 0; i < EVENTS; i++) {
        if (i != 1)
            UR_OK(urEventRelease(events[i]));
    }
    UR_OK(urQueueRelease(queue));
    UR_OK(urQueueRelease(other));
    UR_OK(urQueueRelease(held));
}

Test(reusable_event, stands_among_many_in_a_wait_list)
{
    stand_among_many(0);
    stand_among_many(5);
    stand_among_many(20);
    stand_among_many(39);
}

// On a queue without profiling, and anew with each signal.
Test(reusable_event, has_times_if_it_was_made_for_them)
{
    ur_queue_handle_t queues[] = {ur_queue(gear.device, 0), ur_queue(gear.device, ANY_ORDER),
                                  ur_queue(gear.device, UR_QUEUE_FLAG_PROFILING_ENABLE)};
    ur_event_handle_t event = make(UR_EXP_EVENT_FLAG_ENABLE_PROFILING);
    uint64_t last = 0, before, after;
    for (int i = 0; i < 9; i++) {
        UR_OK(urDeviceGetGlobalTimestamps(gear.device, &before, NULL));
        signal_after(queues[i % 3], NULL, event);
        UR_OK(urEventWait(1, &event));
        UR_OK(urDeviceGetGlobalTimestamps(gear.device, &after, NULL));
        const uint64_t start = ur_time_of(event, UR_PROFILING_INFO_COMMAND_START);
        const uint64_t end = ur_time_of(event, UR_PROFILING_INFO_COMMAND_END);
        cr_assert(last <= start && start <= end && end <= after, "%llu %llu %llu %llu",
                  (unsigned long long)last, (unsigned long long)start, (unsigned long long)end,
                  (unsigned long long)after);
        cr_assert(before <= start);
        cr_assert(ur_time_of(event, UR_PROFILING_INFO_COMMAND_QUEUED) <= start);
        cr_assert_eq(ur_time_of(event, UR_PROFILING_INFO_COMMAND_COMPLETE), end);
        last = end;
    }
    UR_OK(urEventRelease(event));
    for (int i = 0; i < 3; i++)
        UR_OK(urQueueRelease(queues[i]));
}

Test(reusable_event, has_the_times_of_queues_with_profiling)
{
    ur_queue_handle_t plain = ur_queue(gear.device, 0);
    ur_event_handle_t event = make(0);
    uint64_t ns;
    for (int i = 0; i < 3; i++) {
        signal_after(plain, NULL, event);
        UR_OK(urEventWait(1, &event));
        UR_FAILS(urEventGetProfilingInfo(event, UR_PROFILING_INFO_COMMAND_END, 8, &ns, NULL),
                 NO_TIMES);
        signal_after(gear.queue, NULL, event); // which has profiling
        UR_OK(urEventWait(1, &event));
        cr_assert(ur_time_of(event, UR_PROFILING_INFO_COMMAND_END) > 0);
    }
    UR_OK(urEventRelease(event));
    UR_OK(urQueueRelease(plain));
}

Test(reusable_event, has_no_times_of_what_has_not_happened)
{
    struct host_event host = host_event_make();
    ur_queue_handle_t queue = ur_queue(gear.device, 0);
    ur_event_handle_t event = make(UR_EXP_EVENT_FLAG_ENABLE_PROFILING);
    uint64_t ns;
    signal_after(queue, NULL, event);
    UR_OK(urEventWait(1, &event));
    const uint64_t last = ur_time_of(event, UR_PROFILING_INFO_COMMAND_END);
    signal_after(queue, host.event, event);
    UR_FAILS(urEventGetProfilingInfo(event, UR_PROFILING_INFO_COMMAND_START, 8, &ns, NULL),
             NO_TIMES);
    UR_FAILS(urEventGetProfilingInfo(event, UR_PROFILING_INFO_COMMAND_END, 8, &ns, NULL), NO_TIMES);
    cr_assert(ur_time_of(event, UR_PROFILING_INFO_COMMAND_SUBMIT) >= last);
    host_event_signal(&host);
    UR_OK(urEventWait(1, &event));
    cr_assert(ur_time_of(event, UR_PROFILING_INFO_COMMAND_START) >= last);
    UR_OK(urQueueFinish(queue));
    host_event_release(&host);
    UR_OK(urEventRelease(event));
    UR_OK(urQueueRelease(queue));
}

Test(reusable_event, outlives_its_queue_and_goes_before_its_signal)
{
    struct host_event host = host_event_make();
    ur_event_handle_t event = make(0), other = make(UR_EXP_EVENT_FLAG_ENABLE_PROFILING);
    ur_queue_handle_t queue = ur_queue(gear.device, 0), waiting = ur_queue(gear.device, 0);
    signal_after(queue, NULL, event);
    UR_OK(urQueueRelease(queue));
    UR_OK(urEventWait(1, &event));
    wait_in(waiting, event);
    signal_after(waiting, host.event, other);
    wait_in(gear.queue, other);
    UR_OK(urEventRelease(other));
    signal_after(waiting, NULL, event);
    UR_OK(urEventRelease(event));
    host_event_signal(&host);
    UR_OK(urQueueFinish(gear.queue));
    UR_OK(urQueueFinish(waiting));
    host_event_release(&host);
    UR_OK(urQueueRelease(waiting));
}

// The variable for the event may have anything that was an event: it is an output then.
Test(reusable_event, is_no_other_event)
{
    ur_event_handle_t event, first;
    UR_OK(urEnqueueEventsWait(gear.queue, 0, NULL, &event));
    first = event;
    UR_OK(urEnqueueEventsWaitWithBarrierExt(gear.queue, NULL, 0, NULL, &event));
    cr_assert_neq(event, first);
    UR_OK(urEventRelease(first));
    UR_OK(urEventRelease(event));
    UR_OK(urEnqueueEventsWaitWithBarrierExt(gear.queue, NULL, 0, NULL, &event)); // released
    UR_OK(urEventRelease(event));
    // Nor do other functions signal one.
    ur_event_handle_t reusable = make(0);
    event = reusable;
    UR_OK(urEnqueueEventsWaitWithBarrier(gear.queue, 0, NULL, &event));
    cr_assert_neq(event, reusable);
    UR_OK(urEventRelease(event));
    UR_OK(urEventRelease(reusable));
}

Test(reusable_event, has_the_native_handle_of_its_last_signal)
{
    struct host_event host = host_event_make();
    ur_event_handle_t event = make(0);
    ur_native_handle_t native = 0;
    UR_OK(urEventGetNativeHandle(event, &native));
    TEST_ZE_OK(zeEventQueryStatus((ze_event_handle_t)native));
    signal_after(gear.queue, host.event, event);
    UR_OK(urEventGetNativeHandle(event, &native));
    ur_expect_held_up(event);
    cr_assert_eq(zeEventQueryStatus((ze_event_handle_t)native), ZE_RESULT_NOT_READY);
    host_event_signal(&host);
    TEST_ZE_OK(zeEventHostSynchronize((ze_event_handle_t)native, UINT64_MAX));
    UR_OK(urQueueFinish(gear.queue));
    host_event_release(&host);
    UR_OK(urEventRelease(event));
}

// A queue that waits for a captured signal is captured, too; the host cannot wait.
Test(reusable_event_with_kernels, joins_queues_of_a_capture)
{
    ur_queue_handle_t other = ur_queue(gear.device, 0);
    ur_event_handle_t event = make(UR_EXP_EVENT_FLAG_ENABLE_PROFILING), back = make(0);
    float *memory = cb_floats(2 * ITEMS);
    uint64_t ns;
    graph_t graph = cap_begin(gear.queue);
    cap_fill(gear.queue, memory, 3, NULL, NULL);
    signal_after(gear.queue, NULL, event);
    cap_add(other, memory + ITEMS, memory, memory, event, NULL);
    cr_assert(cap_is_on(other));
    signal_after(other, NULL, back);
    wait_in(gear.queue, back);
    UR_FAILS(urEventWait(1, &event), UR_RESULT_ERROR_GRAPH_CAPTURE_UNSUPPORTED);
    cap_end(gear.queue, graph);
    UR_FAILS(urEventWait(1, &event), UR_RESULT_ERROR_GRAPH_INTERNAL_EVENT);
    UR_FAILS(urEnqueueEventsWait(other, 1, &back, NULL), UR_RESULT_ERROR_GRAPH_INTERNAL_EVENT);
    UR_FAILS(urEventGetProfilingInfo(event, UR_PROFILING_INFO_COMMAND_END, 8, &ns, NULL), NO_TIMES);
    executable_t executable = cap_instantiate(graph);
    for (int i = 0; i < 2; i++) {
        cap_run(gear.queue, executable);
        cb_expect(memory + ITEMS, 6);
        cap_fill(gear.queue, memory, 0, NULL, NULL);
    }
    // With the next signal they are events like others.
    signal_after(gear.queue, NULL, event);
    signal_after(other, event, back);
    UR_OK(urEventWait(1, &back));
    cap_destroy(graph, executable);
    UR_OK(urEventRelease(event));
    UR_OK(urEventRelease(back));
    UR_OK(urQueueRelease(other));
    ur_free(memory);
}

// Each execution waits for the signal that was the last when the command was captured.
Test(reusable_event, from_before_a_capture_is_waited_for)
{
    struct host_event host = host_event_make();
    ur_queue_handle_t held = ur_queue(gear.device, 0);
    ur_event_handle_t event = make(0), done;
    float *memory = cb_floats(ITEMS);
    signal_after(held, host.event, event);
    graph_t graph = cap_begin(gear.queue);
    cap_fill(gear.queue, memory, 5, event, NULL);
    cap_end(gear.queue, graph);
    ur_queue_handle_t other = ur_queue(gear.device, 0);
    signal_after(other, NULL, event);
    executable_t executable = cap_instantiate(graph);
    UR_OK(urEnqueueGraphExp(gear.queue, executable, 0, NULL, &done));
    ur_expect_held_up(done);
    host_event_signal(&host);
    UR_OK(urEventWait(1, &done));
    cb_expect(memory, 5);
    UR_OK(urEventRelease(done));
    UR_OK(urQueueFinish(held));
    host_event_release(&host);
    cap_destroy(graph, executable);
    UR_OK(urEventRelease(event));
    UR_OK(urQueueRelease(other));
    UR_OK(urQueueRelease(held));
    ur_free(memory);
}

// An execution of a command buffer waits for the signal that is the last at that moment.
Test(reusable_event_with_kernels, orders_executions_of_a_command_buffer)
{
    ur_queue_handle_t queue = ur_queue(gear.device, ANY_ORDER);
    ur_event_handle_t event = make(0);
    float *memory = cb_floats(2 * ITEMS);
    buffer_t buffer = cb_make(FREE);
    cb_append_add(buffer, memory, memory, memory + ITEMS, AT_ONCE);
    UR_OK(urCommandBufferFinalizeExp(buffer));
    for (int i = 0; i < 10; i++) {
        cap_fill(gear.queue, memory + ITEMS, 2, NULL, NULL);
        signal_after(gear.queue, NULL, event);
        UR_OK(urEnqueueCommandBufferExp(queue, buffer, 1, &event, NULL));
        signal_after(queue, NULL, event);
        wait_in(gear.queue, event);
    }
    UR_OK(urEventWait(1, &event));
    cb_expect(memory, 20);
    UR_OK(urCommandBufferReleaseExp(buffer));
    UR_OK(urEventRelease(event));
    UR_OK(urQueueRelease(queue));
    ur_free(memory);
}

// The driver's events are used again, too.
Test(reusable_event, takes_no_more_of_the_driver_with_each_signal)
{
    enum { SIGNALS = 2000 };
    test_ze_cpu_require();
    ur_queue_handle_t queues[] = {ur_queue(gear.device, 0), ur_queue(gear.device, 0)};
    ur_event_handle_t event = make(0);
    const uint64_t made = ze_cpu.get_count("zeEventCreate");
    for (int i = 0; i < SIGNALS; i++) {
        signal_after(queues[i % 2], NULL, event);
        // Otherwise the number of signals under way would depend on time.
        for (int k = 0; k < 2 && i % 50 == 0; k++)
            UR_OK(urQueueFinish(queues[k]));
    }
    cr_assert(ze_cpu.get_count("zeEventCreate") - made < SIGNALS / 4);
    UR_OK(urEventRelease(event));
    for (int i = 0; i < 2; i++)
        UR_OK(urQueueRelease(queues[i]));
}

// Any queue of the context signals it, and any context of the platform waits for it.
Test(reusable_event_of_two, crosses_devices_and_contexts)
{
    ur_context_handle_t context;
    ur_queue_handle_t queues[] = {gear.queue, ur_queue(gear.devices[1], 0)}, stranger;
    ur_event_handle_t events[] = {make(0), make(UR_EXP_EVENT_FLAG_ENABLE_PROFILING)};
    UR_OK(urContextCreate(1, &gear.devices[1], NULL, &context));
    UR_OK(urQueueCreate(context, gear.devices[1], NULL, &stranger));
    for (int i = 0; i < 40; i++) {
        ur_event_handle_t event = events[i / 2 % 2];
        signal_after(queues[i % 2], NULL, event);
        wait_in(stranger, event);
        wait_in(queues[(i + 1) % 2], event);
    }
    UR_FAILS_SAYING(urEnqueueEventsWaitWithBarrierExt(stranger, NULL, 0, NULL, &events[0]),
                    UR_RESULT_ERROR_INVALID_EVENT, "another context");
    for (int i = 0; i < 2; i++)
        UR_OK(urEventRelease(events[i]));
    UR_OK(urQueueFinish(stranger));
    UR_OK(urQueueFinish(queues[0]));
    UR_OK(urQueueRelease(queues[1]));
    UR_OK(urQueueRelease(stranger));
    UR_OK(urContextRelease(context));
}
