// SPDX-License-Identifier: MIT
#ifndef ZEPI_QUEUE_QUEUE_H
#define ZEPI_QUEUE_QUEUE_H

#include "base/mutex.h"
#include "base/object.h"
#include "base/ze_optional.h"
#include "queue/probe.h"
#include "queue/retire.h"

struct zepi_context;
struct zepi_device;

// Immediate command lists of an out-of-order queue: independent commands overlap. An in-order queue
// has one.
#define ZEPI_QUEUE_LISTS 2

// What a queue's commands go to. Filled at creation; what changes has a lock.
struct zepi_queue {
    struct zepi_object object;
    struct zepi_context *context; // retained
    struct zepi_device *device;   // borrowed
    uint32_t device_index;        // in the context
    zepi_queue_flags_t flags;
    bool has_in_order_list;     // the driver keeps the order; else barriers do
    zepi_ownership_t ownership; // of the lists: a host's own is not destroyed
    uint32_t number;            // in the context (queue_number.h)
    uint32_t list_count;        // one if in order
    uint32_t list_mask;         // one less
    ze_command_list_handle_t lists[ZEPI_QUEUE_LISTS];
    ze_command_list_handle_t copy_list; // of a copy engine, out-of-order queues only; or NULL
    // The driver's own handles of these, the copy engine's last, for functions that came from the
    // driver itself (ze_optional.h). The same handles, unless the loader wraps them.
    ze_command_list_handle_t driver_lists[ZEPI_QUEUE_LISTS + 1];
    // Launches with all arguments; NULL: the driver cannot, or barriers keep the queue's order.
    // Goes to `launch_lists`, and takes events only if it is the loader's, or their handles are the
    // same.
    zepi_ze_launch_fn *launch;
    uint32_t launch_number; // as `number` if there is `launch`, else ZEPI_NO_QUEUE_NUMBER
    bool launch_takes_events;
    ze_command_list_handle_t launch_lists[ZEPI_QUEUE_LISTS];
    // Guards appending, the kernels' leases of this queue's number, `next_list` and
    // `retire.submitted`. The one lock under which the driver is called: a command list may be in
    // one thread only, and its order is the queue's order.
    struct zepi_mutex mutex;
    uint32_t next_list;
    struct zepi_retire_queue retire;
    struct zepi_probe probe;
    pthread_mutex_t memo_mutex;      // guards `memo`; nothing is called under it
    struct zepi_dispatch_memo *memo; // owned; NULL: no launch was dispatched yet
};

extern const struct zepi_type zepi_queue_type;

// Under the mutex: the index of the list for the next command.
static inline uint32_t zepi_queue_next_list(struct zepi_queue *queue)
{
    const uint32_t index = queue->next_list;
    queue->next_list = index ^ queue->list_mask;
    return index;
}

// Waits until everything submitted before is complete. Thread-safe, takes no queue's lock across
// the wait.
zepi_result_t zepi_queue_wait(struct zepi_queue *queue);

// Whether everything submitted before is complete, without waiting: false if that is not known yet.
zepi_result_t zepi_queue_ask_empty(struct zepi_queue *queue, bool *out_is_empty);

// A command that does nothing once the wait list is complete, or everything before if that is
// empty, and whose event has times in queues without profiling, too.
zepi_result_t zepi_queue_record_time(zepi_queue_t queue, zepi_wait_list_t wait,
                                     zepi_event_t *out_event);

// Around an immediate ze_command_list_handle_t of the host's, which must be in order if the flags
// say so and the driver can. Context and device have been checked.
zepi_result_t zepi_queue_create_from_native(struct zepi_context *context,
                                            struct zepi_device *device, zepi_queue_flags_t flags,
                                            void *native_handle, zepi_ownership_t ownership,
                                            zepi_queue_t *out_queue);

zepi_result_t zepi_queue_create(zepi_context_t context, zepi_device_t device,
                                zepi_queue_flags_t flags, zepi_queue_t *out_queue);
zepi_result_t zepi_queue_get_info(zepi_queue_t queue, zepi_queue_info_t *out_info);
zepi_result_t zepi_queue_finish(zepi_queue_t queue);
zepi_result_t zepi_queue_barrier(zepi_queue_t queue, zepi_wait_list_t wait,
                                 zepi_event_t *out_event);
zepi_result_t zepi_queue_marker(zepi_queue_t queue, zepi_wait_list_t wait, zepi_event_t *out_event);
zepi_result_t zepi_queue_get_native(zepi_queue_t queue, void **out_native_handle);

#endif
