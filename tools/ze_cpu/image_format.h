// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_IMAGE_FORMAT_H
#define ZE_CPU_IMAGE_FORMAT_H

#include "opencl.h"

#include <stdbool.h>

// The OpenCL format that reads and writes as a Level Zero description says.
struct cpu_image_format {
    cl_image_format format;
    size_t element_bytes;
    bool is_integer;   // cannot be filtered
    bool is_read_only; // for kernels
};

// Out: the format, if OpenCL has it for images of `type`. False otherwise.
bool cpu_image_format_find(const ze_image_desc_t *desc, cl_mem_object_type type,
                           struct cpu_image_format *out_format);

#endif
