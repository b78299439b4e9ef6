// SPDX-License-Identifier: MIT
#ifndef ZEPI_QUEUE_LIST_EVENTS_H
#define ZEPI_QUEUE_LIST_EVENTS_H

#include "queue/command_list.h"
#include "queue/queue.h"

// Events that say how far each list of a queue is.

#define ZEPI_QUEUE_MAX_LISTS (ZEPI_QUEUE_LISTS + 1)

// All lists of the queue, that of the copy engine too. Returns how many.
uint32_t zepi_queue_list_lists(const struct zepi_queue *queue,
                               struct zepi_command_list *out_lists[ZEPI_QUEUE_MAX_LISTS]);

// One event of our own for each list. On the stack of the call that takes them. Lists with events
// of the counter lend theirs (`barrier_event`), and have no slot here.
struct zepi_list_events {
    uint32_t count;
    struct zepi_event_slot *slots[ZEPI_QUEUE_MAX_LISTS];
    ze_event_handle_t handles[ZEPI_QUEUE_MAX_LISTS];
};

// An error leaves those that were taken, to be given back. Those that lists lend are used under the
// queue's mutex alone.
zepi_result_t zepi_list_events_take(struct zepi_queue *queue, uint32_t count,
                                    struct zepi_list_events *events);
// Those that no list was to signal are given back at once.
void zepi_list_events_give(struct zepi_list_events *events, void (*give)(struct zepi_event_slot *));

// Under the queue's mutex: has the list signal event `i` once the others are signalled.
zepi_result_t zepi_list_events_signal(struct zepi_list_events *events, uint32_t i,
                                      struct zepi_command_list *list, uint32_t wait_count,
                                      ze_event_handle_t *waits);

#endif
