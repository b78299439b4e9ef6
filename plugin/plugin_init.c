// SPDX-License-Identifier: MIT
// The function table, and the exported functions that hand it out.
#include "api/api.h"
#include "core/interface.h"
#include "core/options.h"
#include "device/adapter.h"
#include "memory/usm.h"
#include "program/this_module.h"

#include <assert.h>
#include <string.h>

static_assert(ZEPI_INTERFACE_VERSION == ZEPI_MAKE_VERSION(ZEPI_PROJECT_MAJOR, ZEPI_PROJECT_MINOR),
              "package and interface have one version");

static zepi_result_t options_get(uint32_t capacity, zepi_option_t *out_options, uint32_t *out_count)
{
    const zepi_result_t result = zepi_check_list(capacity, out_options, out_count);
    if (result != ZEPI_SUCCESS)
        return result;
    const zepi_option_t *options = zepi_options_list(out_count);
    for (uint32_t i = 0; i < capacity && i < *out_count; i++)
        out_options[i] = options[i];
    return ZEPI_SUCCESS;
}

static const zepi_plugin_t table = {
    .size = sizeof(zepi_plugin_t),
    .interface_version = ZEPI_INTERFACE_VERSION,
    .version = ZEPI_MAKE_VERSION(ZEPI_PROJECT_MAJOR, ZEPI_PROJECT_MINOR),
    .name = "zepi",
    .version_string = ZEPI_PROJECT_VERSION,
    .targets = "spirv64 native",

#define ENTRY(name) .name = zepi_api_##name,
    ZEPI_API_FUNCTIONS(ENTRY)
#undef ENTRY
        .last_error = zepi_last_error,
    .last_build_log = zepi_build_log_get,
    .result_name = zepi_result_name,
    .options_get = options_get,
    .retain = zepi_retain_any,
    .release = zepi_release_any,
    .platform_get = zepi_platform_get,
    .usm_free = zepi_usm_free,
    .unit_register = zepi_unit_register,
    .unit_unregister = zepi_unit_unregister,
};

__attribute__((visibility("default"))) zepi_result_t zepiPluginInit(zepi_plugin_t *plugin)
{
    if (!plugin)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "zepiPluginInit: the table is NULL");
    if (plugin->size < ZEPI_PLUGIN_HEAD_SIZE)
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                         "zepiPluginInit: the table's size is %zu, expected at least %zu",
                         plugin->size, ZEPI_PLUGIN_HEAD_SIZE);
    const uint32_t asked = plugin->interface_version;
    const bool is_known = ZEPI_VERSION_MAJOR(asked) == ZEPI_PROJECT_MAJOR &&
                          (ZEPI_PROJECT_MAJOR > 0 || asked == ZEPI_INTERFACE_VERSION);
    if (!is_known)
        return zepi_fail(ZEPI_ERROR_UNSUPPORTED_VERSION,
                         "zepiPluginInit: the host was compiled for interface %u.%u, and this is "
                         "zepi " ZEPI_PROJECT_VERSION ": before 1.0 both have to be of one minor "
                         "version",
                         ZEPI_VERSION_MAJOR(asked), ZEPI_VERSION_MINOR(asked));
    // Whole functions only.
    size_t size = plugin->size < sizeof(table) ? plugin->size : sizeof(table);
    size -= (size - ZEPI_PLUGIN_HEAD_SIZE) % sizeof(void *);
    memcpy(plugin, &table, size);
    plugin->size = size;
    return ZEPI_SUCCESS;
}

__attribute__((visibility("default"))) const char *zepiPluginLastError(void)
{
    return zepi_last_error(NULL);
}
