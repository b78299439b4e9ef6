// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_SURFACE_H
#define DRM_SHIM_SURFACE_H

#include "ze_info.h"

#include <level_zero/ze_api.h>

// Readers of the hardware's states, which say to a kernel what an image and a sampler are
// (RENDER_SURFACE_STATE and SAMPLER_STATE of Intel's public documentation).

#define SHIM_SURFACE_STATE_WORDS 16
#define SHIM_SAMPLER_STATE_WORDS 4

// Tiled surfaces lie row by row, as linear ones: only engines look into them, and these agree.
struct shim_surface {
    ze_image_desc_t desc;
    uint64_t address; // GPU address of the first pixel
    uint64_t row_bytes, slice_bytes;
    uint32_t pixel_bytes;
    uint32_t width, rows, slices; // of an array of lines each is a row, else each a slice
};

// On failure returns false, and the refusal has the reason: a type or format that ze_cpu has
// no image for, several samples, levels or planes.
bool shim_surface_read(const uint32_t words[SHIM_SURFACE_STATE_WORDS],
                       struct shim_surface *out_surface, const struct shim_refusal *refusal);

// As above: address modes that differ between the dimensions, filters beyond nearest and linear.
bool shim_sampler_read(const uint32_t words[SHIM_SAMPLER_STATE_WORDS],
                       ze_sampler_desc_t *out_sampler, const struct shim_refusal *refusal);

#endif
