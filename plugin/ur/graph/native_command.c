// SPDX-License-Identifier: MIT
// Work that the host does through Level Zero itself, in the order of a queue or a command buffer.
#include "graph/capture/captured_command.h"
#include "queue/command/barrier.h"
#include "ur/command.h"
#include "ur/graph/command_buffer.h"

static ur_result_t check_mems(uint32_t count, const ur_mem_handle_t *mems)
{
    ur_result_t result = count > 0 ? zepi_ur_check_pointer(mems, "phMemList") : UR_RESULT_SUCCESS;
    for (uint32_t i = 0; i < count && result == UR_RESULT_SUCCESS; i++)
        result = zepi_ur_check_mem(mems[i]);
    return result;
}

// Brings buffers to the queue's device. Images are where they are.
static zepi_result_t use_mems(struct zepi_buffer_uses *uses, uint32_t count,
                              const ur_mem_handle_t *mems)
{
    void *address;
    zepi_result_t result = ZEPI_SUCCESS;
    for (uint32_t i = 0; i < count && result == ZEPI_SUCCESS; i++) {
        const struct zepi_ur_mem *mem = zepi_ur_mem(mems[i]);
        const struct zepi_buffer_part all = zepi_ur_buffer_part(mem, 0, mem->size_bytes);
        if (mem->buffer)
            result =
                zepi_buffer_use(uses, &all, ZEPI_BUFFER_WRITE, ZEPI_BUFFER_ON_DEVICE, &address);
    }
    return result;
}

struct native {
    ur_exp_enqueue_native_command_function_t function;
    ur_queue_handle_t queue;
    void *data;
};

static void call_native(void *data)
{
    const struct native *native = data;
    native->function(native->queue, native->data);
}

// Calls the function. Its commands are in the queue's list, after the wait list and earlier
// commands; of a queue in capture mode they are recorded to a list of the graph's.
static zepi_result_t enqueue_native(struct zepi_ur_command *command, struct native *native,
                                    uint32_t mem_count, const ur_mem_handle_t *mems)
{
    struct zepi_buffer_uses uses;
    struct zepi_queue *queue = command->queue;
    zepi_event_t *event = zepi_ur_command_event(command);
    const bool is_captured = zepi_capture_takes(queue, command->wait);
    const bool keeps_order = queue->has_in_order_list || !(queue->flags & ZEPI_QUEUE_IN_ORDER);
    zepi_buffer_uses_init(&uses, queue, command->wait);
    zepi_result_t result = use_mems(&uses, mem_count, mems);
    if (result == ZEPI_SUCCESS && is_captured)
        result = zepi_captured_command_add_native(queue, call_native, native, uses.wait, event);
    else if (result == ZEPI_SUCCESS && (uses.wait.count > 0 || !keeps_order))
        result = zepi_queue_barrier(queue, uses.wait, NULL);
    zepi_buffer_uses_finish(&uses);
    if (result != ZEPI_SUCCESS || is_captured)
        return result;
    call_native(native);
    // No other code counts the function's commands: without the marker the queue would seem empty.
    return zepi_queue_marker(queue, (zepi_wait_list_t){NULL, 0}, event);
}

ur_result_t zepi_urEnqueueNativeCommandExp(
    ur_queue_handle_t hQueue, ur_exp_enqueue_native_command_function_t pfnNativeEnqueue, void *data,
    uint32_t numMemsInMemList, const ur_mem_handle_t *phMemList,
    const ur_exp_enqueue_native_command_properties_t *pProperties, ZEPI_UR_ENQUEUE_PARAMETERS)
{
    struct zepi_ur_command command = ZEPI_UR_COMMAND(hQueue, false);
    ur_result_t result;
    if ((result = zepi_ur_command_begin(&command)) ||
        (!pfnNativeEnqueue && (result = zepi_ur_refuse_null("pfnNativeEnqueue"))) ||
        (pProperties && (result = zepi_ur_check_flags(pProperties->flags,
                                                      UR_EXP_ENQUEUE_NATIVE_COMMAND_FLAGS_MASK))) ||
        (result = check_mems(numMemsInMemList, phMemList)))
        return result;
    struct native native = {pfnNativeEnqueue, hQueue, data};
    return zepi_ur_command_end(&command,
                               enqueue_native(&command, &native, numMemsInMemList, phMemList),
                               UR_COMMAND_ENQUEUE_NATIVE_EXP);
}

// ---- Command buffers ----

// The function is called once, now, and records to a command list of Level Zero, which executions
// run. A child command buffer is for backends without such lists.
ur_result_t zepi_urCommandBufferAppendNativeCommandExp(
    ur_exp_command_buffer_handle_t hCommandBuffer,
    ur_exp_command_buffer_native_command_function_t pfnNativeCommand, void *pData,
    ur_exp_command_buffer_handle_t hChildCommandBuffer, uint32_t numSyncPointsInWaitList,
    const ur_exp_command_buffer_sync_point_t *pSyncPointWaitList,
    ur_exp_command_buffer_sync_point_t *pSyncPoint)
{
    struct zepi_ur_append append = {.graph = zepi_ur_command_buffer(hCommandBuffer),
                                    .wait_count = numSyncPointsInWaitList,
                                    .waits = pSyncPointWaitList,
                                    .out_sync_point = pSyncPoint};
    ur_result_t result;
    if ((result = zepi_ur_append_begin(&append)) ||
        (hChildCommandBuffer && (result = zepi_ur_check_command_buffer(hChildCommandBuffer))) ||
        (!pfnNativeCommand && (result = zepi_ur_refuse_null("pfnNativeCommand"))) ||
        (result = zepi_ur_append_check_graph(&append)))
        return result;
    struct zepi_graph_command *command = zepi_ur_append_make(&append, ZEPI_COMMAND_NATIVE);
    const zepi_result_t recorded =
        command ? zepi_graph_record_native(command, pfnNativeCommand, pData) : ZEPI_SUCCESS;
    if (recorded != ZEPI_SUCCESS) {
        zepi_release(command);
        return recorded == ZEPI_ERROR_WRONG_STATE ? UR_RESULT_ERROR_INVALID_OPERATION
                                                  : zepi_ur_fail(recorded);
    }
    return zepi_ur_append_end(&append, command);
}

ur_result_t zepi_urCommandBufferGetNativeHandleExp(ur_exp_command_buffer_handle_t hCommandBuffer,
                                                   ur_native_handle_t *phNativeCommandBuffer)
{
    ur_result_t result;
    if ((result = zepi_ur_check_command_buffer(hCommandBuffer)) ||
        (result = zepi_ur_check_pointer(phNativeCommandBuffer, "phNativeCommandBuffer")))
        return result;
    const ze_command_list_handle_t list =
        zepi_graph_open_list(zepi_ur_command_buffer(hCommandBuffer));
    if (!list)
        return zepi_ur_refuse(UR_RESULT_ERROR_UNSUPPORTED_FEATURE,
                              "a command buffer is several command lists, which zepi records anew; "
                              "only a native command has one of its own, while it is appended");
    *phNativeCommandBuffer = (ur_native_handle_t)list;
    return UR_RESULT_SUCCESS;
}
