// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_BUILD_COMPILE_H
#define ZEPI_PROGRAM_BUILD_COMPILE_H

#include "program/build/text.h"
#include "program/device_image/device_image.h"

// Compiles of SPIR-V, in this process or in one of their own. Any thread.

enum zepi_compile {
    ZEPI_COMPILE_OBJECT,     // one input; unresolved imports are allowed, and it can be linked
    ZEPI_COMPILE_EXECUTABLE, // one input, with all imports resolved
    ZEPI_COMPILE_PROGRAM,    // linked with each other (ze_module_program_exp_desc_t)
};

struct zepi_ze_module_input {
    const struct zepi_device_image *image; // borrowed, as the others
    const struct zepi_spec_values *values;
    const char *options;
};

// Compiles SPIR-V images with the values in force (the image's own defaults are not sent), and
// checks the result: every entry point is there. Imports of a program are not checked, and no two
// of its images have different values of one id in force: the driver has one map for all. Appends
// the driver's log to `log` in any case. The caller destroys *out_module.
zepi_result_t zepi_compile_spirv(struct zepi_context *context, const struct zepi_device *device,
                                 uint32_t count, const struct zepi_ze_module_input *inputs,
                                 enum zepi_compile how, struct zepi_text *log,
                                 ze_module_handle_t *out_module);

#endif
