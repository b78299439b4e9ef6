// SPDX-License-Identifier: MIT
#ifndef ZEPI_QUEUE_NATIVE_LIST_H
#define ZEPI_QUEUE_NATIVE_LIST_H

#include "queue/queue.h"

// Commands that a host recorded itself, through Level Zero, and that run in the order of a queue
// later, as often as it likes. Runs of one list come one after the other, whatever their queues.
// Not thread-safe: the owner lets one thread at a time run it.
struct zepi_native_list {
    struct zepi_deferred deferred;
    struct zepi_context *context; // borrowed: holders of the list hold the context
    struct zepi_device *device;   // borrowed
    ze_command_list_handle_t ze;  // to be recorded to; not immediate, and not in order
    // Owned, as what follows: what comes before and after `ze` in its command queue.
    ze_command_list_handle_t before;
    ze_command_list_handle_t after;
    ze_command_queue_handle_t queue;
    ze_fence_handle_t fence; // of the last run
    bool is_submitted;       // that run may not be over
};

zepi_result_t zepi_native_list_create(struct zepi_context *context, struct zepi_device *device,
                                      struct zepi_native_list **out_list);
// Nothing is recorded any more: now it may run.
zepi_result_t zepi_native_list_close(struct zepi_native_list *list);
// Destroys it when its runs are over: now, or later on any thread. NULL is fine.
void zepi_native_list_destroy(struct zepi_native_list *list);

// A command of the queue, which is of the list's context and device: begins when the wait list is
// complete and, in an in-order queue, everything before; holds up what comes after in an in-order
// queue. Waits until the list's last run is over.
zepi_result_t zepi_queue_run_native(zepi_queue_t queue, struct zepi_native_list *list,
                                    zepi_wait_list_t wait, zepi_event_t *out_event);

#endif
