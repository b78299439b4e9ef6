// SPDX-License-Identifier: MIT
#ifndef ZEPI_QUEUE_COMMAND_BARRIER_H
#define ZEPI_QUEUE_COMMAND_BARRIER_H

#include "queue/queue.h"

// Commands that order others and do nothing. Any thread.

// Once the wait list is complete, or everything before if that is empty; a barrier also holds up
// all later commands.
zepi_result_t zepi_queue_barrier(zepi_queue_t queue, zepi_wait_list_t wait,
                                 zepi_event_t *out_event);
zepi_result_t zepi_queue_marker(zepi_queue_t queue, zepi_wait_list_t wait, zepi_event_t *out_event);
// Of one list: behind the barriers before it, and once the wait list is complete, whatever other
// lists have to do. ZEPI_CAPTURED: the queue captures.
zepi_result_t zepi_queue_local_marker(zepi_queue_t queue, zepi_wait_list_t wait,
                                      zepi_event_t *out_event);

// A marker whose event has times in queues without profiling, too.
zepi_result_t zepi_queue_record_time(zepi_queue_t queue, zepi_wait_list_t wait,
                                     zepi_event_t *out_event);
// ---- Reusable events ----

// Events that the host makes, and that commands of any queue of the context's signal as often as it
// likes. Each signal is a command with an event of its own; the reusable event stands for that of
// the last one. A wait, of the host or of a command, is for the signal that was the last when it
// was asked for; later signals do not change it.

enum zepi_reusable_event_times {
    ZEPI_REUSABLE_EVENT_TIMES_OF_QUEUE, // signals of queues with profiling have times
    ZEPI_REUSABLE_EVENT_TIMES,          // all have
};

// Complete until it is first signalled. `context` has been checked.
zepi_result_t zepi_reusable_event_create(struct zepi_context *context,
                                         enum zepi_reusable_event_times times,
                                         zepi_event_t *out_event);

// A barrier of the queue that signals the event. Both have been checked, and are of one context. If
// the wait list has the event, the barrier waits for the signal before. A failure leaves the event
// as it was. In a queue in capture mode the signal is captured: commands of the capture wait for
// it, the host cannot.
zepi_result_t zepi_queue_signal(struct zepi_queue *queue, zepi_wait_list_t wait,
                                struct zepi_event *event);

#endif
