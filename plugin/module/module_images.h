// SPDX-License-Identifier: MIT
#ifndef ZEPI_MODULE_MODULE_IMAGES_H
#define ZEPI_MODULE_MODULE_IMAGES_H

#include "module/image.h"

struct zepi_context;

// The images of a module in their context, shared with every module that is made from it: a build
// from the cache touches one count of references for all of them. Immutable.
struct zepi_module_images {
    atomic_uint references;
    struct zepi_context *context; // retained
    // What the images declare together, sorted by id: the first image's own list if there is one
    // image.
    const struct zepi_spec_declaration *declarations;
    uint32_t declaration_count;
    bool has_required;                              // one of them must be set before a build
    struct zepi_spec_declaration *own_declarations; // owned; NULL if they are an image's
    uint32_t count;
    struct zepi_image *images[]; // retained
};

// Retains context and images. The images of an input must agree about the sizes of constants. One
// reference, in *out_images.
zepi_result_t zepi_module_images_create(struct zepi_context *context, zepi_module_state_t state,
                                        uint32_t count, struct zepi_image *const *images,
                                        struct zepi_module_images **out_images);
static inline struct zepi_module_images *
zepi_module_images_retain(struct zepi_module_images *images)
{
    // Relaxed: a reference is made from a reference.
    atomic_fetch_add_explicit(&images->references, 1, memory_order_relaxed);
    return images;
}
void zepi_module_images_release(struct zepi_module_images *images); // NULL is fine

#endif
