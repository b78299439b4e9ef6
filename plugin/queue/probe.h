// SPDX-License-Identifier: MIT
#ifndef ZEPI_QUEUE_PROBE_H
#define ZEPI_QUEUE_PROBE_H

#include "queue/queue.h"

// Finds out how far a queue is without waiting for it: an event behind what was submitted, which is
// looked at later. For queues that no thread waits for, or that wait for the host themselves.

// Notes it in the completion point if the last probe has come back, and sends the next one. Waits
// at most `patience_ns` for each of the two. An error leaves things as they are.
void zepi_probe_look(struct zepi_queue *queue, uint64_t patience_ns);

// The queue is empty and goes: gives back the events.
void zepi_probe_finish(struct zepi_queue *queue);

#endif
