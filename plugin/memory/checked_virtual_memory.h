// SPDX-License-Identifier: MIT
#ifndef ZEPI_MEMORY_CHECKED_VIRTUAL_MEMORY_H
#define ZEPI_MEMORY_CHECKED_VIRTUAL_MEMORY_H

#include "core/object.h"

// The functions of virtual_memory.h behind zepi.h, with its checks of handles, outputs and sizes.
zepi_result_t zepi_virtual_memory_get_page_size_checked(zepi_context_t context,
                                                        zepi_device_t device, size_t size_bytes,
                                                        size_t *out_page_bytes);
zepi_result_t zepi_virtual_memory_reserve_checked(zepi_context_t context, const void *wish,
                                                  size_t size_bytes, void **out_start);
zepi_result_t zepi_virtual_memory_free_checked(zepi_context_t context, const void *start,
                                               size_t size_bytes);
zepi_result_t zepi_virtual_memory_map_checked(zepi_context_t context, const void *start,
                                              size_t size_bytes, zepi_physical_memory_t memory,
                                              size_t offset_bytes, zepi_memory_access_t access);
zepi_result_t zepi_virtual_memory_unmap_checked(zepi_context_t context, const void *start,
                                                size_t size_bytes);
zepi_result_t zepi_virtual_memory_set_access_checked(zepi_context_t context, const void *start,
                                                     size_t size_bytes,
                                                     zepi_memory_access_t access);
zepi_result_t zepi_virtual_memory_get_access_checked(zepi_context_t context, const void *start,
                                                     size_t size_bytes,
                                                     zepi_memory_access_t *out_access);
zepi_result_t zepi_physical_memory_create_checked(zepi_context_t context, zepi_device_t device,
                                                  size_t size_bytes,
                                                  zepi_physical_memory_t *out_memory);

#endif
