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

// What an update changed in a launch: bits of arguments, the last of which stands for all further
// ones, and these; with the sizes the offset and the flags.
#define ZEPI_GRAPH_CHANGED_SIZES (1ull << 62)
#define ZEPI_GRAPH_CHANGED_KERNEL (1ull << 63)
static inline uint64_t zepi_graph_changed_argument(uint32_t index)
{
    return 1ull << (index < 61 ? index : 61);
}

// A launch with copies of all that it needs. Immutable once a command has it: an update makes
// another one, so that executions that have begun go on with theirs.
struct zepi_graph_launch {
    atomic_uint references;
    bool moves;                       // a buffer among its arguments does
    bool has_objects;                 // `memory` has
    uint64_t changes;                 // in which it differs from the launch that it replaces
    size_t size_bytes;                // of all of it
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

// ---- A launch that no command has yet ----

// The first argument from `index` on that was changed; a number above all if there is none.
static inline uint32_t zepi_graph_next_changed(uint64_t changes, uint32_t index)
{
    if (index >= 61)
        return changes & zepi_graph_changed_argument(61) ? index : UINT32_MAX;
    changes &= ZEPI_GRAPH_CHANGED_SIZES - 1;
    return changes >> index ? index + (uint32_t)__builtin_ctzll(changes >> index) : UINT32_MAX;
}

// Makes the launch that `launch` replaced, and which has no objects, the same as `launch`. False:
// others still have it, or it cannot become the same. NULL cannot.
bool zepi_graph_launch_follow(struct zepi_graph_launch *old,
                              const struct zepi_graph_launch *launch);
// The same launch, to be changed. NULL without memory (noted).
struct zepi_graph_launch *zepi_graph_launch_copy(const struct zepi_graph_launch *from);
// Each of these notes in `changes` what differs. Those that make another launch consume the old
// one, unless they fail.
// Arguments that the kernel has none of are gone; new ones are values without bytes.
zepi_result_t zepi_graph_launch_set_kernel(struct zepi_graph_launch **launch,
                                           struct zepi_kernel *kernel,
                                           const struct zepi_device_kernel *device_kernel);
// Checks one argument of the kernel, and sets it. `memory` without a reference, or NULL.
// ZEPI_ERROR_INVALID_SIZE is the argument's.
zepi_result_t zepi_graph_launch_set_argument(struct zepi_graph_launch **launch,
                                             const struct zepi_device_kernel *device_kernel,
                                             uint32_t index, const zepi_argument_t *argument,
                                             const struct zepi_graph_memory *memory);
// The whole launch takes the place of another one.
void zepi_graph_launch_note_changes(struct zepi_graph_launch *launch,
                                    const struct zepi_device_kernel *device_kernel,
                                    const struct zepi_graph_launch *old);
// Whether these are the work sizes and offset of the description.
bool zepi_graph_launch_has_sizes(const struct zepi_graph_launch *launch,
                                 const zepi_launch_desc_t *desc);

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
