// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_BUILD_HANDLE_CACHES_H
#define ZEPI_PROGRAM_BUILD_HANDLE_CACHES_H

#include "cache/build_cache.h"
#include "device/context.h"

// A context's caches of handles, under one budget: modules (payload: struct zepi_device_module) and
// kernels (payload: struct zepi_device_kernel, which holds its module's result).
struct zepi_handle_caches {
    struct zepi_build_budget *budget;
    struct zepi_build_cache *modules;
    struct zepi_build_cache *kernels;
};

extern const struct zepi_context_part zepi_handle_caches_part;

static inline struct zepi_handle_caches *zepi_handle_caches_of(const struct zepi_context *context)
{
    return context->parts[ZEPI_PART_HANDLE_CACHES];
}

// Gives up results in no use until at most `bytes` are kept.
void zepi_handle_caches_trim(struct zepi_context *context, uint64_t bytes);

// Goes up with every change that the kernel of a launch by name might depend on: a unit that comes
// or goes, a value that is set on a unit's module, a cache that is trimmed.
extern atomic_uint_fast64_t zepi_request_generation_count; // zepi_request_generation reads it
static inline uint64_t zepi_request_generation(void)
{
    // Acquire: a thread that sees a number sees the changes that made it.
    return atomic_load_explicit(&zepi_request_generation_count, memory_order_acquire);
}
void zepi_request_note_change(void);

#endif
