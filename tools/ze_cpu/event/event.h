// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_EVENT_H
#define ZE_CPU_EVENT_H

#include "object.h"

#include <stdatomic.h>
#include <stdbool.h>

struct cpu_event_pool {
    struct cpu_object object;
    ze_context_handle_t context; // borrowed
    uint32_t flags;
    uint32_t count;
    bool is_counter_based;
    bool has_timestamps;
};

// The head of a list: an event that the list signalled tells by it whether the list is still there.
struct cpu_signaller {
    struct cpu_object object;
    _Atomic uint16_t serial; // tells it from others of the same address
};

// An ordinary event is signalled when `state` is 1. A counter-based one counts: every append that
// signals it raises `target` when it is submitted and `done` when it completes; it is signalled
// when done has reached the target that was in force when the event was queried. So it never needs
// a reset, and later signals do not disturb earlier waits.
//
// The pool is only read while the event is created.
struct cpu_event {
    struct cpu_object object;
    struct cpu_event_pool *pool; // borrowed; NULL if made without one
    bool is_counter_based;
    bool has_timestamps;
    ze_event_scope_flags_t signal_scope, wait_scope;
    _Atomic uint64_t target;     // counter-based only
    _Atomic uint64_t done;       // ordinary: 0 or 1
    _Atomic uint64_t start, end; // of the last command that signalled it, on the device clock
    _Atomic uint64_t list;       // that signals it, for cpu_event_let_go; 0: none
    // By a kernel in an in-order list, with timestamps: for the status of such an event Intel's
    // driver waits.
    _Atomic bool query_waits;
};

// The value that a wait for the event, beginning now, must see in `done`.
uint64_t cpu_event_goal(struct cpu_event *event);

// Before a command that signals the event is handed over.
void cpu_event_submit(struct cpu_event *event);

// The command has completed. Wakes all waiters.
void cpu_event_complete(struct cpu_event *event, uint64_t start, uint64_t end);

void cpu_event_reset(struct cpu_event *event);

// An immediate list got a command that signals the event: a launch in order, or any other.
enum cpu_signal { CPU_SIGNAL_OF_LAUNCH, CPU_SIGNAL_OF_OTHER };
void cpu_event_note_list(struct cpu_event *event, const struct cpu_signaller *list,
                         enum cpu_signal signal);

// The rest of cpu_event_let_go, for events that a list signals.
ze_result_t cpu_event_let_go_of_list(struct cpu_event *event, const char *function);

// Intel's driver writes to the immediate list that signals an event when the event is reset, or
// first seen to be complete, and does not notice if that list has been destroyed by then. With
// ZE_CPU_STRICT this is an error, with a line.
static inline ze_result_t cpu_event_let_go(struct cpu_event *event, const char *function)
{
    atomic_store_explicit(&event->query_waits, false, memory_order_relaxed);
    return atomic_load_explicit(&event->list, memory_order_relaxed) == 0
               ? ZE_RESULT_SUCCESS
               : cpu_event_let_go_of_list(event, function);
}

// For the place that signals an ordinary event by itself, where every instruction counts (idle.c):
// the number of threads that sleep or are about to, and the function that wakes those waiting for
// this event.
extern _Atomic uint32_t cpu_event_waiters;
void cpu_event_wake(struct cpu_event *event);

static inline bool cpu_event_has_reached(struct cpu_event *event, uint64_t goal)
{
    // Acquire: the signalling command's writes are visible after this.
    return atomic_load_explicit(&event->done, memory_order_acquire) >= goal;
}

// The times of the last signal, in ticks.
void cpu_event_timestamps(struct cpu_event *event, ze_kernel_timestamp_result_t *out_result);

// Waits until done has reached the goal or the timeout (UINT64_MAX: none) is over. False on
// timeout.
bool cpu_event_wait(struct cpu_event *event, uint64_t goal, uint64_t timeout_ns);

// A wait for an event without a thread. `wake` is called once, by the thread that signals the event
// and under no lock.
struct cpu_event_watch {
    struct cpu_event_watch *next; // in its shard
    struct cpu_event *event;      // borrowed
    uint64_t goal;
    void (*wake)(struct cpu_event_watch *watch);
};

// Borrows the watch until `wake`. False, and nothing will happen, if the goal is reached already.
bool cpu_event_watch(struct cpu_event_watch *watch);

#endif
