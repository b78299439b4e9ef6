// SPDX-License-Identifier: MIT
#ifndef ZEPI_QUEUE_EVENT_H
#define ZEPI_QUEUE_EVENT_H

#include "core/object.h"
#include "queue/event_pool.h"
#include "sync/deferred.h"

struct zepi_capture;
struct zepi_event_cache;
struct zepi_queue;

// An event of a command, one that the host signals, or a reusable one, which stands for the event
// of the last command that signalled it (command/barrier.h). Those of queues keep their
// pooled events, and come back to their queue (event_cache.h).
struct zepi_event {
    struct zepi_object object;
    struct zepi_queue *queue; // retained while there are references; NULL: completed by the host
    struct zepi_event_cache *cache; // of a list, that it goes back to; NULL: it does not
    ze_event_handle_t ze;           // of `pooled`
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
    struct zepi_event *next;          // of a chain of unused ones
    struct zepi_pooled_event *pooled; // borrowed from the context
    struct zepi_context *context;     // retained if there is no queue
    struct zepi_capture *capture; // retained; of a captured command, which never completes; or NULL
    struct zepi_event *begin;     // retained; whose end is when this began; NULL: its own times
    bool is_reusable; // has none of the pool; `signal` is waited for and asked in its place
    bool takes_times; // of a reusable event: from queues without profiling, too
    // The event of its last signal: retained, under the mutex of the context's event pools; NULL:
    // it was never signalled, and is complete.
    struct zepi_event *signal;
    uint64_t submit_ns; // on the host's clock; of timed events
    // submit_ns on the device's clock; 0: not asked for yet (event_times.h).
    atomic_uint_fast64_t submit_ticks;
    uint32_t label;                // the front end's
    struct zepi_deferred deferred; // of the first of a chain that commands may still use
};

extern const struct zepi_type zepi_event_type;

// An event for one command of the queue, which it holds. A timed one notes the time.
zepi_result_t zepi_event_create_for(struct zepi_queue *queue, enum zepi_event_kind kind,
                                    zepi_event_t *out_event);

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

// The event of waits and queries: of a reusable event its last signal at this moment,
// NULL if there was none; of others the event itself. A new reference.
struct zepi_event *zepi_event_take_signal(struct zepi_event *event);

// The error for a captured event where one of the driver is needed.
zepi_result_t zepi_event_fail_captured(const struct zepi_event *event)
    __attribute__((cold, noinline));

zepi_result_t zepi_event_create(zepi_context_t context, zepi_event_t *out_event);
// As zepi_event_create_for, of an event that does not hold its queue.
zepi_result_t zepi_event_create_of(struct zepi_context *context, enum zepi_event_kind kind,
                                   zepi_event_t *out_event);
// Makes an event around a ze_event_handle_t of the context. `context` has been checked.
zepi_result_t zepi_event_create_from_native(struct zepi_context *context, void *native_handle,
                                            zepi_ownership_t ownership, zepi_event_t *out_event);
zepi_result_t zepi_event_signal(zepi_event_t event);
zepi_result_t zepi_event_wait(uint32_t count, const zepi_event_t *events, uint64_t timeout_ns);
zepi_result_t zepi_event_get_status(zepi_event_t event, zepi_event_status_t *out_status);
// The status of an event that is not reusable, unchecked.
zepi_result_t zepi_event_ask_status(struct zepi_event *event, zepi_event_status_t *out_status);
zepi_result_t zepi_event_get_native(zepi_event_t event, void **out_native_handle);

#endif
