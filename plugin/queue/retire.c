// SPDX-License-Identifier: MIT
#include "queue/retire.h"

#include "queue/queue.h"

#include <stddef.h>

void zepi_retire_init(struct zepi_retire *retire)
{
    pthread_mutex_init(&retire->mutex, NULL);
}

static void destroy_all(struct zepi_retired *first)
{
    while (first) {
        struct zepi_retired *next = first->next;
        first->destroy(first);
        first = next;
    }
}

void zepi_retire_finish(struct zepi_retire *retire)
{
    // Destroying a kernel may retire its module: until nothing is left.
    while (retire->first) {
        struct zepi_retired *first = retire->first;
        retire->first = retire->last = NULL;
        retire->weight = 0;
        destroy_all(first);
    }
    pthread_mutex_destroy(&retire->mutex);
}

void zepi_retire_add_queue(struct zepi_retire *retire, struct zepi_retire_queue *entry,
                           struct zepi_queue *queue)
{
    pthread_mutex_lock(&retire->mutex);
    entry->queue = queue;
    entry->synchronized_epoch = retire->epoch;
    entry->next = retire->queues;
    retire->queues = entry;
    pthread_mutex_unlock(&retire->mutex);
}

// The last epoch of which nothing can be in use.
static uint64_t finished_epoch_locked(const struct zepi_retire *retire)
{
    uint64_t epoch = retire->epoch;
    for (struct zepi_retire_queue *entry = retire->queues; entry; entry = entry->next) {
        if (!zepi_retire_is_idle(entry) && entry->synchronized_epoch < epoch)
            epoch = entry->synchronized_epoch;
    }
    return epoch;
}

// Takes out what may go. They were retired in the order of their epochs.
static struct zepi_retired *take_finished_locked(struct zepi_retire *retire)
{
    const uint64_t epoch = finished_epoch_locked(retire);
    struct zepi_retired *first = retire->first;
    struct zepi_retired *last = NULL;
    for (struct zepi_retired *at = first; at && at->epoch <= epoch; at = at->next) {
        last = at;
        retire->weight -= at->weight;
    }
    if (!last)
        return NULL;
    retire->first = last->next;
    if (!retire->first)
        retire->last = NULL;
    last->next = NULL;
    return first;
}

void zepi_retire_remove_queue(struct zepi_retire *retire, struct zepi_retire_queue *entry)
{
    pthread_mutex_lock(&retire->mutex);
    struct zepi_retire_queue **link = &retire->queues;
    while (*link && *link != entry)
        link = &(*link)->next;
    if (*link)
        *link = entry->next;
    struct zepi_retired *finished = take_finished_locked(retire);
    pthread_mutex_unlock(&retire->mutex);
    destroy_all(finished);
}

// Waits for one busy queue that holds things up. Returns false if there is none.
static bool wait_for_one(struct zepi_retire *retire, uint64_t epoch)
{
    struct zepi_queue *queue = NULL;
    pthread_mutex_lock(&retire->mutex);
    for (struct zepi_retire_queue *entry = retire->queues; entry && !queue; entry = entry->next) {
        // A queue on its way out waits for its commands itself.
        if (!zepi_retire_is_idle(entry) && entry->synchronized_epoch < epoch &&
            zepi_try_retain(entry->queue))
            queue = entry->queue;
    }
    pthread_mutex_unlock(&retire->mutex);
    if (!queue)
        return false;
    const bool is_done = zepi_queue_wait(queue) == ZEPI_SUCCESS;
    zepi_release(queue);
    return is_done;
}

void zepi_retire_later(struct zepi_retire *retire, struct zepi_retired *retired)
{
    pthread_mutex_lock(&retire->mutex);
    const uint64_t epoch = ++retire->epoch;
    retired->epoch = epoch;
    retired->next = NULL;
    if (retire->last)
        retire->last->next = retired;
    else
        retire->first = retired;
    retire->last = retired;
    retire->weight += retired->weight;
    struct zepi_retired *finished = take_finished_locked(retire);
    const bool is_too_long = retire->weight >= ZEPI_RETIRE_LIMIT;
    pthread_mutex_unlock(&retire->mutex);
    destroy_all(finished);
    while (is_too_long && wait_for_one(retire, epoch))
        ;
}

void zepi_retire_note_complete(struct zepi_retire_queue *entry, uint64_t number)
{
    // Never lowered: waits of two threads may overlap.
    uint64_t completed = atomic_load_explicit(&entry->completed, memory_order_relaxed);
    while (completed < number &&
           !atomic_compare_exchange_weak_explicit(&entry->completed, &completed, number,
                                                  memory_order_release, memory_order_relaxed))
        ;
}

struct zepi_retire_mark zepi_retire_begin_wait(struct zepi_retire *retire,
                                               struct zepi_retire_queue *entry)
{
    struct zepi_retire_mark mark;
    pthread_mutex_lock(&retire->mutex);
    mark.epoch = retire->epoch;
    pthread_mutex_unlock(&retire->mutex);
    mark.submitted = atomic_load_explicit(&entry->submitted, memory_order_relaxed);
    return mark;
}

void zepi_retire_end_wait(struct zepi_retire *retire, struct zepi_retire_queue *entry,
                          struct zepi_retire_mark mark)
{
    zepi_retire_note_complete(entry, mark.submitted);
    pthread_mutex_lock(&retire->mutex);
    if (entry->synchronized_epoch < mark.epoch)
        entry->synchronized_epoch = mark.epoch;
    struct zepi_retired *finished = take_finished_locked(retire);
    pthread_mutex_unlock(&retire->mutex);
    destroy_all(finished);
}
