// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_NATIVE_FIT_H
#define ZEPI_PROGRAM_NATIVE_FIT_H

#include "program/build/device_module.h"

struct zepi_module;

// Whether a native image may serve a build: its values must be those of the build. Any thread.

// How the code is used: made with the values, or (EMULATED) taking those of emulated constants at
// launch.
enum zepi_native_use { ZEPI_NATIVE_AS_MADE, ZEPI_NATIVE_EMULATED };

// Whether it states other values than those that are asked for: those set, else the module's
// defaults. A constant that is baked into all images has no default, and any value is right.
bool zepi_native_states_other_values(const struct zepi_module *input,
                                     const struct zepi_device_image *native,
                                     const struct zepi_spec_values *values,
                                     enum zepi_native_use use);

// The values that the image's launches take: those set and, for emulated constants of which another
// image says another default, the module's. Reference; *out_values may be NULL.
zepi_result_t zepi_native_values(const struct zepi_module *input,
                                 const struct zepi_device_image *native,
                                 struct zepi_spec_values *values,
                                 struct zepi_spec_values **out_values);

// An image that does not state a constant was made with its default, as far as it has one. So it
// cannot serve if another value is set of a constant that another image declares for one of its
// kernels: SPIR-V with its imports from others of the module, or native code. `code` is the
// image's, on that device.
struct zepi_native_fit {
    struct zepi_module *input;
    uint32_t device_index;
    struct zepi_device_image *native;
    const struct zepi_device_module *device_module;
    const struct zepi_spec_values *values;
    const struct zepi_build_options *options;
    enum zepi_device_module_kind kind;
};
zepi_result_t zepi_native_fit_check(const struct zepi_native_fit *fit, bool *out_fits);

#endif
