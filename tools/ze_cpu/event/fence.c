// SPDX-License-Identifier: MIT
#include "fence.h"

#include "device/device.h"
#include "entry.h"

void cpu_fence_complete(struct cpu_fence *fence)
{
    uint64_t now = cpu_device_clock();
    cpu_event_complete(&fence->event, now, now);
}

ze_result_t ZE_APICALL cpu_zeFenceCreate(ze_command_queue_handle_t hCommandQueue,
                                         const ze_fence_desc_t *desc, ze_fence_handle_t *phFence)
{
    if ((desc->flags & ~(uint32_t)ZE_FENCE_FLAG_SIGNALED) != 0)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    struct cpu_fence *fence = cpu_object_create(CPU_FENCE, sizeof(*fence));
    if (fence == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (desc->flags & ZE_FENCE_FLAG_SIGNALED)
        cpu_fence_complete(fence);
    *phFence = (ze_fence_handle_t)fence;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeFenceDestroy(ze_fence_handle_t hFence)
{
    cpu_object_destroy(hFence);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeFenceHostSynchronize(ze_fence_handle_t hFence, uint64_t timeout)
{
    struct cpu_fence *fence = (struct cpu_fence *)hFence;
    return cpu_event_wait(&fence->event, 1, timeout) ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

ze_result_t ZE_APICALL cpu_zeFenceQueryStatus(ze_fence_handle_t hFence)
{
    struct cpu_fence *fence = (struct cpu_fence *)hFence;
    return cpu_event_has_reached(&fence->event, 1) ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

ze_result_t ZE_APICALL cpu_zeFenceReset(ze_fence_handle_t hFence)
{
    cpu_event_reset(&((struct cpu_fence *)hFence)->event);
    return ZE_RESULT_SUCCESS;
}
