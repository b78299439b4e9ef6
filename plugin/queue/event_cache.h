// SPDX-License-Identifier: MIT
#ifndef ZEPI_QUEUE_EVENT_CACHE_H
#define ZEPI_QUEUE_EVENT_CACHE_H

#include "queue/event.h"

// The events of the commands of a queue's list, which come back to it when they are released. A
// command takes the first one under the queue's mutex, a release pushes one without a lock, and
// released events are looked at only when none is left (refill):
//
// - Events of the driver's counter may be used again at once, without asking: commands that wait
//   for them wait for the counter's value. Those with times may only be used again at once
//   if no command waits (quirk timed-waits-read-times).
// - Others that are known to be complete, and that no command waits for, are reset.
// - Others that no command waits for are reset once their list has come past them.
// - All others are reset once all lists of the context have come past this moment.

struct zepi_command_list;

struct zepi_event_cache {
    alignas(64) enum zepi_event_kind kind; // a power of two in size: caches are indexed
    struct zepi_event *free;               // under the queue's mutex; not signalled
    struct zepi_command_list *list;        // borrowed: the one that this is part of
    // Pushed by any thread, taken as a whole: those that may be used again, or reset, and those
    // whose commands may not be over.
    _Atomic(struct zepi_event *) usable;
    _Atomic(struct zepi_event *) in_use;
};

// Under the queue's mutex: an event for its next command, which is no handle yet; NULL: there is
// none, refill.
static inline struct zepi_event *zepi_event_cache_take(struct zepi_event_cache *cache)
{
    struct zepi_event *event = cache->free;
    if (__builtin_expect(!event, 0)) {
        // A refill looks at those in use first, or each time that these have gone more are made.
        if (cache->kind & ZEPI_EVENT_COUNTER &&
            !atomic_load_explicit(&cache->in_use, memory_order_relaxed))
            // Acquire: their contents.
            event = atomic_exchange_explicit(&cache->usable, NULL, memory_order_acquire);
        if (!event)
            return NULL;
    }
    cache->free = event->next;
    event->flags = 0;
    return event;
}

// Makes it a handle with one reference, which holds the queue.
static inline void zepi_event_hand_out(struct zepi_event *event, struct zepi_queue *queue)
{
    event->queue = zepi_retain(queue);
    zepi_object_reuse(event, &zepi_event_type);
}

static inline void zepi_event_push(_Atomic(struct zepi_event *) *head, struct zepi_event *event)
{
    struct zepi_event *first = atomic_load_explicit(head, memory_order_relaxed);
    do {
        event->next = first;
        // Release: a thread that takes them sees their contents.
    } while (!atomic_compare_exchange_weak_explicit(head, &first, event, memory_order_release,
                                                    memory_order_relaxed));
}

// An event without references comes back, or one that was not handed out; the caller has its
// reference to the queue.
static inline void zepi_event_cache_return(struct zepi_event_cache *cache, struct zepi_event *event)
{
    zepi_object_set_free(event);
    if (cache->kind == ZEPI_EVENT_COUNTER ||
        (!atomic_load_explicit(&event->is_awaited, memory_order_relaxed) &&
         (cache->kind & ZEPI_EVENT_COUNTER || zepi_event_is_known_complete(event))))
        zepi_event_push(&cache->usable, event);
    else
        zepi_event_push(&cache->in_use, event);
}

// Finds or makes events. Not under the queue's mutex: calls the driver.
zepi_result_t zepi_event_cache_refill(struct zepi_event_cache *cache, struct zepi_queue *queue);

// Has released events come back once no command uses them. Also when the list's queue has gone, and
// all commands are complete.
void zepi_event_cache_flush(struct zepi_event_cache *cache);

// The list goes, and no command uses its events.
void zepi_event_cache_finish(struct zepi_event_cache *cache);

#endif
