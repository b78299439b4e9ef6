// SPDX-License-Identifier: MIT
#include "program/device_image/module_images.h"

#include "core/alloc.h"
#include "device/context.h"
#include "program/device_image/device_image.h"

// One declaration of several images: SPIR-V comes first. The default of an emulated constant counts
// for more than the value that native code was made with; else the first image's.
static void unite_declaration(struct zepi_spec_declaration *known,
                              const struct zepi_spec_declaration *more)
{
    const bool is_native = known->is_native && more->is_native;
    const bool is_required = known->is_required || more->is_required;
    if (known->has_baked_value && !more->has_baked_value)
        *known = *more;
    known->is_native = is_native;
    known->is_required = is_required;
}

// Adds to the sorted list.
static zepi_result_t add_declaration(struct zepi_module_images *images, zepi_module_state_t state,
                                     const struct zepi_spec_declaration *declaration)
{
    struct zepi_spec_declaration *all = images->own_declarations;
    uint32_t at = images->declaration_count;
    while (at > 0 && all[at - 1].id > declaration->id)
        at--;
    if (at == 0 || all[at - 1].id != declaration->id) {
        memmove(&all[at + 1], &all[at], (images->declaration_count - at) * sizeof(*all));
        all[at] = *declaration;
        images->declaration_count++;
        return ZEPI_SUCCESS;
    }
    struct zepi_spec_declaration *known = &all[at - 1];
    // Linked objects keep constants of their own; alternatives of the same code agree.
    if (known->size_bytes != declaration->size_bytes && state == ZEPI_MODULE_INPUT)
        return zepi_fail(ZEPI_ERROR_INVALID_OBJECT,
                         "the images disagree about specialization constant %u: %u and %u bytes",
                         known->id, (unsigned)known->size_bytes, (unsigned)declaration->size_bytes);
    unite_declaration(known, declaration);
    return ZEPI_SUCCESS;
}

// Unites the declarations of several images.
static zepi_result_t unite_declarations(struct zepi_module_images *images,
                                        zepi_module_state_t state)
{
    size_t room = 0;
    zepi_result_t result = ZEPI_SUCCESS;
    for (uint32_t i = 0; i < images->count; i++)
        room += images->images[i]->declaration_count;
    images->own_declarations = zepi_allocate(room, sizeof(images->own_declarations[0]));
    if (!images->own_declarations)
        return zepi_fail_no_memory();
    images->declarations = images->own_declarations;
    for (zepi_device_image_format_t format = ZEPI_DEVICE_IMAGE_SPIRV;
         format <= ZEPI_DEVICE_IMAGE_NATIVE; format++) {
        for (uint32_t i = 0; i < images->count && result == ZEPI_SUCCESS; i++) {
            const struct zepi_device_image *image = images->images[i];
            const uint32_t count = image->format == format ? image->declaration_count : 0;
            for (uint32_t at = 0; at < count && result == ZEPI_SUCCESS; at++)
                result = add_declaration(images, state, &image->declarations[at]);
        }
    }
    return result;
}

static void module_images_destroy(void *object)
{
    struct zepi_module_images *images = object;
    for (uint32_t i = 0; i < images->count; i++)
        zepi_release(images->images[i]);
    if (images->own_declarations)
        zepi_free(images->own_declarations);
    if (images->images != &images->only_image)
        zepi_free(images->images);
    zepi_release(images->context);
}

ZEPI_DEFINE_TYPE(module_images, module_images_destroy);

zepi_result_t zepi_module_images_create(struct zepi_context *context, zepi_module_state_t state,
                                        uint32_t count, struct zepi_device_image *const *list,
                                        struct zepi_module_images **out_images)
{
    struct zepi_module_images *images = zepi_object_create(&zepi_module_images_type);
    if (!images)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    images->context = zepi_retain(context);
    images->images = &images->only_image;
    if (count > 1) {
        images->images = zepi_allocate(count, sizeof(struct zepi_device_image *));
        if (!images->images) {
            zepi_release(images);
            return zepi_fail_no_memory();
        }
    }
    images->count = count;
    for (uint32_t i = 0; i < count; i++)
        images->images[i] = zepi_retain(list[i]);
    zepi_result_t result = ZEPI_SUCCESS;
    if (count == 1) {
        images->declarations = list[0]->declarations;
        images->declaration_count = list[0]->declaration_count;
    } else if (count > 1) {
        result = unite_declarations(images, state);
    }
    if (result != ZEPI_SUCCESS) {
        zepi_release(images);
        return result;
    }
    *out_images = images;
    return ZEPI_SUCCESS;
}
