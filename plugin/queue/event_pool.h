// SPDX-License-Identifier: MIT
#ifndef ZEPI_QUEUE_EVENT_POOL_H
#define ZEPI_QUEUE_EVENT_POOL_H

#include "core/mutex.h"
#include "core/status.h"
#include "sync/deferred.h"

#include <stdatomic.h>
#include <stdbool.h>

struct zepi_command_list;
struct zepi_context;
struct zepi_event_pool;

// A context's Level Zero events, made a pool at a time, and recycled.

// Bits, since an event may be both of the first two.
enum zepi_event_kind {
    ZEPI_EVENT_PLAIN = 0,
    ZEPI_EVENT_TIMED = 1,   // with timestamps
    ZEPI_EVENT_COUNTER = 2, // of the driver's counter: signalled by in-order lists, never reset
    // Of the host, and of no list before, after which it may be none of the host's any more (quirk
    // host-signal-refused).
    ZEPI_EVENT_HOST = 4,
    ZEPI_EVENT_KINDS = 5,
};

// One ze_event, borrowed from its pool. A free one is not signalled.
struct zepi_pooled_event {
    struct zepi_deferred
        deferred;         // while commands may still use the event of one that was put back
    ze_event_handle_t ze; // NULL: made when it is taken
    enum zepi_event_kind kind;
    struct zepi_event_pools *pools;
    struct zepi_event_pool *pool; // borrowed; NULL: adopted
    // Retained: the list that signals the event, which is not its own. It may
    // be written to later (quirk reset-writes-to-list).
    struct zepi_command_list *list;
    zepi_ownership_t list_ownership;
    struct zepi_pooled_event *next; // free ones
    bool is_adopted;                // the host's event, of no pool: gone once it is given back
    zepi_ownership_t ownership;     // of an adopted event
};

struct zepi_event_pools {
    struct zepi_context *context; // borrowed: the one that this is part of
    // Guards the members below, and the last signals of reusable events; no driver call under it.
    struct zepi_mutex mutex;
    struct zepi_pooled_event *free[ZEPI_EVENT_KINDS];
    uint32_t pool_events[ZEPI_EVENT_KINDS]; // of the last pool: each is twice as large
    struct zepi_event_pool *first;          // owned
    atomic_bool is_polling; // a thread polls the context's lists, for want of a free event
};

static inline struct zepi_event_pools *zepi_event_pools_of(const struct zepi_context *context)
{
    return context->components[ZEPI_COMPONENT_EVENT_POOLS];
}

// Takes an event that is not signalled.
zepi_result_t zepi_pooled_event_get(struct zepi_event_pools *pools, enum zepi_event_kind kind,
                                    struct zepi_pooled_event **out_pooled);
// A pooled event around the host's own event.
zepi_result_t zepi_pooled_event_adopt(struct zepi_event_pools *pools, ze_event_handle_t ze,
                                      zepi_ownership_t ownership,
                                      struct zepi_pooled_event **out_pooled);
// Whether the event is complete, at once: ZE_RESULT_NOT_READY if not.
ze_result_t zepi_pooled_event_ask(const struct zepi_pooled_event *pooled);
// Gives back one that no command uses.
void zepi_pooled_event_put(struct zepi_pooled_event *pooled);
// Gives back an event of the list's own, as the list is destroyed.
void zepi_pooled_event_put_from(struct zepi_pooled_event *pooled, zepi_ownership_t ownership);
// Gives back one that commands may still signal or wait for.
void zepi_pooled_event_defer(struct zepi_pooled_event *pooled);

#endif
