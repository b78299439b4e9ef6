// SPDX-License-Identifier: MIT
#include "program/native_handle.h"

#include "core/alloc.h"
#include "device/context.h"
#include "device/device.h"
#include "program/build/handle_caches.h"
#include "program/build/native_image.h"
#include "program/build/ze_module.h"
#include "program/module.h"
#include "ze/ze.h"

// ---- In ----

// A module that the host linked may say for ever that it has imports: a kernel tells.
static bool can_make_kernel(const struct zepi_ze_module *ze_module)
{
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                   .pKernelName = ze_module->kernel_names[0]};
    ze_kernel_handle_t kernel;
    if (zepi_ze.zeKernelCreate(ze_module->ze, &desc, &kernel) != ZE_RESULT_SUCCESS)
        return false;
    zepi_ze.zeKernelDestroy(kernel);
    return true;
}

static zepi_result_t check_exported_code(const struct zepi_device_module *device_module,
                                         zepi_module_state_t state)
{
    const struct zepi_ze_module *ze_module = &device_module->ze_modules[0];
    bool has_imports;
    const zepi_result_t result = zepi_ze_module_has_imports(ze_module->ze, &has_imports);
    if (result != ZEPI_SUCCESS)
        return result;
    if (state == ZEPI_MODULE_OBJECT)
        return has_imports ? ZEPI_SUCCESS
                           : zepi_fail(ZEPI_ERROR_WRONG_STATE,
                                       "the ze_module has no imports: it is an executable, and an "
                                       "object was asked for");
    if (ze_module->kernel_count == 0)
        return zepi_fail(ZEPI_ERROR_INVALID_OBJECT,
                         "the ze_module has no kernel, which an executable needs");
    if (has_imports && !can_make_kernel(ze_module))
        return zepi_fail(ZEPI_ERROR_LINK_FAILURE,
                         "the ze_module has unresolved imports, which an executable has not");
    return ZEPI_SUCCESS;
}

static enum zepi_build_status take_imported_code(void *user, struct zepi_build_output *output)
{
    struct zepi_text no_log = {0};
    return zepi_device_module_end_build(output, ZEPI_SUCCESS, user, &no_log);
}

static zepi_result_t make_imported_code(struct zepi_context *context, struct zepi_device *device,
                                        ze_module_handle_t ze, zepi_module_state_t state,
                                        struct zepi_build_result **out_result)
{
    struct zepi_device_module *device_module;
    struct zepi_ze_module ze_module = {.ze = ze};
    zepi_result_t result =
        zepi_device_module_create(context, device, 1, &ze_module, 0, NULL, &device_module);
    if (result != ZEPI_SUCCESS)
        return result;
    device_module->is_private = true;
    // After a failure the handle is still the caller's.
    device_module->ownership = ZEPI_OWNERSHIP_KEEP;
    result = check_exported_code(device_module, state);
    if (result == ZEPI_SUCCESS &&
        zepi_build_cache_find_or_build(zepi_handle_caches_of(context)->modules, NULL,
                                       take_imported_code, device_module,
                                       out_result) != ZEPI_LOOKUP_SUCCEEDED)
        result = zepi_fail_no_memory();
    if (result != ZEPI_SUCCESS)
        zepi_device_module_destroy(device_module);
    return result;
}

zepi_result_t zepi_module_create_from_native(zepi_context_t context, zepi_device_t device,
                                             void *native_handle, zepi_module_state_t state,
                                             zepi_ownership_t ownership, zepi_module_t *out_module)
{
    const uint32_t index = zepi_context_device_index(context, device);
    struct zepi_build_result *code = NULL;
    struct zepi_device_image *image = NULL;
    struct zepi_module *module;
    zepi_result_t result = make_imported_code(context, device, native_handle, state, &code);
    if (result == ZEPI_SUCCESS)
        result = zepi_device_image_create_imported(state, &image);
    if (result == ZEPI_SUCCESS)
        result = zepi_module_make(context, state, 1, &image, 1, 1, &module);
    zepi_release(image);
    if (result != ZEPI_SUCCESS) {
        zepi_build_result_release(code);
        return result;
    }
    module->parts[0].image_count = 1;
    module->parts[0].images[0] = module->images[0];
    module->parts[0].device_module[index] = code;
    zepi_device_module_of(code)->ownership = ownership;
    zepi_object_publish(module);
    *out_module = module;
    return ZEPI_SUCCESS;
}

// ---- Out ----

// The only part that has code for the device.
static zepi_result_t choose_part(const struct zepi_module *module, uint32_t device_index,
                                 const struct zepi_module_part **out_part)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < module->part_count; i++) {
        if (!module->parts[i].device_module[device_index])
            continue;
        *out_part = &module->parts[i];
        count++;
    }
    if (count == 0)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the module has no code for device '%s'",
                         module->context->devices[device_index]->properties.name);
    if (count > 1)
        return zepi_fail(ZEPI_ERROR_UNSUPPORTED,
                         "the module is made of %u ze_modules that are not linked with each other: "
                         "there is no one handle for it",
                         count);
    return ZEPI_SUCCESS;
}

// The ze_module that stands for the whole: the only one, or the only one with kernels.
static zepi_result_t choose_ze_module(const struct zepi_device_module *device_module,
                                      uint32_t *out_unit)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < device_module->ze_module_count; i++) {
        if (device_module->ze_module_count > 1 && device_module->ze_modules[i].kernel_count == 0)
            continue;
        *out_unit = i;
        count++;
    }
    return count == 1 ? ZEPI_SUCCESS
                      : zepi_fail(ZEPI_ERROR_UNSUPPORTED,
                                  "the kernels of the module are in %u of its ze_modules: there is "
                                  "no one handle for it",
                                  count);
}

// The code is loaded once more, for the caller alone.
static zepi_result_t copy_exported_code(const struct zepi_device_module *device_module,
                                        zepi_module_state_t state,
                                        struct zepi_device_module **out_device_module)
{
    struct zepi_text log = {0};
    const uint32_t count = device_module->ze_module_count;
    struct zepi_ze_module *made = zepi_allocate(count, sizeof(*made));
    zepi_result_t result = made ? ZEPI_SUCCESS : zepi_fail_no_memory();
    for (uint32_t i = 0; i < count && result == ZEPI_SUCCESS; i++) {
        result = zepi_ze_module_load_again(&made[i], device_module, i, &log);
        made[i].group = device_module->ze_modules[i].group;
    }
    if (result == ZEPI_SUCCESS && state == ZEPI_MODULE_EXECUTABLE)
        result = zepi_ze_modules_link(count, made, &log);
    if (result == ZEPI_SUCCESS)
        result = zepi_device_module_create(device_module->context, device_module->device, count,
                                           made, 0, NULL, out_device_module);
    zepi_ze_modules_finish(count, made);
    zepi_text_finish(&log);
    return result;
}

static zepi_result_t find_or_create_export(struct zepi_module *module, uint32_t device_index,
                                           const struct zepi_device_module **out_device_module)
{
    const struct zepi_module_part *part = NULL;
    struct zepi_device_module *made, *there = NULL;
    zepi_result_t result = choose_part(module, device_index, &part);
    if (result != ZEPI_SUCCESS)
        return result;
    const struct zepi_device_module *shared =
        zepi_device_module_of(part->device_module[device_index]);
    // It is shared with no module if it came in, or has variables, which are the kernels' that the
    // host has. Acquire, here and below: what another thread made is seen whole.
    *out_device_module = shared->is_private ? shared
                                            : atomic_load_explicit(&part->exported[device_index],
                                                                   memory_order_acquire);
    if (*out_device_module)
        return ZEPI_SUCCESS;
    result = copy_exported_code(shared, module->state, &made);
    if (result != ZEPI_SUCCESS)
        return result;
    if (!atomic_compare_exchange_strong_explicit(&part->exported[device_index], &there, made,
                                                 memory_order_acq_rel, memory_order_acquire)) {
        zepi_device_module_destroy(made);
        made = there;
    }
    *out_device_module = made;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_module_get_native(struct zepi_module *module, uint32_t device_index,
                                     void **out_native_handle)
{
    uint32_t ze_module = 0;
    const struct zepi_device_module *device_module;
    zepi_result_t result = find_or_create_export(module, device_index, &device_module);
    if (result == ZEPI_SUCCESS)
        result = choose_ze_module(device_module, &ze_module);
    if (result != ZEPI_SUCCESS)
        return result;
    *out_native_handle = device_module->ze_modules[ze_module].ze;
    return ZEPI_SUCCESS;
}
