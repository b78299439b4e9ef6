// SPDX-License-Identifier: MIT
#ifndef ZEPI_UR_GRAPH_RECORDED_LAUNCH_H
#define ZEPI_UR_GRAPH_RECORDED_LAUNCH_H

#include "ur/program/kernel.h"

// A launch with copies of all that it needs. Immutable: an update makes another one, so that
// replays that have begun go on with theirs.
struct zepi_ur_recorded_launch {
    atomic_uint references;
    struct zepi_kernel *kernel;  // retained
    zepi_launch_desc_t desc;     // arguments are the ones below
    void **held;                 // references; memory object or sampler of each argument, or NULL
    zepi_argument_t arguments[]; // then `held`, then the bytes of values
};

// `desc` and `held`, one an argument, are copied; the launch is checked for the device. One
// reference.
ur_result_t zepi_ur_recorded_launch_create(struct zepi_kernel *kernel,
                                           const struct zepi_context *context,
                                           struct zepi_device *device,
                                           const zepi_launch_desc_t *desc, void *const *held,
                                           struct zepi_ur_recorded_launch **out_launch);

static inline struct zepi_ur_recorded_launch *
zepi_ur_recorded_launch_retain(struct zepi_ur_recorded_launch *launch)
{
    // Relaxed: a reference is made from a reference.
    if (launch)
        atomic_fetch_add_explicit(&launch->references, 1, memory_order_relaxed);
    return launch;
}
void zepi_ur_recorded_launch_release(struct zepi_ur_recorded_launch *launch); // NULL is fine

#endif
