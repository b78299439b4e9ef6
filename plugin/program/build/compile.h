// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_BUILD_COMPILE_H
#define ZEPI_PROGRAM_BUILD_COMPILE_H

#include "program/build/text.h"
#include "program/device_image/device_image.h"

struct zepi_symbols;

// Compiles of SPIR-V, in this process or in one of their own. Any thread.

enum zepi_compile_kind {
    ZEPI_COMPILE_OBJECT,     // one input; unresolved imports are allowed, and it can be linked
    ZEPI_COMPILE_EXECUTABLE, // one input, with all imports resolved
    ZEPI_COMPILE_PROGRAM,    // linked with each other (ze_module_program_exp_desc_t)
};

struct zepi_compile_input {
    const struct zepi_device_image *image;
    const struct zepi_spec_values *values;
    const char *options;
};

// All is borrowed for the call.
struct zepi_compile {
    struct zepi_context *context;
    struct zepi_device *device;
    enum zepi_compile_kind kind;
    uint32_t count;
    const struct zepi_compile_input *inputs;
    const struct zepi_symbols *symbols; // of a program, sorted
};

// Compiles SPIR-V images with the values in force (the image's own defaults are not sent), and
// checks the result: every entry point is there, and no import is left but in objects. No two
// images of a program have different values of one id in force: the driver has one map for all.
// Appends the driver's log to `log` in any case. The caller destroys *out_module.
zepi_result_t zepi_compile_spirv(const struct zepi_compile *compile, struct zepi_text *log,
                                 ze_module_handle_t *out_module);

#endif
