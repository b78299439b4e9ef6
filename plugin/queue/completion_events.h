// SPDX-License-Identifier: MIT
#ifndef ZEPI_QUEUE_COMPLETION_EVENTS_H
#define ZEPI_QUEUE_COMPLETION_EVENTS_H

#include "queue/queue.h"

// Completion events find out how far a queue is without waiting for it: one behind the submitted
// commands of each list, which is looked at later. For queues that no thread waits for, or that
// wait for the host themselves. Any thread.

// Notes it in the completion point if the last completion events are signalled, and appends the
// next ones. Waits at most `patience_ns` for each of the two. An error changes nothing.
void zepi_completion_events_look(struct zepi_queue *queue, uint64_t patience_ns);

// The queue is empty and goes: gives back the events.
void zepi_completion_events_finish(struct zepi_queue *queue);

#endif
