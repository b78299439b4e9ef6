// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_XE_H
#define DRM_SHIM_XE_H

#include "node.h"

// The calls of the kernel's xe driver: buffers that are bound, execution queues, fences in memory.

// 0 or an error number; ENOTTY for a call that is not known.
int shim_xe_answer(const struct shim_node *node, unsigned long request, void *argument);
// The calls that may be made to fail (faults.h); the last one is 0.
extern const struct shim_fault_call shim_xe_fault_calls[];

#endif
