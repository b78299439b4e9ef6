// SPDX-License-Identifier: MIT
// The function table, and the exported functions that hand it out.
#include "api/api.h"
#include "core/object.h"
#include "core/options.h"
#include "device/adapter.h"
#include "memory/usm.h"
#include "program/this_module.h"

#include <assert.h>
#include <string.h>

static_assert(ZEPI_INTERFACE_VERSION == ZEPI_MAKE_VERSION(ZEPI_PROJECT_MAJOR, ZEPI_PROJECT_MINOR),
              "package and interface have one version");

static const zepi_plugin_t table = {
    .size = sizeof(zepi_plugin_t),
    .interface_version = ZEPI_INTERFACE_VERSION,
    .version = ZEPI_MAKE_VERSION(ZEPI_PROJECT_MAJOR, ZEPI_PROJECT_MINOR),
    .name = "zepi",
    .version_string = ZEPI_PROJECT_VERSION,
    .targets = "spirv64 native",

    .last_error = zepi_last_error,
    .last_build_log = zepi_build_log_get,
    .result_name = zepi_result_name,
    .options_get = zepi_options_list,
    .retain = zepi_retain_any,
    .release = zepi_release_any,

    .platform_get = zepi_platform_get,
    .platform_get_info = zepi_api_platform_get_info,
    .device_get = zepi_api_device_get,
    .device_get_sub_devices = zepi_api_device_get_sub_devices,
    .device_get_info = zepi_api_device_get_info,
    .device_get_time = zepi_api_device_get_time,

    .context_create = zepi_api_context_create,
    .context_create_from_native = zepi_api_context_create_from_native,
    .context_get_devices = zepi_api_context_get_devices,
    .context_get_native = zepi_api_context_get_native,

    .usm_allocate = zepi_usm_allocate,
    .usm_free = zepi_usm_free,
    .usm_get_info = zepi_api_usm_get_info,
    .buffer_create = zepi_api_buffer_create,
    .buffer_get_address = zepi_api_buffer_get_address,

    .queue_create = zepi_api_queue_create,
    .queue_get_info = zepi_api_queue_get_info,
    .queue_finish = zepi_api_queue_finish,
    .queue_copy = zepi_api_queue_copy,
    .queue_copy_rect = zepi_api_queue_copy_rect,
    .queue_fill = zepi_api_queue_fill,
    .queue_prefetch = zepi_api_queue_prefetch,
    .queue_advise = zepi_api_queue_advise,
    .queue_barrier = zepi_api_queue_barrier,
    .queue_marker = zepi_api_queue_marker,
    .queue_launch = zepi_api_queue_launch,
    .queue_get_native = zepi_api_queue_get_native,

    .event_create = zepi_api_event_create,
    .event_signal = zepi_api_event_signal,
    .event_wait = zepi_api_event_wait,
    .event_get_status = zepi_api_event_get_status,
    .event_get_times = zepi_api_event_get_times,
    .event_get_native = zepi_api_event_get_native,

    .module_create = zepi_api_module_create,
    .module_compile = zepi_api_module_compile,
    .module_link = zepi_api_module_link,
    .module_build = zepi_api_module_build,
    .module_join = zepi_api_module_join,
    .module_get_info = zepi_api_module_get_info,
    .module_get_devices = zepi_api_module_get_devices,
    .module_get_device_images = zepi_api_module_get_device_images,
    .device_image_get_info = zepi_api_device_image_get_info,
    .module_get_kernel_names = zepi_api_module_get_kernel_names,
    .module_has_kernel = zepi_api_module_has_kernel,
    .module_get_kernel = zepi_api_module_get_kernel,
    .module_get_build_log = zepi_api_module_get_build_log,
    .module_get_native_binary = zepi_api_module_get_native_binary,
    .module_is_equal = zepi_api_module_is_equal,
    .module_get_hash = zepi_api_module_get_hash,
    .module_create_from_native = zepi_api_module_create_from_native,
    .module_get_native = zepi_api_module_get_native,

    .spec_constant_set = zepi_api_spec_constant_set,
    .spec_constant_set_many = zepi_api_spec_constant_set_many,
    .spec_constant_set_by_name = zepi_api_spec_constant_set_by_name,
    .spec_constant_get = zepi_api_spec_constant_get,
    .spec_constant_get_by_name = zepi_api_spec_constant_get_by_name,
    .spec_constant_list = zepi_api_spec_constant_list,
    .spec_constant_list_names = zepi_api_spec_constant_list_names,
    .spec_constant_get_for_launch = zepi_api_spec_constant_get_for_launch,

    .unit_register = zepi_unit_register,
    .unit_unregister = zepi_unit_unregister,
    .unit_get_module = zepi_api_unit_get_module,
    .unit_has_module = zepi_api_unit_has_module,
    .unit_has_any_module = zepi_api_unit_has_any_module,
    .context_get_modules = zepi_api_context_get_modules,

    .kernel_get_info = zepi_api_kernel_get_info,
    .kernel_suggest_group_size = zepi_api_kernel_suggest_group_size,
    .kernel_get_native = zepi_api_kernel_get_native,

    .cache_get_limits = zepi_api_cache_get_limits,
    .cache_set_limits = zepi_api_cache_set_limits,
    .cache_get_counters = zepi_api_cache_get_counters,
    .cache_get_location = zepi_api_cache_get_location,
    .cache_trim = zepi_api_cache_trim,
    .cache_clear = zepi_api_cache_clear,

    .graph_create = zepi_api_graph_create,
    .graph_get_info = zepi_api_graph_get_info,
    .queue_begin_capture = zepi_api_queue_begin_capture,
    .queue_end_capture = zepi_api_queue_end_capture,
    .graph_add_launch = zepi_api_graph_add_launch,
    .graph_add_copy = zepi_api_graph_add_copy,
    .graph_add_fill = zepi_api_graph_add_fill,
    .graph_finalize = zepi_api_graph_finalize,
    .graph_update = zepi_api_graph_update,
    .queue_execute = zepi_api_queue_execute,
    .graph_dump = zepi_api_graph_dump,

    .queue_create_on_engine = zepi_api_queue_create_on_engine,
    .pool_create = zepi_api_pool_create,
    .pool_get_info = zepi_api_pool_get_info,
    .pool_set_limits = zepi_api_pool_set_limits,
    .pool_trim = zepi_api_pool_trim,
    .queue_allocate = zepi_api_queue_allocate,
    .queue_free = zepi_api_queue_free,

    .ipc_get_handle = zepi_api_ipc_get_handle,
    .ipc_put_handle = zepi_api_ipc_put_handle,
    .ipc_open_handle = zepi_api_ipc_open_handle,
    .ipc_close_memory = zepi_api_ipc_close_memory,

    .image_create = zepi_api_image_create,
    .image_create_from_native = zepi_api_image_create_from_native,
    .image_get_info = zepi_api_image_get_info,
    .sampler_create = zepi_api_sampler_create,
    .queue_copy_to_image = zepi_api_queue_copy_to_image,
    .queue_copy_from_image = zepi_api_queue_copy_from_image,
    .queue_copy_image = zepi_api_queue_copy_image,

    .virtual_memory_get_page_size = zepi_api_virtual_memory_get_page_size,
    .virtual_memory_reserve = zepi_api_virtual_memory_reserve,
    .virtual_memory_free = zepi_api_virtual_memory_free,
    .physical_memory_create = zepi_api_physical_memory_create,
    .virtual_memory_map = zepi_api_virtual_memory_map,
    .virtual_memory_unmap = zepi_api_virtual_memory_unmap,
    .virtual_memory_set_access = zepi_api_virtual_memory_set_access,
    .virtual_memory_get_access = zepi_api_virtual_memory_get_access,

    .queue_call_host = zepi_api_queue_call_host,
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
