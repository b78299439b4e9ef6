// SPDX-License-Identifier: MIT
#include "queue/command/barrier.h"

#include "queue/capture_command.h"
#include "queue/list_events.h"
#include "queue/submit.h"
#include "ze/ze.h"

enum sync_kind { BARRIER, MARKER, TIME, TIMED_BARRIER };

static bool is_barrier(enum sync_kind kind)
{
    return kind == BARRIER || kind == TIMED_BARRIER;
}

// Appends a barrier or a marker to a queue of several lists: the other lists signal an event each,
// and the command waits for these. After a barrier the other lists wait for the command, so that no
// host sees a later command complete before it is.
static zepi_result_t append_sync_over_lists(struct zepi_submit *submit, enum sync_kind kind,
                                            struct zepi_list_events *events,
                                            struct zepi_command_list **lists)
{
    const bool is_ordered = submit->queue_list->kind.flags & ZEPI_ZE_COMMAND_QUEUE_FLAG_IN_ORDER;
    ze_event_handle_t waits[ZEPI_QUEUE_MAX_LISTS];
    ze_event_handle_t signal = submit->signal;
    uint32_t wait_count = 0;
    uint32_t own = 0;
    zepi_result_t result = ZEPI_SUCCESS;
    for (uint32_t i = 0; i < events->count && result == ZEPI_SUCCESS; i++) {
        if (lists[i] == submit->queue_list) {
            own = i;
            continue;
        }
        result = zepi_list_events_signal(events, i, lists[i], submit->wait_count, submit->waits);
        waits[wait_count++] = events->handles[i];
    }
    // A barrier that waits for events waits for nothing else.
    if (result == ZEPI_SUCCESS && !is_ordered && submit->wait_count == 0)
        result = ZEPI_ZE(zeCommandListAppendBarrier, submit->list, NULL, 0, NULL);
    if (result == ZEPI_SUCCESS && !signal && is_barrier(kind)) {
        signal = events->handles[own];
        result = zepi_list_events_signal(events, own, submit->queue_list, wait_count, waits);
    } else if (result == ZEPI_SUCCESS) {
        result = ZEPI_ZE(zeCommandListAppendBarrier, submit->list, signal, wait_count, waits);
    }
    if (!is_barrier(kind))
        return result;
    if (submit->event)
        atomic_store_explicit(&submit->event->is_awaited, true, memory_order_relaxed);
    for (uint32_t i = 0; i < events->count && result == ZEPI_SUCCESS; i++) {
        if (i != own)
            result = ZEPI_ZE(zeCommandListAppendBarrier, lists[i]->ze, NULL, 1, &signal);
    }
    return result;
}

static zepi_result_t capture_sync(struct zepi_queue *queue, zepi_wait_list_t wait,
                                  zepi_event_t *out_event, enum sync_kind kind)
{
    const struct zepi_captured_command command = {.kind = is_barrier(kind) ? ZEPI_CAPTURED_BARRIER
                                                                           : ZEPI_CAPTURED_MARKER};
    return zepi_capture_command(queue, &command, wait, out_event);
}

static zepi_result_t append_sync(zepi_queue_t queue, zepi_wait_list_t wait, zepi_event_t *out_event,
                                 enum sync_kind kind)
{
    struct zepi_submit submit;
    struct zepi_list_events events = {0};
    struct zepi_event *timed = NULL;
    struct zepi_command_list *lists[ZEPI_QUEUE_MAX_LISTS];
    zepi_result_t result = zepi_check_object(queue, &zepi_queue_type);
    if (result != ZEPI_SUCCESS)
        return result;
    // A marker with a wait list stands for these events alone: one list can do that. All others
    // in a queue of several lists need all of them.
    const bool is_local = !is_barrier(kind) && wait.count > 0;
    const bool takes_time = kind == TIME || kind == TIMED_BARRIER;
    const uint32_t count = zepi_queue_list_lists(queue, lists);
    if (!is_local && count > 1)
        result = zepi_list_events_take(queue, count, &events);
    // The new event may lie where a released one did: handles are looked at before.
    for (uint32_t i = 0; takes_time && wait.events && i < wait.count; i++)
        result =
            result == ZEPI_SUCCESS ? zepi_check_object(wait.events[i], &zepi_event_type) : result;
    if (result == ZEPI_SUCCESS && takes_time)
        result = zepi_event_create_timed_for(queue, &timed);
    if (result == ZEPI_SUCCESS)
        result =
            zepi_submit_begin(&submit, queue, wait, timed ? NULL : out_event, ZEPI_ENGINE_COMPUTE);
    if (result != ZEPI_SUCCESS) {
        zepi_release(timed);
        zepi_list_events_give(&events, zepi_event_slot_give);
        return result == ZEPI_CAPTURED ? capture_sync(queue, wait, out_event, kind) : result;
    }
    if (timed) {
        submit.event = timed;
        submit.signal = timed->ze;
        zepi_event_slot_note_list(timed->slot, submit.queue_list);
    }
    if (events.count > 0)
        result = append_sync_over_lists(&submit, kind, &events, lists);
    else
        result = ZEPI_ZE(zeCommandListAppendBarrier, submit.list, submit.signal, submit.wait_count,
                         submit.waits);
    result = zepi_submit_end(&submit, result, out_event);
    zepi_list_events_give(&events, zepi_event_slot_defer);
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

zepi_result_t zepi_queue_timed_barrier(zepi_queue_t queue, zepi_wait_list_t wait,
                                       zepi_event_t *out_event)
{
    return append_sync(queue, wait, out_event, TIMED_BARRIER);
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
