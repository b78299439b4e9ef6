// SPDX-License-Identifier: MIT
#include "program/device_image/device_image.h"

#include "cache/build_result.h"
#include "core/alloc.h"
#include "device/device.h"

static void free_description(struct zepi_device_image *image)
{
    for (uint32_t i = 0; i < image->layout_count; i++) {
        zepi_free(image->layouts[i].name);
        zepi_free(image->layouts[i].default_bytes);
        zepi_free(image->layouts[i].elements);
    }
    for (uint32_t i = 0; i < image->emulated_kernel_count; i++)
        zepi_free(image->emulated_kernels[i]);
    zepi_free(image->emulated_kernels);
    zepi_free(image->emulated);
    zepi_free(image->layouts);
    zepi_free(image->own_declarations);
    zepi_free(image->devices);
}

static void device_image_destroy(void *object)
{
    struct zepi_device_image *image = object;
    if (image->source) {
        zepi_blob_release(atomic_load_explicit(&image->native, memory_order_acquire));
        zepi_spec_values_release(image->values);
        zepi_release(image->source);
        // Code may be used as long as its context lives.
        zepi_build_result_release(image->build);
        zepi_release(image->context);
        return;
    }
    // SPIR-V of which nothing else is known has no list.
    if (image->devices)
        free_description(image);
    zepi_blob_release(image->blob);
}

ZEPI_DEFINE_TYPE(device_image, device_image_destroy);

zepi_result_t zepi_device_image_create_imported(zepi_module_state_t state,
                                                struct zepi_device_image **out_image)
{
    struct zepi_device_image *image = zepi_object_create(&zepi_device_image_type);
    if (!image)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    image->format = ZEPI_DEVICE_IMAGE_NATIVE;
    image->state = state;
    // Equal to itself alone.
    const void *self = image;
    image->identity = zepi_digest_of(&self, sizeof(self));
    *out_image = image;
    return ZEPI_SUCCESS;
}

const struct zepi_device_image_layout *
zepi_device_image_find_layout(const struct zepi_device_image *image, const char *name)
{
    for (uint32_t i = 0; i < image->layout_count; i++) {
        if (strcmp(image->layouts[i].name, name) == 0)
            return &image->layouts[i];
    }
    return NULL;
}

bool zepi_device_image_is_emulated(const struct zepi_device_image *image, uint32_t id)
{
    for (uint32_t i = 0; i < image->emulated_count; i++) {
        if (image->emulated[i].id == id)
            return true;
    }
    return false;
}

bool zepi_device_image_is_native_support(const struct zepi_device_image *image)
{
    return image->format == ZEPI_DEVICE_IMAGE_SPIRV ||
           (image->source && zepi_device_image_is_native_support(image->source));
}

bool zepi_device_image_has_equal_values(const struct zepi_device_image *image,
                                        const struct zepi_spec_values *a,
                                        const struct zepi_spec_values *b)
{
    for (uint32_t i = 0; i < image->declaration_count; i++) {
        const struct zepi_spec_declaration *declaration = &image->declarations[i];
        if (memcmp(zepi_spec_effective(declaration, a), zepi_spec_effective(declaration, b),
                   declaration->size_bytes) != 0)
            return false;
    }
    return true;
}

static bool is_exported_symbol(const struct zepi_spirv *spirv, const char *name)
{
    for (uint32_t i = 0; i < spirv->symbol_count; i++) {
        if (spirv->symbols[i].linkage != ZEPI_SPIRV_IMPORT &&
            strcmp(spirv->symbols[i].name, name) == 0)
            return true;
    }
    return false;
}

bool zepi_device_image_needs(const struct zepi_device_image *image,
                             const struct zepi_device_image *other)
{
    const struct zepi_spirv *own = zepi_device_image_spirv(image);
    const struct zepi_spirv *others = zepi_device_image_spirv(other);
    if (image == other || !own || !others)
        return false;
    for (uint32_t i = 0; i < own->symbol_count; i++) {
        if (own->symbols[i].linkage == ZEPI_SPIRV_IMPORT &&
            is_exported_symbol(others, own->symbols[i].name))
            return true;
    }
    return false;
}

uint32_t zepi_device_images_add_needed(uint32_t all_count, struct zepi_device_image *const *all,
                                       uint32_t count, struct zepi_device_image **images)
{
    for (uint32_t at = 0; at < count; at++) {
        for (uint32_t i = 0; i < all_count; i++) {
            uint32_t listed = 0;
            while (listed < count && images[listed] != all[i])
                listed++;
            if (listed == count && zepi_device_image_needs(images[at], all[i]))
                images[count++] = all[i];
        }
    }
    return count;
}
