// SPDX-License-Identifier: MIT
#ifndef ZEPI_UR_QUEUE_LAUNCH_H
#define ZEPI_UR_QUEUE_LAUNCH_H

#include "launch/launch.h"
#include "ur/program/kernel.h"

#define ZEPI_UR_INLINE_ARGUMENTS 32

// Arguments of any kind and in any order as the core has them: of one launch, on its stack.
struct zepi_ur_arguments {
    zepi_argument_t *list;
    bool has_objects;         // memory objects or samplers
    bool has_images;          // among them
    bool has_moving;          // buffers that are to be brought to the device
    bool has_foreign_buffers; // buffers of another context
    zepi_argument_t *owned;   // NULL: they are inline
    zepi_argument_t inline_list[ZEPI_UR_INLINE_ARGUMENTS];
};

// Checks and translates, for a launch of the kernel. On success to be finished.
ur_result_t zepi_ur_arguments_init(struct zepi_ur_arguments *out, const struct zepi_kernel *kernel,
                                   const struct zepi_context *context,
                                   const struct zepi_device *device, uint32_t count,
                                   const ur_exp_kernel_arg_properties_t *arguments);
void zepi_ur_arguments_finish(struct zepi_ur_arguments *arguments);

// The core reads lists of values, pointers and local memory in the kernel's order as they are.
#define ZEPI_UR_ARGUMENT_OFFSET offsetof(ur_exp_kernel_arg_properties_t, type)
static_assert(offsetof(ur_exp_kernel_arg_properties_t, index) ==
                      ZEPI_UR_ARGUMENT_OFFSET + offsetof(zepi_argument_t, reserved) &&
                  offsetof(ur_exp_kernel_arg_properties_t, size) ==
                      ZEPI_UR_ARGUMENT_OFFSET + offsetof(zepi_argument_t, size_bytes) &&
                  offsetof(ur_exp_kernel_arg_properties_t, value) ==
                      ZEPI_UR_ARGUMENT_OFFSET + offsetof(zepi_argument_t, value),
              "the members of an argument lie as in the core's, with an index");
static_assert((int)UR_EXP_KERNEL_ARG_TYPE_VALUE == ZEPI_ARGUMENT_VALUE &&
                  (int)UR_EXP_KERNEL_ARG_TYPE_POINTER == ZEPI_ARGUMENT_POINTER &&
                  (int)UR_EXP_KERNEL_ARG_TYPE_LOCAL == ZEPI_ARGUMENT_LOCAL,
              "the kinds that the core reads have the same numbers");

// A launch as Unified Runtime has it. Its sizes, its properties and its list of arguments are not
// checked yet.
static inline void zepi_ur_launch_init(struct zepi_launch *launch, uint32_t work_dim,
                                       const size_t *global_offset, const size_t *global_size,
                                       const size_t *local_size, uint32_t argument_count,
                                       const ur_exp_kernel_arg_properties_t *arguments,
                                       uint32_t wait_count, const ur_event_handle_t *wait_list,
                                       ur_event_handle_t *out_event)
{
    launch->arguments.first = (const void *)((uintptr_t)arguments + ZEPI_UR_ARGUMENT_OFFSET);
    launch->arguments.stride_bytes = sizeof(*arguments);
    launch->arguments.count = argument_count;
    launch->arguments.is_indexed = true;
    launch->work_dim = work_dim;
    launch->flags = 0;
    launch->global_size = global_size;
    launch->group_size = local_size;
    launch->global_offset = global_offset;
    launch->wait.events = (const zepi_event_t *)wait_list;
    launch->wait.count = wait_count;
    launch->out_event = (zepi_event_t *)out_event;
}

// A global size of 0 launches nothing: the header calls it an error, but programs do it (dpnp's
// reductions of empty arrays), and OpenCL takes it.
static inline bool zepi_ur_sizes_are_right(const struct zepi_launch *launch)
{
    const size_t *group = launch->group_size;
    return launch->global_size && launch->work_dim - 1 < 3 &&
           (!group || (group[0] > 0 && (launch->work_dim < 2 || group[1] > 0) &&
                       (launch->work_dim < 3 || group[2] > 0)));
}
// Notes the mistake in them, if there is one.
ur_result_t zepi_ur_check_sizes(const struct zepi_launch *launch);

// The error for a launch on a device of a context that the core refused.
ur_result_t zepi_ur_fail_launch(zepi_result_t result, const struct zepi_kernel *kernel,
                                const struct zepi_context *context,
                                const struct zepi_device *device, const struct zepi_launch *launch)
    __attribute__((cold, noinline));

#endif
