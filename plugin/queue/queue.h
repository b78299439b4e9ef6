// SPDX-License-Identifier: MIT
#ifndef ZEPI_QUEUE_QUEUE_H
#define ZEPI_QUEUE_QUEUE_H

#include "core/mutex.h"
#include "core/object.h"
#include "sync/timeline.h"
#include "ze/ze_optional.h"

struct zepi_capture;
struct zepi_command_list;
struct zepi_context;
struct zepi_device;

// Immediate command lists of an out-of-order queue: independent commands overlap. There is one for
// each compute engine, within these limits. An in-order queue has one.
#define ZEPI_QUEUE_MIN_LISTS 2
#define ZEPI_QUEUE_MAX_COMPUTE_LISTS 4
#define ZEPI_QUEUE_MAX_LISTS (ZEPI_QUEUE_MAX_COMPUTE_LISTS + 1) // and one of a copy engine

// Events of a wait list that need no memory.
#define ZEPI_QUEUE_WAITS 16

// Small numbers of queues (command_list.h): that of kernel instances.
#define ZEPI_QUEUE_NUMBERS 32
#define ZEPI_NO_QUEUE_NUMBER ZEPI_QUEUE_NUMBERS // the context has many queues

// A queue. Filled at creation; fields that change have a lock.
struct zepi_queue {
    struct zepi_object object;
    struct zepi_context *context; // retained
    struct zepi_device *device;   // borrowed
    uint32_t device_index;        // in the context
    zepi_queue_flags_t flags;
    uint32_t compute_engine; // asked for, or ZEPI_COMPUTE_ENGINE_ANY
    bool has_in_order_list;  // the driver keeps the order
    bool needs_barriers;     // which keep it in its place
    uint32_t number;         // that no other queue of the context has,
                             // or ZEPI_NO_QUEUE_NUMBER
    uint32_t list_count;     // one if in order
    // Owned; those of the compute engines come first, linked in a ring.
    struct zepi_command_list *lists[ZEPI_QUEUE_MAX_LISTS];
    // Borrowed: gets the copies: the only one, or the last one, of a copy engine. NULL: any does.
    struct zepi_command_list *copy_list;
    // Guards appending, the kernels' instances of this queue's number, `next_list`, and of its
    // lists free events, timelines and what command_list.h says. The driver is called
    // under it: a command list may be in one thread only, and its order is the queue's order.
    struct zepi_mutex mutex;
    struct zepi_command_list *next_list;
    struct zepi_queue
        *next_kept;         // in a list of the queues that nothing else has (graph/recording.c)
    uint64_t barrier_count; // under the mutex
    // Commands are appended as they are: no barriers, no capture. Not an atomic type: gcc reads one
    // with an instruction more, in each launch.
    bool is_plain;
    // Retained while the queue is in capture mode; NULL: it is not. Written under the mutex.
    _Atomic(struct zepi_capture *) capture;
    uint32_t captured_last;       // number + 1 of the captured command that later ones wait for
    uint32_t captured_since;      // the first one that no barrier has waited for
    struct zepi_queue *next_fork; // in the list of a capture that the queue came to
};

extern const struct zepi_type zepi_queue_type;

// Relaxed, as the next: for a thread that began or ended a capture, or was told of it.
static inline bool zepi_queue_is_plain(const struct zepi_queue *queue)
{
    return __atomic_load_n(&queue->is_plain, __ATOMIC_RELAXED);
}
static inline bool zepi_queue_is_capturing(const struct zepi_queue *queue)
{
    return atomic_load_explicit(&queue->capture, memory_order_relaxed) != NULL;
}

#endif
