// SPDX-License-Identifier: MIT
#ifndef ZEPI_KERNEL_LAUNCH_H
#define ZEPI_KERNEL_LAUNCH_H

#include "kernel/kernel.h"
#include "kernel/kernel_lease.h"
#include "queue/queue.h"

// relaunch.c: what the table has.
zepi_result_t zepi_queue_launch(zepi_queue_t queue, const zepi_launch_desc_t *desc,
                                zepi_wait_list_t wait, zepi_event_t *out_event);

// Any launch, whose handles nobody has looked at yet.
zepi_result_t zepi_launch_any(zepi_queue_t queue, const zepi_launch_desc_t *desc,
                              zepi_wait_list_t wait, zepi_event_t *out_event);

// For error texts.
extern const char zepi_launch_function[];

// Under the queue's mutex: in one call, with the arguments that the lease took, whose sizes have
// been checked. The driver gets none.
static inline ze_result_t zepi_append_with_arguments(const struct zepi_queue *queue,
                                                     struct zepi_kernel_lease *lease,
                                                     const struct zepi_command_list *list,
                                                     ze_event_handle_t signal, uint32_t wait_count,
                                                     ze_event_handle_t *waits)
{
    const struct zepi_launch_sizes *sizes = lease->last_sizes;
    ze_command_list_handle_t list_ze = list->launch_ze;
    lease->is_state_known = false;
    return queue->launch(list_ze, lease->driver_ze, sizes->size.count, sizes->size.ze_group,
                         lease->pointers, NULL, signal, wait_count, waits);
}
// Whether a launch of a kernel object, which has been checked, would be refused on a device of the
// context: its arguments and sizes.
zepi_result_t zepi_launch_check(const struct zepi_context *context, struct zepi_device *device,
                                const zepi_launch_desc_t *desc);

#endif
