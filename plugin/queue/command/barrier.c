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

// The lists of a queue that has several, in a command over all of them.
struct sync_lists {
    uint32_t count;                                   // 0: the command is in its own list alone
    struct zepi_command_list **lists;                 // borrowed from the queue
    struct zepi_event *markers[ZEPI_QUEUE_MAX_LISTS]; // NULL: none
};

// The other lists signal a marker each, behind the wait list. A barrier without an event has one,
// too. Their events come first, since the mutex may be given up for them.
static zepi_result_t append_markers(struct zepi_submit *submit, enum sync_kind kind,
                                    struct sync_lists *sync, uint32_t *out_wait_count,
                                    ze_event_handle_t *out_waits)
{
    zepi_result_t result = ZEPI_SUCCESS;
    for (uint32_t i = 0; i < sync->count && result == ZEPI_SUCCESS; i++) {
        const bool is_own = sync->lists[i] == submit->queue_list;
        if (!is_own || (is_barrier(kind) && !submit->signal))
            result = zepi_marker_begin_locked(sync->lists[i], &sync->markers[i]);
    }
    for (uint32_t i = 0; i < sync->count && result == ZEPI_SUCCESS; i++) {
        struct zepi_event *marker = sync->markers[i];
        if (sync->lists[i] == submit->queue_list) {
            if (marker)
                zepi_marker_note_locked(sync->lists[i], marker);
            submit->signal = marker ? marker->ze : submit->signal;
            continue;
        }
        result =
            zepi_marker_append_locked(sync->lists[i], marker, submit->wait_count, submit->waits);
        out_waits[(*out_wait_count)++] = marker->ze;
    }
    for (uint32_t i = 0; i < sync->count; i++) {
        if (sync->markers[i])
            atomic_store_explicit(&sync->markers[i]->is_awaited, true, memory_order_relaxed);
    }
    return result;
}

// After a barrier the other lists wait for it, so that no host sees a later command complete before
// it is.
static zepi_result_t append_after_barrier(const struct zepi_submit *submit,
                                          const struct sync_lists *sync)
{
    zepi_result_t result = ZEPI_SUCCESS;
    ze_event_handle_t signal = submit->signal;
    if (submit->event)
        atomic_store_explicit(&submit->event->is_awaited, true, memory_order_relaxed);
    for (uint32_t i = 0; i < sync->count && result == ZEPI_SUCCESS; i++) {
        struct zepi_command_list *list = sync->lists[i];
        if (list == submit->queue_list)
            continue;
        result = ZEPI_ZE(zeCommandListAppendBarrier, list->ze, NULL, 1, &signal);
        zepi_timeline_submit(list->timeline);
    }
    return result;
}

// Appends a barrier or a marker to a queue of several lists.
static zepi_result_t append_sync_over_lists(struct zepi_submit *submit, enum sync_kind kind,
                                            struct sync_lists *sync)
{
    const bool is_ordered = submit->queue_list->kind.flags & ZEPI_ZE_COMMAND_QUEUE_FLAG_IN_ORDER;
    ze_event_handle_t waits[ZEPI_QUEUE_MAX_LISTS];
    uint32_t wait_count = 0;
    zepi_result_t result = append_markers(submit, kind, sync, &wait_count, waits);
    // A barrier that waits for events waits for nothing else.
    if (result == ZEPI_SUCCESS && !is_ordered && submit->wait_count == 0)
        result = ZEPI_ZE(zeCommandListAppendBarrier, submit->list, NULL, 0, NULL);
    if (result == ZEPI_SUCCESS)
        result =
            ZEPI_ZE(zeCommandListAppendBarrier, submit->list, submit->signal, wait_count, waits);
    return result == ZEPI_SUCCESS && is_barrier(kind) ? append_after_barrier(submit, sync) : result;
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
    struct sync_lists sync = {0};
    struct zepi_event *timed = NULL;
    zepi_result_t result = ZEPI_SUCCESS;
    // A marker with a wait list stands for these events alone: one list can do that. All others
    // in a queue of several lists need all of them.
    const bool is_local = !is_barrier(kind) && wait.count > 0;
    const bool takes_time = kind == TIME || kind == TIMED_BARRIER;
    sync.lists = queue->lists;
    sync.count = !is_local && queue->list_count > 1 ? queue->list_count : 0;
    if (takes_time)
        result = zepi_event_create_for(queue, ZEPI_EVENT_TIMED, &timed);
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
        zepi_pooled_event_note_list(timed->pooled, submit.queue_list);
    }
    if (sync.count > 0)
        result = append_sync_over_lists(&submit, kind, &sync);
    else
        result = ZEPI_ZE(zeCommandListAppendBarrier, submit.list, submit.signal, submit.wait_count,
                         submit.waits);
    if (is_barrier(kind) && submit.event)
        submit.event->number = ++queue->barrier_count;
    result = zepi_submit_end(&submit, result, out_event);
    for (uint32_t i = 0; i < sync.count; i++)
        zepi_marker_give(sync.markers[i]);
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

zepi_result_t zepi_queue_local_marker(zepi_queue_t queue, zepi_event_t *out_event)
{
    const zepi_wait_list_t none = {0};
    struct zepi_submit submit;
    zepi_result_t result = zepi_submit_begin(&submit, queue, none, out_event, ZEPI_ENGINE_COMPUTE);
    if (result != ZEPI_SUCCESS)
        return result;
    result = ZEPI_ZE(zeCommandListAppendSignalEvent, submit.list, submit.signal);
    return zepi_submit_end(&submit, result, out_event);
}

// ---- Reusable events ----

zepi_result_t zepi_reusable_event_create(struct zepi_context *context,
                                         enum zepi_reusable_event_times times,
                                         zepi_event_t *out_event)
{
    struct zepi_event *event = zepi_object_create(&zepi_event_type);
    if (!event)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    event->context = zepi_retain(context);
    event->is_reusable = true;
    event->takes_times = times == ZEPI_REUSABLE_EVENT_TIMES;
    *out_event = event;
    return ZEPI_SUCCESS;
}

// Of two threads that signal at the same time, the later one in a queue may be the first one here.
static bool is_later_in_same_queue(const struct zepi_event *left, const struct zepi_event *right)
{
    return left && left->queue == right->queue && left->capture == right->capture &&
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
