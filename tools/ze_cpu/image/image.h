// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_IMAGE_H
#define ZE_CPU_IMAGE_H

#include "command/command.h"
#include "image_format.h"
#include "object.h"
#include "opencl.h"

struct cpu_image {
    struct cpu_object object;
    ze_context_handle_t context; // borrowed
    uint64_t id;                 // as those of allocations
    cl_mem memory;               // owned; NULL where nothing is executed
    unsigned char *hidden;       // owned: elements as in memory, for channels that no component
                                 // reads; NULL if there are none
    size_t taken_bytes;          // of the device's memory
    size_t extent[3];            // as OpenCL counts: array elements are the last dimension
    bool is_1d_array;
    bool is_settled_after_launch; // kernels may leave in components what must not be read
    struct cpu_image_format format;
};

struct cpu_sampler {
    struct cpu_object object;
    cl_sampler sampler; // owned
};

// Carries out an image copy on a queue without launches under way; returns when it is done.
ze_result_t cpu_image_copy(cl_command_queue queue, const struct cpu_image_copy *copy);

// Makes what a launch left in a view what later ones have to read. The launch is complete.
ze_result_t cpu_image_settle(cl_command_queue queue, const struct cpu_image *image);

#endif
