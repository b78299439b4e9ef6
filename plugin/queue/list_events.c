// SPDX-License-Identifier: MIT
#include "queue/list_events.h"

#include "device/context.h"
#include "ze/ze.h"

uint32_t zepi_queue_list_lists(const struct zepi_queue *queue,
                               struct zepi_command_list *out_lists[ZEPI_QUEUE_MAX_LISTS])
{
    uint32_t count = 0;
    for (; count < queue->list_count; count++)
        out_lists[count] = queue->lists[count];
    if (queue->copy_list)
        out_lists[count++] = queue->copy_list;
    return count;
}

zepi_result_t zepi_list_events_take(struct zepi_queue *queue, uint32_t count,
                                    struct zepi_list_events *events)
{
    struct zepi_command_list *lists[ZEPI_QUEUE_MAX_LISTS];
    zepi_queue_list_lists(queue, lists);
    events->count = 0;
    while (events->count < count) {
        const uint32_t i = events->count;
        events->slots[i] = NULL;
        const zepi_result_t result =
            lists[i]->wait_event ? zepi_command_list_need_barrier_event(lists[i])
                                 : zepi_event_slot_take(zepi_event_pools_of(queue->context),
                                                        ZEPI_EVENT_PLAIN, &events->slots[i]);
        if (result != ZEPI_SUCCESS)
            return result;
        const struct zepi_event_slot *slot =
            events->slots[i] ? events->slots[i]
                             : atomic_load_explicit(&lists[i]->barrier_event, memory_order_acquire);
        events->handles[i] = slot->ze;
        events->count++;
    }
    return ZEPI_SUCCESS;
}

void zepi_list_events_give(struct zepi_list_events *events, void (*give)(struct zepi_event_slot *))
{
    for (uint32_t i = 0; i < events->count; i++) {
        struct zepi_event_slot *slot = events->slots[i];
        if (slot && slot->list)
            give(slot);
        else if (slot)
            zepi_event_slot_give(slot);
    }
}

zepi_result_t zepi_list_events_signal(struct zepi_list_events *events, uint32_t i,
                                      struct zepi_command_list *list, uint32_t wait_count,
                                      ze_event_handle_t *waits)
{
    if (events->slots[i])
        zepi_event_slot_note_list(events->slots[i], list);
    return ZEPI_ZE(zeCommandListAppendBarrier, list->ze, events->handles[i], wait_count, waits);
}
