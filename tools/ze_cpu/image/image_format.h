// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_IMAGE_FORMAT_H
#define ZE_CPU_IMAGE_FORMAT_H

#include "image_channels.h"
#include "opencl.h"

// The OpenCL format that reads and writes as a Level Zero description says. Where OpenCL has no
// such order of channels, its image is a view: four components as kernels see them, which copies
// translate.
struct cpu_image_format {
    cl_image_format format;
    size_t element_bytes; // in the application's memory
    bool is_integer;      // cannot be filtered
    bool is_read_only;    // for kernels
    bool is_view;
    struct cpu_image_channels channels;
};

// Out: the format, if OpenCL has it for images of `type`. False otherwise.
bool cpu_image_format_find(const ze_image_desc_t *desc, cl_mem_object_type type,
                           struct cpu_image_format *out_format);

#endif
