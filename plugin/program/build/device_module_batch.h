// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_BUILD_DEVICE_MODULE_BATCH_H
#define ZEPI_PROGRAM_BUILD_DEVICE_MODULE_BATCH_H

#include "program/build/device_module.h"

// Several images for one device of a context. Lives on the stack of one call; all is borrowed.
struct zepi_device_module_batch {
    struct zepi_context *context;
    uint32_t device_index;
    const struct zepi_spec_values *values;
    const struct zepi_build_options *options;
    enum zepi_device_module_kind kind;
};

struct zepi_device_module_wanted {
    struct zepi_device_image *image;
    struct zepi_build_result **out_result;
};

// zepi_device_module_get for each of them, in this order; the first failure ends it. Where builds
// can run at one time (zepi_compiler_limit), they do, in threads of this call, and the log callback
// hears of them afterwards.
zepi_result_t zepi_device_module_get_all(const struct zepi_device_module_batch *batch,
                                         uint32_t count,
                                         const struct zepi_device_module_wanted *wanted);

#endif
