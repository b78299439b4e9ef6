// SPDX-License-Identifier: MIT
#ifndef ZEPI_SYNC_TIMELINE_H
#define ZEPI_SYNC_TIMELINE_H

#include "core/mutex.h"
#include "core/status.h"
#include "device/context.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// How far the command lists of a context are. Each list that a queue has is a timeline: its
// commands have sequence numbers, and `completed` says up to which one all are known to be over.
// Layers below queue/ ask the timelines and know no queue. A command pays for a few instructions.
//
// A context may have any number of lists. Walks look at the timelines that are listed, and take no
// lock. A timeline is listed from the first command of an idle list on; beyond the first block it
// is taken out again when a walk has found it idle.

struct zepi_sync;
struct zepi_deferred;

// Finds out how far the list is and notes it in its timeline; waits at most `timeout_ns` for it,
// UINT64_MAX: until all commands up to now are over. Errors are the owner's own affair.
typedef void zepi_timeline_poll(void *owner, uint64_t timeout_ns);

// Its memory stays while the context does. A list that goes leaves it idle, and the next one goes
// on counting: a point stays what it was.
struct zepi_timeline {
    alignas(64) atomic_uint_fast64_t submitted; // the newest seqno; written under `submit_mutex`
    atomic_uint_fast64_t completed;             // all up to it are over; only grows
    atomic_uint_fast64_t first_deferred; // the seqno that `first` waits for; UINT64_MAX: none
    struct zepi_sync *sync;              // that it is part of
    struct zepi_timeline_block *block;   // and its place there
    uint32_t index;
    // Its bit in the block's `listed`. Written under `submit_mutex`, or without an owner.
    atomic_bool is_listed;
    bool is_ordered; // what completes one command tells of all before it
    // Commands up to `seen_submitted` were submitted before epoch `quiet_since` began. Written
    // under sync->mutex.
    atomic_uint_fast64_t seen_submitted;
    atomic_uint_fast64_t quiet_since;
    // Under sync->mutex, as all that follow.
    struct zepi_deferred *first; // borrowed; in the order of seqnos
    struct zepi_deferred *last;
    unsigned pins; // threads that poll the owner: it stays until they are gone
    void *owner;   // borrowed; NULL: none, or it goes
    zepi_timeline_poll *poll;
    struct zepi_mutex *submit_mutex; // borrowed from the owner
};

// After the commands of a timeline up to `seqno`.
struct zepi_point {
    struct zepi_timeline *timeline; // NULL: reached
    uint64_t seqno;
};

#define ZEPI_TIMELINES 32 // in a block
struct zepi_timeline_block {
    _Atomic(struct zepi_timeline_block *) next; // owned; NULL: no more
    // The next one with timelines that walks look at: of a higher number, also while this one has
    // none.
    _Atomic(struct zepi_timeline_block *) next_listed;
    uint32_t number; // in the order of places
    // A bit for each timeline: those that walks look at, and those that have an owner. The second
    // under sync->mutex.
    _Atomic uint32_t listed;
    uint32_t taken;
    struct zepi_timeline timelines[ZEPI_TIMELINES];
};

// A context's timelines, and the work that waits for them (deferred.h).
struct zepi_sync {
    // Guards the members below. Under it, the mutex of an idle owner is tried; nothing else.
    struct zepi_mutex mutex;
    // The last pin of a timeline went, an owner went, or the last of `running`.
    struct zepi_condition changed;
    atomic_uint_fast64_t epoch; // see zepi_sync_epoch
    // The first block beyond the first one with timelines that walks look at; written under
    // `mutex`.
    _Atomic(struct zepi_timeline_block *) listed;
    struct zepi_timeline_block *vacant; // the last block beyond the first that got a free timeline
    atomic_uint_fast64_t deferred_bytes;
    uint64_t polled_bytes; // of those, when the timelines were last polled for their number
    unsigned running;      // threads that run deferred work
    struct zepi_timeline_block first; // and all others, through `next`
};

void zepi_sync_init(struct zepi_sync *sync);
// No timeline has an owner.
void zepi_sync_finish(struct zepi_sync *sync);

// ---- One timeline ----

// *out_timeline is the owner's until zepi_timeline_remove. `submit_mutex`: under which its commands
// are counted; borrowed until zepi_timeline_leave.
zepi_result_t zepi_timeline_add(struct zepi_sync *sync, void *owner, zepi_timeline_poll *poll,
                                struct zepi_mutex *submit_mutex, bool is_ordered,
                                struct zepi_timeline **out_timeline);
// The owner goes: waits for threads that poll it. None does after that.
void zepi_timeline_leave(struct zepi_timeline *timeline);
// It left, and is idle or cannot be waited for: all its commands count as over.
void zepi_timeline_remove(struct zepi_timeline *timeline);

// Walks find the timeline from now on.
void zepi_timeline_list(struct zepi_timeline *timeline) __attribute__((cold, noinline));
// Runs the deferred work that was waiting for `completed` (deferred.c).
void zepi_timeline_run_deferred(struct zepi_timeline *timeline) __attribute__((cold, noinline));

// Under the owner's mutex, after the append: one more command. A failure counts as one, since part
// of it may have been appended. Returns its number. Relaxed: a thread that frees memory which this
// command uses has got it from this thread.
static inline uint64_t zepi_timeline_submit(struct zepi_timeline *timeline)
{
    if (__builtin_expect(!atomic_load_explicit(&timeline->is_listed, memory_order_relaxed), 0))
        zepi_timeline_list(timeline);
    const uint64_t seqno = atomic_load_explicit(&timeline->submitted, memory_order_relaxed) + 1;
    atomic_store_explicit(&timeline->submitted, seqno, memory_order_relaxed);
    return seqno;
}

// The newest point.
static inline struct zepi_point zepi_timeline_now(struct zepi_timeline *timeline)
{
    return (struct zepi_point){timeline,
                               atomic_load_explicit(&timeline->submitted, memory_order_relaxed)};
}

// All commands up to `seqno` are over: seen at an event of an ordered list, or at a marker. Runs
// the deferred work that was waiting for it. Under no lock.
static inline void zepi_timeline_reach(struct zepi_timeline *timeline, uint64_t seqno)
{
    // Never lowered: waits of two threads may overlap. Sequentially consistent, as in deferred.c:
    // work that is deferred meanwhile is seen here, or sees that the point is reached.
    uint64_t completed = atomic_load_explicit(&timeline->completed, memory_order_relaxed);
    while (completed < seqno &&
           !atomic_compare_exchange_weak(&timeline->completed, &completed, seqno))
        ;
    if (__builtin_expect(atomic_load(&timeline->first_deferred) <= seqno, 0))
        zepi_timeline_run_deferred(timeline);
}

// The one question whether something is over.
static inline bool zepi_point_is_reached(struct zepi_point point)
{
    return !point.timeline ||
           atomic_load_explicit(&point.timeline->completed, memory_order_acquire) >= point.seqno;
}

static inline bool zepi_timeline_is_idle(struct zepi_timeline *timeline)
{
    return zepi_point_is_reached(zepi_timeline_now(timeline));
}

// Whether commands that wait for `known`, on the device or in their list's order, come after
// `point`.
static inline bool zepi_point_covers(struct zepi_point known, struct zepi_point point)
{
    return known.timeline == point.timeline &&
           (known.timeline->is_ordered ? known.seqno >= point.seqno : known.seqno == point.seqno);
}

// ---- All timelines of a context ----

// Memory that is handed out now is of this epoch. Commands that use it are submitted in the same
// epoch or a later one: a list that got none since does not use it. Epochs are
// begun as work is deferred and lists are polled.
static inline uint64_t zepi_sync_epoch(const struct zepi_sync *sync)
{
    // Acquire: what was read of lists before the epoch began comes before what follows.
    return atomic_load_explicit(&sync->epoch, memory_order_acquire);
}

#define ZEPI_NO_OTHERS UINT64_MAX // an epoch that no commands are of

// The newest point of a timeline that may be busy with commands of epoch `since` or later; no
// timeline in it: it is not.
static inline struct zepi_point zepi_timeline_busy_point(struct zepi_timeline *timeline,
                                                         uint64_t since)
{
    const struct zepi_point point = zepi_timeline_now(timeline);
    // Acquire: with this number comes its epoch, or a later one.
    const bool is_unused =
        zepi_point_is_reached(point) ||
        (atomic_load_explicit(&timeline->seen_submitted, memory_order_acquire) == point.seqno &&
         atomic_load_explicit(&timeline->quiet_since, memory_order_relaxed) <= since);
    return is_unused ? (struct zepi_point){NULL, 0} : point;
}

// The first of these points behind `after`, in the order of the timelines' places; NULL: of all.
// Takes no lock.
struct zepi_point zepi_sync_next(struct zepi_sync *sync, const struct zepi_timeline *after,
                                 uint64_t since);
// The first of all. Not under sync->mutex: beyond the first block idle timelines are taken out of
// the walks first.
struct zepi_point zepi_sync_first(struct zepi_sync *sync, uint64_t since);
// Memory that is allocated from now on is not used by commands that were submitted before.
void zepi_sync_begin_epoch_locked(struct zepi_sync *sync);

// Whether every timeline is idle, so that no memory is in use: a short look, mostly.
static inline bool zepi_sync_is_idle(struct zepi_sync *sync)
{
    // Acquire, twice: a timeline that this thread knows of is seen, and one that is not listed any
    // more is known to be idle.
    uint32_t listed = atomic_load_explicit(&sync->first.listed, memory_order_acquire);
    for (; listed; listed &= listed - 1) {
        if (!zepi_timeline_is_idle(&sync->first.timelines[__builtin_ctz(listed)]))
            return false;
    }
    return !atomic_load_explicit(&sync->listed, memory_order_acquire) ||
           !zepi_sync_first(sync, 0).timeline;
}

#endif
