// SPDX-License-Identifier: MIT
#include "queue/event.h"

#include "core/sys.h"
#include "device/context.h"
#include "device/device.h"
#include "queue/capture.h"
#include "queue/queue.h"
#include "ze/ze.h"

void zepi_event_abandon(struct zepi_event *event)
{
    atomic_store_explicit(&event->is_complete, true, memory_order_relaxed);
    zepi_release(event);
}

void zepi_event_note_submit(struct zepi_event *event)
{
    event->submit_ns = zepi_clock_ns();
    atomic_store_explicit(&event->submit_ticks, 0, memory_order_relaxed);
}

// `result`: of giving the event a driver's event.
static zepi_result_t event_hand_out(struct zepi_event *event, zepi_result_t result,
                                    zepi_event_t *out_event)
{
    if (result != ZEPI_SUCCESS) {
        zepi_event_abandon(event);
        return result;
    }
    event->ze = event->pooled->ze;
    *out_event = event;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_event_create_for(struct zepi_queue *queue, enum zepi_event_kind kind,
                                    zepi_event_t *out_event)
{
    struct zepi_event *event = zepi_object_create(&zepi_event_type);
    if (!event)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    event->context = queue->context;
    event->queue = zepi_retain(queue);
    if (kind & ZEPI_EVENT_TIMED)
        zepi_event_note_submit(event);
    return event_hand_out(
        event, zepi_pooled_event_get(zepi_event_pools_of(queue->context), kind, &event->pooled),
        out_event);
}

zepi_result_t zepi_event_create_of(struct zepi_context *context, enum zepi_event_kind kind,
                                   zepi_event_t *out_event)
{
    struct zepi_event *event = zepi_object_create(&zepi_event_type);
    if (!event)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    event->context = zepi_retain(context);
    return event_hand_out(event,
                          zepi_pooled_event_get(zepi_event_pools_of(context), kind, &event->pooled),
                          out_event);
}

zepi_result_t zepi_event_create(zepi_context_t context, zepi_event_t *out_event)
{
    return zepi_event_create_of(context, ZEPI_EVENT_HOST, out_event);
}

zepi_result_t zepi_event_create_from_native(struct zepi_context *context, void *native_handle,
                                            zepi_ownership_t ownership, zepi_event_t *out_event)
{
    struct zepi_event *event = zepi_object_create(&zepi_event_type);
    if (!event)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    event->context = zepi_retain(context);
    return event_hand_out(event,
                          zepi_pooled_event_adopt(zepi_event_pools_of(context), native_handle,
                                                  ownership, &event->pooled),
                          out_event);
}

static void event_note_complete(struct zepi_event *event)
{
    zepi_event_set_complete(event);
    if (event->point.timeline && event->point.timeline->is_ordered)
        zepi_timeline_reach(event->point.timeline, event->point.seqno);
}

// Without a call of the driver: a later event of the list may have told.
static bool event_is_over(struct zepi_event *event)
{
    if (zepi_event_is_known_complete(event))
        return true;
    if (!event->point.timeline || event->has_failed || !zepi_point_is_reached(event->point))
        return false;
    zepi_event_set_complete(event);
    return true;
}

zepi_result_t zepi_event_signal(zepi_event_t event)
{
    const zepi_result_t result = ZEPI_ZE(zeEventHostSignal, event->ze);
    if (result == ZEPI_SUCCESS)
        event_note_complete(event);
    return result;
}

zepi_result_t zepi_event_fail_captured(const struct zepi_event *event)
{
    if (zepi_capture_is_over(event->capture))
        return zepi_fail(ZEPI_ERROR_CAPTURED_EVENT,
                         "the event is of a command in a graph: only commands of the same graph "
                         "can wait for it");
    return zepi_fail(ZEPI_ERROR_CAPTURE_UNSUPPORTED,
                     "the event is of a command that is being captured, and does not complete");
}

struct zepi_event *zepi_event_take_signal(struct zepi_event *event)
{
    if (!event->is_reusable)
        return zepi_retain(event);
    struct zepi_event_pools *pools = zepi_event_pools_of(event->context);
    zepi_mutex_lock(&pools->mutex);
    struct zepi_event *signal = event->signal ? zepi_retain(event->signal) : NULL;
    zepi_mutex_unlock(&pools->mutex);
    return signal;
}

static zepi_result_t event_wait_for(struct zepi_event *event, uint64_t timeout_ns);

static __attribute__((cold, noinline)) zepi_result_t event_wait_for_signal(struct zepi_event *event,
                                                                           uint64_t timeout_ns)
{
    struct zepi_event *signal = zepi_event_take_signal(event);
    const zepi_result_t result = signal ? event_wait_for(signal, timeout_ns) : ZEPI_SUCCESS;
    zepi_release(signal);
    return result;
}

static zepi_result_t event_wait_for(struct zepi_event *event, uint64_t timeout_ns)
{
    if (event_is_over(event))
        return ZEPI_SUCCESS;
    if (__builtin_expect(event->is_reusable, 0))
        return event_wait_for_signal(event, timeout_ns);
    if (__builtin_expect(event->capture != NULL, 0))
        return zepi_event_fail_captured(event);
    const ze_result_t ze = zepi_ze.zeEventHostSynchronize(event->ze, timeout_ns);
    if (ze == ZE_RESULT_NOT_READY)
        return ZEPI_ERROR_NOT_READY; // zepi_event_wait() knows the timeout
    const zepi_result_t result = zepi_check_ze(ze, "zeEventHostSynchronize");
    if (result == ZEPI_SUCCESS)
        event_note_complete(event);
    return result;
}

zepi_result_t zepi_event_wait(uint32_t count, const zepi_event_t *events, uint64_t timeout_ns)
{
    const bool is_limited = timeout_ns != UINT64_MAX;
    const uint64_t start_ns = is_limited ? zepi_clock_ns() : 0;
    // The last one first: in an in-order list it tells of those before it.
    for (uint32_t i = count; i-- > 0;) {
        const uint64_t passed_ns = is_limited ? zepi_clock_ns() - start_ns : 0;
        const uint64_t left_ns = !is_limited              ? UINT64_MAX
                                 : passed_ns < timeout_ns ? timeout_ns - passed_ns
                                                          : 0;
        const zepi_result_t result = event_wait_for(events[i], left_ns);
        if (__builtin_expect(result == ZEPI_ERROR_NOT_READY, 0))
            return zepi_fail(ZEPI_ERROR_NOT_READY,
                             "event %u of %u was not complete after %llu nanoseconds", i, count,
                             (unsigned long long)timeout_ns);
        if (result != ZEPI_SUCCESS)
            return result;
    }
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_event_ask_status(struct zepi_event *event, zepi_event_status_t *out_status)
{
    if (!event_is_over(event) && !event->capture) {
        const ze_result_t ze = zepi_pooled_event_ask(event->pooled);
        if (ze != ZE_RESULT_NOT_READY) {
            const zepi_result_t result = zepi_check_ze(ze, "zeEventQueryStatus");
            if (result != ZEPI_SUCCESS)
                return result;
            event_note_complete(event);
        }
    }
    *out_status = zepi_event_is_known_complete(event) ? ZEPI_EVENT_COMPLETE : ZEPI_EVENT_SUBMITTED;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_event_get_status(zepi_event_t event, zepi_event_status_t *out_status)
{
    zepi_result_t result = ZEPI_SUCCESS;
    if (__builtin_expect(!event->is_reusable, 1))
        return zepi_event_ask_status(event, out_status);
    struct zepi_event *signal = zepi_event_take_signal(event);
    if (signal)
        result = zepi_event_ask_status(signal, out_status);
    else
        *out_status = ZEPI_EVENT_COMPLETE;
    zepi_release(signal);
    return result;
}

// A reusable event that was never signalled has an event of the driver's, too: a complete one.
static zepi_result_t event_make_first_signal(struct zepi_event *event)
{
    struct zepi_event_pools *pools = zepi_event_pools_of(event->context);
    struct zepi_event *signal = NULL;
    zepi_result_t result = zepi_event_create(event->context, &signal);
    if (result == ZEPI_SUCCESS)
        result = zepi_event_signal(signal);
    if (result == ZEPI_SUCCESS) {
        zepi_mutex_lock(&pools->mutex);
        if (!event->signal) {
            event->signal = signal;
            signal = NULL;
        }
        zepi_mutex_unlock(&pools->mutex);
    }
    zepi_release(signal);
    return result;
}

static zepi_result_t event_get_native_of_signal(struct zepi_event *event, void **out_native_handle)
{
    struct zepi_event *signal;
    while (!(signal = zepi_event_take_signal(event))) {
        const zepi_result_t result = event_make_first_signal(event);
        if (result != ZEPI_SUCCESS)
            return result;
    }
    const zepi_result_t result = zepi_event_get_native(signal, out_native_handle);
    zepi_release(signal);
    return result;
}

zepi_result_t zepi_event_get_native(zepi_event_t event, void **out_native_handle)
{
    if (event->is_reusable)
        return event_get_native_of_signal(event, out_native_handle);
    if (event->capture)
        return zepi_event_fail_captured(event);
    *out_native_handle = event->ze;
    return ZEPI_SUCCESS;
}
