// SPDX-License-Identifier: MIT
#include "command/command_list.h"
#include "device/device.h"
#include "engine.h"
#include "entry.h"
#include "event/fence.h"

struct cpu_queue {
    struct cpu_object object;
    struct cpu_place place;
    uint32_t index;
    bool is_synchronous;
    struct cpu_stream *stream; // owned
};

ze_result_t ZE_APICALL cpu_zeCommandQueueCreate(ze_context_handle_t hContext,
                                                ze_device_handle_t hDevice,
                                                const ze_command_queue_desc_t *desc,
                                                ze_command_queue_handle_t *phCommandQueue)
{
    struct cpu_stream *stream;
    const ze_result_t result = cpu_stream_create(hDevice, desc, &stream);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct cpu_queue *queue = cpu_object_create(CPU_QUEUE, sizeof(*queue));
    if (queue == NULL) {
        cpu_stream_destroy(stream);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    queue->stream = stream;
    queue->place = (struct cpu_place){hContext, hDevice, desc->ordinal};
    queue->index = desc->index;
    queue->is_synchronous = desc->mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
    *phCommandQueue = (ze_command_queue_handle_t)queue;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeCommandQueueDestroy(ze_command_queue_handle_t hCommandQueue)
{
    struct cpu_queue *queue = (struct cpu_queue *)hCommandQueue;
    cpu_stream_destroy(queue->stream);
    cpu_object_destroy(queue);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeCommandQueueExecuteCommandLists(
    ze_command_queue_handle_t hCommandQueue, uint32_t numCommandLists,
    ze_command_list_handle_t *phCommandLists, ze_fence_handle_t hFence)
{
    struct cpu_queue *queue = (struct cpu_queue *)hCommandQueue;
    if (numCommandLists == 0)
        return ZE_RESULT_ERROR_INVALID_SIZE;
    struct cpu_chain chain;
    ze_result_t result = cpu_list_make_executions(
        &queue->place, (struct cpu_list *const *)phCommandLists, numCommandLists, __func__, &chain);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    chain.tail->u.end.fence = (struct cpu_fence *)hFence;
    cpu_stream_submit(queue->stream, chain);
    return queue->is_synchronous ? cpu_stream_synchronize(queue->stream, UINT64_MAX)
                                 : ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeCommandQueueSynchronize(ze_command_queue_handle_t hCommandQueue,
                                                     uint64_t timeout)
{
    struct cpu_queue *queue = (struct cpu_queue *)hCommandQueue;
    return queue->stream != NULL ? cpu_stream_synchronize(queue->stream, timeout)
                                 : ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeCommandQueueGetOrdinal(ze_command_queue_handle_t hCommandQueue,
                                                    uint32_t *pOrdinal)
{
    *pOrdinal = ((struct cpu_queue *)hCommandQueue)->place.ordinal;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeCommandQueueGetIndex(ze_command_queue_handle_t hCommandQueue,
                                                  uint32_t *pIndex)
{
    *pIndex = ((struct cpu_queue *)hCommandQueue)->index;
    return ZE_RESULT_SUCCESS;
}
