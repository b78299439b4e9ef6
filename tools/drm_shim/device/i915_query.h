// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_I915_QUERY_H
#define DRM_SHIM_I915_QUERY_H

#include "node.h"

#include <drm/i915_drm.h>

// The properties of the device. Both return 0 or an error number; an item that is not known gets
// its error as its length.
int shim_i915_get_param(const struct shim_node *node, const drm_i915_getparam_t *get);
int shim_i915_query(const struct shim_node *node, const struct drm_i915_query *query);

#endif
