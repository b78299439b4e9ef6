// SPDX-License-Identifier: MIT
#ifndef ZEPI_SYNC_DEFERRED_H
#define ZEPI_SYNC_DEFERRED_H

#include "sync/timeline.h"

// Work that waits for commands: mostly the destruction of objects that the host released and
// commands may still use. A launch pays nothing for it.
//
// It is run by the thread that sees that the commands are over, under no lock. The timelines that
// work waits for are polled when much waits (ZEPI_DEFERRED_LIMIT; then without a wait, as they may
// wait for the calling thread), and before an allocation fails (zepi_context_reclaim).

// The commands that may still use something: those of a timeline up to a point, and then those of
// timelines behind it that were given commands in epoch `since` or later. A use is over timeline by
// timeline: each is waited for once, up to where it is when its turn comes. So the use of a command
// list that never ends holds up only memory that is older.
//
// The order is that of zepi_sync_next, for uses, for work and for polls. So a poll, which goes
// along the timelines once, meets work again at the next timeline that it waits for, and no piece
// of work comes back to a timeline that was passed.
struct zepi_use {
    struct zepi_point point; // no timeline: the use is over
    uint64_t since;          // ZEPI_NO_OTHERS: the point alone
};

// The use of memory of an epoch by everything that was submitted so far; 0: of anything.
static inline struct zepi_use zepi_use_now(struct zepi_sync *sync, uint64_t since)
{
    return (struct zepi_use){zepi_sync_first(sync, since), since};
}
static inline struct zepi_use zepi_use_until(struct zepi_point point)
{
    return (struct zepi_use){point, ZEPI_NO_OTHERS};
}
// Goes on along the timelines as far as they have got.
static inline bool zepi_use_is_over(struct zepi_sync *sync, struct zepi_use *use)
{
    while (use->point.timeline && zepi_point_is_reached(use->point))
        use->point = zepi_sync_next(sync, use->point.timeline, use->since);
    return !use->point.timeline;
}

// Bytes: of memory, its size; of handles, with the memory that the driver may keep for them, a
// guess.
#define ZEPI_DEFERRED_LIMIT ((uint64_t)32 << 20)
#define ZEPI_DEFERRED_EVENT_BYTES ((uint64_t)8 << 10)
#define ZEPI_DEFERRED_HANDLE_BYTES ((uint64_t)512 << 10)

// A member of the object that the work is for, by which `run` finds it.
struct zepi_deferred {
    struct zepi_deferred *next;
    struct zepi_use use;
    uint64_t bytes;
    void (*run)(struct zepi_deferred *deferred); // once, under no lock; the member is free again
};

static inline struct zepi_sync *zepi_sync_of(const struct zepi_context *context)
{
    return context->components[ZEPI_COMPONENT_SYNC];
}

// Runs it once the use is over: now, or later on any thread.
void zepi_defer_until(struct zepi_sync *sync, struct zepi_use use, struct zepi_deferred *deferred);
// Runs it once nothing that was submitted so far in the context may use its object.
void zepi_defer(const struct zepi_context *context, struct zepi_deferred *deferred);
// Waits for that use, and runs it before the call returns. Runs it later if a wait fails: the
// device is lost, or there is no memory for it.
void zepi_defer_no_longer(const struct zepi_context *context, struct zepi_deferred *deferred);

// Waits for the use. False: a wait failed.
bool zepi_use_wait(struct zepi_sync *sync, struct zepi_use *use);

// Polls the timelines that work waits for, and so runs what is due. Waits at most `timeout_ns` for
// each, and for none after one that needed longer. False: no work waits.
bool zepi_sync_poll(struct zepi_sync *sync, uint64_t timeout_ns);

#endif
