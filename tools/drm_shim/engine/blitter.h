// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_BLITTER_H
#define DRM_SHIM_BLITTER_H

#include "memory/address_space.h"

// A command of the copy engine, `length` words long. False if it is not known, or met a page fault.
// Linear memory only: a tiled image is refused.
bool shim_blitter_run(struct shim_address_space *space, uint32_t queue, const uint32_t *words,
                      uint32_t length);

#endif
