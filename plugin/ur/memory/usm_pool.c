// SPDX-License-Identifier: MIT
#include "ur/memory/usm_pool.h"

#include "ur/info.h"

#include <string.h>

// The name that ZEPI_DEFINE_TYPE makes the type's from.
static void usm_pool_destroy(void *object)
{
    struct zepi_ur_usm_pool *pool = object;
    if (pool->pool)
        zepi_usm_pool_release(pool->pool);
    zepi_release(pool->context);
}

ZEPI_DEFINE_TYPE(ur_usm_pool, usm_pool_destroy);

// The limits of a host that sets none.
#define POOLED_MOST_BYTES ((size_t)1 << ZEPI_USM_MOST_SHIFT)

static const ur_usm_pool_limits_desc_t *find_pool_limits(const ur_usm_pool_desc_t *desc)
{
    const ur_base_desc_t *next = desc->pNext;
    while (next && next->stype != UR_STRUCTURE_TYPE_USM_POOL_LIMITS_DESC)
        next = next->pNext;
    return (const ur_usm_pool_limits_desc_t *)next;
}

static ur_result_t usm_pool_create_of_desc(struct zepi_context *context,
                                           const ur_usm_pool_desc_t *desc,
                                           ur_usm_pool_handle_t *out_pool)
{
    ur_result_t result = zepi_ur_check_pointer(desc, "pPoolDesc");
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_pointer(out_pool, "ppPool");
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_flags(desc->flags, UR_USM_POOL_FLAGS_MASK);
    if (result != UR_RESULT_SUCCESS)
        return result;
    struct zepi_ur_usm_pool *pool = zepi_object_create(&zepi_ur_usm_pool_type);
    if (!pool)
        return zepi_ur_fail(ZEPI_ERROR_OUT_OF_HOST_MEMORY);
    const ur_usm_pool_limits_desc_t *limits = find_pool_limits(desc);
    const struct zepi_usm_pool_desc own = {
        .most_bytes = limits ? limits->maxPoolableSize : POOLED_MOST_BYTES,
        .least_driver_bytes = limits ? limits->minDriverAllocSize : 0,
        .is_counted = true,
        .has_shared = true,
        .contents = desc->flags & UR_USM_POOL_FLAG_ZERO_INITIALIZE_BLOCK ? ZEPI_USM_ZEROS
                                                                         : ZEPI_USM_ANY_BYTES,
        .user = pool};
    pool->context = zepi_retain(context);
    const zepi_result_t created = zepi_usm_pool_create(context, &own, &pool->pool);
    if (created != ZEPI_SUCCESS) {
        zepi_release(pool);
        return zepi_ur_fail(created);
    }
    *out_pool = (ur_usm_pool_handle_t)pool;
    return UR_RESULT_SUCCESS;
}

ur_result_t zepi_urUSMPoolCreate(ur_context_handle_t hContext, ur_usm_pool_desc_t *pPoolDesc,
                                 ur_usm_pool_handle_t *ppPool)
{
    const ur_result_t result = zepi_ur_check_context(hContext);
    return result == UR_RESULT_SUCCESS
               ? usm_pool_create_of_desc(zepi_ur_context(hContext), pPoolDesc, ppPool)
               : result;
}

ur_result_t zepi_urUSMPoolRetain(ur_usm_pool_handle_t pPool)
{
    return zepi_ur_retain(zepi_ur_check_usm_pool(pPool), pPool);
}

ur_result_t zepi_urUSMPoolRelease(ur_usm_pool_handle_t pPool)
{
    return zepi_ur_release(zepi_ur_check_usm_pool(pPool), pPool);
}

// The counter of a query, or NULL.
static atomic_size_t *pool_counter_of(struct zepi_usm_pool *pool, ur_usm_pool_info_t question)
{
    switch ((int)question) {
    case UR_USM_POOL_INFO_RELEASE_THRESHOLD_EXP:
        return &pool->threshold_bytes;
    case UR_USM_POOL_INFO_MAXIMUM_SIZE_EXP:
        return &pool->maximum_bytes;
    case UR_USM_POOL_INFO_RESERVED_CURRENT_EXP:
        return &pool->reserved_bytes;
    case UR_USM_POOL_INFO_RESERVED_HIGH_EXP:
        return &pool->reserved_high_bytes;
    case UR_USM_POOL_INFO_USED_CURRENT_EXP:
        return &pool->used_bytes;
    case UR_USM_POOL_INFO_USED_HIGH_EXP:
        return &pool->used_high_bytes;
    default:
        return NULL;
    }
}

static ur_result_t pool_info(const struct zepi_ur_usm_pool *pool, ur_usm_pool_info_t question,
                             const struct zepi_ur_info *info)
{
    atomic_size_t *counter = pool_counter_of(pool->pool, question);
    if (counter)
        return zepi_ur_answer_size(info, atomic_load_explicit(counter, memory_order_relaxed));
    switch ((int)question) {
    case UR_USM_POOL_INFO_REFERENCE_COUNT:
        return zepi_ur_answer_references(info, pool);
    case UR_USM_POOL_INFO_CONTEXT:
        return zepi_ur_answer_handle(info, pool->context);
    default:
        return zepi_ur_refuse_question(question, UR_USM_POOL_INFO_USED_HIGH_EXP);
    }
}

ur_result_t zepi_urUSMPoolGetInfo(ur_usm_pool_handle_t hPool, ur_usm_pool_info_t propName,
                                  size_t propSize, void *pPropValue, size_t *pPropSizeRet)
{
    const struct zepi_ur_info info = {propSize, pPropValue, pPropSizeRet};
    ur_result_t result = zepi_ur_check_usm_pool(hPool);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_info_check(&info);
    return result == UR_RESULT_SUCCESS ? pool_info(zepi_ur_usm_pool(hPool), propName, &info)
                                       : result;
}

// Limits are set to any number, high marks to 0: they begin anew with the memory that is there.
static ur_result_t pool_set_info(struct zepi_usm_pool *pool, ur_usm_pool_info_t question,
                                 size_t value)
{
    switch ((int)question) {
    case UR_USM_POOL_INFO_RELEASE_THRESHOLD_EXP:
    case UR_USM_POOL_INFO_MAXIMUM_SIZE_EXP:
        break;
    case UR_USM_POOL_INFO_RESERVED_HIGH_EXP:
    case UR_USM_POOL_INFO_USED_HIGH_EXP:
        if (value != 0)
            return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE,
                                  "a high mark is set to 0 and nothing else, not to %zu", value);
        value = atomic_load_explicit(
            question == UR_USM_POOL_INFO_USED_HIGH_EXP ? &pool->used_bytes : &pool->reserved_bytes,
            memory_order_relaxed);
        break;
    default:
        if ((uint32_t)question > UR_USM_POOL_INFO_USED_HIGH_EXP)
            return zepi_ur_refuse_question(question, UR_USM_POOL_INFO_USED_HIGH_EXP);
        return zepi_ur_refuse(UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION,
                              "property 0x%x of a pool is not for setting", (unsigned)question);
    }
    atomic_store_explicit(pool_counter_of(pool, question), value, memory_order_relaxed);
    return UR_RESULT_SUCCESS;
}

ur_result_t zepi_urUSMPoolSetInfoExp(ur_usm_pool_handle_t hPool, ur_usm_pool_info_t propName,
                                     void *pPropValue, size_t propSize)
{
    ur_result_t result = zepi_ur_check_usm_pool(hPool);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_pointer(pPropValue, "pPropValue");
    if (result == UR_RESULT_SUCCESS && propSize != sizeof(size_t))
        result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_SIZE,
                                "a value of %zu bytes, expected a size_t", propSize);
    if (result != UR_RESULT_SUCCESS)
        return result;
    size_t value;
    memcpy(&value, pPropValue, sizeof(value));
    return pool_set_info(zepi_ur_usm_pool(hPool)->pool, propName, value);
}

ur_result_t zepi_urUSMPoolTrimToExp(ur_context_handle_t hContext, ur_device_handle_t hDevice,
                                    ur_usm_pool_handle_t hPool, size_t minBytesToKeep)
{
    ur_result_t result = zepi_ur_check_context_device(hContext, hDevice, NULL);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_usm_pool(hPool);
    const struct zepi_context *context = zepi_ur_context(hContext);
    if (result == UR_RESULT_SUCCESS && zepi_ur_usm_pool(hPool)->context != context)
        result = zepi_ur_refuse(zepi_ur_wrong_context(context, zepi_ur_usm_pool(hPool)->context,
                                                      UR_RESULT_ERROR_INVALID_VALUE),
                                "the pool is of another context");
    // Memory that commands are done with is not in use.
    if (result == UR_RESULT_SUCCESS)
        zepi_deferred_drain(zepi_ur_context(hContext), 0);
    if (result == UR_RESULT_SUCCESS)
        zepi_usm_pool_trim(zepi_ur_usm_pool(hPool)->pool, minBytesToKeep);
    return result;
}
