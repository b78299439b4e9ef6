// SPDX-License-Identifier: MIT
#include "base/ze_optional.h"

#include "base/alloc.h"
#include "base/options.h"
#include "base/ze.h"

static bool has_extension(ze_driver_handle_t driver, const char *name)
{
    uint32_t count = 0;
    bool has = false;
    if (zepi_ze.zeDriverGetExtensionProperties(driver, &count, NULL) != ZE_RESULT_SUCCESS)
        return false;
    ze_driver_extension_properties_t *extensions = zepi_allocate(count, sizeof(*extensions));
    if (extensions &&
        zepi_ze.zeDriverGetExtensionProperties(driver, &count, extensions) == ZE_RESULT_SUCCESS) {
        for (uint32_t i = 0; i < count && !has; i++)
            has = strncmp(extensions[i].name, name, sizeof(extensions[i].name)) == 0;
    }
    zepi_free(extensions);
    return has;
}

// Finds a function of the specification's version `since`.
static void *find(struct zepi_ze_optional *optional, ze_driver_handle_t driver,
                  uint32_t api_version, uint32_t since, const char *name)
{
    void *function = api_version >= since ? zepi_ze_symbol(name) : NULL;
    if (function)
        return function;
    if (zepi_ze.zeDriverGetExtensionFunctionAddress(driver, name, &function) != ZE_RESULT_SUCCESS)
        return NULL;
    if (function)
        optional->has_driver_functions = true;
    return function;
}

void zepi_ze_optional_find(struct zepi_ze_optional *optional, ze_driver_handle_t driver,
                           uint32_t api_version)
{
    *optional = (struct zepi_ze_optional){0};
    optional->has_module_program = has_extension(driver, ZE_MODULE_PROGRAM_EXP_NAME);
    optional->has_linkage_inspection =
        zepi_ze.zeModuleInspectLinkageExt && has_extension(driver, ZE_LINKAGE_INSPECTION_EXT_NAME);
    optional->has_global_offset =
        zepi_ze.zeKernelSetGlobalOffsetExp && has_extension(driver, ZE_GLOBAL_OFFSET_EXP_NAME);
    optional->has_ip_version = has_extension(driver, "ZE_extension_device_ip_version");
    optional->has_relaxed_allocation_limits =
        has_extension(driver, ZE_RELAXED_ALLOCATION_LIMITS_EXP_NAME);
    if (!zepi_options()->newer_functions)
        return;
    optional->has_in_order_lists = api_version >= ZEPI_ZE_API_VERSION(1, 7);
    void *function = find(optional, driver, api_version, ZEPI_ZE_API_VERSION(1, 9),
                          "zeCommandListHostSynchronize");
    memcpy(&optional->command_list_host_synchronize, &function, sizeof(function));
    function = find(optional, driver, api_version, ZEPI_ZE_API_VERSION(1, 14),
                    "zeCommandListAppendLaunchKernelWithArguments");
    memcpy(&optional->append_launch_kernel_with_arguments, &function, sizeof(function));
}

void *zepi_ze_driver_handle(zel_handle_type_t type, void *handle)
{
    ze_result_t(ZE_APICALL * translate)(zel_handle_type_t, void *, void **);
    void *symbol = zepi_ze_symbol("zelLoaderTranslateHandle");
    void *own = NULL;
    memcpy(&translate, &symbol, sizeof(symbol));
    return symbol && translate(type, handle, &own) == ZE_RESULT_SUCCESS && own ? own : handle;
}
