// SPDX-License-Identifier: MIT
#include "queue/probe.h"

#include "device/context.h"
#include "queue/command_list.h"
#include "queue/queue.h"
#include "ze/ze.h"

static_assert(ZEPI_PROBE_EVENTS == ZEPI_QUEUE_LISTS + 1, "a list of a copy engine is one more");

static void give_all(struct zepi_probe *probe, void (*give)(struct zepi_event_slot *))
{
    while (probe->count > 0)
        give(probe->slots[--probe->count]);
}

static bool has_come_back(const struct zepi_probe *probe, uint64_t patience_ns)
{
    for (uint32_t i = 0; i < probe->count; i++) {
        const ze_event_handle_t event = probe->slots[i]->ze;
        const ze_result_t ze = patience_ns > 0 ? zepi_ze.zeEventHostSynchronize(event, patience_ns)
                                               : zepi_ze.zeEventQueryStatus(event);
        if (ze != ZE_RESULT_SUCCESS)
            return false;
    }
    return true;
}

// Gives back the events of a probe that is back, and says how far the queue is.
static void receive(struct zepi_queue *queue, uint64_t patience_ns)
{
    struct zepi_probe *probe = &queue->probe;
    if (probe->count == 0 || !has_come_back(probe, patience_ns))
        return;
    give_all(probe, zepi_event_slot_give);
    zepi_deferred_end_wait(queue->context, queue->completion, probe->mark);
}

static bool take_events(struct zepi_queue *queue, uint32_t count)
{
    struct zepi_probe *probe = &queue->probe;
    while (probe->count < count) {
        if (zepi_event_slot_take(zepi_event_pools_of(queue->context), ZEPI_EVENT_PLAIN,
                                 &probe->slots[probe->count]) != ZEPI_SUCCESS)
            return false;
        probe->count++;
    }
    return true;
}

static void send(struct zepi_queue *queue)
{
    struct zepi_probe *probe = &queue->probe;
    const uint32_t count = queue->list_count + (queue->copy_list != NULL);
    ze_result_t ze = ZE_RESULT_SUCCESS;
    if (!take_events(queue, count)) {
        give_all(probe, zepi_event_slot_give);
        return;
    }
    probe->mark =
        zepi_completion_begin_wait(zepi_completion_points_of(queue->context), queue->completion);
    zepi_mutex_lock(&queue->mutex);
    for (uint32_t i = 0; i < count && ze == ZE_RESULT_SUCCESS; i++) {
        struct zepi_command_list *list = i < queue->list_count ? queue->lists[i] : queue->copy_list;
        zepi_event_slot_note_list(probe->slots[i], list);
        ze = zepi_ze.zeCommandListAppendBarrier(list->ze, probe->slots[i]->ze, 0, NULL);
    }
    // A command like others, counted once it is appended: a queue that goes waits for it, too.
    probe->mark.submitted = zepi_completion_point_count(queue->completion);
    zepi_mutex_unlock(&queue->mutex);
    if (ze != ZE_RESULT_SUCCESS)
        give_all(probe, zepi_event_slot_defer);
}

void zepi_probe_look(struct zepi_queue *queue, uint64_t patience_ns)
{
    struct zepi_probe *probe = &queue->probe;
    struct zepi_error error;
    // Acquire, and release below: the probe as the last thread left it.
    if (atomic_exchange_explicit(&probe->is_in_use, true, memory_order_acquire))
        return;
    zepi_error_save(&error);
    receive(queue, patience_ns);
    if (probe->count == 0 && !zepi_completion_point_is_idle(queue->completion)) {
        send(queue);
        if (patience_ns > 0)
            receive(queue, patience_ns);
    }
    // Whoever releases something does not hear of trouble here.
    zepi_error_restore(&error);
    atomic_store_explicit(&probe->is_in_use, false, memory_order_release);
}

void zepi_probe_finish(struct zepi_queue *queue)
{
    give_all(&queue->probe, zepi_event_slot_give);
}
