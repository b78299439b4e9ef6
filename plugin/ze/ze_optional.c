// SPDX-License-Identifier: MIT
#include "ze/ze_optional.h"

#include "core/alloc.h"
#include "core/options.h"
#include "ze/ze.h"

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

struct optional_function {
    const char *name;
    uint32_t since;
    size_t member; // its offset, and that of whether it is the driver's
    size_t is_drivers;
};

// The member stays NULL if the function is not there.
static zepi_result_t optional_find_function(struct zepi_ze_optional *optional,
                                            ze_driver_handle_t driver, uint32_t api_version,
                                            const struct optional_function *row)
{
    void *function = api_version >= row->since ? zepi_ze_symbol(row->name) : NULL;
    bool is_drivers = false;
    if (!function) {
        const ze_result_t ze =
            zepi_ze.zeDriverGetExtensionFunctionAddress(driver, row->name, &function);
        if (ze != ZE_RESULT_SUCCESS)
            return zepi_check_ze_severe(ze, "zeDriverGetExtensionFunctionAddress");
        is_drivers = function != NULL;
    }
    memcpy((char *)optional + row->member, &function, sizeof(function));
    memcpy((char *)optional + row->is_drivers, &is_drivers, sizeof(is_drivers));
    return ZEPI_SUCCESS;
}

static zepi_result_t optional_find_functions(struct zepi_ze_optional *optional,
                                             ze_driver_handle_t driver, uint32_t api_version)
{
    static const struct optional_function rows[] = {
#define ROW(member, name, since, arguments)                                                        \
    {name, since, offsetof(struct zepi_ze_optional, member),                                       \
     offsetof(struct zepi_ze_optional, member##_is_drivers)},
        ZEPI_ZE_OPTIONAL_FUNCTIONS(ROW) ZEPI_ZE_NEWER_FUNCTIONS(ROW)};
#define COUNT(member, name, since, arguments) +1
    const size_t count = 0 ZEPI_ZE_OPTIONAL_FUNCTIONS(COUNT) +
                         (zepi_options()->newer_functions ? 0 ZEPI_ZE_NEWER_FUNCTIONS(COUNT) : 0);
    zepi_result_t result = ZEPI_SUCCESS;
    for (size_t i = 0; i < count && result == ZEPI_SUCCESS; i++)
        result = optional_find_function(optional, driver, api_version, &rows[i]);
    return result;
}

static zepi_result_t optional_find_extensions(struct zepi_ze_optional *optional,
                                              ze_driver_handle_t driver)
{
    struct extensions extensions;
    const zepi_result_t result = list_driver_extensions(driver, &extensions);
#define FIND(member, name) optional->member = has_extension(&extensions, name);
    ZEPI_ZE_EXTENSIONS(FIND)
    zepi_free(extensions.list);
    // Functions that old loaders lack.
    optional->has_linkage_inspection &= zepi_ze.zeModuleInspectLinkageExt != NULL;
    optional->has_global_offset &= zepi_ze.zeKernelSetGlobalOffsetExp != NULL;
    optional->has_pci &= zepi_ze.zeDevicePciGetPropertiesExt != NULL;
    return result;
}

zepi_result_t zepi_ze_optional_find(struct zepi_ze_optional *optional, ze_driver_handle_t driver,
                                    uint32_t api_version)
{
    const bool is_newer = zepi_options()->newer_functions;
    *optional = (struct zepi_ze_optional){0};
    zepi_result_t result = optional_find_extensions(optional, driver);
    if (result == ZEPI_SUCCESS)
        result = optional_find_functions(optional, driver, api_version);
    optional->has_counter_based_events &= is_newer;
    optional->has_in_order_lists = is_newer && api_version >= ZEPI_ZE_API_VERSION(1, 7);
    optional->has_copy_offload_hint = is_newer && api_version >= ZEPI_ZE_API_VERSION(1, 14);
    if (!optional->has_append_lists)
        optional->append_command_lists = NULL;
    // All from the loader, or all from the driver: they take the same handles.
    optional->has_mutable_lists &=
        optional->get_next_command_id && optional->update_mutable_commands &&
        optional->update_command_kernels &&
        optional->update_mutable_commands_is_drivers == optional->get_next_command_id_is_drivers &&
        optional->update_command_kernels_is_drivers == optional->get_next_command_id_is_drivers;
    return result;
}

void *zepi_ze_driver_handle(zel_handle_type_t type, void *handle)
{
    void *own = NULL;
    return zepi_ze.zelLoaderTranslateHandle &&
                   zepi_ze.zelLoaderTranslateHandle(type, handle, &own) == ZE_RESULT_SUCCESS && own
               ? own
               : handle;
}
