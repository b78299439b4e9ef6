// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_QUERY_H
#define DRM_SHIM_QUERY_H

#include <drm/xe_drm.h>

#define SHIM_MEMORY_VRAM 1 // the number of the device's memory; 0 is the system's

// DRM_IOCTL_XE_DEVICE_QUERY: the properties of the device. 0 or an error number.
int shim_query(struct drm_xe_device_query *query);

#endif
