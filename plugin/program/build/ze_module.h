// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_BUILD_ZE_MODULE_H
#define ZEPI_PROGRAM_BUILD_ZE_MODULE_H

#include "program/build/text.h"
#include "program/device_image/device_image.h"

struct zepi_context;
struct zepi_device;

// Level Zero's modules: making them, and queries about them.

// zeModuleCreate in this process. Appends the driver's log to `log` in any case.
zepi_result_t zepi_ze_module_create(struct zepi_context *context, const struct zepi_device *device,
                                    const ze_module_desc_t *desc, struct zepi_text *log,
                                    ze_module_handle_t *out_module);

// The description of SPIR-V: one module by itself, or all as a program. Borrows `sources`.
ze_module_desc_t zepi_ze_module_describe(const ze_module_program_exp_desc_t *sources,
                                         bool is_program);

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

void zepi_sort_kernel_names(const char **names, uint32_t count);
// The equal one of sorted names, borrowed from them. NULL: there is none.
const char *zepi_find_kernel_name(const char *const *names, uint32_t count, const char *name);

// What the driver says of a module's imports or exports (ZE_LINKAGE_INSPECTION_EXT_FLAG_...).
// False: it cannot be asked.
bool zepi_ze_module_inspect(const struct zepi_context *context, ze_module_handle_t module,
                            ze_linkage_inspection_ext_flags_t flag, struct zepi_text *out_text);

// Whether the driver says that imports are left.
zepi_result_t zepi_ze_module_has_imports(ze_module_handle_t module, bool *out_has);

#endif
