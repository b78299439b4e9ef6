// SPDX-License-Identifier: MIT
#ifndef ZEPI_LAUNCH_LAUNCH_H
#define ZEPI_LAUNCH_LAUNCH_H

#include "launch/arguments.h"
#include "launch/kernel.h"
#include "queue/capture.h"
#include "queue/queue.h"

// The one way to launch a kernel. Under the queue's mutex the queue's instance of the kernel is
// compared with the launch, the differences are set, and the command is appended. Queue, kernel,
// `work_dim` and `flags` have been checked. ZEPI_ARGUMENTS_UNREAD: arguments.h. ZEPI_CAPTURED:
// queue/capture.h.
zepi_result_t zepi_launch_kernel(struct zepi_queue *queue, const struct zepi_kernel *kernel,
                                 const struct zepi_launch *launch);

// The same for a target that was found by name.
zepi_result_t zepi_launch_target(struct zepi_queue *queue, const struct zepi_target *target,
                                 const struct zepi_launch *launch);

// A launch as a graph captures it.
enum { ZEPI_CAPTURED_LAUNCH = ZEPI_CAPTURED_LAUNCHES };
struct zepi_captured_launch {
    struct zepi_captured_command head;
    struct zepi_kernel *kernel;
    const struct zepi_launch *launch; // not checked
};

// Captures a launch for which zepi_launch_kernel returned ZEPI_CAPTURED: nothing was appended. The
// arguments are read and copied. ZEPI_ARGUMENTS_UNREAD: arguments.h.
zepi_result_t zepi_launch_capture(struct zepi_queue *queue, struct zepi_kernel *kernel,
                                  const struct zepi_launch *launch);

// Checks of a launch on a device of the context, for a caller that launches later. The kernel has
// been checked. First the kernel's code and the number of arguments, then the arguments, sizes and
// offset, or both. `out_arguments`, one for each, or NULL: the arguments as they were read.
zepi_result_t zepi_launch_check_kernel(const struct zepi_context *context, uint32_t device_index,
                                       const struct zepi_kernel *kernel,
                                       const struct zepi_launch *launch,
                                       struct zepi_device_kernel **out_device_kernel);
zepi_result_t zepi_launch_check_contents(const struct zepi_device *device,
                                         const struct zepi_kernel *kernel,
                                         const struct zepi_device_kernel *device_kernel,
                                         const struct zepi_launch *launch,
                                         zepi_argument_t *out_arguments);
zepi_result_t zepi_launch_check(const struct zepi_context *context,
                                const struct zepi_device *device, const struct zepi_kernel *kernel,
                                const struct zepi_launch *launch);

static inline struct zepi_launch zepi_launch_of(const zepi_launch_desc_t *desc,
                                                zepi_wait_list_t wait, zepi_event_t *out_event)
{
    return (struct zepi_launch){.arguments =
                                    zepi_argument_list_of(desc->argument_count, desc->arguments),
                                .work_dim = desc->work_dim,
                                .flags = desc->flags,
                                .global_size = desc->global_size,
                                .group_size = desc->group_size,
                                .global_offset = desc->global_offset,
                                .wait = wait,
                                .out_event = out_event};
}

#endif
