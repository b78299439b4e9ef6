// SPDX-License-Identifier: MIT
#ifndef ZEPI_QUEUE_EVENT_H
#define ZEPI_QUEUE_EVENT_H

#include "core/object.h"
#include "sync/deferred.h"

struct zepi_capture;
struct zepi_command_list;
struct zepi_event_cache;
struct zepi_event_pool;
struct zepi_queue;

// Bits, since an event may be both of the first two.
enum zepi_event_kind {
    ZEPI_EVENT_PLAIN = 0,
    ZEPI_EVENT_TIMED = 1,   // with timestamps
    ZEPI_EVENT_COUNTER = 2, // of the driver's counter: signalled by in-order lists, never reset
    // The host signals it. No list ever did, since the host may not after that (quirk
    // host-signal-refused).
    ZEPI_EVENT_HOST = 4,
    ZEPI_EVENT_KINDS = 5,
};

// An event of a command, one that the host signals, or a reusable one, which stands for the event
// of the last command that signalled it (command/barrier.h). Those of queues come back to their
// queue (event_cache.h), others to the context's pools, with their Level Zero events.
struct zepi_event {
    struct zepi_object object;
    struct zepi_queue *queue; // retained while there are references; NULL: completed by the host
    struct zepi_event_cache *cache; // of a list, that it goes back to; NULL: it does not
    ze_event_handle_t ze;           // NULL: of a capture or reusable; a free one gets it anew
    struct zepi_point point;        // of the command in its list; no timeline: in none
    uint64_t number;                // of a captured command in its graph, or a barrier in its queue
    union {
        struct {
            atomic_bool is_complete; // was seen
            atomic_bool is_awaited;  // a command was told to wait for it
            bool has_failed;         // its command may never signal it
        };
        uint32_t flags; // all of these, while no other thread has the event
    };
    struct zepi_event *next;      // of a chain of unused ones
    enum zepi_event_kind kind;    // of `ze`
    struct zepi_context *context; // retained if there is no queue
    struct zepi_capture *capture; // retained; of a captured command, which never completes; or NULL
    struct zepi_event *begin;     // retained; whose end is when this began; NULL: its own times
    bool is_reusable;             // has no event of the driver's; `signal` is asked in its place
    bool takes_times;             // of a reusable event: from queues without profiling, too
    // A reusable event has the event of its last signal, or a complete one before the first:
    // retained, under the mutex of the context's event pools.
    struct zepi_event *signal;
    uint64_t submit_ns; // on the host's clock; of timed events
    // submit_ns on the device's clock; 0: not asked for yet (event_times.h).
    atomic_uint_fast64_t submit_ticks;
    uint32_t label; // the front end's
    uint32_t pool_index;
    struct zepi_event_pool *pool; // borrowed: of `ze`; NULL: that is the host's, or there is none
    zepi_ownership_t ownership;   // of the host's
    // Retained: the list that signals the event, which is not its own. It may be written to later
    // (quirk reset-writes-to-list).
    struct zepi_command_list *list;
    // While commands may still use an event without references, or the first of a chain of them.
    struct zepi_deferred deferred;
};

extern const struct zepi_type zepi_event_type;

// Unused events, through `next`.
struct zepi_event_chain {
    struct zepi_event *first;
    struct zepi_event *last;
    uint32_t count;
};

static inline void zepi_event_chain_append(struct zepi_event_chain *chain, struct zepi_event *event)
{
    event->next = NULL;
    if (chain->first)
        chain->last->next = event;
    else
        chain->first = event;
    chain->last = event;
    chain->count++;
}

// A context's events, made a pool at a time, and recycled.
struct zepi_event_pools {
    // Guards the members below, and the last signals of reusable events; no driver call under it.
    struct zepi_mutex mutex;
    // Oldest first, so that released handles are told for long.
    struct zepi_event_chain free[ZEPI_EVENT_KINDS];
    struct zepi_event_pool *first; // owned
    struct zepi_event_pool *newest[ZEPI_EVENT_KINDS];
    atomic_bool is_polling; // a thread polls the context's lists, for want of a free event
};

static inline struct zepi_event_pools *zepi_event_pools_of(const struct zepi_context *context)
{
    return context->components[ZEPI_COMPONENT_EVENT_POOLS];
}

// Takes an event of the context that is not signalled, and no handle yet.
zepi_result_t zepi_event_take(struct zepi_context *context, enum zepi_event_kind kind,
                              struct zepi_event **out_event);
// Gives it back, without references. No command uses it.
void zepi_event_give(struct zepi_event *event);
// The last reference to an event of no cache went.
zepi_result_t zepi_event_end(struct zepi_event *event);

// An event that holds the queue, or, if that is NULL, the context.
zepi_result_t zepi_event_create_of(struct zepi_context *context, struct zepi_queue *queue,
                                   enum zepi_event_kind kind, zepi_event_t *out_event);

// Notes the time: the event's command, which has times, is being submitted. No other thread has the
// event yet.
void zepi_event_note_submit(struct zepi_event *event);

// Releases an event that was given to no command: it is never signalled.
void zepi_event_abandon(struct zepi_event *event);

static inline void zepi_event_set_complete(struct zepi_event *event)
{
    atomic_store_explicit(&event->is_complete, true, memory_order_release);
}

static inline bool zepi_event_is_known_complete(const struct zepi_event *event)
{
    return atomic_load_explicit(&event->is_complete, memory_order_acquire);
}

// The event of waits and queries: of a reusable event its last signal at this moment; of others the
// event itself. A new reference.
struct zepi_event *zepi_event_take_signal(struct zepi_event *event);

// The error for a captured event where one of the driver is needed.
zepi_result_t zepi_event_fail_captured(const struct zepi_event *event)
    __attribute__((cold, noinline));

// An event of the host.
zepi_result_t zepi_event_create(zepi_context_t context, zepi_event_t *out_event);
// One that was signalled.
zepi_result_t zepi_event_create_complete(struct zepi_context *context, zepi_event_t *out_event);
// Makes an event around a ze_event_handle_t of the context. `context` has been checked.
zepi_result_t zepi_event_create_from_native(struct zepi_context *context, void *native_handle,
                                            zepi_ownership_t ownership, zepi_event_t *out_event);
zepi_result_t zepi_event_signal(zepi_event_t event);
zepi_result_t zepi_event_wait(uint32_t count, const zepi_event_t *events, uint64_t timeout_ns);
zepi_result_t zepi_event_get_status(zepi_event_t event, zepi_event_status_t *out_status);
// Whether the driver's event is complete, at once: ZE_RESULT_NOT_READY if not.
ze_result_t zepi_event_query(const struct zepi_event *event);
// The status of an event that is not reusable, unchecked.
zepi_result_t zepi_event_ask_status(struct zepi_event *event, zepi_event_status_t *out_status);
zepi_result_t zepi_event_get_native(zepi_event_t event, void **out_native_handle);

#endif
