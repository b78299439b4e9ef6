// SPDX-License-Identifier: MIT
#ifndef ZEPI_API_API_H
#define ZEPI_API_API_H

#include <zepi/zepi.h>

#include <stddef.h>

// The functions of the function table that this folder has, as zepi.h documents them. Each checks
// its arguments and calls a layer below. zepi_api_NAME has the type of the table's NAME.
#define ZEPI_API(name) __typeof__(*((zepi_plugin_t *)NULL)->name) zepi_api_##name

ZEPI_API(platform_get_info);
ZEPI_API(device_get);
ZEPI_API(device_get_sub_devices);
ZEPI_API(device_get_info);
ZEPI_API(device_get_time);
ZEPI_API(context_create);
ZEPI_API(context_create_from_native);
ZEPI_API(context_get_devices);
ZEPI_API(context_get_native);
ZEPI_API(usm_get_info);
ZEPI_API(buffer_create);
ZEPI_API(buffer_get_address);
ZEPI_API(queue_create);
ZEPI_API(queue_get_info);
ZEPI_API(queue_finish);
ZEPI_API(queue_copy);
ZEPI_API(queue_copy_rect);
ZEPI_API(queue_fill);
ZEPI_API(queue_prefetch);
ZEPI_API(queue_advise);
ZEPI_API(queue_barrier);
ZEPI_API(queue_marker);
ZEPI_API(queue_launch);
ZEPI_API(queue_get_native);
ZEPI_API(event_create);
ZEPI_API(event_signal);
ZEPI_API(event_wait);
ZEPI_API(event_get_status);
ZEPI_API(event_get_times);
ZEPI_API(event_get_native);
ZEPI_API(module_create);
ZEPI_API(module_compile);
ZEPI_API(module_link);
ZEPI_API(module_build);
ZEPI_API(module_join);
ZEPI_API(module_get_info);
ZEPI_API(module_get_devices);
ZEPI_API(module_get_device_images);
ZEPI_API(device_image_get_info);
ZEPI_API(module_get_kernel_names);
ZEPI_API(module_has_kernel);
ZEPI_API(module_get_kernel);
ZEPI_API(module_get_build_log);
ZEPI_API(module_get_native_binary);
ZEPI_API(module_is_equal);
ZEPI_API(module_get_hash);
ZEPI_API(module_create_from_native);
ZEPI_API(module_get_native);
ZEPI_API(spec_constant_set);
ZEPI_API(spec_constant_set_many);
ZEPI_API(spec_constant_set_by_name);
ZEPI_API(spec_constant_get);
ZEPI_API(spec_constant_get_by_name);
ZEPI_API(spec_constant_list);
ZEPI_API(spec_constant_list_names);
ZEPI_API(spec_constant_get_for_launch);
ZEPI_API(unit_get_module);
ZEPI_API(unit_has_module);
ZEPI_API(unit_has_any_module);
ZEPI_API(context_get_modules);
ZEPI_API(kernel_get_info);
ZEPI_API(kernel_suggest_group_size);
ZEPI_API(kernel_get_native);
ZEPI_API(cache_get_limits);
ZEPI_API(cache_set_limits);
ZEPI_API(cache_get_counters);
ZEPI_API(cache_get_location);
ZEPI_API(cache_trim);
ZEPI_API(cache_clear);
ZEPI_API(graph_create);
ZEPI_API(graph_get_info);
ZEPI_API(queue_begin_capture);
ZEPI_API(queue_end_capture);
ZEPI_API(graph_add_launch);
ZEPI_API(graph_add_copy);
ZEPI_API(graph_add_fill);
ZEPI_API(graph_finalize);
ZEPI_API(graph_update);
ZEPI_API(queue_execute);
ZEPI_API(graph_dump);
ZEPI_API(queue_create_on_engine);
ZEPI_API(pool_create);
ZEPI_API(pool_get_info);
ZEPI_API(pool_set_limits);
ZEPI_API(pool_trim);
ZEPI_API(queue_allocate);
ZEPI_API(queue_free);
ZEPI_API(ipc_get_handle);
ZEPI_API(ipc_put_handle);
ZEPI_API(ipc_open_handle);
ZEPI_API(ipc_close_memory);
ZEPI_API(image_create);
ZEPI_API(image_create_from_native);
ZEPI_API(image_get_info);
ZEPI_API(sampler_create);
ZEPI_API(queue_copy_to_image);
ZEPI_API(queue_copy_from_image);
ZEPI_API(queue_copy_image);
ZEPI_API(virtual_memory_get_page_size);
ZEPI_API(virtual_memory_reserve);
ZEPI_API(virtual_memory_free);
ZEPI_API(physical_memory_create);
ZEPI_API(virtual_memory_map);
ZEPI_API(virtual_memory_unmap);
ZEPI_API(virtual_memory_set_access);
ZEPI_API(virtual_memory_get_access);
ZEPI_API(queue_call_host);

#undef ZEPI_API

#endif
