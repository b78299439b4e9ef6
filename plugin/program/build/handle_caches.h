// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_BUILD_HANDLE_CACHES_H
#define ZEPI_PROGRAM_BUILD_HANDLE_CACHES_H

#include "cache/build_cache.h"
#include "device/context.h"

// A context's caches of handles, under one budget: modules (payload: struct zepi_device_module),
// kernels (payload: struct zepi_device_kernel, which holds its module's result), and what launches
// by name found (payload: struct zepi_found_kernel, which may hold a kernel's).
struct zepi_handle_caches {
    struct zepi_build_budget *budget;
    struct zepi_build_cache *modules;
    struct zepi_build_cache *kernels;
    struct zepi_build_cache *lookups;
};

static inline struct zepi_handle_caches *zepi_handle_caches_of(const struct zepi_context *context)
{
    return context->components[ZEPI_COMPONENT_HANDLE_CACHES];
}

// Gives up results in no use until at most `bytes` are kept. The linker of an archive finds the
// component by this function (plugin/CMakeLists.txt).
void zepi_handle_caches_trim(struct zepi_context *context, uint64_t bytes);

#endif
