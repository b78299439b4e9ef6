// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_NATIVE_BINARY_H
#define ZEPI_PROGRAM_NATIVE_BINARY_H

#include "program/module.h"

// Native code for a device as hosts get it: of one ze_module as the driver returns it, of several
// in a container. Any thread.

// The native binary of an object or executable.
zepi_result_t zepi_module_get_native_binary(const struct zepi_module *module, uint32_t device_index,
                                            size_t *inout_size_bytes, void *out_bytes);

// The native binary of device modules, as a reference; `state` is that of the module. NULL: the
// driver returns none.
zepi_result_t zepi_device_modules_get_native(uint32_t count,
                                             const struct zepi_device_module *const *modules,
                                             zepi_module_state_t state,
                                             struct zepi_blob **out_native);

#endif
