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

// Reads an argument of a launch or an update into its place there. Words and pointers, which most
// arguments are, are read here.
ur_result_t zepi_ur_read_other_arg(struct zepi_launch *launch, const struct zepi_context *context,
                                   const struct zepi_device *device,
                                   const ur_exp_kernel_arg_properties_t *from)
    __attribute__((noinline));
static inline ur_result_t zepi_ur_read_arg(struct zepi_launch *launch, struct zepi_arg *arg,
                                           const struct zepi_context *context,
                                           const struct zepi_device *device,
                                           const ur_exp_kernel_arg_properties_t *from)
{
    if (from->type == UR_EXP_KERNEL_ARG_TYPE_VALUE && from->value.value &&
        zepi_arg_set_word(arg, from->value.value, from->size))
        return UR_RESULT_SUCCESS;
    if (from->type != UR_EXP_KERNEL_ARG_TYPE_POINTER)
        return zepi_ur_read_other_arg(launch, context, device, from);
    zepi_arg_set_address(arg, from->value.pointer);
    return UR_RESULT_SUCCESS;
}

// The code for a launch that the core refused, by what its failure was about.
ur_result_t zepi_ur_fail_launch(zepi_result_t result) __attribute__((cold, noinline));

#endif
