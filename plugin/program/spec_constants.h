// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_SPEC_CONSTANTS_H
#define ZEPI_PROGRAM_SPEC_CONSTANTS_H

#include <zepi/zepi.h>

zepi_result_t zepi_spec_constant_set(zepi_module_t input, uint32_t id, size_t size_bytes,
                                     const void *value);
zepi_result_t zepi_spec_constant_set_many(zepi_module_t input, uint32_t count,
                                          const zepi_spec_value_t *values);
zepi_result_t zepi_spec_constant_set_by_name(zepi_module_t input, const char *name,
                                             size_t size_bytes, const void *value);
zepi_result_t zepi_spec_constant_get(zepi_module_t module, zepi_device_image_t image, uint32_t id,
                                     size_t size_bytes, void *out_value);
zepi_result_t zepi_spec_constant_get_by_name(zepi_module_t module, zepi_device_image_t image,
                                             const char *name, size_t size_bytes, void *out_value);
zepi_result_t zepi_spec_constant_list(zepi_module_t module, zepi_device_image_t image,
                                      uint32_t capacity, zepi_spec_constant_t *out_constants,
                                      uint32_t *out_count);
zepi_result_t zepi_spec_constant_list_names(zepi_module_t module, uint32_t capacity,
                                            const char **out_names, uint32_t *out_count);

#endif
