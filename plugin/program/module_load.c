// SPDX-License-Identifier: MIT
#include "program/module_load.h"

#include "device/context.h"
#include "device/device.h"
#include "program/build/ze_module.h"

// An executable of one ze_module: several were linked, or are failures already.
static zepi_result_t check_unresolved_imports(const struct zepi_device_module *device_module,
                                              uint32_t image_index)
{
    bool has_imports = false;
    if (device_module->unit_count > 1)
        return ZEPI_SUCCESS;
    const zepi_result_t result =
        zepi_ze_module_has_imports(device_module->units[0].ze, &has_imports);
    if (result == ZEPI_SUCCESS && has_imports)
        return zepi_fail(ZEPI_ERROR_LINK_FAILURE,
                         "image %u is declared executable, but imports what no image defines",
                         image_index);
    return result;
}

// Loads a native image on the devices that it is for. It is a compile failure if all of them refuse
// it.
static zepi_result_t module_load_part(struct zepi_module *module, uint32_t index,
                                      const struct zepi_build_options *options)
{
    const enum zepi_device_module_kind kind = module->state == ZEPI_MODULE_EXECUTABLE
                                                  ? ZEPI_DEVICE_MODULE_EXECUTABLE
                                                  : ZEPI_DEVICE_MODULE_OBJECT;
    struct zepi_module_part *part = &module->parts[index];
    zepi_result_t result = ZEPI_SUCCESS;
    bool is_taken = false;
    part->image_count = 1;
    part->images[0] = module->images[index];
    for (uint32_t i = 0; i < module->context->device_count; i++) {
        if (!zepi_device_image_is_for(part->images[0], module->context->devices[i]))
            continue;
        result = zepi_device_module_get(module->context, i, part->images[0], NULL, options, kind,
                                        &part->device_module[i]);
        if (result == ZEPI_ERROR_COMPILE_FAILURE)
            continue;
        if (result == ZEPI_SUCCESS && kind == ZEPI_DEVICE_MODULE_EXECUTABLE)
            result = check_unresolved_imports(zepi_device_module_of(part->device_module[i]), index);
        if (result != ZEPI_SUCCESS)
            return result;
        is_taken = true;
    }
    if (is_taken)
        return ZEPI_SUCCESS;
    if (result == ZEPI_SUCCESS)
        return zepi_fail(ZEPI_ERROR_COMPILE_FAILURE,
                         "image %u is for none of the context's devices", index);
    zepi_error_prepend("all devices of the context refuse image %u: ", index);
    return result;
}

static bool is_part_loaded(const struct zepi_module *module, uint32_t part_index)
{
    for (uint32_t i = 0; i < module->context->device_count; i++) {
        if (module->parts[part_index].device_module[i])
            return true;
    }
    return false;
}

// A module of the parts that a device took, moved out of the other.
static zepi_result_t module_keep_loaded(struct zepi_module *all, struct zepi_module **out_module)
{
    struct zepi_module *module = NULL;
    uint32_t count = 0;
    // Each part has room for all images of the module: the first one's list serves.
    struct zepi_device_image **images = all->parts[0].images;
    for (uint32_t i = 0; i < all->part_count; i++) {
        if (is_part_loaded(all, i))
            images[count++] = all->images[i];
    }
    const zepi_result_t result =
        zepi_module_make(all->context, all->state, count, images, count, count, &module);
    if (result != ZEPI_SUCCESS)
        return result;
    count = 0;
    for (uint32_t i = 0; i < all->part_count; i++) {
        if (!is_part_loaded(all, i))
            continue;
        struct zepi_module_part *part = &module->parts[count];
        part->image_count = 1;
        part->images[0] = module->images[count++];
        for (uint32_t at = 0; at < all->context->device_count; at++) {
            part->device_module[at] = all->parts[i].device_module[at];
            all->parts[i].device_module[at] = NULL;
        }
    }
    *out_module = module;
    return ZEPI_SUCCESS;
}

static zepi_result_t module_load_parts(struct zepi_module *module,
                                       enum zepi_unusable_images unusable, uint32_t *out_left_out)
{
    struct zepi_build_options options;
    struct zepi_error error;
    zepi_error_save(&error);
    zepi_result_t result = zepi_build_options_init(&options, NULL);
    if (result != ZEPI_SUCCESS)
        return result;
    for (uint32_t i = 0; i < module->part_count && result == ZEPI_SUCCESS; i++) {
        result = module_load_part(module, i, &options);
        if (result == ZEPI_ERROR_COMPILE_FAILURE && unusable == ZEPI_LEAVE_UNUSABLE_OUT) {
            // No failure of anything that was asked for.
            zepi_error_restore(&error);
            ++*out_left_out;
            result = ZEPI_SUCCESS;
        }
    }
    zepi_build_options_finish(&options);
    return result;
}

static bool stop_at_first_kernel(void *user, const char *name)
{
    (void)name;
    *(bool *)user = true;
    return false;
}

// The kernels of objects are not known before they are linked.
static bool has_something_to_launch(const struct zepi_module *module)
{
    bool has_kernel = module->state != ZEPI_MODULE_EXECUTABLE || module->part_count == 0;
    if (!has_kernel)
        zepi_module_for_each_kernel(module, stop_at_first_kernel, &has_kernel);
    return has_kernel;
}

zepi_result_t zepi_module_make_of_images(struct zepi_context *context, zepi_module_state_t state,
                                         uint32_t image_count,
                                         struct zepi_device_image *const *images,
                                         enum zepi_unusable_images unusable,
                                         struct zepi_module **out_module)
{
    struct zepi_module *module;
    struct zepi_module *rest = NULL;
    uint32_t left_out = 0;
    const uint32_t part_count = state == ZEPI_MODULE_INPUT ? 0 : image_count;
    zepi_result_t result =
        zepi_module_make(context, state, image_count, images, part_count, image_count, &module);
    if (result != ZEPI_SUCCESS)
        return result;
    if (part_count > 0)
        result = module_load_parts(module, unusable, &left_out);
    if (result == ZEPI_SUCCESS && !has_something_to_launch(module))
        result = unusable == ZEPI_LEAVE_UNUSABLE_OUT
                     ? zepi_module_make(context, state, 0, NULL, 0, 0, &rest)
                     : zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                                 "none of the %u images has a kernel, which an executable needs",
                                 image_count);
    else if (result == ZEPI_SUCCESS && left_out > 0)
        result = module_keep_loaded(module, &rest);
    if (result != ZEPI_SUCCESS || rest) {
        zepi_release(module);
        module = rest;
    }
    if (result == ZEPI_SUCCESS)
        *out_module = module;
    return result;
}
