// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_VARIABLES_H
#define DRM_SHIM_VARIABLES_H

#include "kernels/module_inputs.h"
#include "kernels/native_code.h"
#include "memory/address_space.h"

#include <level_zero/ze_api.h>
#include <stdbool.h>

// The variables of a module, or of all modules of a dynamic link, in the GPU's memory and in
// ze_cpu's. A program's copies reach the GPU's memory, and kernels reach ze_cpu's: they are copied
// before and after each launch. Launches at the same time share ze_cpu's. Reference-counted;
// thread-safe once it is filled.
struct shim_variables;

// The variables of a module of the driver; NULL without memory. Constants are left out: both
// memories have them, and ze_cpu's may be pages that cannot be written.
struct shim_variables *shim_variables_create(ze_module_handle_t module,
                                             const struct shim_native_code *code,
                                             const struct shim_module_inputs *inputs);
// Those of several together; NULL without memory.
struct shim_variables *shim_variables_join(uint32_t count, struct shim_variables *const *parts);
struct shim_variables *shim_variables_retain(struct shim_variables *variables);
void shim_variables_release(struct shim_variables *variables); // NULL is fine

// Around a launch of a kernel of ze_cpu's module.
void shim_variables_enter(struct shim_variables *variables, ze_module_handle_t cpu_module,
                          struct shim_address_space *space);
void shim_variables_leave(struct shim_variables *variables, struct shim_address_space *space);

#endif
