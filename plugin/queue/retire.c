// SPDX-License-Identifier: MIT
#include "queue/retire.h"

#include "queue/probe.h"
#include "queue/queue.h"

#include <stddef.h>

// Between two looks at probes that did not come back.
#define PROBE_STEP (ZEPI_RETIRE_LIMIT / 8)

void zepi_retire_init(struct zepi_retire *retire)
{
    pthread_mutex_init(&retire->mutex, NULL);
    pthread_cond_init(&retire->unpinned, NULL);
    retire->probe_weight = ZEPI_RETIRE_LIMIT;
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
    pthread_cond_destroy(&retire->unpinned);
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
    retire->probe_weight = retire->weight + PROBE_STEP;
    if (retire->probe_weight < ZEPI_RETIRE_LIMIT)
        retire->probe_weight = ZEPI_RETIRE_LIMIT;
    return first;
}

void zepi_retire_remove_queue(struct zepi_retire *retire, struct zepi_retire_queue *entry)
{
    pthread_mutex_lock(&retire->mutex);
    while (entry->pins > 0)
        pthread_cond_wait(&retire->unpinned, &retire->mutex);
    struct zepi_retire_queue **link = &retire->queues;
    while (*link && *link != entry)
        link = &(*link)->next;
    if (*link)
        *link = entry->next;
    struct zepi_retired *finished = take_finished_locked(retire);
    pthread_mutex_unlock(&retire->mutex);
    destroy_all(finished);
}

static void unpin(struct zepi_retire *retire, struct zepi_retire_queue *entry)
{
    pthread_mutex_lock(&retire->mutex);
    if (--entry->pins == 0)
        pthread_cond_broadcast(&retire->unpinned);
    pthread_mutex_unlock(&retire->mutex);
}

// Whether the queue may use what was retired up to `epoch`.
static bool holds_up_locked(struct zepi_retire_queue *entry, uint64_t epoch)
{
    return !zepi_retire_is_idle(entry) && entry->synchronized_epoch < epoch;
}

// Waits for one busy queue that holds things up. Returns false if there is none.
static bool wait_for_one(struct zepi_retire *retire, uint64_t epoch)
{
    pthread_mutex_lock(&retire->mutex);
    struct zepi_retire_queue *entry = retire->queues;
    while (entry && !holds_up_locked(entry, epoch))
        entry = entry->next;
    if (entry)
        entry->pins++;
    pthread_mutex_unlock(&retire->mutex);
    if (!entry)
        return false;
    const bool is_done = zepi_queue_wait(entry->queue) == ZEPI_SUCCESS;
    unpin(retire, entry);
    return is_done;
}

// Looks after one busy queue that holds things up, each once. Returns false if there is no more.
static bool probe_one(struct zepi_retire *retire, uint64_t epoch)
{
    pthread_mutex_lock(&retire->mutex);
    struct zepi_retire_queue *entry = retire->queues;
    while (entry && (entry->probed_epoch >= epoch || !holds_up_locked(entry, epoch)))
        entry = entry->next;
    if (entry) {
        entry->probed_epoch = epoch;
        entry->pins++;
    }
    pthread_mutex_unlock(&retire->mutex);
    if (!entry)
        return false;
    zepi_probe_look(entry->queue);
    unpin(retire, entry);
    return true;
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
    const bool is_urgent = retired->weight >= ZEPI_RETIRE_LIMIT;
    struct zepi_retired *finished = take_finished_locked(retire);
    const bool is_due = retire->weight >= retire->probe_weight;
    if (is_due)
        retire->probe_weight = retire->weight + PROBE_STEP;
    pthread_mutex_unlock(&retire->mutex);
    destroy_all(finished);
    while (is_urgent && wait_for_one(retire, epoch))
        ;
    while (is_due && probe_one(retire, epoch))
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
