// SPDX-License-Identifier: MIT
#ifndef ZEPI_UR_QUEUE_LAUNCH_H
#define ZEPI_UR_QUEUE_LAUNCH_H

#include "launch/launch.h"
#include "ur/program/kernel.h"

// A launch as Unified Runtime has it: handles, sizes and properties. Borrowed for one call.
struct zepi_ur_launch {
    struct zepi_kernel *kernel; // checked
    uint32_t work_dim;
    const size_t *global_offset, *global_size, *local_size;
    uint32_t argument_count;
    const ur_exp_kernel_arg_properties_t *arguments; // in any order
};

// Checks sizes and arguments, and fills in the core's launch on a device of a context, in one pass.
// On success the room is to be finished.
ur_result_t zepi_ur_launch_read(const struct zepi_ur_launch *from,
                                const struct zepi_context *context,
                                const struct zepi_device *device, uint32_t device_index,
                                struct zepi_launch *launch, struct zepi_launch_room *room);

// Values and local memory, of a launch or an update.
ur_result_t zepi_ur_set_value_arg(struct zepi_launch *launch, uint32_t index, const void *value,
                                  size_t size_bytes);
ur_result_t zepi_ur_set_mem_arg(struct zepi_launch *launch, uint32_t index, ur_mem_handle_t handle,
                                ur_mem_flags_t flags, const struct zepi_context *context,
                                const struct zepi_device *device);
ur_result_t zepi_ur_set_sampler_arg(struct zepi_launch *launch, uint32_t index,
                                    ur_sampler_handle_t handle, const struct zepi_context *context);

// The code for a launch that the core refused, by what its failure was about.
ur_result_t zepi_ur_fail_launch(zepi_result_t result) __attribute__((cold, noinline));

#endif
