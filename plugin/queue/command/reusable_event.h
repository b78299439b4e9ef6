// SPDX-License-Identifier: MIT
#ifndef ZEPI_QUEUE_COMMAND_REUSABLE_EVENT_H
#define ZEPI_QUEUE_COMMAND_REUSABLE_EVENT_H

#include "queue/event.h"

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
