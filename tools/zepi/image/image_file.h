// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_IMAGE_FILE_H
#define ZEPI_TOOL_IMAGE_FILE_H

#include "../file_bytes.h"
#include "../host.h"

// Device images in files.

// Whether the bytes begin like SPIR-V; anything else is taken for native code.
bool image_is_spirv(const struct file_bytes *file);

// Reads a file. An empty one, and source code in place of an image, are refused. Prints an error on
// stderr.
bool image_read(const char *path, struct file_bytes *out_file);

// A module of one image: input for SPIR-V, else of the state that the native code is of.
zepi_result_t image_create_module(const struct host_device *host, const struct file_bytes *file,
                                  zepi_module_state_t native_state, uint32_t layout_count,
                                  const zepi_spec_layout_t *layouts, zepi_module_t *out_module);

#endif
