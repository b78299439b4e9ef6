// SPDX-License-Identifier: MIT
#include "core/list.h"
#include "device/context.h"
#include "device/device.h"
#include "program/built_image.h"
#include "program/module.h"
#include "ze/ze.h"

static bool count_kernel_name(void *user, const char *name)
{
    (void)name;
    ++*(uint32_t *)user;
    return true;
}

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

zepi_result_t zepi_module_get_info(zepi_module_t module, zepi_module_info_t *out_info)
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
    zepi_module_for_each_kernel(module, count_kernel_name, &info.kernel_count);
    return zepi_copy_info(out_info, &info, sizeof(info));
}

zepi_result_t zepi_module_get_devices(zepi_module_t module, uint32_t capacity,
                                      zepi_device_t *out_devices, uint32_t *out_count)
{
    zepi_result_t result = zepi_check_object(module, &zepi_module_type);
    if (result == ZEPI_SUCCESS)
        result = zepi_check_list(capacity, out_devices, out_count);
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

zepi_result_t zepi_module_get_images(zepi_module_t module, uint32_t capacity,
                                     zepi_device_image_t *out_images, uint32_t *out_count)
{
    zepi_result_t result = zepi_check_object(module, &zepi_module_type);
    if (result == ZEPI_SUCCESS)
        result = zepi_check_list(capacity, out_images, out_count);
    if (result != ZEPI_SUCCESS)
        return result;
    struct zepi_device_image *const *images = NULL;
    const uint32_t count = zepi_module_count_images(module);
    // A host that only counts them needs none.
    if (capacity > 0 && count > 0)
        result = zepi_module_list_images(module, &images);
    if (result != ZEPI_SUCCESS)
        return result;
    zepi_list_objects(count, (void *const *)images, capacity, (void **)out_images, out_count);
    return ZEPI_SUCCESS;
}

struct name_list {
    uint32_t capacity;
    uint32_t count;
    const char **names;
};

static bool list_kernel_name(void *user, const char *name)
{
    struct name_list *list = user;
    if (list->count < list->capacity)
        list->names[list->count] = name;
    list->count++;
    return true;
}

zepi_result_t zepi_module_get_kernel_names(zepi_module_t module, uint32_t capacity,
                                           const char **out_names, uint32_t *out_count)
{
    zepi_result_t result = zepi_check_object(module, &zepi_module_type);
    if (result == ZEPI_SUCCESS)
        result = zepi_check_list(capacity, out_names, out_count);
    if (result != ZEPI_SUCCESS)
        return result;
    struct name_list list = {.capacity = capacity, .names = out_names};
    zepi_module_for_each_kernel(module, list_kernel_name, &list);
    *out_count = list.count;
    return ZEPI_SUCCESS;
}

struct name_search {
    const char *name;
    bool is_found;
};

static bool search_kernel_name(void *user, const char *name)
{
    struct name_search *search = user;
    search->is_found = strcmp(search->name, name) == 0;
    return !search->is_found;
}

zepi_result_t zepi_module_has_kernel(zepi_module_t module, const char *name, bool *out_has)
{
    const zepi_result_t result = zepi_check_object(module, &zepi_module_type);
    if (result != ZEPI_SUCCESS)
        return result;
    if (!name || !out_has)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "%s is NULL",
                         name ? "the output" : "the kernel's name");
    struct name_search search = {.name = name};
    zepi_module_for_each_kernel(module, search_kernel_name, &search);
    *out_has = search.is_found;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_module_get_build_log(zepi_module_t module, zepi_device_t device,
                                        const char **out_log)
{
    uint32_t index;
    size_t size_bytes = 0;
    zepi_result_t result = zepi_check_object(module, &zepi_module_type);
    if (result == ZEPI_SUCCESS)
        result = zepi_context_check_device(module->context, device, &index);
    if (result != ZEPI_SUCCESS)
        return result;
    if (!out_log)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the output for the log is NULL");
    const char *log = "";
    for (uint32_t i = 0; i < module->part_count && size_bytes == 0; i++) {
        if (module->parts[i].device_module[index])
            log = zepi_build_log(module->parts[i].device_module[index], &size_bytes);
    }
    *out_log = log;
    return ZEPI_SUCCESS;
}

// ---- Variables and functions in the code ----

typedef ze_result_t ask_fn(ze_module_handle_t module, const char *name, size_t *out_size,
                           void **out_address);

static ze_result_t ask_global(ze_module_handle_t module, const char *name, size_t *out_size,
                              void **out_address)
{
    return zepi_ze.zeModuleGetGlobalPointer(module, name, out_size, out_address);
}

static ze_result_t ask_function(ze_module_handle_t module, const char *name, size_t *out_size,
                                void **out_address)
{
    *out_size = 0;
    return zepi_ze.zeModuleGetFunctionPointer(module, name, out_address);
}

// A module that was built without options for it may refuse the query (quirk names-need-options).
static bool is_global_unknown(ze_result_t result)
{
    return result == ZE_RESULT_ERROR_INVALID_GLOBAL_NAME ||
           result == ZE_RESULT_ERROR_INVALID_FUNCTION_NAME ||
           result == ZE_RESULT_ERROR_INVALID_ARGUMENT ||
           result == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE ||
           result == ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED;
}

// Asks each ze_module of the module on the device, until one has it.
static zepi_result_t module_find_global(struct zepi_module *module, zepi_device_t device,
                                        const char *name, ask_fn *ask, const char *call,
                                        struct zepi_global *out_global)
{
    uint32_t index;
    zepi_result_t result = zepi_context_check_device(module->context, device, &index);
    if (result != ZEPI_SUCCESS)
        return result;
    for (uint32_t i = 0; i < module->part_count; i++) {
        const struct zepi_build_result *built = module->parts[i].device_module[index];
        const struct zepi_device_module *device_module =
            built ? zepi_device_module_of(built) : NULL;
        for (uint32_t unit = 0; device_module && unit < device_module->unit_count; unit++) {
            struct zepi_global global;
            const ze_result_t ze =
                ask(device_module->units[unit].ze, name, &global.size_bytes, &global.address);
            if (ze == ZE_RESULT_SUCCESS) {
                *out_global = global;
                return ZEPI_SUCCESS;
            }
            if (!is_global_unknown(ze))
                return zepi_fail_ze(ze, call);
        }
    }
    return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the module has no '%s' on device '%s'", name,
                     device->properties.name);
}

zepi_result_t zepi_module_find_global(struct zepi_module *module, zepi_device_t device,
                                      const char *name, struct zepi_global *out_global)
{
    return module_find_global(module, device, name, ask_global, "zeModuleGetGlobalPointer",
                              out_global);
}

zepi_result_t zepi_module_find_function(struct zepi_module *module, zepi_device_t device,
                                        const char *name, void **out_address)
{
    struct zepi_global function = {0};
    const zepi_result_t result = module_find_global(module, device, name, ask_function,
                                                    "zeModuleGetFunctionPointer", &function);
    if (result == ZEPI_SUCCESS)
        *out_address = function.address;
    return result;
}
