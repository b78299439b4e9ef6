// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_DEVICE_IMAGE_MODULE_IMAGES_H
#define ZEPI_PROGRAM_DEVICE_IMAGE_MODULE_IMAGES_H

#include "core/object.h"

struct zepi_context;
struct zepi_device_image;
struct zepi_spec_declaration;

// The images of a module in their context, shared with every module that is made from it: a build
// from the cache touches one count of references for all of them. Immutable.
struct zepi_module_images {
    struct zepi_object object;    // for its memory and references: no handle
    struct zepi_context *context; // retained
    // The declarations of the images together, sorted by id: the first image's own list if there is
    // one image.
    const struct zepi_spec_declaration *declarations;
    uint32_t declaration_count;
    struct zepi_spec_declaration *own_declarations; // owned; NULL if they are an image's
    uint32_t count;
    struct zepi_device_image **images; // retained; the list is owned, or only_image
    struct zepi_device_image *only_image;
};

extern const struct zepi_type zepi_module_images_type;

// Retains the context and the images. Those of an input must agree about the sizes of constants.
// One reference, in *out_images.
zepi_result_t zepi_module_images_create(struct zepi_context *context, zepi_module_state_t state,
                                        uint32_t count, struct zepi_device_image *const *images,
                                        struct zepi_module_images **out_images);

#endif
