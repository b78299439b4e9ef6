// SPDX-License-Identifier: MIT
#include "core/list.h"
#include "device/context.h"
#include "device/device.h"
#include "program/built_image.h"
#include "program/module.h"
#include "ze/ze.h"

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

bool zepi_module_has_kernel(const struct zepi_module *module, const char *name)
{
    struct name_search search = {.name = name};
    zepi_module_for_each_kernel(module, search_kernel_name, &search);
    return search.is_found;
}

const char *zepi_module_build_log(const struct zepi_module *module, uint32_t device_index)
{
    const char *log = "";
    size_t size_bytes = 0;
    for (uint32_t i = 0; i < module->part_count && size_bytes == 0; i++) {
        if (module->parts[i].device_module[device_index])
            log = zepi_build_log(module->parts[i].device_module[device_index], &size_bytes);
    }
    return log;
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
    const uint32_t index = zepi_context_device_index(module->context, device);
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
