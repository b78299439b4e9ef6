// SPDX-License-Identifier: MIT
#ifndef ZEPI_MEMORY_USM_H
#define ZEPI_MEMORY_USM_H

#include <zepi/zepi.h>

zepi_result_t zepi_usm_allocate(zepi_context_t context, zepi_device_t device, zepi_usm_kind_t kind,
                                size_t size_bytes, size_t alignment_bytes, void **out_memory);
zepi_result_t zepi_usm_free(zepi_context_t context, void *memory);
zepi_result_t zepi_usm_get_info(zepi_context_t context, const void *address,
                                zepi_usm_info_t *out_info);

// False if the bytes begin in an allocation and reach past its end. Of memory that is no USM nothing
// is known. `context` has been checked.
bool zepi_usm_is_inside(const struct zepi_context *context, const void *address, size_t size_bytes);

#endif
