// SPDX-License-Identifier: MIT
#ifndef ZEPI_QUEUE_RETIRE_H
#define ZEPI_QUEUE_RETIRE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

// Puts off the destruction of modules and kernels until no command can use them any more, at no
// cost for a launch. A queue counts what it was given and what it is known to have completed.
// Something that retires gets the number of its epoch; it goes when each queue of the context is
// empty or has been waited for since. Those who wait for a queue anyway do the destroying; if they
// do not come and what is retired weighs ZEPI_RETIRE_LIMIT, the one who retires sends probes behind
// what the busy queues have to do (probe.h), and does the destroying when they are back. He does
// not wait: the queues may be waiting for him. Only for what weighs the limit by itself he does.

#define ZEPI_RETIRE_LIMIT 4096
#define ZEPI_RETIRE_WEIGHT_EVENT 1
#define ZEPI_RETIRE_WEIGHT_HANDLE 64

struct zepi_queue;

// Something retired. The first member of what it is part of, or found from it by `destroy`.
struct zepi_retired {
    struct zepi_retired *next;
    uint64_t epoch;
    uint32_t weight;                               // one of ZEPI_RETIRE_WEIGHT_...
    void (*destroy)(struct zepi_retired *retired); // frees it, under no lock
};

// A queue, as seen from here.
struct zepi_retire_queue {
    struct zepi_retire_queue *next;
    struct zepi_queue *queue;
    atomic_uint_fast64_t submitted; // commands; written under the queue's mutex
    atomic_uint_fast64_t completed; // of these, known to be complete
    uint64_t synchronized_epoch;    // the last epoch that was over before the queue was waited for
    uint64_t probed_epoch;          // the last epoch for whose sake the queue was probed
    unsigned pins;                  // threads that look at the queue: it stays until they are gone
};

struct zepi_retire {
    pthread_mutex_t mutex;   // guards what is below; nothing is called under it
    pthread_cond_t unpinned; // a queue's last pin went
    struct zepi_retire_queue *queues;
    struct zepi_retired *first; // oldest
    struct zepi_retired *last;
    uint64_t weight;       // of the list
    uint64_t probe_weight; // that makes the next look at the probes due
    uint64_t epoch;
};

void zepi_retire_init(struct zepi_retire *retire);
// Destroys what is left: there are no queues any more.
void zepi_retire_finish(struct zepi_retire *retire);

void zepi_retire_add_queue(struct zepi_retire *retire, struct zepi_retire_queue *entry,
                           struct zepi_queue *queue);
// The queue is empty and will not be used again. Waits for those who look at it, who may send one
// more probe before this returns.
void zepi_retire_remove_queue(struct zepi_retire *retire, struct zepi_retire_queue *entry);

// Destroys `retired` when no command can use it any more: now, or later on any thread.
void zepi_retire_later(struct zepi_retire *retire, struct zepi_retired *retired);

// What a wait for a queue is about to see complete, and that it has: everything submitted before
// the first call is complete at the second.
struct zepi_retire_mark {
    uint64_t submitted;
    uint64_t epoch;
};
struct zepi_retire_mark zepi_retire_begin_wait(struct zepi_retire *retire,
                                               struct zepi_retire_queue *entry);
void zepi_retire_end_wait(struct zepi_retire *retire, struct zepi_retire_queue *entry,
                          struct zepi_retire_mark mark);

// Everything up to command number `number` is complete: seen at the event of an in-order queue.
void zepi_retire_note_complete(struct zepi_retire_queue *entry, uint64_t number);

// Under the queue's mutex: one more command. Returns its number.
static inline uint64_t zepi_retire_count(struct zepi_retire_queue *entry)
{
    // Relaxed: whoever retires something that this command uses has been handed it by this thread.
    const uint64_t number = atomic_load_explicit(&entry->submitted, memory_order_relaxed) + 1;
    atomic_store_explicit(&entry->submitted, number, memory_order_relaxed);
    return number;
}

static inline bool zepi_retire_is_idle(struct zepi_retire_queue *entry)
{
    return atomic_load_explicit(&entry->completed, memory_order_acquire) ==
           atomic_load_explicit(&entry->submitted, memory_order_relaxed);
}

#endif
