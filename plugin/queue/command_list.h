// SPDX-License-Identifier: MIT
#ifndef ZEPI_QUEUE_COMMAND_LIST_H
#define ZEPI_QUEUE_COMMAND_LIST_H

#include "core/mutex.h"
#include "core/object.h"
#include "queue/event_cache.h"
#include "queue/queue.h"

struct zepi_context;
struct zepi_device;

// Command lists: immediate ones, of queues, and those of graphs, which are closed and then
// executed; and a context's free list of those that were given back: making one costs thousands of
// instructions in the driver.

// A list serves another queue, or graph, of the same kind.
struct zepi_command_list_kind {
    struct zepi_device *device; // borrowed
    uint32_t ordinal;           // of the command queue group
    uint32_t index;             // in the group; ZEPI_COMPUTE_ENGINE_ANY, in requests alone
    ze_command_queue_flags_t flags;
    ze_command_queue_priority_t priority;
    enum zepi_event_kind events;
    // A closed one: the members above are 0, but for the device.
    bool is_closed;
    const void *extension; // borrowed: the chain of its descriptor, or NULL
};

// A list and the events of its commands, which stay with it. For the quirk reset-writes-to-list a
// reference is held by each event of others that the list signalled (event.h), and by each
// chain of its own that commands still use.
struct zepi_command_list {
    struct zepi_object object;
    struct zepi_context *context; // borrowed
    struct zepi_command_list_kind kind;
    zepi_ownership_t ownership; // a host's own is not destroyed, and serves no other queue
    atomic_bool is_exported;    // the host knows the handle: serves no other queue
    ze_command_list_handle_t ze;
    // The driver's own handle of it, for functions that came from the driver itself
    // (ze_optional.h). The same, unless the loader wraps handles.
    ze_command_list_handle_t driver_ze;
    struct zepi_command_list *next; // gets the queue's next command after this one; or is free
    struct zepi_event_cache events;
    struct zepi_event_cache markers; // without times, of a list whose events have them
    struct zepi_deferred deferred;   // of one that goes
    // While a queue has the list (progress.h).
    struct zepi_queue *queue;       // borrowed
    struct zepi_timeline *timeline; // of the context; it is counted in under the queue's mutex
    // The seqno at which the driver last told that the list is complete. Under the queue's mutex.
    uint64_t synchronized;
    // A marker behind commands that no thread waits for; owned, by the thread with `is_polled`.
    atomic_bool is_polled;
    struct zepi_event *probe; // NULL: none
};

extern const struct zepi_type zepi_command_list_type;

// The list has got a command that signals the event, which is not one of its own.
static inline void zepi_event_note_list(struct zepi_event *event, struct zepi_command_list *list)
{
    event->list = zepi_retain(list);
}

// Under the queue's mutex: the list for the next command.
static inline struct zepi_command_list *zepi_queue_next_list(struct zepi_queue *queue)
{
    struct zepi_command_list *list = queue->next_list;
    queue->next_list = list->next;
    return list;
}

// A free list of this kind, or a new one, with one reference. A closed list is open and empty. If
// the driver lacks memory, the context gives back unused memory: the caller holds no lock that an
// end of an execution or a deferred free needs.
zepi_result_t zepi_command_list_take(struct zepi_context *context,
                                     const struct zepi_command_list_kind *request,
                                     struct zepi_command_list **out_list);
// A closed list, to be recorded, closed and executed more than once.
static inline zepi_result_t zepi_closed_list_take(struct zepi_context *context,
                                                  struct zepi_device *device, const void *extension,
                                                  struct zepi_command_list **out_list)
{
    const struct zepi_command_list_kind kind = {
        .device = device, .is_closed = true, .extension = extension};
    return zepi_command_list_take(context, &kind, out_list);
}
// Makes a list around a ze_command_list_handle_t of the host.
zepi_result_t zepi_command_list_adopt(struct zepi_context *context,
                                      const struct zepi_command_list_kind *kind,
                                      ze_command_list_handle_t ze, zepi_ownership_t ownership,
                                      struct zepi_command_list **out_list);

// The list's queue or graph goes: consumes its reference. `is_idle`: all commands of the list are
// complete, and what they use is still there.
void zepi_command_list_give(struct zepi_command_list *list, bool is_idle);

// A small number for a queue of the context, or ZEPI_NO_QUEUE_NUMBER. State that is kept by number
// is the queue's own while it lives.
uint32_t zepi_queue_number_take(const struct zepi_context *context);
void zepi_queue_number_give(const struct zepi_context *context, uint32_t number);

#endif
