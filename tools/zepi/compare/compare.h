// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_COMPARE_H
#define ZEPI_TOOL_COMPARE_H

#include "../host.h"
#include "tools/ze_cpu/opencl.h"

#include <cjson/cJSON.h>

#include <stddef.h>
#include <stdint.h>

// The measurements of zepi compare: the same work on ze_cpu through zepi and in another way. Both
// ways take turns, and the best of their times counts.

struct compare {
    struct host_device host; // with an in-order queue
    const struct cpu_opencl *opencl;
    cJSON *rows;
};

struct compare_row {
    const char *what;
    bool (*run[2])(const void *self); // false: it failed
    const void *self[2];
    unsigned count;    // operations that a run does: times are told for one
    size_t size_bytes; // that an operation copies; 0: speeds are not told
};

// Measures the rows of a group, all in the same rounds; `ways` names the two ways.
bool compare_in_turns(struct compare *compare, const char *group, const char *const ways[2],
                      const struct compare_row *rows, size_t count);

// A kernel of one of this program's images, with a value for specialization constant 0 (NULL:
// none), through zepi and through OpenCL. False after a message. The caller releases it.
bool compare_zepi_kernel(const struct compare *compare, const char *image, const char *name,
                         const int64_t *value, zepi_kernel_t *out_kernel);
bool compare_opencl_kernel(const struct compare *compare, const char *image, const char *name,
                           const int64_t *value, cl_kernel *out_kernel);

// The parts. False after a message.
bool compare_launch(struct compare *compare);
bool compare_copy(struct compare *compare);
bool compare_queues(struct compare *compare);
bool compare_multiply(struct compare *compare);

#endif
