// SPDX-License-Identifier: MIT
#include "api/api.h"
#include "core/interface.h"
#include "core/options.h"
#include "device/context.h"
#include "program/build/binary_cache.h"
#include "program/build/handle_caches.h"

#include <assert.h>

zepi_result_t zepi_api_cache_get_limits(zepi_context_t context, zepi_cache_limits_t *out_limits)
{
    const zepi_result_t result = zepi_check_object(context, &zepi_context_type);
    if (result != ZEPI_SUCCESS)
        return result;
    if (!zepi_binary_cache())
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    const struct zepi_build_limits handles =
        zepi_build_budget_limits(zepi_handle_caches_of(context)->budget);
    const struct zepi_build_limits device_module = zepi_build_budget_limits(zepi_binary_budget());
    const zepi_cache_limits_t limits = {
        .memory_bytes = handles.bytes,
        .memory_entries = handles.entries,
        .binary_bytes = device_module.bytes,
        .disk_bytes = zepi_binary_disk() ? zepi_disk_limit_bytes(zepi_binary_disk()) : 0};
    return zepi_copy_info(out_limits, &limits, sizeof(limits));
}

zepi_result_t zepi_api_cache_set_limits(zepi_context_t context, const zepi_cache_limits_t *outside)
{
    zepi_cache_limits_t limits;
    zepi_result_t result;
    if ((result = zepi_check_object(context, &zepi_context_type)) ||
        (result = zepi_read_desc(&limits, sizeof(limits), sizeof(limits), outside, "cache limits")))
        return result;
    if (!zepi_binary_cache())
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    const struct zepi_build_limits handles = {limits.memory_bytes, limits.memory_entries};
    zepi_build_budget_set_limits(zepi_handle_caches_of(context)->budget, handles);
    zepi_build_budget_set_limits(
        zepi_binary_budget(),
        (struct zepi_build_limits){limits.binary_bytes, ZEPI_BUILD_UNLIMITED});
    if (zepi_binary_disk())
        zepi_disk_set_limit_bytes(zepi_binary_disk(), limits.disk_bytes);
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_api_cache_get_counters(zepi_context_t context, zepi_cache_level_t level,
                                          zepi_cache_counters_t *out_counters)
{
    struct zepi_build_cache *cache;
    struct zepi_build_counters from;
    if (level == ZEPI_CACHE_BINARIES) {
        cache = zepi_binary_cache();
        if (!cache)
            return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    } else {
        const zepi_result_t result = zepi_check_object(context, &zepi_context_type);
        if (result != ZEPI_SUCCESS)
            return result;
        if (level != ZEPI_CACHE_MODULES && level != ZEPI_CACHE_KERNELS)
            return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                             "cache level %d is none of modules (0), kernels (1), code (2)",
                             (int)level);
        cache = level == ZEPI_CACHE_MODULES ? zepi_handle_caches_of(context)->modules
                                            : zepi_handle_caches_of(context)->kernels;
    }
    zepi_build_cache_get_counters(cache, &from);
    const zepi_cache_counters_t counters = {.hits = from.hits,
                                            .misses = from.misses,
                                            .waits = from.waits,
                                            .builds = from.builds,
                                            .failures = from.failures,
                                            .evictions = from.evictions,
                                            .store_hits = from.store_hits,
                                            .store_misses = from.store_misses,
                                            .build_ns = from.build_ns,
                                            .bytes = from.bytes,
                                            .entries = from.entries};
    return zepi_copy_info(out_counters, &counters, sizeof(counters));
}

zepi_result_t zepi_api_cache_get_location(zepi_cache_location_t *out_location)
{
    const struct zepi_options *options = zepi_options();
    if (!zepi_binary_cache())
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    struct zepi_disk *disk = zepi_binary_disk();
    zepi_cache_location_t location = {
        .is_on = options->cache_is_on,
        .is_disk_on = disk != NULL,
        .folder = options->cache_folder,
        .folder_state = disk ? zepi_cache_folder_describe(zepi_disk_state(disk)) : "switched off",
        .shared = options->shared};
    static_assert(sizeof(location.shared_state) == ZEPI_SHARED_TEXT_BYTES, "room for its words");
    // Only for a caller that has room for it, since a server is asked.
    if (out_location && out_location->size > offsetof(zepi_cache_location_t, shared_state))
        zepi_binary_describe_shared(location.shared_state);
    return zepi_copy_info(out_location, &location, sizeof(location));
}

zepi_result_t zepi_api_cache_trim(zepi_context_t context, uint64_t bytes)
{
    if (!context) {
        if (!zepi_binary_cache())
            return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
        zepi_build_budget_trim(zepi_binary_budget(), bytes);
        return ZEPI_SUCCESS;
    }
    const zepi_result_t result = zepi_check_object(context, &zepi_context_type);
    if (result != ZEPI_SUCCESS)
        return result;
    zepi_handle_caches_trim(context, bytes);
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_api_cache_clear(zepi_context_t context)
{
    if (!context) {
        struct zepi_build_cache *cache = zepi_binary_cache();
        if (!cache)
            return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
        zepi_build_cache_clear(cache);
        return ZEPI_SUCCESS;
    }
    const zepi_result_t result = zepi_check_object(context, &zepi_context_type);
    if (result != ZEPI_SUCCESS)
        return result;
    struct zepi_handle_caches *caches = zepi_handle_caches_of(context);
    zepi_build_cache_clear(caches->lookups);
    zepi_build_cache_clear(caches->kernels);
    zepi_build_cache_clear(caches->modules);
    return ZEPI_SUCCESS;
}
