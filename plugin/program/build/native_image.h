// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_BUILD_NATIVE_IMAGE_H
#define ZEPI_PROGRAM_BUILD_NATIVE_IMAGE_H

#include "program/build/device_module.h"

// A fresh ze_module that is to become part of a device module: of one thread until then.
struct zepi_fresh_module {
    ze_module_handle_t ze;    // owned; NULL: not made yet
    struct zepi_blob *native; // reference; the bytes that it was loaded from, or NULL
    uint32_t group;           // ascending from 0 without a gap
};

// Loads native code, to which it keeps a reference.
zepi_result_t zepi_fresh_module_load(struct zepi_fresh_module *fresh, struct zepi_context *context,
                                     const struct zepi_device *device, struct zepi_blob *native,
                                     struct zepi_text *log);
// Destroys those that there are, and frees the list; NULL is fine.
void zepi_fresh_modules_finish(uint32_t count, struct zepi_fresh_module *fresh);

// Code made of fresh modules, whose handles and references it takes on success. Those of an
// executable that are of one group are linked with each other.
zepi_result_t zepi_device_module_create_fresh(struct zepi_context *context,
                                              struct zepi_device *device, uint32_t count,
                                              struct zepi_fresh_module *fresh,
                                              zepi_module_state_t state, uint32_t source_count,
                                              struct zepi_blob *const *sources,
                                              struct zepi_text *log,
                                              struct zepi_device_module **out_device_module);

// Code from a native image: the driver's bytes, or a container of several, which are linked if an
// executable is asked for. *out_device_module is owned.
zepi_result_t zepi_native_image_load(struct zepi_context *context, struct zepi_device *device,
                                     struct zepi_blob *image, zepi_module_state_t state,
                                     struct zepi_text *log,
                                     struct zepi_device_module **out_device_module);

#endif
