// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_IMAGE_FILE_H
#define ZEPI_TOOL_IMAGE_FILE_H

#include "host.h"

#include <stddef.h>

// Files that the command line names.

struct file_bytes {
    unsigned char *bytes; // owned, free(); terminated by a zero that is not counted
    size_t size_bytes;
};

// "-" is standard input. Prints an error on stderr.
bool file_read(const char *path, struct file_bytes *out_file);
// "-" is standard output.
bool file_write(const char *path, const void *bytes, size_t size_bytes);

// Whether the bytes begin like SPIR-V; anything else is taken for native code.
bool image_is_spirv(const struct file_bytes *file);

// A module of one image: input for SPIR-V, executable for native code. Returns an exit code.
int image_create_module(const struct host_device *host, const struct file_bytes *file,
                        const char *path, uint32_t layout_count, const zepi_spec_layout_t *layouts,
                        zepi_module_t *out_module);

#endif
