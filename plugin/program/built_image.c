// SPDX-License-Identifier: MIT
#include "program/built_image.h"

#include "core/alloc.h"
#include "device/context.h"
#include "program/module.h"
#include "program/native_binary.h"

uint32_t zepi_module_count_images(const struct zepi_module *module)
{
    uint32_t count = 0;
    if (module->state == ZEPI_MODULE_INPUT)
        return module->image_count;
    for (uint32_t i = 0; i < module->part_count; i++) {
        if (zepi_module_any_code(module, i))
            count += module->parts[i].image_count;
    }
    return count;
}

// ---- Making ----

// The kernels of one image in linked native code are not known.
static uint32_t count_built_kernels(const struct zepi_module_part *part,
                                    const struct zepi_device_image *source,
                                    const struct zepi_device_module *code)
{
    const struct zepi_spirv *spirv = zepi_device_image_spirv(source);
    uint32_t count = spirv ? spirv->kernel_count : 0;
    for (uint32_t i = 0; i < code->ze_module_count && !spirv && part->image_count == 1; i++)
        count += code->ze_modules[i].kernel_count;
    return count;
}

static zepi_result_t create_built_image(const struct zepi_module *module, uint32_t part_index,
                                        uint32_t index, struct zepi_device_image **out_image)
{
    const struct zepi_module_part *part = &module->parts[part_index];
    struct zepi_build_result *device_module = zepi_module_any_code(module, part_index);
    struct zepi_device_image *source = part->images[index];
    if (source->state == module->state) {
        *out_image = zepi_retain(source);
        return ZEPI_SUCCESS;
    }
    struct zepi_device_image *image = zepi_object_create(&zepi_device_image_type);
    if (!image)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    image->format = ZEPI_DEVICE_IMAGE_NATIVE;
    image->state = module->state;
    image->declarations = source->declarations;
    image->declaration_count = source->declaration_count;
    image->kernel_count = count_built_kernels(part, source, zepi_device_module_of(device_module));
    image->source = zepi_retain(source);
    image->values = zepi_spec_values_retain(part->values[index]);
    image->context = zepi_retain(module->context);
    image->build = zepi_build_result_retain(device_module);
    *out_image = image;
    return ZEPI_SUCCESS;
}

static zepi_result_t create_built_images(const struct zepi_module *module,
                                         struct zepi_module_images **out_images)
{
    uint32_t made = 0;
    struct zepi_device_image **images =
        zepi_allocate(zepi_module_count_images(module), sizeof(struct zepi_device_image *));
    zepi_result_t result = images ? ZEPI_SUCCESS : zepi_fail_no_memory();
    for (uint32_t i = 0; i < module->part_count && result == ZEPI_SUCCESS; i++) {
        const uint32_t count = zepi_module_any_code(module, i) ? module->parts[i].image_count : 0;
        for (uint32_t at = 0; at < count && result == ZEPI_SUCCESS; at++) {
            result = create_built_image(module, i, at, &images[made]);
            made += result == ZEPI_SUCCESS;
        }
    }
    if (result == ZEPI_SUCCESS)
        result =
            zepi_module_images_create(module->context, module->state, made, images, out_images);
    for (uint32_t i = 0; i < made; i++)
        zepi_release(images[i]);
    zepi_free(images);
    return result;
}

zepi_result_t zepi_module_list_images(struct zepi_module *module,
                                      struct zepi_device_image *const **out_images)
{
    if (module->state == ZEPI_MODULE_INPUT) {
        *out_images = module->images;
        return ZEPI_SUCCESS;
    }
    // Acquire: they are seen whole.
    struct zepi_module_images *images = atomic_load_explicit(&module->built, memory_order_acquire);
    if (!images) {
        struct zepi_module_images *made;
        const zepi_result_t result = create_built_images(module, &made);
        if (result != ZEPI_SUCCESS)
            return result;
        if (atomic_compare_exchange_strong_explicit(&module->built, &images, made,
                                                    memory_order_acq_rel, memory_order_acquire))
            images = made;
        else
            zepi_release(made);
    }
    *out_images = images->images;
    return ZEPI_SUCCESS;
}

const struct zepi_device_image *zepi_module_find_built_image(const struct zepi_module *module,
                                                             uint32_t part_index, uint32_t index)
{
    const struct zepi_module_images *images =
        atomic_load_explicit(&module->built, memory_order_acquire);
    if (!images || !zepi_module_any_code(module, part_index))
        return NULL;
    for (uint32_t i = 0; i < part_index; i++)
        index += zepi_module_any_code(module, i) ? module->parts[i].image_count : 0;
    return images->images[index];
}

// ---- Contents of an image ----

static zepi_result_t get_native_binary(struct zepi_device_image *image,
                                       const struct zepi_blob **out_native)
{
    struct zepi_blob *native = atomic_load_explicit(&image->native, memory_order_acquire);
    struct zepi_blob *made = NULL;
    struct zepi_error before;
    const struct zepi_device_module *module = zepi_device_module_of(image->build);
    zepi_result_t result = ZEPI_SUCCESS;
    zepi_error_save(&before);
    if (!native)
        result = zepi_device_modules_get_native(1, &module, image->state, &made);
    // A driver that returns no native code is no failure.
    if (result == ZEPI_ERROR_UNSUPPORTED)
        zepi_error_restore(&before);
    else if (result != ZEPI_SUCCESS)
        return result;
    if (made && atomic_compare_exchange_strong_explicit(&image->native, &native, made,
                                                        memory_order_acq_rel, memory_order_acquire))
        native = made;
    else
        zepi_blob_release(made);
    *out_native = native;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_device_image_describe(struct zepi_device_image *image,
                                         zepi_device_image_info_t *out_info)
{
    const struct zepi_spirv *spirv = zepi_device_image_spirv(image);
    const struct zepi_blob *blob = image->blob;
    const zepi_result_t result = image->source ? get_native_binary(image, &blob) : ZEPI_SUCCESS;
    if (result != ZEPI_SUCCESS)
        return result;
    *out_info = (zepi_device_image_info_t){
        .format = image->format,
        .state = image->state,
        .size_bytes = blob ? blob->size_bytes : 0,
        .bytes = blob ? blob->bytes : NULL,
        .kernel_count = spirv ? spirv->kernel_count : image->kernel_count,
        .spec_constant_count = image->declaration_count,
        .has_spec_constants = image->declaration_count > 0,
        .has_native_spec_constants = zepi_device_image_is_native_support(image),
    };
    if (blob) {
        out_info->digest[0] = blob->digest.low;
        out_info->digest[1] = blob->digest.high;
    }
    return ZEPI_SUCCESS;
}
