// SPDX-License-Identifier: MIT
#include "memory/pool.h"
#include "api/api.h"
#include "core/list.h"
#include "device/context.h"

zepi_result_t zepi_api_pool_create(zepi_context_t context, const zepi_pool_desc_t *desc,
                                   zepi_pool_t *out_pool)
{
    zepi_pool_desc_t own = {0};
    zepi_result_t result = zepi_check_object(context, &zepi_context_type);
    if (result != ZEPI_SUCCESS)
        return result;
    if (!out_pool)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the output for the pool is NULL");
    if (desc)
        result = zepi_read_desc(&own, sizeof(own), sizeof(own.size), desc, "pool description");
    if (result != ZEPI_SUCCESS)
        return result;
    return zepi_pool_make(context, NULL,
                          &(struct zepi_usm_pool_desc){
                              .most_bytes = ZEPI_USM_POOLED_BYTES,
                              .maximum_bytes = own.maximum_bytes,
                              .threshold_bytes = own.kept_bytes,
                              .contents = own.is_zeroed ? ZEPI_USM_ZEROS : ZEPI_USM_ANY_BYTES},
                          out_pool);
}

#define GET(counter) atomic_load_explicit(&pool->usm->counter, memory_order_relaxed)

zepi_result_t zepi_api_pool_get_info(zepi_pool_t pool, zepi_pool_info_t *out_info)
{
    const zepi_result_t result = zepi_check_object(pool, &zepi_pool_type);
    if (result != ZEPI_SUCCESS)
        return result;
    const zepi_pool_info_t info = {.context = pool->context,
                                   .maximum_bytes = GET(maximum_bytes),
                                   .kept_bytes = GET(threshold_bytes),
                                   .used_bytes = GET(used_bytes),
                                   .used_high_bytes = GET(used_high_bytes),
                                   .reserved_bytes = GET(reserved_bytes),
                                   .reserved_high_bytes = GET(reserved_high_bytes)};
    return zepi_copy_info(out_info, &info, sizeof(info));
}

zepi_result_t zepi_api_pool_set_limits(zepi_pool_t pool, size_t maximum_bytes, size_t kept_bytes)
{
    const zepi_result_t result = zepi_check_object(pool, &zepi_pool_type);
    if (result != ZEPI_SUCCESS)
        return result;
    atomic_store_explicit(&pool->usm->maximum_bytes, maximum_bytes > 0 ? maximum_bytes : SIZE_MAX,
                          memory_order_relaxed);
    atomic_store_explicit(&pool->usm->threshold_bytes, kept_bytes, memory_order_relaxed);
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_api_pool_trim(zepi_pool_t pool, size_t keep_bytes)
{
    const zepi_result_t result = zepi_check_object(pool, &zepi_pool_type);
    if (result == ZEPI_SUCCESS)
        zepi_pool_trim(pool, keep_bytes);
    return result;
}
