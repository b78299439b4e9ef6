// SPDX-License-Identifier: MIT
#ifndef ZEPI_LAUNCH_KERNEL_LOOKUP_H
#define ZEPI_LAUNCH_KERNEL_LOOKUP_H

#include "launch/device_kernel.h"

struct zepi_module;
struct zepi_queue;

// The third cache of a context: what launches by name found. Its key is where they look (a unit in
// its present version, or a module), the name and the values; its payload is the kernel.

// A kernel with what it needs, as a result of that cache, or of none.
struct zepi_found_kernel {
    struct zepi_target target;
    // Kernels of a unit are held, which keeps code alive, but no module. Those of a module are the
    // module's: only a launch that names it finds them, and private code has to go with it.
    bool holds_kernel;
};

static inline const struct zepi_target *zepi_found_target(const struct zepi_build_result *found)
{
    return &((const struct zepi_found_kernel *)zepi_build_result_payload(found))->target;
}

// A new reference to what the same launch found before; NULL: it did not. `module`: that of the
// launch or of its kernel, checked; NULL: the launch names a unit. `version`: of the units.
struct zepi_build_result *zepi_kernel_lookup_find(const struct zepi_queue *queue,
                                                  const zepi_launch_desc_t *desc,
                                                  const struct zepi_module *module,
                                                  uint64_t version);

// Keeps a kernel for the next such launch, or (a selector chose it) for this one alone. References
// to all but the kernels of modules are made. *out_found is a reference.
zepi_result_t zepi_kernel_lookup_keep(const struct zepi_queue *queue,
                                      const zepi_launch_desc_t *desc,
                                      const struct zepi_module *module, uint64_t version,
                                      const struct zepi_found_kernel *kernel,
                                      struct zepi_build_result **out_found);

#endif
