// SPDX-License-Identifier: MIT
#ifndef ZEPI_SYNC_COMPLETION_POINT_H
#define ZEPI_SYNC_COMPLETION_POINT_H

#include "core/mutex.h"
#include "core/status.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// How far the queues of a context are. Each queue registers a completion point: how many commands
// it was given, and how many of these are known to be complete. Layers below queue/ ask the points
// and know no queue. A launch pays for one addition.
//
// A context may have any number of queues: those beyond the first block are looked at only while
// they are listed, which begins with the first command of an idle queue, and ends when a walk along
// the list finds it idle again.
//
// Time is counted in epochs: each deferred free (deferred_free.h) begins one. A queue that is idle,
// or that was waited for since an epoch began, uses nothing that was freed before.

// Finds out how far a queue is and notes it in its point; waits at most `patience_ns` for it.
// Errors are the queue's own affair.
typedef void zepi_completion_look(void *queue, uint64_t patience_ns);

// Its memory stays while the context does, so that a thread which found it may look without a lock.
struct zepi_completion_point {
    alignas(64) atomic_uint_fast64_t submitted; // commands; written under the queue's mutex
    atomic_uint_fast64_t completed;             // of these, known to be complete
    // The value of `submitted` when the last epoch began, and the epoch since which it has not
    // changed: these commands use nothing that was allocated since then.
    atomic_uint_fast64_t seen_submitted;
    atomic_uint_fast64_t quiet_since;
    // Walks find it. Written under the queue's mutex and that of the points; always true in the
    // first block. Every busy point is listed.
    atomic_bool is_listed;
    unsigned pins; // threads that look at the queue: it and its place in the list stay until they
                   // are gone; under the mutex of the points, as all that follow
    void *queue;   // borrowed; NULL: none
    zepi_completion_look *look;
    uint64_t synchronized_epoch; // the last that was over before the queue was waited for, or idle
    // Beyond the first block.
    struct zepi_completion_points *points; // that it is one of
    struct zepi_mutex *queue_mutex;        // borrowed; NULL: there is no queue, or it goes
    struct zepi_completion_point *next;    // in the list, or free
    struct zepi_completion_point *previous;
};

// A moment in the order of a queue: after its commands up to number `number`. It stays one when the
// queue goes: its commands are complete then, and a later queue of the point goes on counting.
struct zepi_completion_moment {
    struct zepi_completion_point *point; // NULL: no queue's
    uint64_t number;
};

#define ZEPI_COMPLETION_POINTS 32 // in a block
struct zepi_completion_block {
    struct zepi_completion_block *next; // owned; NULL: no more
    struct zepi_completion_point points[ZEPI_COMPLETION_POINTS];
};

// Zeroed memory is a context without queues.
struct zepi_completion_points {
    struct zepi_mutex mutex;       // guards the points, and the list of deferred_free.h; nothing is
                                   // called under it
    struct zepi_condition changed; // the last pin of a point went, or as deferred_free.h says
    atomic_uint_fast64_t epoch;    // written under the mutex, as the next two
    atomic_uint listed_count;      // of points beyond the first block
    _Atomic uint32_t used;  // points of the first block that ever had a queue: the first ones
    _Atomic uint32_t taken; // a bit for each point of the first block
    struct zepi_completion_point *listed; // beyond the first block
    struct zepi_completion_point *free;   // there, without a queue
    struct zepi_completion_block first;   // and all others, through `next`
};

// No queue is left.
void zepi_completion_points_finish(struct zepi_completion_points *points);

// *out_point is the queue's until zepi_completion_point_remove. `queue_mutex`: under which its
// commands are counted; borrowed until zepi_completion_point_leave.
zepi_result_t zepi_completion_point_add(struct zepi_completion_points *points, void *queue,
                                        zepi_completion_look *look, struct zepi_mutex *queue_mutex,
                                        struct zepi_completion_point **out_point);
// The queue goes: waits for threads that look at it. None looks after that.
void zepi_completion_point_leave(struct zepi_completion_points *points,
                                 struct zepi_completion_point *point);
// It left, and is empty or cannot be waited for.
void zepi_completion_point_remove(struct zepi_completion_points *points,
                                  struct zepi_completion_point *point);

// A small number of the queue that no other queue of the context has at the same time, or
// ZEPI_NO_QUEUE_NUMBER: the context has many queues.
#define ZEPI_QUEUE_NUMBERS ZEPI_COMPLETION_POINTS
#define ZEPI_NO_QUEUE_NUMBER ZEPI_QUEUE_NUMBERS
uint32_t zepi_completion_point_number(const struct zepi_completion_points *points,
                                      const struct zepi_completion_point *point);

// ---- Of one queue ----

// Under the queue's mutex: walks find the point from now on.
void zepi_completion_point_list(struct zepi_completion_point *point)
    __attribute__((cold, noinline));

// Under the queue's mutex, after it was appended: one more command. Returns its number.
static inline uint64_t zepi_completion_point_count(struct zepi_completion_point *point)
{
    // Relaxed: written under the queue's mutex.
    if (__builtin_expect(!atomic_load_explicit(&point->is_listed, memory_order_relaxed), 0))
        zepi_completion_point_list(point);
    // Relaxed: a thread that frees memory which this command uses has got it from this thread.
    const uint64_t number = atomic_load_explicit(&point->submitted, memory_order_relaxed) + 1;
    atomic_store_explicit(&point->submitted, number, memory_order_relaxed);
    return number;
}

static inline bool zepi_completion_point_is_idle(struct zepi_completion_point *point)
{
    const uint64_t submitted = atomic_load_explicit(&point->submitted, memory_order_relaxed);
    return atomic_load_explicit(&point->completed, memory_order_acquire) >= submitted;
}

// Whether the commands before the moment are known to be complete.
static inline bool zepi_completion_moment_is_over(struct zepi_completion_moment moment)
{
    return !moment.point ||
           atomic_load_explicit(&moment.point->completed, memory_order_acquire) >= moment.number;
}

// Everything up to command number `number` is complete: seen at the event of an in-order queue.
void zepi_completion_point_reach(struct zepi_completion_point *point, uint64_t number);

// A wait for a queue lies between two calls: zepi_completion_begin_wait, and
// zepi_deferred_end_wait of deferred_free.h. All that was submitted before the first call is
// complete at the second.
struct zepi_completion_mark {
    uint64_t submitted;
    uint64_t epoch;
};
struct zepi_completion_mark zepi_completion_begin_wait(struct zepi_completion_points *points,
                                                       struct zepi_completion_point *point);
void zepi_completion_end_wait(struct zepi_completion_points *points,
                              struct zepi_completion_point *point,
                              struct zepi_completion_mark mark);

// ---- Of all queues ----

// Looks at each queue that may use memory freed up to `epoch`; UINT64_MAX: at all that are busy.
// Waits at most `patience_ns` for each, and for none after one that needed longer.
void zepi_completion_look_at_all(struct zepi_completion_points *points, uint64_t epoch,
                                 uint64_t patience_ns);

// The stamp of memory that is handed out now, for zepi_completion_is_unused.
static inline uint64_t zepi_completion_stamp(struct zepi_completion_points *points)
{
    // Acquire: the look at the queues with which the epoch began comes before what follows.
    return atomic_load_explicit(&points->epoch, memory_order_acquire);
}

// Whether no command that was submitted before can use memory with this stamp. No lock unless
// queues beyond the first block are listed.
bool zepi_completion_is_unused(struct zepi_completion_points *points, uint64_t stamp);

// Whether every queue is idle, so that no memory is in use. False: some are busy, or there are too
// many for a short look.
static inline bool zepi_completion_are_all_idle(struct zepi_completion_points *points)
{
    struct zepi_completion_point *point = points->first.points;
    // Acquire, twice: a queue that this thread knows of is seen.
    const struct zepi_completion_point *end =
        point + atomic_load_explicit(&points->used, memory_order_acquire);
    if (__builtin_expect(atomic_load_explicit(&points->listed_count, memory_order_acquire) > 0, 0))
        return false;
    for (; point < end; point++) {
        if (!zepi_completion_point_is_idle(point))
            return false;
    }
    return true;
}

// ---- Epochs, under the mutex, for deferred_free.c ----

// Notes the commands that each queue was given before. Memory that is handed out from now on is of
// this epoch.
uint64_t zepi_completion_begin_epoch_locked(struct zepi_completion_points *points);
// The last epoch of which no command can use anything.
uint64_t zepi_completion_finished_epoch_locked(struct zepi_completion_points *points);
// Whether a queue that does not go may use objects freed up to `epoch`.
bool zepi_completion_is_held_up_locked(struct zepi_completion_points *points, uint64_t epoch);

#endif
