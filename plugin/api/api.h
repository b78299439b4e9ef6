// SPDX-License-Identifier: MIT
#ifndef ZEPI_API_API_H
#define ZEPI_API_API_H

#include <zepi/zepi.h>

#include <stddef.h>

// The functions of the function table that this folder has, as zepi.h documents them. Each checks
// its arguments and calls a layer below. zepi_api_NAME has the type of the table's NAME.
#define ZEPI_API(name) __typeof__(*((zepi_plugin_t *)NULL)->name) zepi_api_##name

ZEPI_API(queue_copy);
ZEPI_API(queue_copy_rect);
ZEPI_API(queue_fill);
ZEPI_API(queue_prefetch);
ZEPI_API(queue_advise);
ZEPI_API(queue_launch);
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

#undef ZEPI_API

#endif
