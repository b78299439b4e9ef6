// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_KNOWN_MODULES_H
#define DRM_SHIM_KNOWN_MODULES_H

#include "engine/kernels.h"
#include "kernels/cpu_driver.h"
#include "kernels/module_inputs.h"
#include "kernels/native_code.h"
#include "kernels/variables.h"

#include <pthread.h>
#include <stdatomic.h>

// The modules of the process: those that the program made (driver_hooks.h), whose kernels the
// driver tells the addresses of, and of the driver's own kernels those that were launched, which
// are recognised by their machine code. Each is built for the CPU when the program creates one of
// its kernels, or links it; the driver's own when a queue meets one of their kernels.

struct shim_known_kernel {
    struct shim_known_module *module;          // that it is part of
    const struct shim_native_kernel *native;   // borrowed from the module's code
    const struct zepi_spirv_kernel *arguments; // borrowed from its inputs; NULL: none
    uint64_t gpu_address;                      // of the machine code; 0: not known. The list's lock
    pthread_mutex_t mutex;                     // guards `cpu`, whose state a launch sets
    ze_kernel_handle_t cpu;                    // NULL: not made
};

struct shim_known_module {
    atomic_uint reference_count;
    ze_module_handle_t handle; // the driver's; NULL: one of the driver's own
    struct shim_native_code code;
    struct shim_module_inputs inputs; // none: native code of unknown origin
    bool lacks_constants; // of that origin all is known but the values of specialization constants
    struct shim_known_kernel *kernels; // owned; as many as `code` has
    pthread_mutex_t mutex; // guards the members below; a build happens under it: others wait for it
    bool was_tried;
    ze_module_handle_t cpu;             // NULL: not built, or it cannot be
    struct shim_variables *variables;   // retained; a link replaces them
    struct shim_known_module *next;     // in the list, which has a lock of its own
    struct shim_known_module *next_own; // among the driver's own; never changes
};

// The kernel that the walker starts. The caller releases its module. NULL: no module has it.
struct shim_known_kernel *shim_known_kernel_find(struct shim_address_space *space,
                                                 const struct shim_walker *walker);
void shim_known_module_release(struct shim_known_module *module);

// Builds module and kernel for the CPU once. False: it cannot be; logged.
bool shim_known_kernel_build(struct shim_known_kernel *kernel);

// The module's variables, with a reference for the caller.
struct shim_variables *shim_known_module_variables(struct shim_known_module *module);

#endif
