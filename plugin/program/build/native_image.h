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

// Loads native code, which it interns.
zepi_result_t zepi_fresh_module_load(struct zepi_fresh_module *fresh, struct zepi_context *context,
                                     const struct zepi_device *device, const void *bytes,
                                     size_t size_bytes, struct zepi_text *log);
// Destroys those that there are.
void zepi_fresh_modules_finish(uint32_t count, struct zepi_fresh_module *fresh);

enum zepi_fresh_use {
    ZEPI_FRESH_UNLINKED, // objects
    ZEPI_FRESH_LINKED,   // those of one group are linked with each other
};
// Code made of fresh modules, whose handles and references it takes on success.
zepi_result_t zepi_device_module_create_fresh(struct zepi_context *context,
                                              struct zepi_device *device, uint32_t count,
                                              struct zepi_fresh_module *fresh,
                                              enum zepi_fresh_use use, uint32_t source_count,
                                              struct zepi_blob *const *sources,
                                              struct zepi_text *log,
                                              struct zepi_device_module **out_device_module);

// Code from a native image: the driver's bytes, or a container of several, which are linked if an
// executable is asked for. *out_code is owned.
zepi_result_t zepi_native_image_load(struct zepi_context *context, struct zepi_device *device,
                                     struct zepi_blob *image, enum zepi_device_module_kind kind,
                                     struct zepi_text *log,
                                     struct zepi_device_module **out_device_module);

#endif
