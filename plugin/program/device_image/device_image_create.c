// SPDX-License-Identifier: MIT
#include "program/device_image/device_image_create.h"

#include "cache/key.h"
#include "core/alloc.h"
#include "core/interface.h"
#include "device/device.h"

#include <stdlib.h>

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

// ---- Constants ----

static int compare_declarations(const void *left, const void *right)
{
    const uint32_t a = ((const struct zepi_spec_declaration *)left)->id;
    const uint32_t b = ((const struct zepi_spec_declaration *)right)->id;
    return a < b ? -1 : a > b;
}

// An integer type of that size: a baked value does not say more.
static zepi_scalar_type_t unsigned_of(size_t size_bytes)
{
    return size_bytes == 1   ? ZEPI_SCALAR_UINT8
           : size_bytes == 2 ? ZEPI_SCALAR_UINT16
           : size_bytes == 4 ? ZEPI_SCALAR_UINT32
                             : ZEPI_SCALAR_UINT64;
}

static zepi_result_t declare_emulated(struct zepi_device_image *image,
                                      const zepi_device_image_desc_t *desc)
{
    uint32_t offset = 0;
    for (uint32_t i = 0; i < desc->emulated_constant_count; i++) {
        const zepi_emulated_constant_t *constant = &desc->emulated_constants[i];
        const uint32_t size = (uint32_t)zepi_scalar_size(constant->type);
        if (size == 0)
            return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                             "emulated constant %u has no known type (%d)", constant->id,
                             (int)constant->type);
        struct zepi_spec_declaration *declaration =
            &image->own_declarations[image->declaration_count++];
        *declaration = (struct zepi_spec_declaration){
            .id = constant->id, .type = constant->type, .size_bytes = (uint8_t)size};
        if (constant->default_value)
            memcpy(declaration->default_value, constant->default_value, size);
        offset = (offset + size - 1) / size * size;
        image->emulated[i] = (struct zepi_device_image_emulated){constant->id, offset, size};
        offset += size;
        image->emulated_count++;
    }
    image->emulation_size_bytes = offset;
    return ZEPI_SUCCESS;
}

static zepi_result_t declare_baked(struct zepi_device_image *image,
                                   const zepi_device_image_desc_t *desc)
{
    for (uint32_t i = 0; i < desc->baked_value_count; i++) {
        const zepi_spec_value_t *value = &desc->baked_values[i];
        const size_t size = value->size_bytes;
        if (!value->value || (size != 1 && size != 2 && size != 4 && size != 8))
            return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                             "the baked value of constant %u has %zu bytes, expected 1, 2, 4 or 8, "
                             "not NULL",
                             value->id, size);
        struct zepi_spec_declaration *declaration =
            &image->own_declarations[image->declaration_count++];
        *declaration = (struct zepi_spec_declaration){.id = value->id,
                                                      .type = unsigned_of(size),
                                                      .size_bytes = (uint8_t)size,
                                                      .has_baked_value = true};
        memcpy(declaration->default_value, value->value, size);
    }
    return ZEPI_SUCCESS;
}

static zepi_result_t copy_kernels(struct zepi_device_image *image,
                                  const zepi_device_image_desc_t *desc)
{
    for (uint32_t i = 0; i < desc->emulated_kernel_count; i++) {
        if (!desc->emulated_kernels[i])
            return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "name %u of the emulated kernels is NULL",
                             i);
        image->emulated_kernels[i] = zepi_duplicate_string(desc->emulated_kernels[i]);
        if (!image->emulated_kernels[i])
            return zepi_fail_no_memory();
        image->emulated_kernel_count++;
    }
    return ZEPI_SUCCESS;
}

static void mark_required(struct zepi_device_image *image, const zepi_device_image_desc_t *desc)
{
    for (uint32_t i = 0; i < desc->required_id_count; i++) {
        for (uint32_t at = 0; at < image->declaration_count; at++) {
            // An id that the compiler dropped needs no value.
            if (image->declarations[at].id == desc->required_ids[i])
                image->own_declarations[at].is_required = true;
        }
    }
}

static zepi_result_t build_constants(struct zepi_device_image *image,
                                     const zepi_device_image_desc_t *desc)
{
    const struct zepi_spirv *spirv = zepi_device_image_spirv(image);
    const size_t room = spirv ? spirv->constant_count
                              : (size_t)desc->baked_value_count + desc->emulated_constant_count;
    image->own_declarations = zepi_allocate(room, sizeof(image->own_declarations[0]));
    image->declarations = image->own_declarations;
    image->emulated = zepi_allocate(desc->emulated_constant_count, sizeof(image->emulated[0]));
    image->emulated_kernels = zepi_allocate(desc->emulated_kernel_count, sizeof(char *));
    if (!image->own_declarations || !image->emulated || !image->emulated_kernels)
        return zepi_fail_no_memory();
    if (spirv) {
        zepi_spec_declare_spirv(spirv, image->own_declarations);
        image->declaration_count = spirv->constant_count;
        return ZEPI_SUCCESS;
    }
    zepi_result_t result = declare_emulated(image, desc);
    if (result == ZEPI_SUCCESS)
        result = declare_baked(image, desc);
    if (result == ZEPI_SUCCESS)
        result = copy_kernels(image, desc);
    if (result != ZEPI_SUCCESS)
        return result;
    qsort(image->own_declarations, image->declaration_count, sizeof(image->own_declarations[0]),
          compare_declarations);
    for (uint32_t i = 1; i < image->declaration_count; i++) {
        if (image->declarations[i].id == image->declarations[i - 1].id)
            return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                             "the image description has specialization constant %u twice",
                             image->declarations[i].id);
    }
    return ZEPI_SUCCESS;
}

// ---- Layouts ----

static int compare_elements(const void *left, const void *right)
{
    const size_t a = ((const zepi_spec_element_t *)left)->offset_bytes;
    const size_t b = ((const zepi_spec_element_t *)right)->offset_bytes;
    return a < b ? -1 : a > b;
}

static zepi_result_t check_elements(const zepi_spec_layout_t *layout,
                                    const zepi_spec_element_t *elements)
{
    for (uint32_t i = 0; i < layout->element_count; i++) {
        const zepi_spec_element_t *element = &elements[i];
        if (element->size_bytes > layout->size_bytes ||
            element->offset_bytes > layout->size_bytes - element->size_bytes)
            return zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                             "composite '%s': element %u lies at %zu to %zu, outside its %zu bytes",
                             layout->name, element->id, element->offset_bytes,
                             element->offset_bytes + element->size_bytes, layout->size_bytes);
        if (i > 0 &&
            elements[i - 1].offset_bytes + elements[i - 1].size_bytes > element->offset_bytes)
            return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "composite '%s': elements %u and %u overlap",
                             layout->name, elements[i - 1].id, element->id);
    }
    return ZEPI_SUCCESS;
}

// Keeps the elements that are declared, and completes the default bytes with their defaults.
static zepi_result_t keep_declared(struct zepi_device_image *image,
                                   struct zepi_device_image_layout *layout,
                                   const zepi_spec_layout_t *from)
{
    for (uint32_t i = 0; i < from->element_count; i++) {
        const zepi_spec_element_t element = layout->elements[i];
        struct zepi_spec_declaration *declaration =
            (struct zepi_spec_declaration *)zepi_device_image_find_constant(image, element.id);
        if (!declaration)
            continue;
        if (declaration->size_bytes != element.size_bytes)
            return zepi_fail(ZEPI_ERROR_SPEC_CONSTANT_SIZE,
                             "composite '%s': element %u has %zu bytes, the image's constant %u",
                             layout->name, element.id, element.size_bytes,
                             (unsigned)declaration->size_bytes);
        // The description's default counts, else the image's own; a value that code was made with
        // stays.
        if (from->default_bytes && !declaration->has_baked_value)
            memcpy(declaration->default_value, layout->default_bytes + element.offset_bytes,
                   element.size_bytes);
        else
            memcpy(layout->default_bytes + element.offset_bytes, declaration->default_value,
                   element.size_bytes);
        layout->elements[layout->element_count++] = element;
    }
    return ZEPI_SUCCESS;
}

static zepi_result_t build_layout(struct zepi_device_image *image, const zepi_spec_layout_t *from)
{
    if (!from->name || (from->element_count > 0 && !from->elements))
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "a composite's name or list of elements is NULL");
    if (from->size_bytes == 0)
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE, "composite '%s' has a size of 0", from->name);
    if (zepi_device_image_find_layout(image, from->name))
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the image description has composite '%s' twice",
                         from->name);
    struct zepi_device_image_layout *layout = &image->layouts[image->layout_count];
    image->layout_count++;
    layout->size_bytes = from->size_bytes;
    layout->name = zepi_duplicate_string(from->name);
    layout->default_bytes = from->default_bytes
                                ? zepi_duplicate(from->default_bytes, from->size_bytes)
                                : zepi_allocate(from->size_bytes, 1);
    layout->elements =
        zepi_duplicate(from->elements, from->element_count * sizeof(layout->elements[0]));
    if (!layout->name || !layout->default_bytes || !layout->elements)
        return zepi_fail_no_memory();
    qsort(layout->elements, from->element_count, sizeof(layout->elements[0]), compare_elements);
    const zepi_result_t result = check_elements(from, layout->elements);
    return result == ZEPI_SUCCESS ? keep_declared(image, layout, from) : result;
}

static zepi_result_t build_layouts(struct zepi_device_image *image,
                                   const zepi_device_image_desc_t *desc)
{
    image->layouts = zepi_allocate(desc->layout_count, sizeof(image->layouts[0]));
    if (!image->layouts)
        return zepi_fail_no_memory();
    for (uint32_t i = 0; i < desc->layout_count; i++) {
        const zepi_result_t result = build_layout(image, &desc->layouts[i]);
        if (result != ZEPI_SUCCESS)
            return result;
    }
    return ZEPI_SUCCESS;
}

// ---- Identity ----

enum identity_tag {
    TAG_CODE = 1,
    TAG_FORMAT,
    TAG_STATE,
    TAG_DECLARATION,
    TAG_FLAGS,
    TAG_LAYOUT,
    TAG_ELEMENT,
    TAG_DEVICE,
    TAG_KERNEL,
};

static void add_layouts(struct zepi_key *key, const struct zepi_device_image *image)
{
    for (uint32_t i = 0; i < image->layout_count; i++) {
        const struct zepi_device_image_layout *layout = &image->layouts[i];
        zepi_key_add_string(key, TAG_LAYOUT, layout->name);
        zepi_key_add_bytes(key, TAG_LAYOUT, layout->default_bytes, layout->size_bytes);
        for (uint32_t at = 0; at < layout->element_count; at++) {
            zepi_key_add_u32(key, TAG_ELEMENT, layout->elements[at].id);
            zepi_key_add_u64(key, TAG_ELEMENT, layout->elements[at].offset_bytes);
        }
    }
}

static zepi_result_t build_identity(struct zepi_device_image *image)
{
    struct zepi_key key;
    zepi_key_init(&key, 1);
    zepi_key_add_digest(&key, TAG_CODE, image->blob->digest);
    zepi_key_add_u32(&key, TAG_FORMAT, image->format);
    zepi_key_add_u32(&key, TAG_STATE, image->state);
    const struct zepi_spirv *spirv = zepi_device_image_spirv(image);
    for (uint32_t i = 0; i < image->declaration_count; i++) {
        const struct zepi_spec_declaration *declaration = &image->declarations[i];
        if (spirv && memcmp(declaration->default_value, spirv->constants[i].default_value,
                            sizeof(declaration->default_value)) != 0)
            image->has_own_defaults = true;
        zepi_key_add_numbered(&key, TAG_DECLARATION, declaration->id, declaration->default_value,
                              declaration->size_bytes);
        zepi_key_add_u32(&key, TAG_FLAGS,
                         (uint32_t)declaration->type << 8 | declaration->is_required |
                             declaration->has_baked_value << 1);
    }
    for (uint32_t i = 0; i < image->emulated_count; i++)
        zepi_key_add_u32(&key, TAG_ELEMENT, image->emulated[i].id);
    add_layouts(&key, image);
    for (uint32_t i = 0; i < image->device_count; i++)
        zepi_key_add_u64(&key, TAG_DEVICE, (uintptr_t)image->devices[i]);
    for (uint32_t i = 0; i < image->emulated_kernel_count; i++)
        zepi_key_add_string(&key, TAG_KERNEL, image->emulated_kernels[i]);
    const bool is_sealed = zepi_key_seal(&key);
    if (is_sealed)
        image->identity = zepi_key_digest(&key);
    zepi_key_finish(&key);
    return is_sealed ? ZEPI_SUCCESS : zepi_fail_no_memory();
}

// ---- Images ----

// Whether the description says nothing but the bytes of SPIR-V.
static bool is_plain_desc(const zepi_device_image_desc_t *desc)
{
    return desc->format == ZEPI_DEVICE_IMAGE_SPIRV && desc->device_count == 0 &&
           desc->layout_count == 0 && desc->required_id_count == 0;
}

static zepi_result_t device_image_describe(struct zepi_device_image *image,
                                           const zepi_device_image_desc_t *desc)
{
    if (is_plain_desc(desc)) {
        image->declarations = image->blob->declarations;
        image->declaration_count = image->blob->spirv.constant_count;
        image->identity = image->blob->digest;
        return ZEPI_SUCCESS;
    }
    zepi_result_t result = device_image_copy_devices(image, desc);
    if (result == ZEPI_SUCCESS)
        result = build_constants(image, desc);
    if (result == ZEPI_SUCCESS)
        result = build_layouts(image, desc);
    mark_required(image, desc);
    if (result == ZEPI_SUCCESS)
        result = build_identity(image);
    return result;
}

static zepi_result_t device_image_create(const zepi_device_image_desc_t *outside,
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
    if (result == ZEPI_SUCCESS)
        result = device_image_describe(image, desc);
    if (result != ZEPI_SUCCESS) {
        zepi_release(image);
        return result;
    }
    *out_image = image;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_device_images_create(uint32_t count, const zepi_device_image_desc_t *descs,
                                        struct zepi_device_image **images)
{
    // Every description in the list has the size that the first one states.
    const size_t stride = count > 0 ? descs[0].size : 0;
    for (uint32_t i = 0; i < count; i++) {
        const zepi_result_t result = device_image_create(
            (const zepi_device_image_desc_t *)((const char *)descs + i * stride), &images[i]);
        if (result != ZEPI_SUCCESS) {
            zepi_error_prepend("image %u: ", i);
            return result;
        }
    }
    return ZEPI_SUCCESS;
}
