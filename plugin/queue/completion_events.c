// SPDX-License-Identifier: MIT
#include "queue/completion_events.h"

#include "device/context.h"
#include "queue/command_list.h"
#include "queue/queue.h"
#include "ze/ze.h"

static_assert(ZEPI_COMPLETION_EVENTS == ZEPI_QUEUE_LISTS + 1,
              "a list of a copy engine is one more");

static void completion_events_give_all(struct zepi_completion_events *events,
                                       void (*give)(struct zepi_event_slot *))
{
    while (events->count > 0)
        give(events->slots[--events->count]);
}

static bool completion_events_are_signalled(const struct zepi_completion_events *events,
                                            uint64_t patience_ns)
{
    for (uint32_t i = 0; i < events->count; i++) {
        const ze_event_handle_t event = events->slots[i]->ze;
        const ze_result_t ze = patience_ns > 0 ? zepi_ze.zeEventHostSynchronize(event, patience_ns)
                                               : zepi_ze.zeEventQueryStatus(event);
        if (ze != ZE_RESULT_SUCCESS)
            return false;
    }
    return true;
}

// Gives back the events if they are signalled, and notes how far the queue is.
static void completion_events_note_signalled(struct zepi_queue *queue, uint64_t patience_ns)
{
    struct zepi_completion_events *events = &queue->completion_events;
    if (events->count == 0 || !completion_events_are_signalled(events, patience_ns))
        return;
    completion_events_give_all(events, zepi_event_slot_give);
    zepi_deferred_end_wait(queue->context, queue->completion, events->mark);
}

static bool completion_events_take(struct zepi_queue *queue, uint32_t count)
{
    struct zepi_completion_events *events = &queue->completion_events;
    while (events->count < count) {
        if (zepi_event_slot_take(zepi_event_pools_of(queue->context), ZEPI_EVENT_PLAIN,
                                 &events->slots[events->count]) != ZEPI_SUCCESS)
            return false;
        events->count++;
    }
    return true;
}

static void append_completion_events(struct zepi_queue *queue)
{
    struct zepi_completion_events *events = &queue->completion_events;
    const uint32_t count = queue->list_count + (queue->copy_list != NULL);
    ze_result_t ze = ZE_RESULT_SUCCESS;
    if (!completion_events_take(queue, count)) {
        completion_events_give_all(events, zepi_event_slot_give);
        return;
    }
    events->mark =
        zepi_completion_begin_wait(zepi_completion_points_of(queue->context), queue->completion);
    zepi_mutex_lock(&queue->mutex);
    for (uint32_t i = 0; i < count && ze == ZE_RESULT_SUCCESS; i++) {
        struct zepi_command_list *list = i < queue->list_count ? queue->lists[i] : queue->copy_list;
        zepi_event_slot_note_list(events->slots[i], list);
        ze = zepi_ze.zeCommandListAppendBarrier(list->ze, events->slots[i]->ze, 0, NULL);
    }
    // A command like others, counted once it is appended: a queue that goes waits for it, too.
    events->mark.submitted = zepi_completion_point_count(queue->completion);
    zepi_mutex_unlock(&queue->mutex);
    if (ze != ZE_RESULT_SUCCESS)
        completion_events_give_all(events, zepi_event_slot_defer);
}

void zepi_completion_events_look(struct zepi_queue *queue, uint64_t patience_ns)
{
    struct zepi_completion_events *events = &queue->completion_events;
    struct zepi_error error;
    // Acquire, and release below: the events as the last thread left them.
    if (atomic_exchange_explicit(&events->is_in_use, true, memory_order_acquire))
        return;
    zepi_error_save(&error);
    completion_events_note_signalled(queue, patience_ns);
    if (events->count == 0 && !zepi_completion_point_is_idle(queue->completion)) {
        append_completion_events(queue);
        if (patience_ns > 0)
            completion_events_note_signalled(queue, patience_ns);
    }
    // A release reports no error of this.
    zepi_error_restore(&error);
    atomic_store_explicit(&events->is_in_use, false, memory_order_release);
}

void zepi_completion_events_finish(struct zepi_queue *queue)
{
    completion_events_give_all(&queue->completion_events, zepi_event_slot_give);
}
