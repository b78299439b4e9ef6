// SPDX-License-Identifier: MIT
#include "queue/command/barrier.h"

#include "device/context.h"
#include "queue/capture_command.h"
#include "queue/progress.h"
#include "queue/submit.h"
#include "ze/ze.h"

enum sync_kind { BARRIER, MARKER, TIME, TIMED_BARRIER };

static bool is_barrier(enum sync_kind kind)
{
    return kind == BARRIER || kind == TIMED_BARRIER;
}

// In a queue of several lists. The other lists signal a marker each, behind the wait list. A
// barrier without an event has one, too. Their events come first, since the mutex may be given up
// for them.
static zepi_result_t append_markers(struct zepi_submit *submit, enum sync_kind kind,
                                    struct zepi_event **markers, uint32_t *out_wait_count,
                                    ze_event_handle_t *out_waits)
{
    const struct zepi_queue *queue = submit->queue;
    zepi_result_t result = ZEPI_SUCCESS;
    for (uint32_t i = 0; i < queue->list_count && result == ZEPI_SUCCESS; i++) {
        const bool is_own = queue->lists[i] == submit->queue_list;
        if (!is_own || (is_barrier(kind) && !submit->signal))
            result = zepi_marker_begin_locked(queue->lists[i], &markers[i]);
    }
    for (uint32_t i = 0; i < queue->list_count && result == ZEPI_SUCCESS; i++) {
        if (queue->lists[i] == submit->queue_list) {
            if (markers[i])
                zepi_marker_note_locked(queue->lists[i], markers[i]);
            submit->signal = markers[i] ? markers[i]->ze : submit->signal;
            continue;
        }
        result = zepi_marker_append_locked(queue->lists[i], markers[i], submit->wait_count,
                                           submit->waits);
        out_waits[(*out_wait_count)++] = markers[i]->ze;
    }
    for (uint32_t i = 0; i < queue->list_count; i++) {
        if (markers[i])
            atomic_store_explicit(&markers[i]->is_awaited, true, memory_order_relaxed);
    }
    return result;
}

// After a barrier the other lists wait for it, so that no host sees a later command complete before
// it is.
static zepi_result_t append_after_barrier(const struct zepi_submit *submit)
{
    const struct zepi_queue *queue = submit->queue;
    zepi_result_t result = ZEPI_SUCCESS;
    ze_event_handle_t signal = submit->signal;
    if (submit->event)
        atomic_store_explicit(&submit->event->is_awaited, true, memory_order_relaxed);
    for (uint32_t i = 0; i < queue->list_count && result == ZEPI_SUCCESS; i++) {
        if (queue->lists[i] == submit->queue_list)
            continue;
        result = ZEPI_ZE(zeCommandListAppendBarrier, queue->lists[i]->ze, NULL, 1, &signal);
        zepi_timeline_submit(queue->lists[i]->timeline);
    }
    return result;
}

static zepi_result_t append_sync_over_lists(struct zepi_submit *submit, enum sync_kind kind,
                                            struct zepi_event **markers)
{
    const bool is_ordered = submit->queue_list->kind.flags & ZEPI_ZE_COMMAND_QUEUE_FLAG_IN_ORDER;
    ze_event_handle_t waits[ZEPI_QUEUE_MAX_LISTS];
    uint32_t wait_count = 0;
    zepi_result_t result = append_markers(submit, kind, markers, &wait_count, waits);
    // A barrier that waits for events waits for nothing else.
    if (result == ZEPI_SUCCESS && !is_ordered && submit->wait_count == 0)
        result = ZEPI_ZE(zeCommandListAppendBarrier, submit->list, NULL, 0, NULL);
    if (result == ZEPI_SUCCESS)
        result =
            ZEPI_ZE(zeCommandListAppendBarrier, submit->list, submit->signal, wait_count, waits);
    return result == ZEPI_SUCCESS && is_barrier(kind) ? append_after_barrier(submit) : result;
}

static zepi_result_t capture_sync(struct zepi_queue *queue, zepi_wait_list_t wait,
                                  zepi_event_t *out_event, enum sync_kind kind)
{
    const struct zepi_captured_command command = {.kind = is_barrier(kind) ? ZEPI_COMMAND_BARRIER
                                                                           : ZEPI_COMMAND_MARKER};
    return zepi_capture_command(queue, &command, wait, out_event);
}

static zepi_result_t append_sync(zepi_queue_t queue, zepi_wait_list_t wait, zepi_event_t *out_event,
                                 enum sync_kind kind)
{
    struct zepi_submit submit;
    struct zepi_event *markers[ZEPI_QUEUE_MAX_LISTS] = {NULL};
    struct zepi_event *timed = NULL;
    zepi_result_t result = ZEPI_SUCCESS;
    // A marker with a wait list stands for these events alone: one list can do that. All others
    // in a queue of several lists need all of them.
    const bool is_local = queue->list_count == 1 || (!is_barrier(kind) && wait.count > 0);
    if (kind == TIME || kind == TIMED_BARRIER)
        result = zepi_event_create_of(queue->context, queue, ZEPI_EVENT_TIMED, &timed);
    if (result == ZEPI_SUCCESS)
        result =
            zepi_submit_begin(&submit, queue, wait, timed ? NULL : out_event, ZEPI_ENGINE_COMPUTE);
    if (result != ZEPI_SUCCESS) {
        zepi_release(timed);
        return result == ZEPI_CAPTURED ? capture_sync(queue, wait, out_event, kind) : result;
    }
    if (timed) {
        submit.event = timed;
        submit.signal = timed->ze;
        zepi_event_note_submit(timed);
        zepi_event_note_list(timed, submit.queue_list);
    }
    result = is_local ? ZEPI_ZE(zeCommandListAppendBarrier, submit.list, submit.signal,
                                submit.wait_count, submit.waits)
                      : append_sync_over_lists(&submit, kind, markers);
    if (is_barrier(kind) && submit.event)
        submit.event->number = ++queue->barrier_count;
    result = zepi_submit_end(&submit, result, out_event);
    // The command that waits for them is counted now: they are not reset before it is over.
    for (uint32_t i = 0; i < queue->list_count; i++)
        zepi_marker_give(markers[i]);
    return result;
}

zepi_result_t zepi_queue_barrier(zepi_queue_t queue, zepi_wait_list_t wait, zepi_event_t *out_event)
{
    return append_sync(queue, wait, out_event, BARRIER);
}

zepi_result_t zepi_queue_marker(zepi_queue_t queue, zepi_wait_list_t wait, zepi_event_t *out_event)
{
    return append_sync(queue, wait, out_event, MARKER);
}

zepi_result_t zepi_queue_record_time(zepi_queue_t queue, zepi_wait_list_t wait,
                                     zepi_event_t *out_event)
{
    return append_sync(queue, wait, out_event, TIME);
}

zepi_result_t zepi_queue_local_marker(zepi_queue_t queue, zepi_wait_list_t wait,
                                      zepi_event_t *out_event)
{
    struct zepi_submit submit;
    zepi_result_t result = zepi_submit_begin(&submit, queue, wait, out_event, ZEPI_ENGINE_COMPUTE);
    if (result != ZEPI_SUCCESS)
        return result;
    // A barrier has times, but waits for all before it in its list if it waits for no event.
    result = submit.signal && submit.wait_count == 0 && !(queue->flags & ZEPI_QUEUE_PROFILING)
                 ? ZEPI_ZE(zeCommandListAppendSignalEvent, submit.list, submit.signal)
                 : ZEPI_ZE(zeCommandListAppendBarrier, submit.list, submit.signal,
                           submit.wait_count, submit.waits);
    return zepi_submit_end(&submit, result, out_event);
}

// ---- Reusable events ----

zepi_result_t zepi_reusable_event_create(struct zepi_context *context,
                                         enum zepi_reusable_event_times times,
                                         zepi_event_t *out_event)
{
    struct zepi_event *complete;
    const zepi_result_t result = zepi_event_create_complete(context, &complete);
    if (result != ZEPI_SUCCESS)
        return result;
    struct zepi_event *event = zepi_object_create(&zepi_event_type);
    if (!event) {
        zepi_release(complete);
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    }
    event->context = zepi_retain(context);
    event->signal = complete;
    event->is_reusable = true;
    event->takes_times = times == ZEPI_REUSABLE_EVENT_TIMES;
    *out_event = event;
    return ZEPI_SUCCESS;
}

// Of two threads that signal at the same time, the later one in a queue may be the first one here.
static bool is_later_in_same_queue(const struct zepi_event *left, const struct zepi_event *right)
{
    return left->queue == right->queue && left->capture == right->capture &&
           left->number > right->number;
}

// Consumes the reference to the signal.
static void reusable_event_set_signal(struct zepi_event *event, struct zepi_event *signal)
{
    struct zepi_event_pools *pools = zepi_event_pools_of(event->context);
    struct zepi_event *unused = signal;
    zepi_mutex_lock(&pools->mutex);
    if (!is_later_in_same_queue(event->signal, signal)) {
        unused = event->signal;
        event->signal = signal;
    }
    zepi_mutex_unlock(&pools->mutex);
    zepi_release(unused);
}

zepi_result_t zepi_queue_signal(struct zepi_queue *queue, zepi_wait_list_t wait,
                                struct zepi_event *event)
{
    struct zepi_event *signal;
    const bool has_times = event->takes_times && !(queue->flags & ZEPI_QUEUE_PROFILING);
    const zepi_result_t result =
        append_sync(queue, wait, &signal, has_times ? TIMED_BARRIER : BARRIER);
    if (result == ZEPI_SUCCESS)
        reusable_event_set_signal(event, signal);
    return result;
}
