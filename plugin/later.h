// SPDX-License-Identifier: MIT
#ifndef ZEPI_LATER_H
#define ZEPI_LATER_H

#include <zepi/zepi.h>

// Functions of the interface that answer ZEPI_ERROR_UNSUPPORTED so far.
zepi_result_t zepi_buffer_create(zepi_context_t context, size_t size_bytes, const void *host_data,
                                 zepi_buffer_t *out_buffer);
zepi_result_t zepi_buffer_get_address(zepi_buffer_t buffer, zepi_device_t device,
                                      void **out_address, size_t *out_size_bytes);
zepi_result_t zepi_module_create_from_native(zepi_context_t context, zepi_device_t device,
                                             void *native_handle, zepi_module_state_t state,
                                             zepi_ownership_t ownership, zepi_module_t *out_module);
zepi_result_t zepi_module_get_native(zepi_module_t module, zepi_device_t device,
                                     void **out_native_handle);
zepi_result_t zepi_kernel_get_native(zepi_kernel_t kernel, zepi_device_t device,
                                     void **out_native_handle);

#endif
