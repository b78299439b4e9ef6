// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_XE_QUERY_H
#define DRM_SHIM_XE_QUERY_H

#include "node.h"

#include <drm/xe_drm.h>

// DRM_IOCTL_XE_DEVICE_QUERY: the properties of the device. 0 or an error number.
int shim_xe_query(const struct shim_node *node, struct drm_xe_device_query *query);

#endif
