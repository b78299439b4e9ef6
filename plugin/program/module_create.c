// SPDX-License-Identifier: MIT
#include "program/module_create.h"

#include "core/alloc.h"
#include "device/context.h"
#include "device/device.h"
#include "program/build/device_build.h"
#include "program/build/ze_module.h"
#include "program/built_image.h"
#include "program/device_image/device_image_create.h"

// An executable of one ze_module: several were linked, or are failures already.
static zepi_result_t check_unresolved_imports(const struct zepi_device_module *device_module,
                                              uint32_t image_index)
{
    bool has_imports = false;
    if (device_module->ze_module_count > 1)
        return ZEPI_SUCCESS;
    const zepi_result_t result =
        zepi_ze_module_has_imports(device_module->ze_modules[0].ze, &has_imports);
    if (result == ZEPI_SUCCESS && has_imports)
        return zepi_fail(ZEPI_ERROR_LINK_FAILURE,
                         "image %u is declared executable, but imports what no image defines",
                         image_index);
    return result;
}

// Loads the image of a part on the devices that it is for. It is a compile failure if all of them
// refuse it.
static zepi_result_t load_part(struct zepi_module *module, uint32_t index,
                               const struct zepi_build_options *options)
{
    struct zepi_context *context = module->context;
    struct zepi_module_part *part = &module->parts[index];
    zepi_result_t result = ZEPI_SUCCESS;
    part->image_count = 1;
    part->images[0] = module->images[index];
    for (uint32_t i = 0; i < context->device_count; i++) {
        if (!zepi_device_image_is_for(part->images[0], context->devices[i]))
            continue;
        const struct zepi_image_build build = {context, i,       part->images[0],
                                               NULL,    options, module->state};
        result = zepi_device_module_get(&build, &part->device_module[i]);
        if (result == ZEPI_ERROR_COMPILE_FAILURE)
            continue;
        if (result == ZEPI_SUCCESS && module->state == ZEPI_MODULE_EXECUTABLE)
            result = check_unresolved_imports(zepi_device_module_of(part->device_module[i]), index);
        if (result != ZEPI_SUCCESS)
            return result;
    }
    if (zepi_module_any_code(module, index))
        return ZEPI_SUCCESS;
    if (result == ZEPI_SUCCESS)
        return zepi_fail(ZEPI_ERROR_COMPILE_FAILURE,
                         "image %u is for none of the context's devices", index);
    zepi_error_prepend("all devices of the context refuse image %u: ", index);
    return result;
}

// Whether no image is of use. The kernels of objects are not known before they are linked.
static bool is_useless(const struct zepi_module *module)
{
    struct zepi_kernel_pass pass = {.module = module};
    return module->state == ZEPI_MODULE_OBJECT ? zepi_module_count_images(module) == 0
                                               : !zepi_module_next_kernel(&pass);
}

static void drop_parts(struct zepi_module *module)
{
    for (uint32_t i = 0; i < module->part_count; i++) {
        for (uint32_t at = 0; at < module->context->device_count; at++)
            zepi_build_result_release(module->parts[i].device_module[at]);
    }
    module->part_count = 0;
}

// A part that serves no device is no image that a host sees.
static zepi_result_t load_parts(struct zepi_module *module, enum zepi_unusable_images unusable)
{
    struct zepi_build_options options;
    struct zepi_error error;
    zepi_error_save(&error);
    zepi_result_t result = zepi_build_options_init(&options, NULL);
    for (uint32_t i = 0; i < module->part_count && result == ZEPI_SUCCESS; i++) {
        result = load_part(module, i, &options);
        if (result == ZEPI_ERROR_COMPILE_FAILURE && unusable == ZEPI_LEAVE_UNUSABLE_OUT) {
            // No failure of anything that was asked for.
            zepi_error_restore(&error);
            result = ZEPI_SUCCESS;
        }
    }
    zepi_build_options_finish(&options);
    if (result != ZEPI_SUCCESS || !is_useless(module))
        return result;
    if (unusable == ZEPI_REFUSE_UNUSABLE)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "none of the %u images has a kernel, which an executable needs",
                         module->image_count);
    drop_parts(module);
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_module_make_of_images(struct zepi_context *context, zepi_module_state_t state,
                                         uint32_t image_count,
                                         struct zepi_device_image *const *images,
                                         enum zepi_unusable_images unusable,
                                         struct zepi_module **out_module)
{
    if (state == ZEPI_MODULE_INPUT || image_count == 0)
        return zepi_module_make(context, state, image_count, images, 0, 0, out_module);
    struct zepi_module *module = NULL;
    zepi_result_t result =
        zepi_module_make(context, state, image_count, images, image_count, 1, &module);
    if (result == ZEPI_SUCCESS)
        result = load_parts(module, unusable);
    if (result != ZEPI_SUCCESS) {
        zepi_release(module);
        return result;
    }
    *out_module = module;
    return ZEPI_SUCCESS;
}

static zepi_result_t check_image_states(zepi_module_state_t state, uint32_t image_count,
                                        struct zepi_device_image *const *images)
{
    for (uint32_t i = 0; i < image_count; i++) {
        if (images[i]->state != state)
            return zepi_fail(
                ZEPI_ERROR_WRONG_STATE, "image %u: it is declared %s, the module is %s", i,
                zepi_module_state_name(images[i]->state), zepi_module_state_name(state));
    }
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_module_create(zepi_context_t context, zepi_module_state_t state,
                                 uint32_t image_count, const zepi_device_image_desc_t *descs,
                                 zepi_module_t *out_module)
{
    struct zepi_module *module = NULL;
    struct zepi_device_image *one_image = NULL;
    struct zepi_device_image **images =
        image_count > 1 ? zepi_allocate(image_count, sizeof(struct zepi_device_image *))
                        : &one_image;
    if (!images)
        return zepi_fail_no_memory();
    zepi_result_t result = zepi_device_images_create(image_count, descs, images);
    if (result == ZEPI_SUCCESS)
        result = check_image_states(state, image_count, images);
    if (result == ZEPI_SUCCESS)
        result = zepi_module_make_of_images(context, state, image_count, images,
                                            ZEPI_REFUSE_UNUSABLE, &module);
    for (uint32_t i = 0; i < image_count; i++)
        zepi_release(images[i]);
    if (images != &one_image)
        zepi_free(images);
    return zepi_module_publish(result, module, out_module);
}
