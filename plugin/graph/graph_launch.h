// SPDX-License-Identifier: MIT
#ifndef ZEPI_GRAPH_GRAPH_LAUNCH_H
#define ZEPI_GRAPH_GRAPH_LAUNCH_H

#include "copy/buffer_use.h"
#include "launch/launch.h"

// Memory, or another object, that a recorded command uses.
struct zepi_graph_memory {
    void *object;                 // owned reference; NULL: none
    struct zepi_buffer_part part; // the bytes that a device uses; no buffer: it does not move
};

// A launch with copies of all that it needs. Immutable: an update makes another one, so that
// executions that have begun go on with theirs.
struct zepi_graph_launch {
    atomic_uint references;
    struct zepi_kernel *kernel;       // retained
    zepi_launch_desc_t desc;          // arguments are the ones below
    struct zepi_graph_memory *memory; // of each argument
    zepi_argument_t arguments[];      // then `memory`, then the bytes of values
};

// `desc`, and `memory`, one an argument, are copied. The launch has been checked. NULL without
// memory (noted).
struct zepi_graph_launch *zepi_graph_launch_create(struct zepi_kernel *kernel,
                                                   const zepi_launch_desc_t *desc,
                                                   const struct zepi_graph_memory *memory);

// Checks a launch on the device, whose arguments are not checked, and makes one of a graph.
// ZEPI_ARGUMENTS_UNREAD: launch/arguments.h.
zepi_result_t zepi_graph_launch_make(const struct zepi_context *context, struct zepi_device *device,
                                     struct zepi_kernel *kernel, const struct zepi_launch *launch,
                                     struct zepi_graph_launch **out_launch);

static inline struct zepi_graph_launch *zepi_graph_launch_retain(struct zepi_graph_launch *launch)
{
    // Relaxed: a reference is made from a reference.
    if (launch)
        atomic_fetch_add_explicit(&launch->references, 1, memory_order_relaxed);
    return launch;
}
void zepi_graph_launch_release(struct zepi_graph_launch *launch); // NULL is fine

#endif
