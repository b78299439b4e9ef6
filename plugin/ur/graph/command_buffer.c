// SPDX-License-Identifier: MIT
#include "ur/graph/command_buffer.h"

#include "core/alloc.h"
#include "queue/native_list.h"
#include "ur/command.h"
#include "ur/graph/recorded_launch.h"
#include "ur/info.h"

// ---- Commands ----

static void recorded_destroy(void *object)
{
    struct zepi_ur_recorded *recorded = object;
    zepi_ur_recorded_launch_release(recorded->launch);
    for (uint32_t i = 0; i < recorded->kernel_count; i++)
        zepi_release(recorded->kernels[i]);
    zepi_free(recorded->kernels);
    zepi_native_list_destroy(recorded->native);
    for (int i = 0; i < 2; i++)
        zepi_release(recorded->mems[i]);
    zepi_free(recorded->pattern);
    zepi_free(recorded->waits);
}

ZEPI_DEFINE_TYPE(ur_recorded, recorded_destroy);

static ur_result_t check_lists(const struct zepi_ur_append *append)
{
    if ((append->wait_count == 0) != (append->waits == NULL))
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_COMMAND_BUFFER_SYNC_POINT_WAIT_LIST_EXP,
                              "the list of sync points %s",
                              append->wait_count == 0 ? "is empty, and is not NULL" : "is NULL");
    if ((append->event_count == 0) != (append->events == NULL))
        return zepi_ur_refuse_wait_list(append->event_count);
    if (append->events || append->out_event)
        return zepi_ur_refuse(UR_RESULT_ERROR_UNSUPPORTED_FEATURE,
                              "commands in a command buffer have no events of their own: sync "
                              "points order them");
    return UR_RESULT_SUCCESS;
}

// Whether a command with these sync points may follow.
static ur_result_t check_locked(const struct zepi_ur_command_buffer *buffer, uint32_t wait_count,
                                const ur_exp_command_buffer_sync_point_t *waits)
{
    if (buffer->is_finalized)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_OPERATION,
                              "the command buffer was finalized: nothing can be appended any more");
    if (buffer->command_count == UINT32_MAX)
        return zepi_ur_refuse(UR_RESULT_ERROR_OUT_OF_RESOURCES, "too many commands");
    for (uint32_t i = 0; i < wait_count && !buffer->is_in_order; i++) {
        if (waits[i] >= buffer->command_count)
            return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_COMMAND_BUFFER_SYNC_POINT_EXP,
                                  "sync point %u, of %zu commands", waits[i],
                                  buffer->command_count);
    }
    return UR_RESULT_SUCCESS;
}

ur_result_t zepi_ur_append_begin(struct zepi_ur_append *append)
{
    ur_result_t result = zepi_ur_check_command_buffer(append->handle);
    append->buffer = zepi_ur_command_buffer(append->handle);
    if (result == UR_RESULT_SUCCESS)
        result = check_lists(append);
    if (result != UR_RESULT_SUCCESS)
        return result;
    zepi_mutex_lock(&append->buffer->mutex);
    result = check_locked(append->buffer, append->wait_count, append->waits);
    zepi_mutex_unlock(&append->buffer->mutex);
    return result;
}

struct zepi_ur_recorded *zepi_ur_append_make(const struct zepi_ur_append *append,
                                             enum zepi_ur_recorded_kind kind)
{
    struct zepi_ur_recorded *recorded = zepi_object_create(&zepi_ur_recorded_type);
    if (!recorded)
        return NULL;
    recorded->buffer = append->buffer;
    recorded->kind = kind;
    if (append->wait_count == 0 || append->buffer->is_in_order)
        return recorded;
    recorded->waits = zepi_duplicate(append->waits, append->wait_count * sizeof(append->waits[0]));
    if (!recorded->waits) {
        zepi_fail_no_memory();
        zepi_release(recorded);
        return NULL;
    }
    recorded->wait_count = append->wait_count;
    return recorded;
}

static ur_result_t append_locked(struct zepi_ur_command_buffer *buffer,
                                 struct zepi_ur_recorded *recorded)
{
    // The buffer may have been finalized meanwhile.
    const ur_result_t result = check_locked(buffer, recorded->wait_count, recorded->waits);
    if (result != UR_RESULT_SUCCESS)
        return result;
    struct zepi_ur_recorded **commands =
        zepi_grow(buffer->commands, buffer->command_count, &buffer->command_capacity,
                  sizeof(struct zepi_ur_recorded *));
    if (!commands)
        return zepi_ur_result(zepi_fail_no_memory());
    for (uint32_t i = 0; i < recorded->wait_count; i++)
        commands[recorded->waits[i]]->is_awaited = true;
    if (buffer->is_in_order && buffer->command_count > 0)
        commands[buffer->command_count - 1]->is_awaited = true;
    if (recorded->wait_count > buffer->most_waits)
        buffer->most_waits = recorded->wait_count;
    commands[buffer->command_count++] = recorded;
    buffer->commands = commands;
    return UR_RESULT_SUCCESS;
}

ur_result_t zepi_ur_append_end(const struct zepi_ur_append *append,
                               struct zepi_ur_recorded *recorded)
{
    struct zepi_ur_command_buffer *buffer = append->buffer;
    if (!recorded)
        return zepi_ur_fail(ZEPI_ERROR_OUT_OF_HOST_MEMORY);
    zepi_mutex_lock(&buffer->mutex);
    const size_t index = buffer->command_count;
    const ur_result_t result = append_locked(buffer, recorded);
    zepi_mutex_unlock(&buffer->mutex);
    if (result != UR_RESULT_SUCCESS) {
        zepi_release(recorded);
        return result;
    }
    if (append->out_sync_point)
        *append->out_sync_point = (ur_exp_command_buffer_sync_point_t)index;
    if (append->out_command)
        *append->out_command = (ur_exp_command_buffer_command_handle_t)recorded;
    return UR_RESULT_SUCCESS;
}

// ---- Command buffers ----

static void command_buffer_destroy(void *object)
{
    struct zepi_ur_command_buffer *buffer = object;
    // Executions follow each other: with the last one all are over.
    if (buffer->last)
        zepi_event_wait(1, &buffer->last, UINT64_MAX);
    zepi_release(buffer->last);
    for (size_t i = 0; i < buffer->command_count; i++)
        zepi_release(buffer->commands[i]);
    zepi_free(buffer->commands);
    zepi_release(buffer->context);
}

ZEPI_DEFINE_TYPE(ur_command_buffer, command_buffer_destroy);

ur_result_t zepi_urCommandBufferCreateExp(ur_context_handle_t hContext, ur_device_handle_t hDevice,
                                          const ur_exp_command_buffer_desc_t *pCommandBufferDesc,
                                          ur_exp_command_buffer_handle_t *phCommandBuffer)
{
    ur_result_t result = zepi_ur_check_context_device(hContext, hDevice, NULL);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_pointer(pCommandBufferDesc, "pCommandBufferDesc");
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_pointer(phCommandBuffer, "phCommandBuffer");
    if (result != UR_RESULT_SUCCESS)
        return result;
    struct zepi_ur_command_buffer *buffer = zepi_object_create(&zepi_ur_command_buffer_type);
    if (!buffer)
        return zepi_ur_fail(ZEPI_ERROR_OUT_OF_HOST_MEMORY);
    buffer->context = zepi_retain(zepi_ur_context(hContext));
    buffer->device = zepi_ur_device(hDevice);
    buffer->is_updatable = pCommandBufferDesc->isUpdatable;
    buffer->is_in_order = pCommandBufferDesc->isInOrder;
    buffer->is_profiled = pCommandBufferDesc->enableProfiling;
    *phCommandBuffer = (ur_exp_command_buffer_handle_t)buffer;
    return UR_RESULT_SUCCESS;
}

ur_result_t zepi_urCommandBufferRetainExp(ur_exp_command_buffer_handle_t hCommandBuffer)
{
    return zepi_ur_retain(zepi_ur_check_command_buffer(hCommandBuffer), hCommandBuffer);
}

ur_result_t zepi_urCommandBufferReleaseExp(ur_exp_command_buffer_handle_t hCommandBuffer)
{
    return zepi_ur_release(zepi_ur_check_command_buffer(hCommandBuffer), hCommandBuffer);
}

ur_result_t zepi_urCommandBufferFinalizeExp(ur_exp_command_buffer_handle_t hCommandBuffer)
{
    const ur_result_t result = zepi_ur_check_command_buffer(hCommandBuffer);
    if (result != UR_RESULT_SUCCESS)
        return result;
    struct zepi_ur_command_buffer *buffer = zepi_ur_command_buffer(hCommandBuffer);
    zepi_mutex_lock(&buffer->mutex);
    const bool was_finalized = buffer->is_finalized;
    buffer->is_finalized = true;
    zepi_mutex_unlock(&buffer->mutex);
    return was_finalized ? zepi_ur_refuse(UR_RESULT_ERROR_INVALID_OPERATION,
                                          "the command buffer was finalized before")
                         : UR_RESULT_SUCCESS;
}

ur_result_t zepi_urCommandBufferGetInfoExp(ur_exp_command_buffer_handle_t hCommandBuffer,
                                           ur_exp_command_buffer_info_t propName, size_t propSize,
                                           void *pPropValue, size_t *pPropSizeRet)
{
    const struct zepi_ur_info info = {propSize, pPropValue, pPropSizeRet};
    const struct zepi_ur_command_buffer *buffer = zepi_ur_command_buffer(hCommandBuffer);
    ur_result_t result = zepi_ur_check_command_buffer(hCommandBuffer);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_info_check(&info);
    if (result != UR_RESULT_SUCCESS)
        return result;
    switch (propName) {
    case UR_EXP_COMMAND_BUFFER_INFO_REFERENCE_COUNT:
        return zepi_ur_answer_references(&info, buffer);
    case UR_EXP_COMMAND_BUFFER_INFO_DESCRIPTOR: {
        const ur_exp_command_buffer_desc_t desc = {.stype =
                                                       UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_DESC,
                                                   .isUpdatable = buffer->is_updatable,
                                                   .isInOrder = buffer->is_in_order,
                                                   .enableProfiling = buffer->is_profiled};
        return zepi_ur_answer(&info, &desc, sizeof(desc));
    }
    default:
        return zepi_ur_refuse_question(propName, UR_EXP_COMMAND_BUFFER_INFO_DESCRIPTOR);
    }
}
