// SPDX-License-Identifier: MIT
#ifndef ZEPI_LATER_H
#define ZEPI_LATER_H

#include <zepi/zepi.h>

// Functions of the interface that answer ZEPI_ERROR_UNSUPPORTED so far.
zepi_result_t zepi_buffer_create(zepi_context_t context, size_t size_bytes, const void *host_data,
                                 zepi_buffer_t *out_buffer);
zepi_result_t zepi_buffer_get_address(zepi_buffer_t buffer, zepi_device_t device,
                                      void **out_address, size_t *out_size_bytes);

#endif
