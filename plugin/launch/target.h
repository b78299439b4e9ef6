// SPDX-License-Identifier: MIT
#ifndef ZEPI_LAUNCH_TARGET_H
#define ZEPI_LAUNCH_TARGET_H

#include "launch/device_kernel.h"

#include <stdatomic.h>

struct zepi_device_image;
struct zepi_spec_values;

// The kernel of a launch by name on the queue's device. Borrowed; constant, for any thread.
struct zepi_target {
    struct zepi_build_result *device_kernel; // payload: struct zepi_device_kernel
    // The native image whose emulated constants the kernel takes through memory, and their values;
    // NULL: it takes none. NULL values are defaults.
    const struct zepi_device_image *image;
    const struct zepi_spec_values *values;
};

// A target with references. It holds code, but no module: a table of targets keeps no module alive.
struct zepi_held_target {
    atomic_uint references;
    struct zepi_target target;
};

// A new one, or NULL without memory (noted).
struct zepi_held_target *zepi_held_target_create(const struct zepi_target *target);
void zepi_held_target_release(struct zepi_held_target *held); // NULL is fine
static inline struct zepi_held_target *zepi_held_target_retain(struct zepi_held_target *held)
{
    // Relaxed: a reference is made from a reference.
    atomic_fetch_add_explicit(&held->references, 1, memory_order_relaxed);
    return held;
}

struct zepi_dispatch {
    struct zepi_target target;     // kept alive by `held`, or by the module of the launch
    struct zepi_held_target *held; // owned reference, or NULL
};

#endif
