// SPDX-License-Identifier: MIT
#ifndef ZEPI_LAUNCH_REQUEST_TABLE_H
#define ZEPI_LAUNCH_REQUEST_TABLE_H

#include "launch/device_kernel.h"

#include <stdatomic.h>

struct zepi_module;
struct zepi_queue;

// The table from requests to kernels: the last launches by name of a queue with their targets. The
// queue owns it; its `requests_mutex` guards it. An entry lies in the set that a hash of the
// request's values leads to, where the newest is compared first. Targets from a translation unit
// hold as long as no unit comes or goes, no value is set on a unit's module and no cache is
// trimmed; they keep code alive, but no module, and go when the context's cache is full. Targets
// from a module hold nothing: the module owns their kernels, and only a launch that names it finds
// them.

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

// Whether the same request was made before: then its target is in *out_dispatch. `module`: that of
// the launch or of its kernel, checked; NULL: the launch names a translation unit.
bool zepi_request_table_find(struct zepi_queue *queue, const zepi_launch_desc_t *desc,
                             struct zepi_module *module, struct zepi_dispatch *out_dispatch);

// Notes a target, found while units had this generation. Without memory nothing is noted.
void zepi_request_table_note(struct zepi_queue *queue, const zepi_launch_desc_t *desc,
                             struct zepi_module *module, uint64_t generation,
                             const struct zepi_dispatch *dispatch);

#endif
