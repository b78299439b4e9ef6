// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_GLOBAL_H
#define ZEPI_PROGRAM_GLOBAL_H

#include "core/status.h"

struct zepi_module;

// Variables and functions in an executable's code, where the driver has them. Any thread.

struct zepi_global {
    void *address; // device memory; valid as long as the module's code is in use
    size_t size_bytes;
};

// Modules of the same build share their code, and so their variables, unless they were built or
// linked to have their own. ZEPI_ERROR_INVALID_VALUE: no
// such variable. `module` is an executable.
zepi_result_t zepi_module_find_global(struct zepi_module *module, zepi_device_t device,
                                      const char *name, struct zepi_global *out_global);
zepi_result_t zepi_module_find_function(struct zepi_module *module, zepi_device_t device,
                                        const char *name, void **out_address);

#endif
