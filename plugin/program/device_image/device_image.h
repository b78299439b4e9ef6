// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_DEVICE_IMAGE_DEVICE_IMAGE_H
#define ZEPI_PROGRAM_DEVICE_IMAGE_DEVICE_IMAGE_H

#include "core/object.h"
#include "program/device_image/blob.h"
#include "program/device_image/spec_values.h"

struct zepi_build_result;
struct zepi_context;

// A device image: code in one format with its maker's description. Immutable, shared by the modules
// that have it.
struct zepi_device_image {
    struct zepi_object object;
    zepi_device_image_format_t format;
    zepi_module_state_t state;   // as declared
    struct zepi_blob *blob;      // reference; NULL: imported from a native handle
    struct zepi_digest identity; // of the code and the description: equal images are equal in all
    // Sorted by id: `own_declarations`, or those of a plain image's code.
    const struct zepi_spec_declaration *declarations;
    uint32_t declaration_count;
    bool has_own_defaults;                          // some differ from the literals of the SPIR-V
    struct zepi_spec_declaration *own_declarations; // owned; NULL if it is plain
    struct zepi_device_image_layout *layouts;       // owned
    uint32_t layout_count;
    zepi_device_t *devices; // owned list of borrowed devices; none: any that accepts it
    uint32_t device_count;
    // Native images.
    uint32_t emulated_count;
    struct zepi_device_image_emulated *emulated; // owned; in the order of the buffer
    uint32_t emulation_size_bytes;               // of that buffer
    char **emulated_kernels;                     // owned
    uint32_t emulated_kernel_count;
    // Built images (built_image.h): references, NULL for others.
    struct zepi_device_image *source;   // the image that it was built from; has its declarations
    struct zepi_spec_values *values;    // that it was built with
    struct zepi_context *context;       // keeps the build's alive
    struct zepi_build_result *build;    // for the first device that it serves
    _Atomic(struct zepi_blob *) native; // the bytes of that, once asked for
    uint32_t kernel_count;
};

// A composite constant. Elements whose id is not declared are left out.
struct zepi_device_image_layout {
    char *name; // owned
    size_t size_bytes;
    uint8_t *default_bytes;        // owned; zeros or literals if none were given
    zepi_spec_element_t *elements; // owned
    uint32_t element_count;
};

struct zepi_device_image_emulated {
    uint32_t id;
    uint32_t offset_bytes;
    uint32_t size_bytes;
};

extern const struct zepi_type zepi_device_image_type;

// An image without bytes, for a ze_module that was handed in.
zepi_result_t zepi_device_image_create_imported(zepi_module_state_t state,
                                                struct zepi_device_image **out_image);

// NULL for native images.
static inline const struct zepi_spirv *
zepi_device_image_spirv(const struct zepi_device_image *image)
{
    return image->format == ZEPI_DEVICE_IMAGE_SPIRV ? &image->blob->spirv : NULL;
}

// Whether its code may have variables that kernels write, and that live as long as the code is
// loaded. Native code does not say, so that it may.
static inline bool zepi_device_image_has_variables(const struct zepi_device_image *image)
{
    return image->format != ZEPI_DEVICE_IMAGE_SPIRV || image->blob->spirv.has_variables;
}

const struct zepi_device_image_layout *
zepi_device_image_find_layout(const struct zepi_device_image *image, const char *name);

static inline const struct zepi_spec_declaration *
zepi_device_image_find_constant(const struct zepi_device_image *image, uint32_t id)
{
    return zepi_spec_find_declaration(image->declarations, image->declaration_count, id);
}

// Whether the image may be tried on the device at all.
static inline bool zepi_device_image_is_for(const struct zepi_device_image *image,
                                            const struct zepi_device *device)
{
    for (uint32_t i = 0; i < image->device_count; i++) {
        if (image->devices[i] == device)
            return true;
    }
    return image->device_count == 0;
}

// Whether the image's constants have the same values in two sets.
bool zepi_device_image_has_equal_values(const struct zepi_device_image *image,
                                        const struct zepi_spec_values *a,
                                        const struct zepi_spec_values *b);

// Goes through the constants of SPIR-V whose value in force is not the literal of the SPIR-V: the
// value of the first one from *inout_index on, whose index is there then. NULL: there is none.
static inline const uint8_t *zepi_device_image_next_changed(const struct zepi_device_image *image,
                                                            const struct zepi_spec_values *values,
                                                            uint32_t *inout_index)
{
    const struct zepi_spirv *spirv = zepi_device_image_spirv(image);
    const bool may_differ = spirv && (values || image->has_own_defaults);
    // Declarations and constants of the SPIR-V are sorted by id, with the same ids.
    for (; may_differ && *inout_index < image->declaration_count; ++*inout_index) {
        const struct zepi_spec_declaration *declaration = &image->declarations[*inout_index];
        const uint8_t *value = zepi_spec_effective(declaration, values);
        if (memcmp(value, spirv->constants[*inout_index].default_value, declaration->size_bytes) !=
            0)
            return value;
    }
    return NULL;
}

// Whether a constant of a native image reaches its kernels through memory.
bool zepi_device_image_is_emulated(const struct zepi_device_image *image, uint32_t id);

// Whether the image's constants are all constants for the driver's compiler.
bool zepi_device_image_is_native_support(const struct zepi_device_image *image);

// Whether the other image exports a symbol that this one imports. Only of SPIR-V is that known.
bool zepi_device_image_needs(const struct zepi_device_image *image,
                             const struct zepi_device_image *other);
// Adds to the list the images of `all` that its images import from, and those that these import
// from. Returns how many there are then; there is room for all.
uint32_t zepi_device_images_add_needed(uint32_t all_count, struct zepi_device_image *const *all,
                                       uint32_t count, struct zepi_device_image **images);

#endif
