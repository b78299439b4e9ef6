// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_IMAGE_H
#define ZE_CPU_IMAGE_H

#include "command.h"
#include "image_format.h"
#include "object.h"
#include "opencl.h"

struct cpu_image {
    struct cpu_object object;
    ze_context_handle_t context; // borrowed
    uint64_t id;                 // as those of allocations
    cl_mem memory;               // owned
    size_t extent[3];            // as OpenCL counts: array elements are the last dimension
    bool is_1d_array;
    struct cpu_image_format format;
};

struct cpu_sampler {
    struct cpu_object object;
    cl_sampler sampler; // owned
};

// Carries out an image copy on a queue without launches under way; returns when it is done.
ze_result_t cpu_image_copy(cl_command_queue queue, const struct cpu_image_copy *copy);

#endif
