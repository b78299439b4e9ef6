// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_BUILD_DEVICE_BUILD_H
#define ZEPI_PROGRAM_BUILD_DEVICE_BUILD_H

#include "program/build/build_options.h"
#include "program/build/device_module.h"

// Device modules from the caches, or built. Any thread. Where a failure is noted, its log is the
// thread's last build log.

// The build of an image on one of the context's devices. All is borrowed for the call.
struct zepi_image_build {
    struct zepi_context *context;
    uint32_t device_index; // in the context
    struct zepi_device_image *image;
    const struct zepi_spec_values *values; // those that the image does not declare do not matter
    const struct zepi_build_options *options;
    zepi_module_state_t state; // object or executable
};

// The code from the cache or built, or (executables with variables that are to be the module's own)
// built for the caller alone. *out_result is a new reference to a result that succeeded; a failure
// is noted.
zepi_result_t zepi_device_module_get(const struct zepi_image_build *build,
                                     struct zepi_build_result **out_result);

// Any build whose payload is a struct zepi_device_module. `key` has the inputs beside the device;
// the caller finishes it. NULL: built for the caller alone.
zepi_result_t zepi_device_module_find_or_build(struct zepi_context *context, uint32_t device_index,
                                               const struct zepi_build_options *options,
                                               struct zepi_key *key, zepi_build_fn *build,
                                               void *user, struct zepi_build_result **out_result);

// Adds an image with the values in force.
void zepi_key_add_image(struct zepi_key *key, const struct zepi_device_image *image,
                        const struct zepi_spec_values *values);

#endif
