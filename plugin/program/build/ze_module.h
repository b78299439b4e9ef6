// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_BUILD_ZE_MODULE_H
#define ZEPI_PROGRAM_BUILD_ZE_MODULE_H

#include "program/build/text.h"
#include "program/device_image/device_image.h"

struct zepi_context;
struct zepi_device;

// Level Zero's modules: making them, and queries about them.

// Whether imports that no module defines are a failure.
enum zepi_imports {
    ZEPI_IMPORTS_ALLOWED,
    ZEPI_IMPORTS_RESOLVED,
};

// zeModuleCreate in this process. Appends the driver's log to `log` in any case.
zepi_result_t zepi_ze_module_create(struct zepi_context *context, const struct zepi_device *device,
                                    const ze_module_desc_t *desc, struct zepi_text *log,
                                    ze_module_handle_t *out_module);

// Compiles a SPIR-V image with the values in force (the image's own defaults are not sent), and
// checks the result: every entry point is there, and imports are resolved if they must be. If they
// need not be, the module can be linked with others. Appends the driver's log to `log` in any case.
// The caller destroys *out_module.
zepi_result_t zepi_ze_module_compile(struct zepi_context *context, const struct zepi_device *device,
                                     const struct zepi_device_image *image,
                                     const struct zepi_spec_values *values, const char *options,
                                     enum zepi_imports imports, struct zepi_text *log,
                                     ze_module_handle_t *out_module);

// Compiles SPIR-V images and links them with each other, in one module
// (ze_module_program_exp_desc_t); that every entry point is there is checked, imports are not. No
// two images have different values of one id in force: the driver has one map for all.
struct zepi_ze_module_input {
    const struct zepi_device_image *image; // borrowed
    const struct zepi_spec_values *values; // borrowed
    const char *options;                   // borrowed
};
zepi_result_t zepi_ze_module_compile_program(struct zepi_context *context,
                                             const struct zepi_device *device, uint32_t count,
                                             const struct zepi_ze_module_input *inputs,
                                             struct zepi_text *log, ze_module_handle_t *out_module);

// Links modules that were not linked yet with each other (zeModuleDynamicLink).
zepi_result_t zepi_ze_module_link(uint32_t count, const ze_module_handle_t *modules,
                                  struct zepi_text *log);

// Loads native code.
zepi_result_t zepi_ze_module_load(struct zepi_context *context, const struct zepi_device *device,
                                  const void *bytes, size_t size_bytes, struct zepi_text *log,
                                  ze_module_handle_t *out_module);

// The native code of a module, owned. Drivers that return none give 0 bytes and NULL.
zepi_result_t zepi_ze_module_get_native(ze_module_handle_t module, void **out_bytes,
                                        size_t *out_size_bytes);

// Names of the kernels, sorted, without those that drivers hide there: one owned block of memory. A
// driver that returns no names gives NULL and 0.
zepi_result_t zepi_ze_module_get_kernel_names(ze_module_handle_t module, const char ***out_names,
                                              uint32_t *out_count);

// The equal one of such names, borrowed from them. NULL: there is none.
const char *zepi_find_kernel_name(const char *const *names, uint32_t count, const char *name);

// Reads a build log into `log` and destroys it. NULL is fine.
void zepi_ze_module_take_log(ze_module_build_log_handle_t ze_log, struct zepi_text *log);

// Whether the driver says that imports are left.
zepi_result_t zepi_ze_module_has_imports(ze_module_handle_t module, bool *out_has);

#endif
