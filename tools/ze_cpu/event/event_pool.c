// SPDX-License-Identifier: MIT
#include "chain.h"
#include "device/device.h"
#include "entry.h"
#include "event.h"

ze_result_t ZE_APICALL cpu_zeEventPoolCreate(ze_context_handle_t hContext,
                                             const ze_event_pool_desc_t *desc, uint32_t numDevices,
                                             ze_device_handle_t *phDevices,
                                             ze_event_pool_handle_t *phEventPool)
{
    ze_result_t result = cpu_devices_check(numDevices, phDevices, __func__);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if ((desc->flags & ~0xfu) != 0)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (desc->count == 0)
        return ZE_RESULT_ERROR_INVALID_SIZE;
    const bool is_counter_based =
        cpu_chain_find(desc->pNext, CPU_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC) != NULL;
    if (is_counter_based && desc->flags & ZE_EVENT_POOL_FLAG_IPC)
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    struct cpu_event_pool *pool = cpu_object_create(CPU_EVENT_POOL, sizeof(*pool));
    if (pool == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    pool->context = hContext;
    pool->flags = desc->flags;
    pool->count = desc->count;
    pool->has_timestamps = (desc->flags & (ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP |
                                           CPU_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP)) != 0;
    pool->is_counter_based = is_counter_based;
    *phEventPool = (ze_event_pool_handle_t)pool;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeEventPoolDestroy(ze_event_pool_handle_t hEventPool)
{
    cpu_object_destroy(hEventPool);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeEventPoolGetContextHandle(ze_event_pool_handle_t hEventPool,
                                                       ze_context_handle_t *phContext)
{
    *phContext = ((struct cpu_event_pool *)hEventPool)->context;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeEventPoolGetFlags(ze_event_pool_handle_t hEventPool,
                                               ze_event_pool_flags_t *pFlags)
{
    *pFlags = ((struct cpu_event_pool *)hEventPool)->flags;
    return ZE_RESULT_SUCCESS;
}
