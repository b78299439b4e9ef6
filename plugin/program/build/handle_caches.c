// SPDX-License-Identifier: MIT
#include "program/build/handle_caches.h"

#include "core/options.h"

static zepi_result_t handle_caches_init(struct zepi_context *context)
{
    const struct zepi_options *options = zepi_options();
    const struct zepi_build_limits limits = {
        .bytes = options->cache_is_on ? options->memory_bytes : 0,
        .entries = options->cache_is_on ? options->memory_entries : 0};
    struct zepi_handle_caches *caches = zepi_handle_caches_of(context);
    caches->budget = zepi_build_budget_create(limits);
    if (caches->budget) {
        caches->modules = zepi_build_cache_create(caches->budget, NULL);
        caches->kernels = zepi_build_cache_create(caches->budget, NULL);
        caches->lookups = zepi_build_cache_create(caches->budget, NULL);
    }
    return caches->modules && caches->kernels && caches->lookups ? ZEPI_SUCCESS
                                                                 : zepi_fail_no_memory();
}

// The handles go at once, since no queue is left.
static void handle_caches_finish(struct zepi_context *context)
{
    struct zepi_handle_caches *caches = zepi_handle_caches_of(context);
    zepi_build_cache_destroy(caches->lookups);
    zepi_build_cache_destroy(caches->kernels);
    zepi_build_cache_destroy(caches->modules);
    zepi_build_budget_destroy(caches->budget);
}

ZEPI_DEFINE_COMPONENT(ZEPI_COMPONENT_HANDLE_CACHES, .size_bytes = sizeof(struct zepi_handle_caches),
                      .init = handle_caches_init, .finish = handle_caches_finish);

void zepi_handle_caches_trim(struct zepi_context *context, uint64_t bytes)
{
    zepi_build_budget_trim(zepi_handle_caches_of(context)->budget, bytes);
}
