// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_EXPORT_H
#define DRM_SHIM_EXPORT_H

#include <drm/drm.h>

// Buffers as file descriptors ("PRIME"), by which the driver hands memory from one device to
// another. A descriptor is good in this process only, and for as long as the buffer has a handle;
// mapping it shows nothing. Both return 0 or an error number.
int shim_export_buffer(struct drm_prime_handle *prime);
int shim_import_buffer(struct drm_prime_handle *prime);

#endif
