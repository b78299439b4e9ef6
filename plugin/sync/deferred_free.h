// SPDX-License-Identifier: MIT
#ifndef ZEPI_SYNC_DEFERRED_FREE_H
#define ZEPI_SYNC_DEFERRED_FREE_H

#include "device/context.h"
#include "sync/completion_point.h"

// Deferred free: a context's list of objects that the host released and commands may still use. It
// is destroyed as soon as each queue of the context is empty or was waited for since. A launch pays
// nothing for it.
//
// The list is looked through when a wait shows how far a queue is, when its weight passes
// ZEPI_DEFERRED_LIMIT (then without a wait: the queues may wait for the calling thread), and before
// an allocation fails (zepi_context_reclaim). The thread that finds an object free destroys it,
// under no lock.

// Weights are bytes: of memory, its size; of handles, with the memory that the driver may keep for
// them, a guess.
#define ZEPI_DEFERRED_LIMIT ((uint64_t)32 << 20)
#define ZEPI_DEFERRED_WEIGHT_EVENT ((uint64_t)8 << 10)
#define ZEPI_DEFERRED_WEIGHT_HANDLE ((uint64_t)512 << 10)

// An entry of the list: a member of the object to be destroyed, by which `destroy` finds it.
struct zepi_deferred {
    struct zepi_deferred *next;
    uint64_t epoch;
    uint64_t weight;
    bool is_urgent; // it goes before zepi_defer_free returns, which waits for the queues
    // Borrowed from the caller of zepi_defer_free, if it is urgent: set under the mutex, with a
    // change of `points.changed`, when it was destroyed.
    bool *is_destroyed;
    void (*destroy)(struct zepi_deferred *deferred); // frees it, under no lock
};

// Zeroed memory is an empty list.
struct zepi_deferred_list {
    struct zepi_completion_points points; // its mutex guards the members below
    struct zepi_deferred *first;          // oldest
    struct zepi_deferred *last;
    uint64_t looked_weight;      // of the list when the queues were last looked at
    unsigned destroying;         // threads that destroy objects they took out of the list; the last
                                 // one of them wakes `points.changed`
    atomic_uint_fast64_t weight; // of the list; written under the mutex
};

extern const struct zepi_context_part zepi_deferred_part;

static inline struct zepi_deferred_list *zepi_deferred_list_of(const struct zepi_context *context)
{
    return context->parts[ZEPI_PART_DEFERRED];
}

static inline struct zepi_completion_points *
zepi_completion_points_of(const struct zepi_context *context)
{
    return &zepi_deferred_list_of(context)->points;
}

// Without queues.
void zepi_deferred_list_finish(struct zepi_deferred_list *list);

// Destroys it when no command can use it any more: now, or later on any thread.
void zepi_defer_free(struct zepi_context *context, struct zepi_deferred *deferred);

// Destroys the objects that no command can use any more, after a look at the busy queues. Waits at
// most `patience_ns` for each of them. False: there was nothing in the list.
bool zepi_deferred_drain(struct zepi_context *context, uint64_t patience_ns);

// The end of a wait (zepi_completion_begin_wait). Destroys the objects that were waiting for it.
void zepi_deferred_end_wait(struct zepi_context *context, struct zepi_completion_point *point,
                            struct zepi_completion_mark mark);

// The queue goes (zepi_completion_point_remove). Destroys the objects that were waiting for it.
void zepi_deferred_remove_point(struct zepi_context *context, struct zepi_completion_point *point);

#endif
