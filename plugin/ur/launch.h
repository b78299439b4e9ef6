// SPDX-License-Identifier: MIT
#ifndef ZEPI_UR_LAUNCH_H
#define ZEPI_UR_LAUNCH_H

#include "ur/kernel.h"

#define ZEPI_UR_INLINE_ARGUMENTS 32

// A launch in Unified Runtime's words, and in the core's.
struct zepi_ur_launch {
    uint32_t work_dim;
    const size_t *global_offset; // NULL: zeros
    const size_t *global_size;
    const size_t *local_size; // NULL: suggested
    uint32_t argument_count;
    const ur_exp_kernel_arg_properties_t *arguments;
    const ur_kernel_launch_ext_properties_t *properties; // NULL: none
};

struct zepi_ur_launch_desc {
    zepi_launch_desc_t desc;
    bool has_objects;                 // among the arguments, maybe
    zepi_argument_t *owned_arguments; // NULL: they are inline
    bool has_strangers;               // buffers of another context among them
    zepi_argument_t inline_arguments[ZEPI_UR_INLINE_ARGUMENTS];
};

// Checks and translates; `kernel` and `device` have been checked. On success to be finished.
ur_result_t zepi_ur_launch_desc_init(struct zepi_ur_launch_desc *out,
                                     const struct zepi_kernel *kernel,
                                     const struct zepi_context *context,
                                     const struct zepi_device *device,
                                     const struct zepi_ur_launch *launch);
void zepi_ur_launch_desc_finish(struct zepi_ur_launch_desc *desc);

// urEnqueueKernelLaunchWithArgsExp, of a launch of which nothing is known.
ur_result_t zepi_ur_launch_any(ur_queue_handle_t hQueue, ur_kernel_handle_t hKernel,
                               uint32_t workDim, const size_t *pGlobalWorkOffset,
                               const size_t *pGlobalWorkSize, const size_t *pLocalWorkSize,
                               uint32_t numArgs, const ur_exp_kernel_arg_properties_t *pArgs,
                               const ur_kernel_launch_ext_properties_t *launchPropList,
                               uint32_t numEventsInWaitList,
                               const ur_event_handle_t *phEventWaitList,
                               ur_event_handle_t *phEvent);

// What a launch on a device of a context that the core refused failed for.
ur_result_t zepi_ur_fail_launch(zepi_result_t result, const struct zepi_kernel *kernel,
                                const struct zepi_context *context,
                                const struct zepi_device *device, const zepi_launch_desc_t *desc)
    __attribute__((cold, noinline));

#endif
