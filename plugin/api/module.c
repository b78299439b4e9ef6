// SPDX-License-Identifier: MIT
// Modules and their device images.
#include "program/module.h"
#include "api/api.h"
#include "api/check.h"
#include "core/interface.h"
#include "program/built_image.h"
#include "program/join.h"
#include "program/module_build.h"
#include "program/module_create.h"
#include "program/module_link.h"
#include "program/native_binary.h"
#include "program/native_handle.h"

// A module, a device of its context, and a pointer called `name`.
static zepi_result_t check_module_device(zepi_module_t module, zepi_device_t device,
                                         const void *pointer, const char *name)
{
    zepi_result_t result;
    if ((result = zepi_check_object(module, &zepi_module_type)) ||
        (result = zepi_context_check_device(module->context, device)))
        return result;
    return zepi_api_check_output(pointer, name);
}

static zepi_result_t check_is_compiled(const struct zepi_module *module, const char *code)
{
    return module->state != ZEPI_MODULE_INPUT
               ? ZEPI_SUCCESS
               : zepi_fail(ZEPI_ERROR_WRONG_STATE,
                           "the module is input: it has no %s before it is compiled", code);
}

// ---- Making ----

zepi_result_t zepi_api_module_create(zepi_context_t context, zepi_module_state_t state,
                                     uint32_t image_count, const zepi_device_image_desc_t *descs,
                                     zepi_module_t *out_module)
{
    zepi_result_t result;
    if ((result = zepi_api_check_context_pointer(context, out_module, "output for the module")) ||
        (image_count > 0 && (result = zepi_api_check_output(descs, "list of images"))) ||
        (result = zepi_api_check_state(state)))
        return result;
    return zepi_module_create(context, state, image_count, descs, out_module);
}

static zepi_result_t check_input(zepi_module_t input, const void *out_module)
{
    const zepi_result_t result =
        zepi_api_check_pointer(input, &zepi_module_type, out_module, "output for the module");
    if (result == ZEPI_SUCCESS && input->state != ZEPI_MODULE_INPUT)
        return zepi_fail(ZEPI_ERROR_WRONG_STATE, "the module is %s, expected input",
                         zepi_module_state_name(input->state));
    return result;
}

zepi_result_t zepi_api_module_compile(zepi_module_t input, const zepi_build_desc_t *desc,
                                      zepi_module_t *out_object)
{
    const zepi_result_t result = check_input(input, out_object);
    return result ? result : zepi_module_compile(input, desc, out_object);
}

zepi_result_t zepi_api_module_build(zepi_module_t input, const zepi_build_desc_t *desc,
                                    zepi_module_t *out_executable)
{
    const zepi_result_t result = check_input(input, out_executable);
    return result ? result : zepi_module_build(input, desc, ZEPI_VARIABLES_SHARED, out_executable);
}

// Modules of one context, all in this state, or (0) in that of the first one.
static zepi_result_t check_modules(uint32_t count, const zepi_module_t *modules,
                                   zepi_module_state_t state, const void *out_module)
{
    zepi_result_t result;
    if ((result = zepi_api_check_output(out_module, "output for the module")) ||
        (count > 0 && (result = zepi_api_check_output(modules, "list of modules"))))
        return result;
    if (count == 0)
        return zepi_fail(ZEPI_ERROR_INVALID_OBJECT, "there is no module in the list");
    for (uint32_t i = 0; i < count; i++) {
        result = zepi_check_object(modules[i], &zepi_module_type);
        if (result != ZEPI_SUCCESS) {
            zepi_error_prepend("module %u: ", i);
            return result;
        }
        const zepi_module_state_t expected = state ? state : modules[0]->state;
        if (modules[i]->context != modules[0]->context)
            return zepi_fail(ZEPI_ERROR_INVALID_OBJECT,
                             "module %u is of another context than module 0", i);
        if (modules[i]->state != expected)
            return zepi_fail(state ? ZEPI_ERROR_WRONG_STATE : ZEPI_ERROR_INVALID_OBJECT,
                             "module %u is %s, expected %s", i,
                             zepi_module_state_name(modules[i]->state),
                             zepi_module_state_name(expected));
    }
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_api_module_link(uint32_t object_count, const zepi_module_t *objects,
                                   const zepi_build_desc_t *desc, zepi_module_t *out_executable)
{
    const zepi_result_t result =
        check_modules(object_count, objects, ZEPI_MODULE_OBJECT, out_executable);
    return result ? result
                  : zepi_module_link(object_count, objects, desc, ZEPI_VARIABLES_SHARED,
                                     out_executable);
}

zepi_result_t zepi_api_module_join(uint32_t module_count, const zepi_module_t *modules,
                                   zepi_module_t *out_module)
{
    const zepi_result_t result =
        check_modules(module_count, modules, (zepi_module_state_t)0, out_module);
    return result ? result : zepi_module_join(module_count, modules, out_module);
}

zepi_result_t zepi_api_module_create_from_native(zepi_context_t context, zepi_device_t device,
                                                 void *native_handle, zepi_module_state_t state,
                                                 zepi_ownership_t ownership,
                                                 zepi_module_t *out_module)
{
    zepi_result_t result;
    if ((result = zepi_api_check_context_device(context, device)) ||
        (result = zepi_api_check_native(native_handle, ownership)) ||
        (result = zepi_api_check_output(out_module, "output for the module")) ||
        (result = zepi_api_check_state(state)))
        return result;
    if (state == ZEPI_MODULE_INPUT)
        return zepi_fail(ZEPI_ERROR_WRONG_STATE,
                         "a ze_module is compiled: it cannot be an input module");
    return zepi_module_create_from_native(context, device, native_handle, state, ownership,
                                          out_module);
}

// ---- Asking ----

// Values that a built module did not use do not count.
static bool has_native_constants(const struct zepi_module *module)
{
    bool is_native = true;
    for (uint32_t i = 0; i < module->image_count && module->state == ZEPI_MODULE_INPUT; i++)
        is_native = is_native && zepi_device_image_is_native_support(module->images[i]);
    for (uint32_t i = 0; i < module->part_count; i++) {
        const struct zepi_module_part *part = &module->parts[i];
        for (uint32_t at = 0; at < part->image_count && zepi_module_any_code(module, i); at++)
            is_native = is_native && zepi_device_image_is_native_support(part->images[at]);
    }
    return is_native;
}

// An input may be built for any device of the context, and an empty module lacks nothing on any.
static bool module_serves_device(const struct zepi_module *module, uint32_t device_index)
{
    return module->part_count == 0 || zepi_module_has_code(module, device_index);
}

static uint32_t count_served_devices(const struct zepi_module *module)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < module->context->device_count; i++)
        count += module_serves_device(module, i);
    return count;
}

zepi_result_t zepi_api_module_get_info(zepi_module_t module, zepi_module_info_t *out_info)
{
    const zepi_result_t result = zepi_check_object(module, &zepi_module_type);
    if (result != ZEPI_SUCCESS)
        return result;
    zepi_module_info_t info = {.context = module->context,
                               .state = module->state,
                               .device_count = count_served_devices(module),
                               .image_count = zepi_module_count_images(module),
                               .spec_constant_count = module->declaration_count,
                               .has_spec_constants = module->declaration_count > 0,
                               .has_native_spec_constants = has_native_constants(module)};
    struct zepi_kernel_pass pass = {.module = module};
    while (zepi_module_next_kernel(&pass))
        info.kernel_count++;
    return zepi_copy_info(out_info, &info, sizeof(info));
}

zepi_result_t zepi_api_module_get_devices(zepi_module_t module, uint32_t capacity,
                                          zepi_device_t *out_devices, uint32_t *out_count)
{
    zepi_result_t result =
        zepi_api_check_list(module, &zepi_module_type, capacity, out_devices, out_count);
    if (result != ZEPI_SUCCESS)
        return result;
    uint32_t count = 0;
    for (uint32_t i = 0; i < module->context->device_count; i++) {
        if (!module_serves_device(module, i))
            continue;
        if (count < capacity)
            out_devices[count] = zepi_retain(module->context->devices[i]);
        count++;
    }
    *out_count = count;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_api_module_get_device_images(zepi_module_t module, uint32_t capacity,
                                                zepi_device_image_t *out_images,
                                                uint32_t *out_count)
{
    zepi_result_t result =
        zepi_api_check_list(module, &zepi_module_type, capacity, out_images, out_count);
    if (result != ZEPI_SUCCESS)
        return result;
    struct zepi_device_image *const *images = NULL;
    const uint32_t count = zepi_module_count_images(module);
    // A host that only counts them needs none.
    if (capacity > 0 && count > 0)
        result = zepi_module_list_images(module, &images);
    if (result != ZEPI_SUCCESS)
        return result;
    return zepi_list_objects(count, (void *const *)images, capacity, (void **)out_images,
                             out_count);
}

zepi_result_t zepi_api_module_get_kernel_names(zepi_module_t module, uint32_t capacity,
                                               const char **out_names, uint32_t *out_count)
{
    zepi_result_t result =
        zepi_api_check_list(module, &zepi_module_type, capacity, out_names, out_count);
    if (result != ZEPI_SUCCESS)
        return result;
    struct zepi_kernel_pass pass = {.module = module};
    uint32_t count = 0;
    for (const char *name; (name = zepi_module_next_kernel(&pass)); count++) {
        if (count < capacity)
            out_names[count] = name;
    }
    *out_count = count;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_api_module_has_kernel(zepi_module_t module, const char *name, bool *out_has)
{
    zepi_result_t result;
    if ((result = zepi_api_check_pointer(module, &zepi_module_type, name, "kernel's name")) ||
        (result = zepi_api_check_output(out_has, "output")))
        return result;
    *out_has = zepi_module_has_kernel(module, name);
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_api_module_get_build_log(zepi_module_t module, zepi_device_t device,
                                            const char **out_log)
{
    const zepi_result_t result = check_module_device(module, device, out_log, "output for the log");
    if (result == ZEPI_SUCCESS)
        *out_log =
            zepi_module_build_log(module, zepi_context_device_index(module->context, device));
    return result;
}

zepi_result_t zepi_api_module_get_native_binary(zepi_module_t module, zepi_device_t device,
                                                size_t *inout_size_bytes, void *out_bytes)
{
    zepi_result_t result;
    if ((result = check_module_device(module, device, inout_size_bytes, "pointer to the size")) ||
        (result = check_is_compiled(module, "native code")))
        return result;
    return zepi_module_get_native_binary(module, zepi_context_device_index(module->context, device),
                                         inout_size_bytes, out_bytes);
}

zepi_result_t zepi_api_module_get_native(zepi_module_t module, zepi_device_t device,
                                         void **out_native_handle)
{
    zepi_result_t result;
    if ((result = check_module_device(module, device, out_native_handle,
                                      "output for the native handle")) ||
        (result = check_is_compiled(module, "ze_module")))
        return result;
    return zepi_module_get_native(module, zepi_context_device_index(module->context, device),
                                  out_native_handle);
}

zepi_result_t zepi_api_module_is_equal(zepi_module_t a, zepi_module_t b, bool *out_is_equal)
{
    zepi_result_t result = zepi_check_object(a, &zepi_module_type);
    result = result ? result : zepi_check_object(b, &zepi_module_type);
    result = result ? result : zepi_api_check_output(out_is_equal, "output");
    if (result == ZEPI_SUCCESS)
        *out_is_equal = zepi_modules_are_equal(a, b);
    return result;
}

zepi_result_t zepi_api_module_get_hash(zepi_module_t module, uint64_t *out_hash)
{
    zepi_result_t result =
        zepi_api_check_pointer(module, &zepi_module_type, out_hash, "output for the hash");
    if (result == ZEPI_SUCCESS)
        *out_hash = zepi_module_hash(module);
    return result;
}

zepi_result_t zepi_api_device_image_get_info(zepi_device_image_t image,
                                             zepi_device_image_info_t *out_info)
{
    zepi_device_image_info_t info;
    zepi_result_t result;
    if ((result = zepi_check_object(image, &zepi_device_image_type)) ||
        (result = zepi_device_image_describe(image, &info)))
        return result;
    return zepi_copy_info(out_info, &info, sizeof(info));
}

// ---- The modules of a context ----

struct module_list {
    zepi_context_t context;
    zepi_module_state_t state;
    uint32_t capacity;
    zepi_module_t *out_modules;
    uint32_t count;
};

// Consumes the reference.
static void list_module(void *user, void *object)
{
    struct module_list *list = user;
    zepi_module_t module = object;
    const bool is_listed = module->context == list->context && module->state == list->state;
    if (is_listed && list->count < list->capacity)
        list->out_modules[list->count] = module;
    else
        zepi_release(module);
    list->count += is_listed;
}

zepi_result_t zepi_api_context_get_modules(zepi_context_t context, zepi_module_state_t state,
                                           uint32_t capacity, zepi_module_t *out_modules,
                                           uint32_t *out_count)
{
    struct module_list list = {context, state, capacity, out_modules, 0};
    zepi_result_t result;
    if ((result =
             zepi_api_check_list(context, &zepi_context_type, capacity, out_modules, out_count)) ||
        (result = zepi_api_check_state(state)))
        return result;
    zepi_object_visit_all(&zepi_module_type, list_module, &list);
    *out_count = list.count;
    return ZEPI_SUCCESS;
}
