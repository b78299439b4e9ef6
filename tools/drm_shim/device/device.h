// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_DEVICE_H
#define DRM_SHIM_DEVICE_H

#include "node.h"

// A render node's ioctl(): the answers of a kernel driver for the product. 0, or -1 with errno.
// Thread-safe.
int shim_device_ioctl(const struct shim_node *node, unsigned long request, void *argument);

#endif
