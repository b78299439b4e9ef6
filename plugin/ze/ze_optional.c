// SPDX-License-Identifier: MIT
#include "ze/ze_optional.h"

#include "core/alloc.h"
#include "core/options.h"
#include "ze/ze.h"

#include <stdatomic.h>

struct extensions {
    ze_driver_extension_properties_t *list; // owned
    uint32_t count;
};

static zepi_result_t list_driver_extensions(ze_driver_handle_t driver,
                                            struct extensions *extensions)
{
    static const char function[] = "zeDriverGetExtensionProperties";
    uint32_t count = 0;
    *extensions = (struct extensions){0};
    ze_result_t ze = zepi_ze.zeDriverGetExtensionProperties(driver, &count, NULL);
    if (ze != ZE_RESULT_SUCCESS || count == 0)
        return zepi_check_ze_severe(ze, function);
    extensions->list = zepi_allocate(count, sizeof(extensions->list[0]));
    if (!extensions->list)
        return zepi_fail_no_memory();
    ze = zepi_ze.zeDriverGetExtensionProperties(driver, &count, extensions->list);
    if (ze == ZE_RESULT_SUCCESS)
        extensions->count = count;
    return zepi_check_ze_severe(ze, function);
}

static bool has_extension(const struct extensions *extensions, const char *name)
{
    for (uint32_t i = 0; i < extensions->count; i++) {
        if (strncmp(extensions->list[i].name, name, sizeof(extensions->list[i].name)) == 0)
            return true;
    }
    return false;
}

// Finds a function of the specification's version `since`; NULL: it is not there.
static zepi_result_t optional_find_function(ze_driver_handle_t driver, uint32_t api_version,
                                            uint32_t since, const char *name, void **out_function,
                                            bool *out_is_drivers)
{
    void *function = api_version >= since ? zepi_ze_symbol(name) : NULL;
    *out_is_drivers = false;
    if (!function) {
        const ze_result_t ze = zepi_ze.zeDriverGetExtensionFunctionAddress(driver, name, &function);
        if (ze != ZE_RESULT_SUCCESS) {
            *out_function = NULL;
            return zepi_check_ze_severe(ze, "zeDriverGetExtensionFunctionAddress");
        }
        *out_is_drivers = function != NULL;
    }
    *out_function = function;
    return ZEPI_SUCCESS;
}

static zepi_result_t find_extensions(struct zepi_ze_optional *optional, ze_driver_handle_t driver)
{
    struct extensions extensions;
    const zepi_result_t result = list_driver_extensions(driver, &extensions);
    optional->has_module_program = has_extension(&extensions, ZE_MODULE_PROGRAM_EXP_NAME);
    optional->has_linkage_inspection = zepi_ze.zeModuleInspectLinkageExt &&
                                       has_extension(&extensions, ZE_LINKAGE_INSPECTION_EXT_NAME);
    optional->has_global_offset =
        zepi_ze.zeKernelSetGlobalOffsetExp && has_extension(&extensions, ZE_GLOBAL_OFFSET_EXP_NAME);
    optional->has_ip_version = has_extension(&extensions, "ZE_extension_device_ip_version");
    optional->has_relaxed_allocation_limits =
        has_extension(&extensions, ZE_RELAXED_ALLOCATION_LIMITS_EXP_NAME);
    optional->has_bfloat16 = has_extension(&extensions, "ZE_extension_bfloat16_conversions");
    optional->has_cache_line = has_extension(&extensions, "ZE_extension_device_cache_line_size");
    optional->has_usable_memory =
        has_extension(&extensions, "ZE_extension_device_usablemem_size_properties");
    optional->has_block_array =
        has_extension(&extensions, "ZE_intel_experimental_device_block_array_properties");
    optional->has_memory_details = has_extension(&extensions, ZE_DEVICE_MEMORY_PROPERTIES_EXT_NAME);
    optional->has_sysmem_mapping =
        has_extension(&extensions, "ZE_extension_external_memmap_sysmem");
    optional->has_pci = zepi_ze.zeDevicePciGetPropertiesExt &&
                        has_extension(&extensions, ZE_PCI_PROPERTIES_EXT_NAME);
    optional->has_counter_based_events =
        has_extension(&extensions, "ZE_experimental_event_pool_counter_based");
    optional->has_append_lists =
        has_extension(&extensions, "ZE_experimental_immediate_command_list_append");
    optional->has_mutable_lists =
        has_extension(&extensions, "ZE_experimental_mutable_command_list");
    zepi_free(extensions.list);
    return result;
}

// Properties that devices and drivers state.
static zepi_result_t optional_find_queries(struct zepi_ze_optional *optional,
                                           ze_driver_handle_t driver, uint32_t api_version)
{
    void *function;
    bool is_drivers;
    zepi_result_t result = optional_find_function(driver, api_version, ZEPI_ZE_API_VERSION(1, 13),
                                                  "zeDeviceGetVectorWidthPropertiesExt", &function,
                                                  &optional->is_vector_widths_drivers);
    memcpy(&optional->device_get_vector_widths, &function, sizeof(function));
    if (result != ZEPI_SUCCESS)
        return result;
    result =
        optional_find_function(driver, api_version, ZEPI_ZE_API_VERSION(1, 6), "zeMemPutIpcHandle",
                               &function, &optional->is_put_ipc_handle_drivers);
    memcpy(&optional->put_ipc_handle, &function, sizeof(function));
    if (result != ZEPI_SUCCESS)
        return result;
    result = optional_find_function(driver, 0, UINT32_MAX, "zeIntelGetDriverVersionString",
                                    &function, &is_drivers);
    memcpy(&optional->intel_get_driver_version, &function, sizeof(function));
    if (result == ZEPI_SUCCESS)
        result = optional_find_function(driver, 0, UINT32_MAX, "zexKernelGetArgumentSize",
                                        &function, &is_drivers);
    memcpy(&optional->kernel_get_argument_size, &function, sizeof(function));
    return result;
}

static zepi_result_t optional_find_host_pointers(struct zepi_ze_optional *optional,
                                                 ze_driver_handle_t driver)
{
    void *function;
    bool is_drivers;
    zepi_result_t result = optional_find_function(
        driver, 0, UINT32_MAX, "zexDriverImportExternalPointer", &function, &is_drivers);
    memcpy(&optional->import_host_pointer, &function, sizeof(function));
    if (result == ZEPI_SUCCESS)
        result = optional_find_function(driver, 0, UINT32_MAX, "zexDriverReleaseImportedPointer",
                                        &function, &is_drivers);
    memcpy(&optional->release_host_pointer, &function, sizeof(function));
    return result;
}

// An immediate list executes closed ones: the older name first, which more drivers have.
static zepi_result_t optional_find_append_lists(struct zepi_ze_optional *optional,
                                                ze_driver_handle_t driver, uint32_t api_version)
{
    void *function = NULL;
    zepi_result_t result = ZEPI_SUCCESS;
    if (optional->has_append_lists)
        result = optional_find_function(driver, api_version, ZEPI_ZE_API_VERSION(1, 9),
                                        "zeCommandListImmediateAppendCommandListsExp", &function,
                                        &optional->is_append_lists_drivers);
    memcpy(&optional->append_command_lists, &function, sizeof(function));
    if (result != ZEPI_SUCCESS || function)
        return result;
    result = optional_find_function(driver, api_version, ZEPI_ZE_API_VERSION(1, 16),
                                    "zeCommandListImmediateAppendCommandListsWithParameters",
                                    &function, &optional->is_append_lists_drivers);
    memcpy(&optional->append_lists_with_parameters, &function, sizeof(function));
    return result;
}

// All of them from the loader, or all from the driver: they take the same handles.
static zepi_result_t optional_find_mutable_lists(struct zepi_ze_optional *optional,
                                                 ze_driver_handle_t driver, uint32_t api_version)
{
    static const char *const names[] = {"zeCommandListGetNextCommandIdWithKernelsExp",
                                        "zeCommandListUpdateMutableCommandsExp",
                                        "zeCommandListUpdateMutableCommandKernelsExp"};
    void *functions[3] = {NULL};
    bool are_drivers[3];
    if (!optional->has_mutable_lists)
        return ZEPI_SUCCESS;
    for (int i = 0; i < 3; i++) {
        const zepi_result_t result =
            optional_find_function(driver, api_version, ZEPI_ZE_API_VERSION(1, 10), names[i],
                                   &functions[i], &are_drivers[i]);
        if (result != ZEPI_SUCCESS)
            return result;
        if (!functions[i] || are_drivers[i] != are_drivers[0])
            optional->has_mutable_lists = false;
    }
    optional->is_mutable_lists_drivers = are_drivers[0];
    memcpy(&optional->get_next_command_id, &functions[0], sizeof(functions[0]));
    memcpy(&optional->update_mutable_commands, &functions[1], sizeof(functions[1]));
    memcpy(&optional->update_command_kernels, &functions[2], sizeof(functions[2]));
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_ze_optional_find(struct zepi_ze_optional *optional, ze_driver_handle_t driver,
                                    uint32_t api_version)
{
    void *function;
    *optional = (struct zepi_ze_optional){0};
    zepi_result_t result = find_extensions(optional, driver);
    if (!zepi_options()->newer_functions) {
        optional->has_counter_based_events = false;
        optional->has_mutable_lists = false;
    }
    if (result == ZEPI_SUCCESS)
        result = optional_find_queries(optional, driver, api_version);
    if (result == ZEPI_SUCCESS)
        result = optional_find_host_pointers(optional, driver);
    if (result != ZEPI_SUCCESS || !zepi_options()->newer_functions)
        return result;
    optional->has_in_order_lists = api_version >= ZEPI_ZE_API_VERSION(1, 7);
    optional->has_copy_offload_hint = api_version >= ZEPI_ZE_API_VERSION(1, 14);
    result = optional_find_function(driver, api_version, ZEPI_ZE_API_VERSION(1, 9),
                                    "zeCommandListHostSynchronize", &function,
                                    &optional->is_synchronize_drivers);
    memcpy(&optional->command_list_host_synchronize, &function, sizeof(function));
    if (result == ZEPI_SUCCESS)
        result = optional_find_function(driver, api_version, ZEPI_ZE_API_VERSION(1, 17),
                                        "zeCommandListAppendHostFunction", &function,
                                        &optional->is_host_function_drivers);
    memcpy(&optional->append_host_function, &function, sizeof(function));
    if (result == ZEPI_SUCCESS)
        result = optional_find_append_lists(optional, driver, api_version);
    return result == ZEPI_SUCCESS ? optional_find_mutable_lists(optional, driver, api_version)
                                  : result;
}

void *zepi_ze_driver_handle(zel_handle_type_t type, void *handle)
{
    // The loader is opened once, and stays. Relaxed: all threads find the same.
    static void *_Atomic found;
    ze_result_t(ZE_APICALL * translate)(zel_handle_type_t, void *, void **);
    void *symbol = atomic_load_explicit(&found, memory_order_relaxed);
    void *own = NULL;
    if (!symbol) {
        symbol = zepi_ze_symbol("zelLoaderTranslateHandle");
        atomic_store_explicit(&found, symbol, memory_order_relaxed);
    }
    memcpy(&translate, &symbol, sizeof(symbol));
    return symbol && translate(type, handle, &own) == ZE_RESULT_SUCCESS && own ? own : handle;
}
