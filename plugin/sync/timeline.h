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
// A context may have any number of lists: timelines beyond the first block are looked at only while
// they are listed, which begins with the first command of an idle list, and ends when a walk finds
// it idle again.

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
    // Walks find it, since its first command or the end of an idle time (beyond the first block).
    // Written under `submit_mutex` and sync->mutex.
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
    struct zepi_timeline *next;      // listed ones, or free ones
    struct zepi_timeline *previous;
};

// After the commands of a timeline up to `seqno`.
struct zepi_point {
    struct zepi_timeline *timeline; // NULL: reached
    uint64_t seqno;
};

#define ZEPI_TIMELINES 32 // in a block
struct zepi_timeline_block {
    struct zepi_timeline_block *next; // owned; NULL: no more
    struct zepi_timeline timelines[ZEPI_TIMELINES];
};

// A context's timelines, and the work that waits for them (deferred.h).
struct zepi_sync {
    struct zepi_mutex mutex; // guards the members below; nothing is called under it, and the mutex
                             // of an idle owner is tried
    // The last pin of a timeline went, an owner went, or the last of `running`.
    struct zepi_condition changed;
    atomic_uint_fast64_t epoch; // see zepi_sync_epoch
    atomic_uint listed_count;   // of timelines beyond the first block
    _Atomic uint32_t used; // timelines of the first block that were ever listed: the first ones
    uint32_t taken;        // a bit for each that has an owner
    struct zepi_timeline *listed; // beyond the first block
    struct zepi_timeline *free;   // there, without an owner
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

// Under the owner's mutex: walks find the timeline from now on.
void zepi_timeline_list(struct zepi_timeline *timeline) __attribute__((cold, noinline));
// Runs the deferred work that was waiting for `completed` (deferred.c).
void zepi_timeline_run_deferred(struct zepi_timeline *timeline) __attribute__((cold, noinline));

// Under the owner's mutex, after it was appended, and if that failed, too: one more command.
// Returns its number. Relaxed: a thread that frees memory which this command uses has got it from
// this thread.
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

// Whether timelines beyond the first block may be busy.
static inline bool zepi_sync_has_listed(const struct zepi_sync *sync)
{
    // Acquire: a timeline that this thread knows of is seen.
    return __builtin_expect(atomic_load_explicit(&sync->listed_count, memory_order_acquire) > 0, 0);
}

// The first of these points behind `after` in the order of addresses (of all, if that is NULL), of
// the first block and then of others. No lock unless timelines beyond the first block are listed.
struct zepi_point zepi_sync_next(struct zepi_sync *sync, const struct zepi_timeline *after,
                                 uint64_t since);
struct zepi_point zepi_sync_next_locked(struct zepi_sync *sync, const struct zepi_timeline *after,
                                        uint64_t since);
// Memory that is allocated from now on is not used by commands that were submitted before.
void zepi_sync_begin_epoch_locked(struct zepi_sync *sync);

// The first timeline that may be busy, for a short look; NULL: every one is idle, so that no memory
// is in use. If timelines beyond the first block are listed, it is the very first.
static inline struct zepi_timeline *zepi_sync_first_busy(struct zepi_sync *sync)
{
    struct zepi_timeline *timeline = sync->first.timelines;
    // Acquire: a timeline that this thread knows of is seen.
    const struct zepi_timeline *end =
        timeline + atomic_load_explicit(&sync->used, memory_order_acquire);
    if (zepi_sync_has_listed(sync))
        return timeline;
    while (timeline < end && zepi_timeline_is_idle(timeline))
        timeline++;
    return timeline < end ? timeline : NULL;
}

static inline bool zepi_sync_is_idle(struct zepi_sync *sync)
{
    return !zepi_sync_first_busy(sync);
}

// The first of the points above, of `busy`, which was found so, and those behind it.
static inline struct zepi_point zepi_sync_now_from(struct zepi_sync *sync,
                                                   struct zepi_timeline *busy, uint64_t since)
{
    const struct zepi_point point = zepi_timeline_busy_point(busy, since);
    return point.timeline ? point : zepi_sync_next(sync, busy, since);
}

#endif
