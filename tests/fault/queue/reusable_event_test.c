// SPDX-License-Identifier: MIT
//
// Reusable events, signalled and waited for, while each Level Zero call and each allocation fails
// in turn. A signal that fails leaves the event as it was.
#include "queue/command/barrier.h"
#include "queue/event.h"
#include "walk_ur.h"

#define WAITS 20 // more than a command has room for

static struct test_gear gear;
static zepi_context_t other_context;
static zepi_queue_t queues[3]; // in order, in any order, of another context

static ur_event_handle_t made;

static zepi_result_t signal_event(zepi_queue_t queue, zepi_wait_list_t wait)
{
    struct zepi_event *before = zepi_event_take_signal((struct zepi_event *)made);
    const zepi_result_t result = told(zepi_urEnqueueEventsWaitWithBarrierExt(
        (ur_queue_handle_t)queue, NULL, wait.count, (const ur_event_handle_t *)wait.events, &made));
    struct zepi_event *after = zepi_event_take_signal((struct zepi_event *)made);
    WALK_EXPECT((after == before) == (result != ZEPI_SUCCESS));
    zepi_release(before);
    zepi_release(after);
    return result;
}

static zepi_result_t signal_and_wait(ur_exp_event_flags_t flags)
{
    const ur_exp_event_desc_t desc = {.stype = UR_STRUCTURE_TYPE_EXP_EVENT_DESC, .flags = flags};
    zepi_event_t waits[WAITS] = {NULL};
    zepi_event_t done = NULL;
    ur_native_handle_t native;
    uint64_t start = 0, end = 0;
    zepi_result_t result;
    STEP(told(zepi_urEventCreateExp((ur_context_handle_t)gear.context,
                                    (ur_device_handle_t)gear.device, &desc, &made)));
    for (int i = 0; i < WAITS; i++)
        waits[i] = (zepi_event_t)made;
    STEP(told(zepi_urEventGetNativeHandle(made, &native)));
    STEP(signal_event(queues[0], TEST_NO_WAIT));
    STEP(signal_event(queues[1], (zepi_wait_list_t){waits, WAITS}));
    STEP(signal_event(queues[1], TEST_NO_WAIT));
    STEP(zepi.queue_marker(queues[2], (zepi_wait_list_t){waits, 1}, &done));
    STEP(zepi.event_wait(1, &done, UINT64_MAX));
    STEP(zepi.event_wait(1, waits, UINT64_MAX));
    if (flags) {
        STEP(told(zepi_urEventGetProfilingInfo(made, UR_PROFILING_INFO_COMMAND_START, sizeof(start),
                                               &start, NULL)));
        STEP(told(zepi_urEventGetProfilingInfo(made, UR_PROFILING_INFO_COMMAND_END, sizeof(end),
                                               &end, NULL)));
        WALK_EXPECT(0 < start && start <= end);
    }
out:
    for (int i = 0; i < 3; i++)
        walk_settle(queues[i]);
    walk_release(done);
    walk_release(made);
    made = NULL;
    return result;
}

static zepi_result_t without_times(void)
{
    return signal_and_wait(0);
}

static zepi_result_t with_times(void)
{
    return signal_and_wait(UR_EXP_EVENT_FLAG_ENABLE_PROFILING);
}

int main(void)
{
    walk_begin();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    TEST_OK(zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_IN_ORDER, &queues[0]));
    TEST_OK(zepi.queue_create(gear.context, gear.device, 0, &queues[1]));
    TEST_OK(zepi.context_create(1, &gear.device, &other_context));
    TEST_OK(zepi.queue_create(other_context, gear.device, ZEPI_QUEUE_IN_ORDER, &queues[2]));
    walk_rehearsed("reusable events", without_times, "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
    walk_rehearsed("reusable events with times", with_times, "ZE_RESULT_ERROR_DEVICE_LOST");
    for (int i = 0; i < 3; i++)
        TEST_OK(zepi.release(queues[i]));
    TEST_OK(zepi.release(other_context));
    test_gear_destroy(&gear);
    return 0;
}
