// SPDX-License-Identifier: MIT
#ifndef ZEPI_API_API_H
#define ZEPI_API_API_H

#include <zepi/zepi.h>

#include <stddef.h>

// The functions of the function table that this folder has, as zepi.h documents them. Each checks
// its arguments and calls a layer below.
#define ZEPI_API_FUNCTIONS(X)                                                                      \
    X(platform_get_info)                                                                           \
    X(device_get)                                                                                  \
    X(device_get_sub_devices)                                                                      \
    X(device_get_info)                                                                             \
    X(device_get_time)                                                                             \
    X(context_create)                                                                              \
    X(context_create_from_native)                                                                  \
    X(context_get_devices)                                                                         \
    X(context_get_native)                                                                          \
    X(usm_allocate)                                                                                \
    X(usm_get_info)                                                                                \
    X(buffer_create)                                                                               \
    X(buffer_get_address)                                                                          \
    X(queue_create)                                                                                \
    X(queue_get_info)                                                                              \
    X(queue_finish)                                                                                \
    X(queue_copy)                                                                                  \
    X(queue_copy_rect)                                                                             \
    X(queue_fill)                                                                                  \
    X(queue_prefetch)                                                                              \
    X(queue_advise)                                                                                \
    X(queue_barrier)                                                                               \
    X(queue_marker)                                                                                \
    X(queue_launch)                                                                                \
    X(queue_get_native)                                                                            \
    X(event_create)                                                                                \
    X(event_signal)                                                                                \
    X(event_wait)                                                                                  \
    X(event_get_status)                                                                            \
    X(event_get_times)                                                                             \
    X(event_get_native)                                                                            \
    X(module_create)                                                                               \
    X(module_compile)                                                                              \
    X(module_link)                                                                                 \
    X(module_build)                                                                                \
    X(module_join)                                                                                 \
    X(module_get_info)                                                                             \
    X(module_get_devices)                                                                          \
    X(module_get_device_images)                                                                    \
    X(device_image_get_info)                                                                       \
    X(module_get_kernel_names)                                                                     \
    X(module_has_kernel)                                                                           \
    X(module_get_kernel)                                                                           \
    X(module_get_build_log)                                                                        \
    X(module_get_native_binary)                                                                    \
    X(module_is_equal)                                                                             \
    X(module_get_hash)                                                                             \
    X(module_create_from_native)                                                                   \
    X(module_get_native)                                                                           \
    X(spec_constant_set)                                                                           \
    X(spec_constant_set_many)                                                                      \
    X(spec_constant_set_by_name)                                                                   \
    X(spec_constant_get)                                                                           \
    X(spec_constant_get_by_name)                                                                   \
    X(spec_constant_list)                                                                          \
    X(spec_constant_list_names)                                                                    \
    X(spec_constant_get_for_launch)                                                                \
    X(unit_get_module)                                                                             \
    X(unit_has_module)                                                                             \
    X(unit_has_any_module)                                                                         \
    X(context_get_modules)                                                                         \
    X(kernel_get_info)                                                                             \
    X(kernel_suggest_group_size)                                                                   \
    X(kernel_get_native)                                                                           \
    X(cache_get_limits)                                                                            \
    X(cache_set_limits)                                                                            \
    X(cache_get_counters)                                                                          \
    X(cache_get_location)                                                                          \
    X(cache_trim)                                                                                  \
    X(cache_clear)                                                                                 \
    X(graph_create)                                                                                \
    X(graph_get_info)                                                                              \
    X(queue_begin_capture)                                                                         \
    X(queue_end_capture)                                                                           \
    X(graph_add_launch)                                                                            \
    X(graph_add_copy)                                                                              \
    X(graph_add_fill)                                                                              \
    X(graph_finalize)                                                                              \
    X(graph_update)                                                                                \
    X(queue_execute)                                                                               \
    X(graph_dump)                                                                                  \
    X(queue_create_on_engine)                                                                      \
    X(pool_create)                                                                                 \
    X(pool_get_info)                                                                               \
    X(pool_set_limits)                                                                             \
    X(pool_trim)                                                                                   \
    X(queue_allocate)                                                                              \
    X(queue_free)                                                                                  \
    X(ipc_get_handle)                                                                              \
    X(ipc_put_handle)                                                                              \
    X(ipc_open_handle)                                                                             \
    X(ipc_close_memory)                                                                            \
    X(image_create)                                                                                \
    X(image_create_from_native)                                                                    \
    X(image_get_info)                                                                              \
    X(sampler_create)                                                                              \
    X(queue_copy_to_image)                                                                         \
    X(queue_copy_from_image)                                                                       \
    X(queue_copy_image)                                                                            \
    X(virtual_memory_get_page_size)                                                                \
    X(virtual_memory_reserve)                                                                      \
    X(virtual_memory_free)                                                                         \
    X(physical_memory_create)                                                                      \
    X(virtual_memory_map)                                                                          \
    X(virtual_memory_unmap)                                                                        \
    X(virtual_memory_set_access)                                                                   \
    X(virtual_memory_get_access)                                                                   \
    X(queue_call_host)

// zepi_api_NAME has the type of the table's NAME.
#define ZEPI_API_DECLARE(name) __typeof__(*((zepi_plugin_t *)NULL)->name) zepi_api_##name;
ZEPI_API_FUNCTIONS(ZEPI_API_DECLARE)
#undef ZEPI_API_DECLARE

#endif
