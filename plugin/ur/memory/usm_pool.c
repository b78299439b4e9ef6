// SPDX-License-Identifier: MIT
#include "ur/memory/usm_pool.h"

#include "ur/info.h"

#include <string.h>

// A native pool is one of SYCL's runtime. Its limits have the most memory of the pool, 0 for no
// limit, and the memory that it keeps.
static struct zepi_usm_pool_desc read_pool_desc(const ur_usm_pool_desc_t *desc)
{
    const ur_usm_pool_limits_desc_t *limits =
        zepi_ur_find_in_chain(desc->pNext, UR_STRUCTURE_TYPE_USM_POOL_LIMITS_DESC);
    struct zepi_usm_pool_desc own = {.most_bytes = ZEPI_USM_POOLED_BYTES,
                                     .is_zeroed =
                                         desc->flags & UR_USM_POOL_FLAG_ZERO_INITIALIZE_BLOCK};
    if (limits && desc->flags & UR_USM_POOL_FLAG_USE_NATIVE_MEMORY_POOL_EXP) {
        own.maximum_bytes = limits->maxPoolableSize;
        own.threshold_bytes = limits->minDriverAllocSize;
    } else if (limits) {
        own.most_bytes = limits->maxPoolableSize;
        own.least_driver_bytes = limits->minDriverAllocSize;
    }
    return own;
}

static ur_result_t usm_pool_create_of_desc(struct zepi_context *context, struct zepi_device *device,
                                           const ur_usm_pool_desc_t *desc,
                                           ur_usm_pool_handle_t *out_pool)
{
    ur_result_t result;
    if ((result = zepi_ur_check_pointer(desc, "pPoolDesc")) ||
        (result = zepi_ur_check_pointer(out_pool, "ppPool")) ||
        (result = zepi_ur_check_flags(desc->flags, UR_USM_POOL_FLAGS_MASK)) ||
        (zepi_ur_find_in_chain(desc->pNext, UR_STRUCTURE_TYPE_USM_POOL_BUFFER_DESC) &&
         (result =
              zepi_ur_refuse(UR_RESULT_ERROR_UNSUPPORTED_FEATURE,
                             "a pool in memory of the host's: pools get theirs from the driver"))))
        return result;
    const struct zepi_usm_pool_desc own = read_pool_desc(desc);
    return zepi_ur_result(zepi_pool_make(context, device, &own, (struct zepi_pool **)out_pool));
}

ur_result_t zepi_urUSMPoolCreate(ur_context_handle_t hContext, ur_usm_pool_desc_t *pPoolDesc,
                                 ur_usm_pool_handle_t *ppPool)
{
    const ur_result_t result = zepi_ur_check_context(hContext);
    return result ? result
                  : usm_pool_create_of_desc(zepi_ur_context(hContext), NULL, pPoolDesc, ppPool);
}

ur_result_t zepi_urUSMPoolCreateExp(ur_context_handle_t hContext, ur_device_handle_t hDevice,
                                    ur_usm_pool_desc_t *pPoolDesc, ur_usm_pool_handle_t *pPool)
{
    const ur_result_t result = zepi_ur_check_context_device(hContext, hDevice);
    return result ? result
                  : usm_pool_create_of_desc(zepi_ur_context(hContext), zepi_ur_device(hDevice),
                                            pPoolDesc, pPool);
}

// Default pools stay as long as their context; the host's references do not matter.
ur_result_t zepi_urUSMPoolRetain(ur_usm_pool_handle_t pPool)
{
    const ur_result_t result = zepi_ur_check_usm_pool(pPool);
    return result == UR_RESULT_SUCCESS && zepi_ur_usm_pool(pPool)->is_default
               ? result
               : zepi_ur_retain(result, pPool);
}

ur_result_t zepi_urUSMPoolRelease(ur_usm_pool_handle_t pPool)
{
    const ur_result_t result = zepi_ur_check_usm_pool(pPool);
    return result == UR_RESULT_SUCCESS && zepi_ur_usm_pool(pPool)->is_default
               ? result
               : zepi_ur_release(result, pPool);
}

ur_result_t zepi_ur_check_usm_pool_of(ur_usm_pool_handle_t handle,
                                      const struct zepi_context *context)
{
    if (!handle)
        return UR_RESULT_SUCCESS;
    const ur_result_t result = zepi_ur_check_usm_pool(handle);
    return result ? result
                  : zepi_ur_check_same_context(context, zepi_ur_usm_pool(handle)->context,
                                               UR_RESULT_ERROR_INVALID_CONTEXT, "the pool");
}

ur_result_t zepi_ur_check_usm_size(const struct zepi_context *context,
                                   const struct zepi_device *device, size_t size)
{
    if (size == 0)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_USM_SIZE, "an allocation of 0 bytes");
    for (uint32_t i = 0; i < context->device_count; i++) {
        const uint64_t most = context->devices[i]->max_allocation_bytes;
        if ((!device || context->devices[i] == device) && most > 0 && size > most)
            return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_USM_SIZE,
                                  "an allocation of %zu bytes: device '%s' takes at most %llu",
                                  size, context->devices[i]->properties.name,
                                  (unsigned long long)most);
    }
    return UR_RESULT_SUCCESS;
}

// A pool of the context, which is the device's or of all devices.
static ur_result_t check_device_pool(ur_context_handle_t context, ur_device_handle_t device,
                                     ur_usm_pool_handle_t handle)
{
    const struct zepi_pool *pool = zepi_ur_usm_pool(handle);
    ur_result_t result = zepi_ur_check_context_device(context, device);
    result = result ? result : zepi_ur_check_usm_pool(handle);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_same_context(zepi_ur_context(context), pool->context,
                                            UR_RESULT_ERROR_INVALID_VALUE, "the pool");
    if (result == UR_RESULT_SUCCESS && pool->device && pool->device != zepi_ur_device(device))
        result =
            zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE, "the pool is of another device, '%s'",
                           pool->device->properties.name);
    return result;
}

ur_result_t zepi_urUSMPoolDestroyExp(ur_context_handle_t hContext, ur_device_handle_t hDevice,
                                     ur_usm_pool_handle_t hPool)
{
    ur_result_t result = check_device_pool(hContext, hDevice, hPool);
    if (result == UR_RESULT_SUCCESS && zepi_ur_usm_pool(hPool)->is_default)
        result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE,
                                "the default pool of a device goes with its context");
    return zepi_ur_release(result, hPool);
}

static ur_result_t get_device_pool(zepi_result_t (*get)(struct zepi_context *, struct zepi_device *,
                                                        struct zepi_pool **),
                                   ur_context_handle_t context, ur_device_handle_t device,
                                   ur_usm_pool_handle_t *out_pool)
{
    ur_result_t result;
    if ((result = zepi_ur_check_context_device(context, device)) ||
        (result = zepi_ur_check_pointer(out_pool, "pPool")))
        return result;
    return zepi_ur_result(
        get(zepi_ur_context(context), zepi_ur_device(device), (struct zepi_pool **)out_pool));
}

ur_result_t zepi_urUSMPoolGetDefaultDevicePoolExp(ur_context_handle_t hContext,
                                                  ur_device_handle_t hDevice,
                                                  ur_usm_pool_handle_t *pPool)
{
    return get_device_pool(zepi_pool_get_default, hContext, hDevice, pPool);
}

ur_result_t zepi_urUSMPoolGetDevicePoolExp(ur_context_handle_t hContext, ur_device_handle_t hDevice,
                                           ur_usm_pool_handle_t *pPool)
{
    return get_device_pool(zepi_pool_get_current, hContext, hDevice, pPool);
}

ur_result_t zepi_urUSMPoolSetDevicePoolExp(ur_context_handle_t hContext, ur_device_handle_t hDevice,
                                           ur_usm_pool_handle_t hPool)
{
    const ur_result_t result = check_device_pool(hContext, hDevice, hPool);
    if (result == UR_RESULT_SUCCESS)
        zepi_pool_set_current(zepi_ur_context(hContext), zepi_ur_device(hDevice),
                              zepi_ur_usm_pool(hPool));
    return result;
}

// The counter at an offset.
static atomic_size_t *pool_counter_at(struct zepi_pool *pool, uint64_t offset)
{
    return (atomic_size_t *)((char *)pool->usm + offset);
}

static zepi_result_t get_counter(void *object, uint64_t parameter, uint64_t *out_number)
{
    *out_number = atomic_load_explicit(pool_counter_at(object, parameter), memory_order_relaxed);
    return ZEPI_SUCCESS;
}

#define COUNTER(name, member)                                                                      \
    ZEPI_UR_ASKED(USM_POOL_INFO_##name, SIZE, get_counter, offsetof(struct zepi_usm_pool, member))
static const struct zepi_ur_query pool_queries[] = {
    {ZEPI_UR_REFERENCES(USM_POOL_INFO_REFERENCE_COUNT)},
    {ZEPI_UR_MEMBER(USM_POOL_INFO_CONTEXT, BYTES, zepi_pool, context)},
    {COUNTER(RELEASE_THRESHOLD_EXP, threshold_bytes)},
    {COUNTER(MAXIMUM_SIZE_EXP, maximum_bytes)},
    {COUNTER(RESERVED_CURRENT_EXP, reserved_bytes)},
    {COUNTER(RESERVED_HIGH_EXP, reserved_high_bytes)},
    {COUNTER(USED_CURRENT_EXP, used_bytes)},
    {COUNTER(USED_HIGH_EXP, used_high_bytes)},
};

ZEPI_UR_DEFINE_GET_INFO(USMPool, , usm_pool, zepi_ur_check_usm_pool, pool_queries,
                        USM_POOL_INFO_USED_HIGH_EXP)

// The function takes no size: the host's room is for the property that it queries.
ur_result_t zepi_urUSMPoolGetInfoExp(ur_usm_pool_handle_t hPool, ur_usm_pool_info_t query,
                                     void *value, size_t *out_size)
{
    return zepi_urUSMPoolGetInfo(hPool, query, value ? sizeof(size_t) : 0, value, out_size);
}

// Limits are set to any number, high marks to 0: they begin anew with the memory that is there.
static ur_result_t pool_set_info(struct zepi_pool *pool, ur_usm_pool_info_t query, size_t value)
{
    const struct zepi_ur_query *row = zepi_ur_find_query(ZEPI_UR_ROWS(pool_queries), query);
    switch ((int)query) {
    case UR_USM_POOL_INFO_RELEASE_THRESHOLD_EXP:
    case UR_USM_POOL_INFO_MAXIMUM_SIZE_EXP:
        break;
    case UR_USM_POOL_INFO_RESERVED_HIGH_EXP:
    case UR_USM_POOL_INFO_USED_HIGH_EXP:
        if (value != 0)
            return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE,
                                  "a high mark is set to 0 and nothing else, not to %zu", value);
        value = atomic_load_explicit(query == UR_USM_POOL_INFO_USED_HIGH_EXP
                                         ? &pool->usm->used_bytes
                                         : &pool->usm->reserved_bytes,
                                     memory_order_relaxed);
        break;
    default:
        return zepi_ur_refuse_query(query, UR_USM_POOL_INFO_USED_HIGH_EXP);
    }
    atomic_store_explicit(pool_counter_at(pool, row->bits), value, memory_order_relaxed);
    return UR_RESULT_SUCCESS;
}

ur_result_t zepi_urUSMPoolSetInfoExp(ur_usm_pool_handle_t hPool, ur_usm_pool_info_t query,
                                     void *value, size_t value_size)
{
    ur_result_t result;
    if ((result = zepi_ur_check_usm_pool(hPool)) ||
        (result = zepi_ur_check_pointer(value, "pPropValue")) ||
        (value_size != sizeof(size_t) &&
         (result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_SIZE,
                                  "a value of %zu bytes, expected a size_t", value_size))))
        return result;
    size_t number;
    memcpy(&number, value, sizeof(number));
    return pool_set_info(zepi_ur_usm_pool(hPool), query, number);
}

ur_result_t zepi_urUSMPoolTrimToExp(ur_context_handle_t hContext, ur_device_handle_t hDevice,
                                    ur_usm_pool_handle_t hPool, size_t minBytesToKeep)
{
    const ur_result_t result = check_device_pool(hContext, hDevice, hPool);
    if (result == UR_RESULT_SUCCESS)
        zepi_pool_trim(zepi_ur_usm_pool(hPool), minBytesToKeep);
    return result;
}
