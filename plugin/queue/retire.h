// SPDX-License-Identifier: MIT
#ifndef ZEPI_QUEUE_RETIRE_H
#define ZEPI_QUEUE_RETIRE_H

#include "cache/mutex.h"
#include "core/status.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Deferred free: puts off the destruction of what the host gave up until no command can use it any
// more, at no cost for a launch. A queue counts what it was given and what it is known to have
// completed. What retires gets the number of its epoch; it goes when each queue of the context is
// empty or has been waited for since. A thread that waits for a queue does the destroying. If no
// thread waits and the retired things weigh ZEPI_RETIRE_LIMIT, the thread that retires one more
// looks how far the busy queues are (zepi_queue_look), without waiting: they may wait for it.
// Memory that is needed asks in the same way (zepi_retire_drain).

// Weights are bytes: of memory, what it holds; of other things, with what the driver may keep for
// them, a guess.
#define ZEPI_RETIRE_LIMIT ((uint64_t)32 << 20)
#define ZEPI_RETIRE_WEIGHT_EVENT ((uint64_t)8 << 10)
#define ZEPI_RETIRE_WEIGHT_HANDLE ((uint64_t)512 << 10)

struct zepi_queue;

// Something retired. The first member of what it is part of, or found from it by `destroy`.
struct zepi_retired {
    struct zepi_retired *next;
    uint64_t epoch;
    uint64_t weight;
    bool is_urgent; // it goes before zepi_retire_later returns, which waits for the queues
    void (*destroy)(struct zepi_retired *retired); // frees it, under no lock
};

// How far a queue is. Its memory stays while the context does, so that a thread which found it may
// look without a lock.
struct zepi_retire_queue {
    alignas(64) atomic_uint_fast64_t submitted; // commands; written under the queue's mutex
    atomic_uint_fast64_t completed;             // of these, known to be complete
    // What `submitted` was when the last epoch began, and the epoch since which it has been that:
    // what was allocated since then is used by none of these commands.
    atomic_uint_fast64_t seen_submitted;
    atomic_uint_fast64_t quiet_since;
    // Under the mutex of `retire`.
    struct zepi_queue *queue;    // borrowed; NULL: none
    uint64_t synchronized_epoch; // the last epoch that was over before the queue was waited for
    unsigned pins;               // threads that look at the queue: it stays until they are gone
};

#define ZEPI_RETIRE_SLOTS 32
struct zepi_retire_slots {
    _Atomic uint32_t taken;                   // a bit for each queue
    _Atomic uint32_t used;                    // slots that ever had one: the first ones
    _Atomic(struct zepi_retire_slots *) next; // owned; NULL: no more
    struct zepi_retire_queue queues[ZEPI_RETIRE_SLOTS];
};

struct zepi_retire {
    struct zepi_mutex mutex; // guards what is below; nothing is called under it
    struct zepi_condition
        changed; // a queue's last pin went, or the last thread that destroyed is done
    struct zepi_retired *first; // oldest
    struct zepi_retired *last;
    uint64_t look_weight;        // that makes the next look at the queues due
    unsigned destroying;         // threads that destroy what they took out of the list
    atomic_uint_fast64_t weight; // of the list; written under the mutex, as the next
    atomic_uint_fast64_t epoch;
    struct zepi_retire_slots slots;
};

void zepi_retire_init(struct zepi_retire *retire);
// Destroys what is left: there are no queues any more.
void zepi_retire_finish(struct zepi_retire *retire);

// *out_entry is the queue's until zepi_retire_remove_queue.
zepi_result_t zepi_retire_add_queue(struct zepi_retire *retire, struct zepi_queue *queue,
                                    struct zepi_retire_queue **out_entry);
// The queue will not be used again. Waits for threads that look at it, which may send one more
// probe before this returns, and none after.
void zepi_retire_leave_queue(struct zepi_retire *retire, struct zepi_retire_queue *entry);
// It left, and is empty or cannot be waited for.
void zepi_retire_remove_queue(struct zepi_retire *retire, struct zepi_retire_queue *entry);

// Destroys `retired` when no command can use it any more: now, or later on any thread.
void zepi_retire_later(struct zepi_retire *retire, struct zepi_retired *retired);

// Destroys what no command can use any more, after a look at the busy queues. Waits at most
// `patience_ns` for each of them. False: there was nothing in the list.
bool zepi_retire_drain(struct zepi_retire *retire, uint64_t patience_ns);
// Waits until other threads have destroyed what they took out of the list.
void zepi_retire_settle(struct zepi_retire *retire);

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

// Under the queue's mutex, after it was appended: one more command. Returns its number.
static inline uint64_t zepi_retire_count(struct zepi_retire_queue *entry)
{
    // Relaxed: a thread that retires what this command uses has been handed it by this thread.
    const uint64_t number = atomic_load_explicit(&entry->submitted, memory_order_relaxed) + 1;
    atomic_store_explicit(&entry->submitted, number, memory_order_relaxed);
    return number;
}

static inline bool zepi_retire_is_idle(struct zepi_retire_queue *entry)
{
    const uint64_t submitted = atomic_load_explicit(&entry->submitted, memory_order_relaxed);
    return atomic_load_explicit(&entry->completed, memory_order_acquire) >= submitted;
}

// What memory that is handed out now remembers for zepi_retire_is_unused.
static inline uint64_t zepi_retire_stamp(struct zepi_retire *retire)
{
    // Acquire: the look at the queues with which the epoch began comes before what follows.
    return atomic_load_explicit(&retire->epoch, memory_order_acquire);
}

// Whether no command that was submitted before can use memory with this stamp. No lock.
bool zepi_retire_is_unused(struct zepi_retire *retire, uint64_t stamp);

// Whether every queue is idle, so that the answer is yes without a look at the stamp. False: some
// are busy, or there are too many for a short look.
static inline bool zepi_retire_are_all_idle(struct zepi_retire *retire)
{
    struct zepi_retire_queue *entry = retire->slots.queues;
    // Acquire, twice: a queue that this thread knows of is seen.
    const struct zepi_retire_queue *end =
        entry + atomic_load_explicit(&retire->slots.used, memory_order_acquire);
    if (__builtin_expect(atomic_load_explicit(&retire->slots.next, memory_order_acquire) != NULL,
                         0))
        return false;
    for (; entry < end; entry++) {
        if (!zepi_retire_is_idle(entry))
            return false;
    }
    return true;
}

#endif
