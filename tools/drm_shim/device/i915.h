// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_I915_H
#define DRM_SHIM_I915_H

#include "node.h"

// The calls of the kernel's i915 driver: each submission names its buffers and their addresses
// ("softpin"), and a thread waits for a buffer until no submission uses it. A context has one
// engine.

// 0 or an error number; ENOTTY for a call that is not known.
int shim_i915_answer(const struct shim_node *node, unsigned long request, void *argument);
// The calls that may be made to fail (faults.h); the last one is 0.
extern const struct shim_fault_call shim_i915_fault_calls[];

#endif
