// SPDX-License-Identifier: MIT
#include "program/module_create.h"

#include "core/alloc.h"
#include "device/context.h"
#include "device/device.h"
#include "program/build/device_build.h"
#include "program/build/ze_module.h"
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

// The native images that devices accept.
struct loading {
    struct zepi_context *context;
    zepi_module_state_t state;
    struct zepi_build_options options;
    uint32_t count;
    struct zepi_device_image **images; // owned list of borrowed images
    struct zepi_build_result **code;   // owned list of references, one an image and device, or NULL
    bool has_kernel;
};

// Loads a native image on the devices that it is for. It is a compile failure if all of them refuse
// it.
static zepi_result_t load_image(struct loading *loading, struct zepi_device_image *image,
                                uint32_t index)
{
    struct zepi_context *context = loading->context;
    struct zepi_build_result **code = &loading->code[loading->count * context->device_count];
    zepi_result_t result = ZEPI_SUCCESS;
    bool is_accepted = false;
    loading->images[loading->count] = image;
    for (uint32_t i = 0; i < context->device_count; i++) {
        if (!zepi_device_image_is_for(image, context->devices[i]))
            continue;
        const struct zepi_image_build build = {context,       i, image, NULL, &loading->options,
                                               loading->state};
        result = zepi_device_module_get(&build, &code[i]);
        if (result == ZEPI_ERROR_COMPILE_FAILURE)
            continue;
        if (result != ZEPI_SUCCESS)
            return result;
        const struct zepi_device_module *device_module = zepi_device_module_of(code[i]);
        is_accepted = true;
        if (loading->state == ZEPI_MODULE_EXECUTABLE)
            result = check_unresolved_imports(device_module, index);
        if (result != ZEPI_SUCCESS)
            return result;
        for (uint32_t ze_module = 0; ze_module < device_module->ze_module_count; ze_module++)
            loading->has_kernel |= device_module->ze_modules[ze_module].kernel_count > 0;
    }
    if (is_accepted) {
        loading->count++;
        return ZEPI_SUCCESS;
    }
    if (result == ZEPI_SUCCESS)
        return zepi_fail(ZEPI_ERROR_COMPILE_FAILURE,
                         "image %u is for none of the context's devices", index);
    zepi_error_prepend("all devices of the context refuse image %u: ", index);
    return result;
}

static zepi_result_t load_images(struct loading *loading, uint32_t image_count,
                                 struct zepi_device_image *const *images,
                                 enum zepi_unusable_images unusable)
{
    struct zepi_error error;
    zepi_error_save(&error);
    zepi_result_t result = zepi_build_options_init(&loading->options, NULL);
    for (uint32_t i = 0; i < image_count && result == ZEPI_SUCCESS; i++) {
        result = load_image(loading, images[i], i);
        if (result == ZEPI_ERROR_COMPILE_FAILURE && unusable == ZEPI_LEAVE_UNUSABLE_OUT) {
            // No failure of anything that was asked for.
            zepi_error_restore(&error);
            result = ZEPI_SUCCESS;
        }
    }
    // The kernels of objects are not known before they are linked.
    if (result != ZEPI_SUCCESS || loading->has_kernel || loading->state == ZEPI_MODULE_OBJECT)
        return result;
    loading->count = 0;
    return unusable == ZEPI_LEAVE_UNUSABLE_OUT
               ? ZEPI_SUCCESS
               : zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                           "none of the %u images has a kernel, which an executable needs",
                           image_count);
}

// The references to the code become the module's.
static zepi_result_t make_loaded_module(struct loading *loading, struct zepi_module **out_module)
{
    const uint32_t device_count = loading->context->device_count;
    const zepi_result_t result = zepi_module_make(loading->context, loading->state, loading->count,
                                                  loading->images, loading->count, 1, out_module);
    for (uint32_t i = 0; i < loading->count && result == ZEPI_SUCCESS; i++) {
        struct zepi_module_part *part = &(*out_module)->parts[i];
        part->image_count = 1;
        part->images[0] = (*out_module)->images[i];
        for (uint32_t at = 0; at < device_count; at++) {
            part->device_module[at] = loading->code[i * device_count + at];
            loading->code[i * device_count + at] = NULL;
        }
    }
    return result;
}

zepi_result_t zepi_module_make_of_images(struct zepi_context *context, zepi_module_state_t state,
                                         uint32_t image_count,
                                         struct zepi_device_image *const *images,
                                         enum zepi_unusable_images unusable,
                                         struct zepi_module **out_module)
{
    if (state == ZEPI_MODULE_INPUT || image_count == 0)
        return zepi_module_make(context, state, image_count, images, 0, 0, out_module);
    const size_t code_count = (size_t)image_count * context->device_count;
    struct loading loading = {.context = context,
                              .state = state,
                              .images = zepi_allocate(image_count, sizeof(loading.images[0])),
                              .code = zepi_allocate(code_count, sizeof(loading.code[0]))};
    zepi_result_t result = loading.images && loading.code ? ZEPI_SUCCESS : zepi_fail_no_memory();
    if (result == ZEPI_SUCCESS)
        result = load_images(&loading, image_count, images, unusable);
    if (result == ZEPI_SUCCESS)
        result = make_loaded_module(&loading, out_module);
    for (size_t i = 0; i < code_count && loading.code; i++)
        zepi_build_result_release(loading.code[i]);
    zepi_build_options_finish(&loading.options);
    zepi_free(loading.images);
    zepi_free(loading.code);
    return result;
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
