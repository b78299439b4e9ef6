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

void zepi_list_events_give(struct zepi_list_events *events, void (*give)(struct zepi_event_slot *))
{
    for (uint32_t i = 0; i < events->count; i++)
        give(events->slots[i]);
}

zepi_result_t zepi_list_events_signal(struct zepi_list_events *events, uint32_t i,
                                      struct zepi_command_list *list, uint32_t wait_count,
                                      ze_event_handle_t *waits)
{
    zepi_event_slot_note_list(events->slots[i], list);
    return ZEPI_ZE(zeCommandListAppendBarrier, list->ze, events->handles[i], wait_count, waits);
}
