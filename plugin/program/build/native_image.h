// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_BUILD_NATIVE_IMAGE_H
#define ZEPI_PROGRAM_BUILD_NATIVE_IMAGE_H

#include "program/build/device_module.h"

// Loads the native code of a ze_module once more, into a zeroed one, which keeps a reference to it.
// ZEPI_ERROR_UNSUPPORTED: the driver returns none.
zepi_result_t zepi_ze_module_load_again(struct zepi_ze_module *ze_module,
                                        const struct zepi_device_module *device_module,
                                        uint32_t index, struct zepi_text *log);
// Destroys those that there are, and frees the list; NULL is fine.
void zepi_ze_modules_finish(uint32_t count, struct zepi_ze_module *ze_modules);

// Links those of each group with each other, for an executable.
zepi_result_t zepi_ze_modules_link(uint32_t count, const struct zepi_ze_module *ze_modules,
                                   struct zepi_text *log);

// Code from a native image: the driver's bytes, or a container of several, which are linked if an
// executable is asked for. *out_device_module is owned.
zepi_result_t zepi_native_image_load(struct zepi_context *context, struct zepi_device *device,
                                     struct zepi_blob *image, zepi_module_state_t state,
                                     struct zepi_text *log,
                                     struct zepi_device_module **out_device_module);

#endif
