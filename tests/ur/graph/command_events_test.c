// SPDX-License-Identifier: MIT
// Events of single commands in command buffers: waited for, signalled, replaced.
#include "command_buffer_fixture.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>

TestSuite(command_events, .init = cb_set_up, .fini = cb_tear_down);

static bool is_complete(ur_event_handle_t event)
{
    ur_event_status_t status;
    UR_OK(urEventGetInfo(event, UR_EVENT_INFO_COMMAND_EXECUTION_STATUS, sizeof(status), &status,
                         NULL));
    return status == UR_EVENT_STATUS_COMPLETE;
}

// a = 1, with an event; b = a, when the host says so, with an event; then c = b.
struct story {
    float *a, *b, *c;
    struct host_event gate;
    buffer_t buffer;
    command_t copy;
    ur_event_handle_t filled, copied;
};

static struct story record(enum kind kind)
{
    struct story story = {.a = cb_floats(ITEMS), .b = cb_floats(ITEMS), .c = cb_floats(ITEMS)};
    const float one = 1;
    const size_t bytes = ITEMS * sizeof(float);
    sync_point_t points[2];
    story.gate = host_event_make();
    story.buffer = cb_make(kind);
    UR_OK(urCommandBufferAppendUSMFillExp(story.buffer, story.a, &one, sizeof(one), bytes, 0, NULL,
                                          0, NULL, &points[0], &story.filled, NULL));
    UR_OK(urCommandBufferAppendUSMMemcpyExp(story.buffer, story.b, story.a, bytes, 1, &points[0], 1,
                                            &story.gate.event, &points[1], &story.copied,
                                            kind == UPDATABLE ? &story.copy : NULL));
    cb_append_copy(story.buffer, story.c, story.b, AFTER(points[1]));
    UR_OK(urCommandBufferFinalizeExp(story.buffer));
    return story;
}

static void end(struct story *story)
{
    UR_OK(urCommandBufferReleaseExp(story->buffer));
    UR_OK(urEventRelease(story->filled));
    UR_OK(urEventRelease(story->copied));
    host_event_release(&story->gate);
    ur_free(story->a);
    ur_free(story->b);
    ur_free(story->c);
}

static void check_order(enum kind kind, ur_queue_flags_t flags)
{
    ur_queue_handle_t queue = ur_queue(gear.device, flags);
    ur_queue_handle_t other = ur_queue(gear.device, 0);
    float *seen = cb_floats(ITEMS);
    struct story story = record(kind);
    cr_assert_not(is_complete(story.filled));
    ur_event_handle_t over;
    UR_OK(urEnqueueCommandBufferExp(queue, story.buffer, 0, NULL, &over));
    UR_OK(urEnqueueUSMMemcpy(other, false, seen, story.b, ITEMS * sizeof(float), 1, &story.copied,
                             NULL));
    UR_OK(urEventWait(1, &story.filled));
    cb_expect(story.a, 1);
    cb_expect(story.b, 0);
    cr_assert_not(is_complete(story.copied));
    cr_assert_not(is_complete(over));
    host_event_signal(&story.gate);
    UR_OK(urEventWait(1, &story.copied));
    cb_expect(story.b, 1);
    UR_OK(urEventWait(1, &over));
    cb_expect(story.c, 1);
    UR_OK(urQueueFinish(other));
    cb_expect(seen, 1);
    UR_OK(urEventRelease(over));
    end(&story);
    UR_OK(urQueueRelease(queue));
    UR_OK(urQueueRelease(other));
    ur_free(seen);
}

Test(command_events, are_waited_for_and_signalled_in_the_middle_of_an_execution)
{
    for (enum kind kind = FREE; kind <= UPDATABLE; kind++) {
        check_order(kind, 0);
        check_order(kind, UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE);
        check_order(kind, UR_QUEUE_FLAG_PROFILING_ENABLE);
    }
}

// Each execution begins with events that are not complete, and may get others.
Test(command_events, are_of_the_execution_at_hand_and_can_be_replaced)
{
    struct story story = record(UPDATABLE);
    struct host_event next = host_event_make();
    ur_event_handle_t copied;
    host_event_signal(&story.gate);
    cb_run(gear.queue, story.buffer);
    UR_OK(urQueueFinish(gear.queue));
    cr_assert(is_complete(story.filled) && is_complete(story.copied));
    UR_OK(urCommandBufferUpdateWaitEventsExp(story.copy, 1, &next.event));
    UR_OK(urCommandBufferUpdateSignalEventExp(story.copy, &copied));
    cr_assert_not(is_complete(copied));
    memset(story.b, 0, ITEMS * sizeof(float));
    cb_run(gear.queue, story.buffer);
    UR_OK(urEventWait(1, &story.filled));
    cr_assert_not(is_complete(copied));
    cr_assert(is_complete(story.copied)); // no execution signals it any more
    cb_expect(story.b, 0);
    host_event_signal(&next);
    UR_OK(urEventWait(1, &copied));
    cb_expect(story.b, 1);
    UR_OK(urQueueFinish(gear.queue));
    // The same events once more: what they waited for is over.
    cb_run(gear.queue, story.buffer);
    UR_OK(urEventWait(1, &copied));
    UR_OK(urQueueFinish(gear.queue));
    end(&story);
    UR_OK(urEventRelease(copied));
    host_event_release(&next);
}

static void *wait_for(void *event)
{
    UR_OK(urEventWait(1, (ur_event_handle_t *)event));
    return NULL;
}

// A thread waits for the first execution, while the second one is enqueued.
Test(command_events, end_waits_of_an_earlier_execution_alone)
{
    test_ze_cpu_require();
    struct story story = record(UPDATABLE);
    struct host_event next = host_event_make();
    pthread_t thread;
    cb_run(gear.queue, story.buffer);
    const uint64_t waits = ze_cpu.get_count("zeEventHostSynchronize");
    pthread_create(&thread, NULL, wait_for, &story.copied);
    while (ze_cpu.get_count("zeEventHostSynchronize") == waits)
        sched_yield();
    UR_OK(urCommandBufferUpdateWaitEventsExp(story.copy, 1, &next.event));
    cb_run(gear.queue, story.buffer);
    host_event_signal(&story.gate);
    pthread_join(thread, NULL);
    cr_assert_not(is_complete(story.copied));
    host_event_signal(&next);
    UR_OK(urEventWait(1, &story.copied));
    UR_OK(urQueueFinish(gear.queue));
    end(&story);
    host_event_release(&next);
}

Test(command_events, order_the_commands_of_two_command_buffers)
{
    struct story story = record(FREE);
    float *out = cb_floats(ITEMS);
    ur_queue_handle_t queue = ur_queue(gear.device, UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    buffer_t follower = cb_make(FREE);
    UR_OK(urCommandBufferAppendUSMMemcpyExp(follower, out, story.b, ITEMS * sizeof(float), 0, NULL,
                                            1, &story.copied, NULL, NULL, NULL));
    UR_OK(urCommandBufferFinalizeExp(follower));
    cb_run(gear.queue, story.buffer);
    cb_run(queue, follower);
    host_event_signal(&story.gate);
    UR_OK(urQueueFinish(queue));
    cb_expect(out, 1);
    UR_OK(urQueueFinish(gear.queue));
    UR_OK(urCommandBufferReleaseExp(follower));
    UR_OK(urQueueRelease(queue));
    end(&story);
    ur_free(out);
}

// A host may forget an event that an execution is still going to signal.
Test(command_events, may_be_released_before_they_are_signalled)
{
    struct story story = record(UPDATABLE);
    ur_event_handle_t last;
    cb_run(gear.queue, story.buffer);
    for (int i = 0; i < 3; i++) {
        UR_OK(urCommandBufferUpdateSignalEventExp(story.copy, &last));
        UR_OK(urEventRelease(last));
    }
    host_event_signal(&story.gate);
    UR_OK(urQueueFinish(gear.queue));
    cb_run(gear.queue, story.buffer);
    UR_OK(urQueueFinish(gear.queue));
    cb_expect(story.c, 1);
    end(&story);
}

Test(command_events, are_refused_where_they_make_no_sense)
{
    struct story story = record(UPDATABLE);
    float *a = cb_floats(ITEMS);
    const size_t bytes = ITEMS * sizeof(float);
    command_t plain;
    ur_event_handle_t event, none = NULL, two[] = {story.gate.event, story.gate.event};
    buffer_t buffer = cb_make(UPDATABLE);
    UR_OK(urCommandBufferAppendUSMMemcpyExp(buffer, a, a, bytes, 0, NULL, 0, NULL, NULL, NULL,
                                            &plain));
    UR_FAILS(urCommandBufferUpdateSignalEventExp(plain, &event), UR_RESULT_ERROR_INVALID_OPERATION);
    UR_FAILS(urCommandBufferUpdateWaitEventsExp(plain, 0, NULL), UR_RESULT_ERROR_INVALID_OPERATION);
    UR_OK(urCommandBufferFinalizeExp(buffer));
    UR_FAILS(urCommandBufferUpdateSignalEventExp(plain, &event), UR_RESULT_ERROR_INVALID_OPERATION);
    UR_OK(urCommandBufferUpdateWaitEventsExp(plain, 0, NULL));
    UR_FAILS(urCommandBufferUpdateSignalEventExp(NULL, &event),
             UR_RESULT_ERROR_INVALID_NULL_HANDLE);
    UR_FAILS(urCommandBufferUpdateSignalEventExp(story.copy, NULL),
             UR_RESULT_ERROR_INVALID_NULL_POINTER);
    UR_FAILS(urCommandBufferUpdateSignalEventExp((command_t)buffer, &event),
             UR_RESULT_ERROR_INVALID_COMMAND_BUFFER_COMMAND_HANDLE_EXP);
    UR_FAILS(urCommandBufferUpdateWaitEventsExp(story.copy, 0, NULL),
             UR_RESULT_ERROR_INVALID_EVENT_WAIT_LIST);
    UR_FAILS(urCommandBufferUpdateWaitEventsExp(story.copy, 2, two),
             UR_RESULT_ERROR_INVALID_EVENT_WAIT_LIST);
    UR_FAILS(urCommandBufferUpdateWaitEventsExp(story.copy, 1, NULL),
             UR_RESULT_ERROR_INVALID_EVENT_WAIT_LIST);
    UR_FAILS(urCommandBufferUpdateWaitEventsExp(story.copy, 1, &none),
             UR_RESULT_ERROR_INVALID_EVENT_WAIT_LIST);
    UR_OK(urCommandBufferReleaseExp(buffer));
    end(&story);
    ur_free(a);
}
