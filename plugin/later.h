// SPDX-License-Identifier: MIT
#ifndef ZEPI_LATER_H
#define ZEPI_LATER_H

#include <zepi/zepi.h>

// Functions of the interface that answer ZEPI_ERROR_UNSUPPORTED so far.
zepi_result_t zepi_buffer_create(zepi_context_t context, size_t size_bytes, const void *host_data,
                                 zepi_buffer_t *out_buffer);
zepi_result_t zepi_buffer_get_address(zepi_buffer_t buffer, zepi_device_t device,
                                      void **out_address, size_t *out_size_bytes);
zepi_result_t zepi_module_join(uint32_t module_count, const zepi_module_t *modules,
                               zepi_module_t *out_module);
zepi_result_t zepi_module_is_equal(zepi_module_t a, zepi_module_t b, bool *out_is_equal);
zepi_result_t zepi_module_get_hash(zepi_module_t module, uint64_t *out_hash);
zepi_result_t zepi_module_create_from_native(zepi_context_t context, zepi_device_t device,
                                             void *native_handle, zepi_module_state_t state,
                                             zepi_ownership_t ownership, zepi_module_t *out_module);
zepi_result_t zepi_module_get_native(zepi_module_t module, zepi_device_t device,
                                     void **out_native_handle);
zepi_result_t zepi_spec_constant_get_for_launch(zepi_queue_t queue, const zepi_launch_desc_t *desc,
                                                uint32_t id, size_t size_bytes, void *out_value);
zepi_result_t zepi_unit_register(zepi_unit_t unit, uint32_t image_count,
                                 const zepi_image_desc_t *images);
zepi_result_t zepi_unit_unregister(zepi_unit_t unit);
zepi_result_t zepi_unit_get_module(zepi_unit_t unit, zepi_context_t context,
                                   zepi_module_state_t state, zepi_module_t *out_module);
zepi_result_t zepi_unit_has_module(zepi_unit_t unit, zepi_context_t context,
                                   zepi_module_state_t state, bool *out_has);
zepi_result_t zepi_unit_has_any_module(zepi_unit_t unit, zepi_context_t context, bool *out_has);
zepi_result_t zepi_context_get_modules(zepi_context_t context, zepi_module_state_t state,
                                       uint32_t capacity, zepi_module_t *out_modules,
                                       uint32_t *out_count);
zepi_result_t zepi_kernel_get_native(zepi_kernel_t kernel, zepi_device_t device,
                                     void **out_native_handle);

#endif
