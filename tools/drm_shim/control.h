// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_CONTROL_H
#define DRM_SHIM_CONTROL_H

#include "public.h"

#include <stdbool.h>
#include <stdint.h>

// For test programs that run on the stand-in: they find these functions by name,
// dlsym(RTLD_DEFAULT, "drm_shim_..."), and so know whether they do.

// How often the driver asked for something that is not known or not right: commands, page faults.
SHIM_PUBLIC uint64_t drm_shim_errors(void);
// As DRM_SHIM_FAULT; counting begins anew. NULL: no faults any more. False if it is not understood.
SHIM_PUBLIC bool drm_shim_set_faults(const char *text);
// As DRM_SHIM_KERNEL_US, for kernels that start from now on.
SHIM_PUBLIC void drm_shim_set_kernel_us(uint64_t microseconds);
// How long a submission takes before the queue has it; the thread that submits waits. 0 at first.
SHIM_PUBLIC void drm_shim_set_submit_us(uint64_t microseconds);
// The same, after the queue has it.
SHIM_PUBLIC void drm_shim_set_return_us(uint64_t microseconds);

#endif
