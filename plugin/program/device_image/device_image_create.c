// SPDX-License-Identifier: MIT
#include "program/device_image/device_image.h"

#include "cache/build_result.h"
#include "core/alloc.h"
#include "core/list.h"
#include "device/device.h"
#include "program/device_image/device_image_build.h"

static void device_image_destroy(void *object)
{
    struct zepi_device_image *image = object;
    if (image->is_plain) {
        zepi_blob_release(image->blob);
        return;
    }
    if (image->source) {
        zepi_blob_release(atomic_load_explicit(&image->native, memory_order_acquire));
        zepi_spec_values_release(image->values);
        zepi_release(image->source);
        // Code may be used as long as its context lives.
        zepi_build_result_release(image->build);
        zepi_release(image->context);
        return;
    }
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
    zepi_blob_release(image->blob);
}

ZEPI_DEFINE_TYPE(device_image, device_image_destroy);

static zepi_result_t check_device_image_desc(const zepi_device_image_desc_t *desc)
{
    if (desc->format != ZEPI_DEVICE_IMAGE_SPIRV && desc->format != ZEPI_DEVICE_IMAGE_NATIVE)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "image format %d is neither SPIR-V (1) nor native (2)", (int)desc->format);
    if (desc->state < ZEPI_MODULE_INPUT || desc->state > ZEPI_MODULE_EXECUTABLE)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "image state %d is none of input (1), object (2), executable (3)",
                         (int)desc->state);
    if (desc->format == ZEPI_DEVICE_IMAGE_SPIRV && desc->state != ZEPI_MODULE_INPUT)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "a SPIR-V image is always input");
    if (!desc->bytes)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the bytes of the image are NULL");
    if (desc->size_bytes == 0)
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE, "the image has no bytes");
    if (desc->format == ZEPI_DEVICE_IMAGE_SPIRV &&
        (desc->baked_value_count > 0 || desc->emulated_constant_count > 0))
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "baked values and emulated constants are for native images");
    if ((desc->device_count > 0 && !desc->devices) || (desc->layout_count > 0 && !desc->layouts) ||
        (desc->required_id_count > 0 && !desc->required_ids) ||
        (desc->baked_value_count > 0 && !desc->baked_values) ||
        (desc->emulated_constant_count > 0 && !desc->emulated_constants) ||
        (desc->emulated_kernel_count > 0 && !desc->emulated_kernels))
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "a list of the image description is NULL and its count is not 0");
    return ZEPI_SUCCESS;
}

static zepi_result_t device_image_copy_devices(struct zepi_device_image *image,
                                               const zepi_device_image_desc_t *desc)
{
    for (uint32_t i = 0; i < desc->device_count; i++) {
        const zepi_result_t result = zepi_check_object(desc->devices[i], &zepi_device_type);
        if (result != ZEPI_SUCCESS)
            return result;
    }
    image->devices = zepi_duplicate(desc->devices, desc->device_count * sizeof(zepi_device_t));
    if (!image->devices)
        return zepi_fail_no_memory();
    image->device_count = desc->device_count;
    return ZEPI_SUCCESS;
}

// Whether the description says nothing but the bytes of SPIR-V.
static bool is_plain_desc(const zepi_device_image_desc_t *desc)
{
    return desc->format == ZEPI_DEVICE_IMAGE_SPIRV && desc->device_count == 0 &&
           desc->layout_count == 0 && desc->required_id_count == 0;
}

bool zepi_device_image_is_plain(const zepi_device_image_desc_t *desc)
{
    return desc->size == sizeof(*desc) && is_plain_desc(desc) && desc->state == ZEPI_MODULE_INPUT &&
           desc->bytes && desc->size_bytes > 0 && desc->baked_value_count == 0 &&
           desc->emulated_constant_count == 0 && desc->emulated_kernel_count == 0;
}

static void device_image_describe_plain(struct zepi_device_image *image)
{
    image->is_plain = true;
    image->declarations = image->blob->declarations;
    image->declaration_count = image->blob->spirv.constant_count;
    image->identity = image->blob->identity;
}

static zepi_result_t device_image_describe(struct zepi_device_image *image,
                                           const zepi_device_image_desc_t *desc)
{
    zepi_result_t result = device_image_copy_devices(image, desc);
    if (result == ZEPI_SUCCESS)
        result = zepi_device_image_build_constants(image, desc);
    if (result == ZEPI_SUCCESS)
        result = zepi_device_image_build_layouts(image, desc);
    if (result == ZEPI_SUCCESS)
        result = zepi_device_image_build_identity(image);
    return result;
}

zepi_result_t zepi_device_image_create(const zepi_device_image_desc_t *outside,
                                       struct zepi_device_image **out_image)
{
    zepi_device_image_desc_t copy;
    const zepi_device_image_desc_t *desc = outside;
    zepi_result_t result = ZEPI_SUCCESS;
    if (!outside || outside->size != sizeof(copy)) {
        result = zepi_read_desc(&copy, sizeof(copy), offsetof(zepi_device_image_desc_t, devices),
                                outside, "image description");
        desc = &copy;
    }
    if (result == ZEPI_SUCCESS)
        result = check_device_image_desc(desc);
    if (result != ZEPI_SUCCESS)
        return result;
    struct zepi_device_image *image = zepi_object_create(&zepi_device_image_type);
    if (!image)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    image->format = desc->format;
    image->state = desc->state;
    result = zepi_blob_get(desc->bytes, desc->size_bytes, desc->format == ZEPI_DEVICE_IMAGE_SPIRV,
                           &image->blob);
    if (result == ZEPI_SUCCESS && is_plain_desc(desc))
        device_image_describe_plain(image);
    else if (result == ZEPI_SUCCESS)
        result = device_image_describe(image, desc);
    if (result != ZEPI_SUCCESS) {
        zepi_release(image);
        return result;
    }
    *out_image = image;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_device_image_create_plain(struct zepi_blob *blob,
                                             struct zepi_device_image **out_image)
{
    struct zepi_device_image *image = zepi_object_create(&zepi_device_image_type);
    if (!image) {
        zepi_blob_release(blob);
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    }
    image->format = ZEPI_DEVICE_IMAGE_SPIRV;
    image->state = ZEPI_MODULE_INPUT;
    image->blob = blob;
    device_image_describe_plain(image);
    *out_image = image;
    return ZEPI_SUCCESS;
}

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
