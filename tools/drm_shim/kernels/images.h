// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_IMAGES_H
#define DRM_SHIM_IMAGES_H

#include "memory/address_space.h"

#include <level_zero/ze_api.h>

// The images and samplers of one launch: objects of ze_cpu, made of the states that the payload
// names. An image has a copy of the surface's pixels; changed pixels are copied back.

struct shim_image;

struct shim_images {
    struct shim_image *images;     // owned
    ze_sampler_handle_t *samplers; // owned
    uint32_t sampler_count;
};

// Makes an image of the surface whose state lies at the GPU address; the kernel sees it as `type`,
// unless that is ZE_IMAGE_TYPE_FORCE_UINT32. False: ze_cpu has none like
// it, or memory is not bound; logged with `kernel`, the name of the kernel.
bool shim_images_add(struct shim_images *images, struct shim_address_space *space,
                     const char *kernel, uint64_t state, ze_image_type_t type,
                     ze_image_handle_t *out_image);
bool shim_images_add_sampler(struct shim_images *images, struct shim_address_space *space,
                             const char *kernel, uint64_t state, ze_sampler_handle_t *out_sampler);

// The launch is complete: the surfaces get the pixels that it changed. False: logged.
bool shim_images_write_back(const struct shim_images *images, struct shim_address_space *space);
// A zeroed struct is fine.
void shim_images_finish(struct shim_images *images);

#endif
