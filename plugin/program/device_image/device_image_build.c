// SPDX-License-Identifier: MIT
#include "program/device_image/device_image_build.h"

#include "cache/key.h"
#include "core/alloc.h"

#include <stdlib.h>

static zepi_scalar_type_t element_type_of(const struct zepi_spirv_constant *constant)
{
    if (constant->kind == ZEPI_SPIRV_BOOL)
        return ZEPI_SCALAR_BOOL;
    if (constant->kind == ZEPI_SPIRV_FLOAT)
        return constant->size_bytes == 2   ? ZEPI_SCALAR_FLOAT16
               : constant->size_bytes == 4 ? ZEPI_SCALAR_FLOAT32
                                           : ZEPI_SCALAR_FLOAT64;
    static const zepi_scalar_type_t types[9][2] = {
        [1] = {ZEPI_SCALAR_UINT8, ZEPI_SCALAR_INT8},
        [2] = {ZEPI_SCALAR_UINT16, ZEPI_SCALAR_INT16},
        [4] = {ZEPI_SCALAR_UINT32, ZEPI_SCALAR_INT32},
        [8] = {ZEPI_SCALAR_UINT64, ZEPI_SCALAR_INT64},
    };
    return types[constant->size_bytes][constant->is_signed];
}

static void declare_spirv(const struct zepi_spirv *spirv,
                          struct zepi_spec_declaration *declarations)
{
    for (uint32_t i = 0; i < spirv->constant_count; i++) {
        struct zepi_spec_declaration *declaration = &declarations[i];
        *declaration =
            (struct zepi_spec_declaration){.id = spirv->constants[i].id,
                                           .type = element_type_of(&spirv->constants[i]),
                                           .size_bytes = (uint8_t)spirv->constants[i].size_bytes,
                                           .is_native = true};
        memcpy(declaration->default_value, spirv->constants[i].default_value,
               sizeof(declaration->default_value));
    }
}

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

static zepi_result_t mark_required(struct zepi_device_image *image,
                                   const zepi_device_image_desc_t *desc)
{
    for (uint32_t i = 0; i < desc->required_id_count; i++) {
        for (uint32_t at = 0; at < image->declaration_count; at++) {
            // An id that the compiler dropped needs no value.
            if (image->declarations[at].id == desc->required_ids[i])
                image->own_declarations[at].is_required = image->has_required = true;
        }
    }
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_device_image_build_constants(struct zepi_device_image *image,
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
    zepi_result_t result = ZEPI_SUCCESS;
    if (spirv) {
        declare_spirv(spirv, image->own_declarations);
        image->declaration_count = spirv->constant_count;
        return mark_required(image, desc);
    }
    result = declare_emulated(image, desc);
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
    return mark_required(image, desc);
}

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

zepi_result_t zepi_device_image_build_layouts(struct zepi_device_image *image,
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

zepi_result_t zepi_device_image_build_identity(struct zepi_device_image *image)
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

zepi_result_t zepi_device_image_describe_code(struct zepi_blob *blob)
{
    blob->declarations = zepi_allocate(blob->spirv.constant_count, sizeof(blob->declarations[0]));
    if (!blob->declarations)
        return zepi_fail_no_memory();
    declare_spirv(&blob->spirv, blob->declarations);
    struct zepi_device_image plain = {.format = ZEPI_DEVICE_IMAGE_SPIRV,
                                      .state = ZEPI_MODULE_INPUT,
                                      .blob = blob,
                                      .declarations = blob->declarations,
                                      .declaration_count = blob->spirv.constant_count};
    const zepi_result_t result = zepi_device_image_build_identity(&plain);
    blob->identity = plain.identity;
    return result;
}
