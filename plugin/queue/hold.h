// SPDX-License-Identifier: MIT
#ifndef ZEPI_QUEUE_HOLD_H
#define ZEPI_QUEUE_HOLD_H

#include "queue/queue.h"

// Objects of another context that commands of a queue use: events in wait lists, memory. Their own
// context does not know these commands; so the queue keeps a reference until they are complete.

// Keeps `object` until the commands that were submitted to the queue up to now are complete.
// Without memory it waits for them. Under no lock.
void zepi_queue_hold(struct zepi_queue *queue, void *object);

// Gives up objects that are held for commands that are known to be complete. Under no lock, by a
// thread that has a reference to the queue.
void zepi_queue_give_up_holds(struct zepi_queue *queue);

// The queue is empty and goes.
void zepi_queue_finish_holds(struct zepi_queue *queue);

#endif
