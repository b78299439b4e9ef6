// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_PUBLIC_H
#define DRM_SHIM_PUBLIC_H

// The functions that this library stands in front of, and those that a program may call. All others
// are hidden.
#define SHIM_PUBLIC __attribute__((visibility("default")))

#endif
