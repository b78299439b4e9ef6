// SPDX-License-Identifier: MIT
#include "queue/hold.h"

#include "core/alloc.h"
#include "queue/queue.h"
#include "queue/queue_wait.h"

// How many objects a queue holds before it is asked how far it is.
#define HOLDS_LIMIT 64

struct zepi_held {
    struct zepi_held *next;
    void *object;    // a reference
    uint64_t number; // of the last command that may use it
};

// Releases the objects that are held for commands up to `completed`.
static void release_held_up_to(struct zepi_queue *queue, uint64_t completed)
{
    struct zepi_held *finished = NULL;
    zepi_mutex_lock(&queue->mutex);
    for (struct zepi_held **link = &queue->holds.first; *link;) {
        struct zepi_held *held = *link;
        if (held->number > completed) {
            link = &held->next;
            continue;
        }
        *link = held->next;
        held->next = finished;
        finished = held;
        atomic_fetch_sub_explicit(&queue->holds.count, 1, memory_order_relaxed);
    }
    zepi_mutex_unlock(&queue->mutex);
    while (finished) {
        struct zepi_held *next = finished->next;
        zepi_release(finished->object);
        zepi_free(finished);
        finished = next;
    }
}

void zepi_queue_give_up_holds(struct zepi_queue *queue)
{
    // Relaxed: a thread sees its own holds.
    if (atomic_load_explicit(&queue->holds.count, memory_order_relaxed) == 0)
        return;
    // Acquire: the commands are over.
    release_held_up_to(queue,
                       atomic_load_explicit(&queue->completion->completed, memory_order_acquire));
}

void zepi_queue_finish_holds(struct zepi_queue *queue)
{
    if (queue->holds.first)
        release_held_up_to(queue, UINT64_MAX);
}

void zepi_queue_hold(struct zepi_queue *queue, void *object)
{
    struct zepi_held *held = zepi_allocate(1, sizeof(*held));
    if (!held) {
        zepi_queue_wait(queue);
        return;
    }
    held->object = zepi_retain(object);
    zepi_mutex_lock(&queue->mutex);
    held->number = atomic_load_explicit(&queue->completion->submitted, memory_order_relaxed);
    held->next = queue->holds.first;
    queue->holds.first = held;
    const bool is_due =
        atomic_fetch_add_explicit(&queue->holds.count, 1, memory_order_relaxed) >= HOLDS_LIMIT;
    zepi_mutex_unlock(&queue->mutex);
    if (is_due)
        zepi_queue_look(queue, 0);
    zepi_queue_give_up_holds(queue);
}
