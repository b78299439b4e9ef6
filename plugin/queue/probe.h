// SPDX-License-Identifier: MIT
#ifndef ZEPI_QUEUE_PROBE_H
#define ZEPI_QUEUE_PROBE_H

#include "sync/deferred_free.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct zepi_event_slot;
struct zepi_queue;

// Finds out how far a queue is without waiting for it: an event behind what was submitted, which is
// looked at later. For queues that no thread waits for, or that wait for the host themselves.

#define ZEPI_PROBE_EVENTS 3 // one for each list of a queue

struct zepi_probe {
    atomic_bool is_in_use; // by a thread, which owns what is below
    uint32_t count;        // of events; 0: none is on its way
    struct zepi_event_slot *slots[ZEPI_PROBE_EVENTS];
    struct zepi_completion_mark mark; // what will be complete when they are
};

// Notes it in the completion point if the last probe has come back, and sends the next one. Waits
// at most `patience_ns` for each of the two. An error leaves things as they are.
void zepi_probe_look(struct zepi_queue *queue, uint64_t patience_ns);

// The queue is empty and goes: gives back the events.
void zepi_probe_finish(struct zepi_queue *queue);

#endif
