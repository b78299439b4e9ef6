// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_DRIVER_HOOKS_H
#define DRM_SHIM_DRIVER_HOOKS_H

#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>
#include <stdbool.h>

// Functions of the driver that the shim stands in front of. The loader asks a driver for its tables
// with dlsym, which is interposed: by then the driver's tables are filled, and entries of the
// functions below are replaced in them. Handles carry a pointer to these tables, so that every call
// comes by, whichever loader makes it.

// The driver's own functions. Valid once a hook is called.
extern ze_module_dditable_t shim_driver_module;
extern ze_kernel_dditable_t shim_driver_kernel;

// Fills a table of a driver that is open; false: it has none of that name.
bool shim_driver_table(void *driver, const char *getter, void *table);

// The functions in front (known_modules.c).
ze_result_t ZE_APICALL shim_module_create(ze_context_handle_t context, ze_device_handle_t device,
                                          const ze_module_desc_t *desc,
                                          ze_module_handle_t *out_module,
                                          ze_module_build_log_handle_t *out_log);
ze_result_t ZE_APICALL shim_module_destroy(ze_module_handle_t module);
ze_result_t ZE_APICALL shim_module_dynamic_link(uint32_t count, ze_module_handle_t *modules,
                                                ze_module_build_log_handle_t *out_log);
ze_result_t ZE_APICALL shim_module_get_function_pointer(ze_module_handle_t module, const char *name,
                                                        void **out_function);

ze_result_t ZE_APICALL shim_kernel_create(ze_module_handle_t module, const ze_kernel_desc_t *desc,
                                          ze_kernel_handle_t *out_kernel);
ze_result_t ZE_APICALL shim_kernel_suggest_cooperative(ze_kernel_handle_t kernel,
                                                       uint32_t *out_group_count);

// The GPU address of a kernel's machine code (the driver's extension zexKernelGetBaseAddress). 0:
// it does not tell.
uint64_t shim_driver_kernel_address(ze_kernel_handle_t kernel);

// The driver's writable data as its file has it, where its own kernels lie; NULL before the driver
// is loaded.
const uint8_t *shim_driver_data(size_t *out_size_bytes);

#endif
