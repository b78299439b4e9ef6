// SPDX-License-Identifier: MIT
// Work that the host does through Level Zero itself, in the order of a queue or a command buffer.
#include "queue/native_list.h"
#include "ur/command.h"
#include "ur/graph/command_buffer.h"

static ur_result_t check_mems(uint32_t count, const ur_mem_handle_t *mems)
{
    ur_result_t result = count > 0 ? zepi_ur_check_pointer(mems, "phMemList") : UR_RESULT_SUCCESS;
    for (uint32_t i = 0; i < count && result == UR_RESULT_SUCCESS; i++)
        result = zepi_ur_check_mem(mems[i]);
    return result;
}

// What the function appends to the queue's list comes after the wait list and what was enqueued
// before.
static zepi_result_t hold_back(const struct zepi_ur_command *command, uint32_t mem_count,
                               const ur_mem_handle_t *mems)
{
    struct zepi_buffer_uses uses;
    struct zepi_queue *queue = command->queue;
    const bool keeps_order = queue->has_in_order_list || !(queue->flags & ZEPI_QUEUE_IN_ORDER);
    zepi_result_t result = ZEPI_SUCCESS;
    zepi_buffer_uses_init(&uses, queue, command->wait);
    for (uint32_t i = 0; i < mem_count && result == ZEPI_SUCCESS; i++)
        result = zepi_ur_use_mem(&uses, zepi_ur_mem(mems[i]), ZEPI_BUFFER_WRITE);
    if (result == ZEPI_SUCCESS && (uses.wait.count > 0 || !keeps_order))
        result = zepi_queue_barrier(queue, uses.wait, NULL);
    zepi_buffer_uses_finish(&uses);
    return result;
}

ur_result_t zepi_urEnqueueNativeCommandExp(
    ur_queue_handle_t hQueue, ur_exp_enqueue_native_command_function_t pfnNativeEnqueue, void *data,
    uint32_t numMemsInMemList, const ur_mem_handle_t *phMemList,
    const ur_exp_enqueue_native_command_properties_t *pProperties, uint32_t numEventsInWaitList,
    const ur_event_handle_t *phEventWaitList, ur_event_handle_t *phEvent)
{
    struct zepi_ur_command command;
    ur_result_t result = zepi_ur_command_begin(&command, hQueue, false, numEventsInWaitList,
                                               phEventWaitList, phEvent);
    if (result == UR_RESULT_SUCCESS && !pfnNativeEnqueue)
        result = zepi_ur_refuse_null("pfnNativeEnqueue");
    if (result == UR_RESULT_SUCCESS && pProperties)
        result = zepi_ur_check_flags(pProperties->flags, UR_EXP_ENQUEUE_NATIVE_COMMAND_FLAGS_MASK);
    if (result == UR_RESULT_SUCCESS)
        result = check_mems(numMemsInMemList, phMemList);
    if (result != UR_RESULT_SUCCESS)
        return result;
    const zepi_result_t held = hold_back(&command, numMemsInMemList, phMemList);
    if (held != ZEPI_SUCCESS)
        return zepi_ur_fail_command(&command, held);
    pfnNativeEnqueue(hQueue, data);
    // No other code counts what the function appended: without this the queue would seem empty.
    return zepi_ur_command_end(&command,
                               zepi_queue_marker(command.queue, (zepi_wait_list_t){NULL, 0},
                                                 zepi_ur_command_event(&command)),
                               UR_COMMAND_ENQUEUE_NATIVE_EXP);
}

// ---- Command buffers ----

// The list that urCommandBufferGetNativeHandleExp answers from now on; NULL: none. False: another
// function is recording.
static bool set_native(struct zepi_ur_command_buffer *buffer, struct zepi_native_list *native)
{
    zepi_mutex_lock(&buffer->mutex);
    const bool is_free = !native || !buffer->native;
    if (is_free)
        buffer->native = native;
    zepi_mutex_unlock(&buffer->mutex);
    return is_free;
}

// Has the function record its commands to the list of `recorded`.
static ur_result_t record(struct zepi_ur_recorded *recorded,
                          ur_exp_command_buffer_native_command_function_t function, void *data)
{
    struct zepi_ur_command_buffer *buffer = recorded->buffer;
    const ur_result_t result =
        zepi_ur_result(zepi_native_list_create(buffer->context, buffer->device, &recorded->native));
    if (result != UR_RESULT_SUCCESS)
        return result;
    if (!set_native(buffer, recorded->native))
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_OPERATION,
                              "another native command is being appended to the command buffer");
    function(data);
    set_native(buffer, NULL);
    return zepi_ur_result(zepi_native_list_close(recorded->native));
}

// The function is called once, now, and records to a command list of Level Zero, which replays run.
// A child command buffer is for backends without such lists.
ur_result_t zepi_urCommandBufferAppendNativeCommandExp(
    ur_exp_command_buffer_handle_t hCommandBuffer,
    ur_exp_command_buffer_native_command_function_t pfnNativeCommand, void *pData,
    ur_exp_command_buffer_handle_t hChildCommandBuffer, uint32_t numSyncPointsInWaitList,
    const ur_exp_command_buffer_sync_point_t *pSyncPointWaitList,
    ur_exp_command_buffer_sync_point_t *pSyncPoint)
{
    struct zepi_ur_append append = {.handle = hCommandBuffer,
                                    .wait_count = numSyncPointsInWaitList,
                                    .waits = pSyncPointWaitList,
                                    .out_sync_point = pSyncPoint};
    ur_result_t result = zepi_ur_append_begin(&append);
    if (result == UR_RESULT_SUCCESS && hChildCommandBuffer)
        result = zepi_ur_check_command_buffer(hChildCommandBuffer);
    if (result == UR_RESULT_SUCCESS && !pfnNativeCommand)
        result = zepi_ur_refuse_null("pfnNativeCommand");
    if (result != UR_RESULT_SUCCESS)
        return result;
    struct zepi_ur_recorded *recorded = zepi_ur_append_make(&append, ZEPI_UR_RECORDED_NATIVE);
    result = recorded ? record(recorded, pfnNativeCommand, pData) : UR_RESULT_SUCCESS;
    if (result != UR_RESULT_SUCCESS) {
        zepi_release(recorded);
        return result;
    }
    return zepi_ur_append_end(&append, recorded);
}

ur_result_t zepi_urCommandBufferGetNativeHandleExp(ur_exp_command_buffer_handle_t hCommandBuffer,
                                                   ur_native_handle_t *phNativeCommandBuffer)
{
    ur_result_t result = zepi_ur_check_command_buffer(hCommandBuffer);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_pointer(phNativeCommandBuffer, "phNativeCommandBuffer");
    if (result != UR_RESULT_SUCCESS)
        return result;
    struct zepi_ur_command_buffer *buffer = zepi_ur_command_buffer(hCommandBuffer);
    zepi_mutex_lock(&buffer->mutex);
    const ze_command_list_handle_t native = buffer->native ? buffer->native->ze : NULL;
    zepi_mutex_unlock(&buffer->mutex);
    if (!native)
        return zepi_ur_refuse(UR_RESULT_ERROR_UNSUPPORTED_FEATURE,
                              "a command buffer is no command list: zepi enqueues its commands one "
                              "by one; only a native command has a list, while it is appended");
    *phNativeCommandBuffer = (ur_native_handle_t)native;
    return UR_RESULT_SUCCESS;
}
