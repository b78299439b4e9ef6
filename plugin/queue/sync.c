// SPDX-License-Identifier: MIT
// Waiting for a queue, barriers and markers.
#include "device/context.h"
#include "device/device.h"
#include "device/platform.h"
#include "queue/capture_command.h"
#include "queue/command_list.h"
#include "queue/completion_events.h"
#include "queue/hold.h"
#include "queue/queue.h"
#include "queue/submit.h"
#include "ze/ze.h"

#define MAX_LISTS (ZEPI_QUEUE_LISTS + 1)

// For a wait: how long a list whose commands are complete may take to say so.
#define LAST_PATIENCE_NS 100000000

// All lists of the queue, that of the copy engine too. Returns how many.
static uint32_t list_used_lists(const struct zepi_queue *queue,
                                struct zepi_command_list *out_lists[MAX_LISTS])
{
    uint32_t count = 0;
    for (; count < queue->list_count; count++)
        out_lists[count] = queue->lists[count];
    if (queue->copy_list)
        out_lists[count++] = queue->copy_list;
    return count;
}

// One event of our own for each list.
struct list_events {
    uint32_t count;
    struct zepi_event_slot *slots[MAX_LISTS];
    ze_event_handle_t handles[MAX_LISTS];
};

static zepi_result_t take_list_events(struct zepi_queue *queue, uint32_t count,
                                      struct list_events *events)
{
    events->count = 0;
    while (events->count < count) {
        const uint32_t i = events->count;
        const zepi_result_t result = zepi_event_slot_take(zepi_event_pools_of(queue->context),
                                                          ZEPI_EVENT_PLAIN, &events->slots[i]);
        if (result != ZEPI_SUCCESS)
            return result;
        events->handles[i] = events->slots[i]->ze;
        events->count++;
    }
    return ZEPI_SUCCESS;
}

static void give_list_events(struct list_events *events, void (*give)(struct zepi_event_slot *))
{
    for (uint32_t i = 0; i < events->count; i++)
        give(events->slots[i]);
}

// Has the list signal its event once the others are.
static zepi_result_t signal_list_event(struct list_events *events, uint32_t i,
                                       struct zepi_command_list *list, uint32_t wait_count,
                                       ze_event_handle_t *waits)
{
    zepi_event_slot_note_list(events->slots[i], list);
    return ZEPI_ZE(zeCommandListAppendBarrier, list->ze, events->handles[i], wait_count, waits);
}

// For all other lists: an event after everything in each, then waits for these.
static zepi_result_t wait_by_events(struct zepi_queue *queue)
{
    struct list_events events;
    struct zepi_command_list *lists[MAX_LISTS];
    const uint32_t count = list_used_lists(queue, lists);
    zepi_result_t result = take_list_events(queue, count, &events);
    if (result != ZEPI_SUCCESS) {
        give_list_events(&events, zepi_event_slot_give);
        return result;
    }
    zepi_mutex_lock(&queue->mutex);
    for (uint32_t i = 0; i < count && result == ZEPI_SUCCESS; i++)
        result = signal_list_event(&events, i, lists[i], 0, NULL);
    zepi_mutex_unlock(&queue->mutex);
    for (uint32_t i = 0; i < count && result == ZEPI_SUCCESS; i++)
        result = ZEPI_ZE(zeEventHostSynchronize, events.handles[i], UINT64_MAX);
    give_list_events(&events,
                     result == ZEPI_SUCCESS ? zepi_event_slot_give : zepi_event_slot_defer);
    return result;
}

static ze_result_t synchronize_list(const struct zepi_ze_optional *optional,
                                    const struct zepi_command_list *list, uint64_t timeout_ns)
{
    return optional->command_list_host_synchronize(
        optional->is_synchronize_drivers ? list->driver_ze : list->ze, timeout_ns);
}

// For lists without order.
static zepi_result_t wait_by_lists(struct zepi_queue *queue,
                                   const struct zepi_ze_optional *optional)
{
    struct zepi_command_list *lists[MAX_LISTS];
    const uint32_t count = list_used_lists(queue, lists);
    zepi_result_t result = ZEPI_SUCCESS;
    for (uint32_t i = 0; i < count && result == ZEPI_SUCCESS; i++)
        result = zepi_check_ze(synchronize_list(optional, lists[i], UINT64_MAX),
                               "zeCommandListHostSynchronize");
    return result;
}

// For in-order lists with events of the counter. The driver can wait for such a list, but under the
// mutex alone, as in query_lists_are_empty, which would keep other threads from submitting. Instead
// each list says how far its counter has to come, in an event, which is no command for the driver.
static zepi_result_t wait_by_counters(struct zepi_queue *queue)
{
    struct zepi_command_list *lists[MAX_LISTS];
    const uint32_t count = list_used_lists(queue, lists);
    zepi_result_t result = ZEPI_SUCCESS;
    zepi_mutex_lock(&queue->wait_mutex);
    zepi_mutex_lock(&queue->mutex);
    for (uint32_t i = 0; i < count && result == ZEPI_SUCCESS; i++)
        result =
            ZEPI_ZE(zeCommandListAppendBarrier, lists[i]->ze, lists[i]->wait_event->ze, 0, NULL);
    zepi_mutex_unlock(&queue->mutex);
    for (uint32_t i = 0; i < count && result == ZEPI_SUCCESS; i++)
        result = ZEPI_ZE(zeEventHostSynchronize, lists[i]->wait_event->ze, UINT64_MAX);
    zepi_mutex_unlock(&queue->wait_mutex);
    return result;
}

static bool are_lists_without_order(const struct zepi_queue *queue)
{
    const struct zepi_command_list *list = queue->lists[0];
    // A list of the host's does not tell.
    return !(list->kind.flags & ZEPI_ZE_COMMAND_QUEUE_FLAG_IN_ORDER) &&
           !atomic_load_explicit(&list->is_exported, memory_order_relaxed);
}

zepi_result_t zepi_queue_wait_for_commands(struct zepi_queue *queue)
{
    const struct zepi_ze_optional *optional = &queue->device->platform->optional;
    struct zepi_context *context = queue->context;
    zepi_result_t result;
    if (zepi_completion_point_is_idle(queue->completion))
        return ZEPI_SUCCESS;
    const struct zepi_completion_mark mark =
        zepi_completion_begin_wait(zepi_completion_points_of(context), queue->completion);
    if (queue->lists[0]->wait_event)
        result = wait_by_counters(queue);
    else if (optional->command_list_host_synchronize && are_lists_without_order(queue))
        result = wait_by_lists(queue, optional);
    else
        result = wait_by_events(queue);
    if (result == ZEPI_SUCCESS)
        zepi_deferred_end_wait(context, queue->completion, mark);
    return result;
}

// Under the mutex: while another thread appends to an in-order list, Intel's driver may take the
// command for complete that is being appended, and waits for its event end at once. Lists whose
// commands are complete have `last_patience_ns` each to say so.
static zepi_result_t query_lists_are_empty(struct zepi_queue *queue,
                                           const struct zepi_ze_optional *optional,
                                           uint64_t last_patience_ns, bool *out_is_empty)
{
    struct zepi_command_list *lists[MAX_LISTS];
    const uint32_t count = list_used_lists(queue, lists);
    ze_result_t ze = ZE_RESULT_SUCCESS;
    zepi_mutex_lock(&queue->mutex);
    const uint64_t patience_ns =
        zepi_completion_point_is_idle(queue->completion) ? last_patience_ns : 0;
    for (uint32_t i = 0; i < count && ze == ZE_RESULT_SUCCESS; i++)
        ze = synchronize_list(optional, lists[i], patience_ns);
    *out_is_empty = ze == ZE_RESULT_SUCCESS;
    if (*out_is_empty)
        atomic_store_explicit(
            &queue->synchronized,
            atomic_load_explicit(&queue->completion->submitted, memory_order_relaxed),
            memory_order_relaxed);
    zepi_mutex_unlock(&queue->mutex);
    return ze == ZE_RESULT_NOT_READY ? ZEPI_SUCCESS
                                     : zepi_check_ze(ze, "zeCommandListHostSynchronize");
}

zepi_result_t zepi_queue_wait(struct zepi_queue *queue)
{
    const struct zepi_ze_optional *optional = &queue->device->platform->optional;
    bool is_empty;
    const zepi_result_t result = zepi_queue_wait_for_commands(queue);
    if (result != ZEPI_SUCCESS || !optional->command_list_host_synchronize ||
        atomic_load_explicit(&queue->synchronized, memory_order_relaxed) ==
            atomic_load_explicit(&queue->completion->submitted, memory_order_relaxed))
        return result;
    return query_lists_are_empty(queue, optional, LAST_PATIENCE_NS, &is_empty);
}

// Notes it if everything submitted before is complete. The driver can wait for a list.
static zepi_result_t query_queue_is_idle(struct zepi_queue *queue,
                                         const struct zepi_ze_optional *optional)
{
    struct zepi_context *context = queue->context;
    const struct zepi_completion_mark mark =
        zepi_completion_begin_wait(zepi_completion_points_of(context), queue->completion);
    bool is_empty;
    const zepi_result_t result = query_lists_are_empty(queue, optional, 0, &is_empty);
    if (result == ZEPI_SUCCESS && is_empty)
        zepi_deferred_end_wait(context, queue->completion, mark);
    return result;
}

zepi_result_t zepi_queue_ask_empty(struct zepi_queue *queue, bool *out_is_empty)
{
    const struct zepi_ze_optional *optional = &queue->device->platform->optional;
    zepi_result_t result = ZEPI_SUCCESS;
    if (zepi_completion_point_is_idle(queue->completion) ||
        !optional->command_list_host_synchronize)
        // Looks at the last completion events, and appends others if there are none.
        zepi_completion_events_look(queue, 0);
    else
        result = query_queue_is_idle(queue, optional);
    if (result == ZEPI_SUCCESS)
        *out_is_empty = zepi_completion_point_is_idle(queue->completion);
    return result;
}

void zepi_queue_look(struct zepi_queue *queue, uint64_t patience_ns)
{
    const struct zepi_ze_optional *optional = &queue->device->platform->optional;
    struct zepi_error error;
    zepi_error_save(&error);
    if (patience_ns == UINT64_MAX)
        zepi_queue_wait(queue);
    else if (optional->command_list_host_synchronize)
        query_queue_is_idle(queue, optional);
    zepi_error_restore(&error);
    // Of a queue that never runs dry, too.
    if (patience_ns < UINT64_MAX && !zepi_completion_point_is_idle(queue->completion))
        zepi_completion_events_look(queue, patience_ns);
}

zepi_result_t zepi_queue_finish(zepi_queue_t queue)
{
    const zepi_result_t result = zepi_check_object(queue, &zepi_queue_type);
    if (result != ZEPI_SUCCESS)
        return result;
    if (zepi_queue_is_capturing(queue))
        return zepi_fail(ZEPI_ERROR_CAPTURE_UNSUPPORTED,
                         "the queue is in capture mode: there is nothing to wait for");
    const zepi_result_t waited = zepi_queue_wait(queue);
    zepi_queue_give_up_holds(queue);
    return waited;
}

// Everything before, in every list, then everything after: each list signals an event of its own.
// The first list waits for these; the others wait for the barrier's event, so that no host sees a
// command after the barrier complete before the barrier is, or, if no event is wanted, as the
// first.
static zepi_result_t append_barrier_over_lists(struct zepi_submit *submit,
                                               struct list_events *events,
                                               struct zepi_command_list **lists)
{
    ze_event_handle_t *all = events->handles;
    zepi_result_t result = ZEPI_SUCCESS;
    for (uint32_t i = 0; i < events->count && result == ZEPI_SUCCESS; i++)
        result = signal_list_event(events, i, lists[i], submit->wait_count, submit->waits);
    // The list that signals first, the others after it.
    if (result == ZEPI_SUCCESS)
        result =
            ZEPI_ZE(zeCommandListAppendBarrier, submit->list, submit->signal, events->count, all);
    if (submit->event)
        atomic_store_explicit(&submit->event->is_awaited, true, memory_order_relaxed);
    for (uint32_t i = 0; i < events->count && result == ZEPI_SUCCESS; i++) {
        if (lists[i] == submit->queue_list)
            continue;
        result = submit->signal
                     ? ZEPI_ZE(zeCommandListAppendBarrier, lists[i]->ze, NULL, 1, &submit->signal)
                     : ZEPI_ZE(zeCommandListAppendBarrier, lists[i]->ze, NULL, events->count, all);
    }
    return result;
}

enum sync_kind { BARRIER, MARKER, TIME };

static zepi_result_t capture_sync(struct zepi_queue *queue, zepi_wait_list_t wait,
                                  zepi_event_t *out_event, enum sync_kind kind)
{
    const struct zepi_captured_command command = {.kind = kind == BARRIER ? ZEPI_CAPTURED_BARRIER
                                                                          : ZEPI_CAPTURED_MARKER};
    return zepi_capture_command(queue, &command, wait, out_event);
}

static zepi_result_t append_sync(zepi_queue_t queue, zepi_wait_list_t wait, zepi_event_t *out_event,
                                 enum sync_kind kind)
{
    struct zepi_submit submit;
    struct list_events events = {0};
    struct zepi_event *timed = NULL;
    struct zepi_command_list *lists[MAX_LISTS];
    zepi_result_t result = zepi_check_object(queue, &zepi_queue_type);
    if (result != ZEPI_SUCCESS)
        return result;
    // A marker with a wait list stands for these events alone: one list can do that. All others
    // in a queue of several lists need all of them.
    const bool is_local = kind != BARRIER && wait.count > 0;
    const uint32_t count = list_used_lists(queue, lists);
    if (!is_local && count > 1)
        result = take_list_events(queue, count, &events);
    // The new event may lie where a released one did: handles are looked at before.
    for (uint32_t i = 0; kind == TIME && wait.events && i < wait.count; i++)
        result =
            result == ZEPI_SUCCESS ? zepi_check_object(wait.events[i], &zepi_event_type) : result;
    if (result == ZEPI_SUCCESS && kind == TIME)
        result = zepi_event_create_timed_for(queue, &timed);
    if (result == ZEPI_SUCCESS)
        result =
            zepi_submit_begin(&submit, queue, wait, timed ? NULL : out_event, ZEPI_ENGINE_COMPUTE);
    if (result != ZEPI_SUCCESS) {
        zepi_release(timed);
        give_list_events(&events, zepi_event_slot_give);
        return result == ZEPI_CAPTURED ? capture_sync(queue, wait, out_event, kind) : result;
    }
    if (timed) {
        submit.event = timed;
        submit.signal = timed->ze;
        zepi_event_slot_note_list(timed->slot, submit.queue_list);
    }
    if (events.count > 0)
        result = append_barrier_over_lists(&submit, &events, lists);
    else
        result = ZEPI_ZE(zeCommandListAppendBarrier, submit.list, submit.signal, submit.wait_count,
                         submit.waits);
    result = zepi_submit_end(&submit, result, out_event);
    give_list_events(&events, zepi_event_slot_defer);
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
