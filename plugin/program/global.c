// SPDX-License-Identifier: MIT
#include "program/global.h"

#include "device/context.h"
#include "device/device.h"
#include "program/module.h"
#include "ze/ze.h"

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

// Intel's driver supports no names in a module that was built without -ze-take-global-address, but
// those that SYCL gives to variables.
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
