// SPDX-License-Identifier: MIT
#include "queue/submit.h"

#include "core/alloc.h"
#include "device/context.h"
#include "device/device.h"
#include "device/platform.h"
#include "ze/ze.h"

void zepi_submit_finish_slow_waits(struct zepi_submit *submit)
{
    for (uint32_t i = 0; i < submit->distant_wait_count; i++)
        zepi_queue_release_later(submit->queue, submit->distant_waits[i]);
    for (uint32_t i = 0; i < submit->signal_count; i++)
        zepi_release(submit->signals[i]);
    zepi_free(submit->slow_waits);
}

// Makes room for slow waits, once. Most wait lists need none.
static zepi_result_t begin_slow_waits(struct zepi_submit *submit, zepi_wait_list_t wait)
{
    if (submit->slow_waits)
        return ZEPI_SUCCESS;
    void **room = zepi_allocate((size_t)3 * wait.count, sizeof(room[0]));
    if (!room)
        return zepi_fail_no_memory();
    submit->slow_waits = room;
    submit->signals = (struct zepi_event **)(room + wait.count);
    submit->signal_count = 0;
    submit->distant_waits = (struct zepi_event **)(room + (size_t)2 * wait.count);
    submit->distant_wait_count = 0;
    return ZEPI_SUCCESS;
}

// Whether a list of the queue can wait for the event.
static bool is_within_reach(const struct zepi_event *event, const struct zepi_queue *queue)
{
    return event->context == queue->context &&
           (!event->queue || event->queue->device == queue->device ||
            !(event->kind & ZEPI_EVENT_TIMED) ||
            zepi_device_root(event->queue->device) == zepi_device_root(queue->device) ||
            !(queue->device->platform->quirks.bits & ZEPI_QUIRK_TIMES_STAY_ON_DEVICE));
}

// Whether the driver has the memory of an event of another context on the queue's device.
static bool is_known_on_device_of(const struct zepi_event *event, const struct zepi_queue *queue)
{
    const struct zepi_device *device =
        event->queue ? event->queue->device : event->context->devices[0];
    return event->kind == ZEPI_EVENT_COUNTER ||
           zepi_device_root(device) == zepi_device_root(queue->device);
}

// A reusable event's signal, kept until the command is appended.
static __attribute__((cold, noinline)) zepi_result_t take_signal(struct zepi_submit *submit,
                                                                 zepi_wait_list_t wait,
                                                                 struct zepi_event *event,
                                                                 struct zepi_event **out_signal)
{
    const zepi_result_t result = begin_slow_waits(submit, wait);
    if (result != ZEPI_SUCCESS)
        return result;
    *out_signal = zepi_event_take_signal(event);
    submit->signals[submit->signal_count++] = *out_signal;
    return ZEPI_SUCCESS;
}

static zepi_result_t gather_waits(struct zepi_submit *submit, zepi_wait_list_t wait)
{
    const struct zepi_queue *queue = submit->queue;
    ze_event_handle_t *waits = submit->inline_waits;
    uint32_t count = 0;
    if (wait.count > ZEPI_QUEUE_WAITS) {
        const zepi_result_t result = begin_slow_waits(submit, wait);
        if (result != ZEPI_SUCCESS)
            return result;
        waits = (ze_event_handle_t *)submit->slow_waits;
    }
    for (uint32_t i = 0; i < wait.count; i++) {
        struct zepi_event *event = wait.events[i];
        zepi_result_t result = ZEPI_SUCCESS;
        if (__builtin_expect(event->is_reusable, 0))
            result = take_signal(submit, wait, event, &event);
        if (result != ZEPI_SUCCESS)
            return result;
        if (event->capture)
            return ZEPI_CAPTURED;
        if (!zepi_event_must_be_awaited(event, queue))
            continue;
        atomic_store_explicit(&event->is_awaited, true, memory_order_relaxed);
        if (is_within_reach(event, queue)) {
            waits[count++] = event->ze;
            continue;
        }
        // A barrier before the command waits for it.
        result = begin_slow_waits(submit, wait);
        if (result != ZEPI_SUCCESS)
            return result;
        submit->distant_waits[submit->distant_wait_count++] = event;
    }
    submit->wait_count = count;
    submit->waits = count > 0 ? waits : NULL;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_submit_prepare(struct zepi_submit *submit, zepi_wait_list_t wait)
{
    const zepi_result_t result = gather_waits(submit, wait);
    if (result != ZEPI_SUCCESS && submit->slow_waits)
        zepi_submit_finish_slow_waits(submit);
    return result;
}

// Nothing is appended for the command. Gives up the mutex.
static void submit_drop(struct zepi_submit *submit)
{
    zepi_mutex_unlock(&submit->queue->mutex);
    if (submit->slow_waits)
        zepi_submit_finish_slow_waits(submit);
    if (submit->event)
        zepi_event_abandon(submit->event);
}

zepi_result_t zepi_submit_make_event_locked(struct zepi_submit *submit,
                                            struct zepi_event **out_event)
{
    const zepi_result_t result =
        zepi_event_cache_take_or_refill_locked(&submit->queue_list->events, out_event);
    if (result != ZEPI_SUCCESS)
        submit_drop(submit);
    return result;
}

// Under the queue's mutex, and when it returns: later commands of the list wait for distant
// events. For those that the driver does not take there (quirk foreign-events-refused)
// this thread waits, without the mutex.
static __attribute__((cold, noinline)) zepi_result_t
await_distant_events_locked(struct zepi_submit *submit)
{
    struct zepi_queue *queue = submit->queue;
    zepi_result_t result = ZEPI_SUCCESS;
    uint32_t barrier_count = 0;
    for (uint32_t i = 0; i < submit->distant_wait_count && result == ZEPI_SUCCESS; i++) {
        struct zepi_event *event = submit->distant_waits[i];
        if (is_known_on_device_of(event, queue)) {
            const ze_result_t ze =
                zepi_ze.zeCommandListAppendBarrier(submit->list, NULL, 1, &event->ze);
            result = zepi_check_ze_severe(ze, "zeCommandListAppendBarrier");
            if (ze == ZE_RESULT_SUCCESS || result != ZEPI_SUCCESS) {
                submit->distant_waits[barrier_count++] = event;
                continue;
            }
        }
        zepi_mutex_unlock(&queue->mutex);
        result = zepi_event_wait(1, &event, UINT64_MAX);
        zepi_mutex_lock(&queue->mutex);
    }
    submit->distant_wait_count = barrier_count;
    return result;
}

// Whether this thread would have to wait for it: it is distant, and no barrier can.
static bool is_unreachable(const struct zepi_event *event, const struct zepi_queue *queue)
{
    return !event->capture && !is_within_reach(event, queue) &&
           !is_known_on_device_of(event, queue);
}

zepi_result_t zepi_submit_await_unreachable(struct zepi_queue *queue, zepi_wait_list_t wait)
{
    zepi_result_t result = ZEPI_SUCCESS;
    for (uint32_t i = 0; i < wait.count && result == ZEPI_SUCCESS; i++) {
        struct zepi_event *event = wait.events[i];
        if (!event->is_reusable && !is_unreachable(event, queue))
            continue;
        event = zepi_event_take_signal(event);
        if (is_unreachable(event, queue))
            result = zepi_event_wait(1, &event, UINT64_MAX);
        zepi_release(event);
    }
    return result;
}

zepi_result_t zepi_submit_append_first_locked(struct zepi_submit *submit)
{
    zepi_result_t result = ZEPI_SUCCESS;
    if (zepi_queue_is_capturing(submit->queue)) {
        submit_drop(submit);
        return ZEPI_CAPTURED;
    }
    if (submit->slow_waits)
        result = await_distant_events_locked(submit);
    if (result == ZEPI_SUCCESS && submit->queue->needs_barriers)
        result = ZEPI_ZE(zeCommandListAppendBarrier, submit->list, NULL, 0, NULL);
    return result == ZEPI_SUCCESS ? ZEPI_SUCCESS : zepi_submit_end(submit, result, NULL);
}
