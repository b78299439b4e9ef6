// SPDX-License-Identifier: MIT
#include "ur/graph/command_buffer.h"

#include "graph/capture/capture.h"
#include "graph/execution.h"
#include "ur/command.h"
#include "ur/info.h"

static ur_result_t check_lists(const struct zepi_ur_append *append)
{
    if ((append->wait_count == 0) != (append->waits == NULL))
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_COMMAND_BUFFER_SYNC_POINT_WAIT_LIST_EXP,
                              "the list of sync points %s",
                              append->wait_count == 0 ? "is empty, and is not NULL" : "is NULL");
    if (append->event_count > 0 && !append->events)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_EVENT_WAIT_LIST, "the wait list is NULL");
    if (append->events || append->out_event)
        return zepi_ur_refuse(UR_RESULT_ERROR_UNSUPPORTED_FEATURE,
                              "a single command of a command buffer neither waits for events nor "
                              "has one; executions do");
    return UR_RESULT_SUCCESS;
}

// The code of a graph's failure.
static ur_result_t fail_graph(zepi_result_t result)
{
    zepi_error_prepend("the command buffer: ");
    if (result == ZEPI_ERROR_INVALID_SIZE)
        return UR_RESULT_ERROR_OUT_OF_RESOURCES;
    return zepi_ur_result_with(result, ZEPI_ERROR_INVALID_VALUE,
                               UR_RESULT_ERROR_INVALID_COMMAND_BUFFER_SYNC_POINT_EXP);
}

ur_result_t zepi_ur_append_begin(struct zepi_ur_append *append)
{
    const ur_result_t result =
        zepi_ur_check_command_buffer((ur_exp_command_buffer_handle_t)append->graph);
    return result ? result : check_lists(append);
}

ur_result_t zepi_ur_append_check_graph(const struct zepi_ur_append *append)
{
    const zepi_result_t checked =
        zepi_graph_check_add(append->graph, append->wait_count, append->waits);
    return checked == ZEPI_SUCCESS ? UR_RESULT_SUCCESS : fail_graph(checked);
}

struct zepi_graph_command *zepi_ur_append_make(const struct zepi_ur_append *append,
                                               enum zepi_command_kind kind)
{
    return zepi_graph_make_command(append->graph, kind, append->wait_count, append->waits);
}

ur_result_t zepi_ur_append_end(const struct zepi_ur_append *append,
                               struct zepi_graph_command *command)
{
    uint32_t number;
    if (!command) {
        zepi_result_t noted;
        zepi_last_error(&noted);
        return zepi_ur_fail(noted);
    }
    command->is_updatable = append->out_command != NULL;
    const zepi_result_t result = zepi_graph_add(command, &number);
    if (result != ZEPI_SUCCESS)
        return fail_graph(result);
    if (append->out_sync_point)
        *append->out_sync_point = number;
    if (append->out_command)
        *append->out_command = (ur_exp_command_buffer_command_handle_t)command;
    return UR_RESULT_SUCCESS;
}

// ---- Command buffers ----

ur_result_t zepi_urCommandBufferCreateExp(ur_context_handle_t hContext, ur_device_handle_t hDevice,
                                          const ur_exp_command_buffer_desc_t *pCommandBufferDesc,
                                          ur_exp_command_buffer_handle_t *phCommandBuffer)
{
    ur_result_t result;
    if ((result = zepi_ur_check_context_device(hContext, hDevice)) ||
        (result = zepi_ur_check_pointer(pCommandBufferDesc, "pCommandBufferDesc")) ||
        (result = zepi_ur_check_pointer(phCommandBuffer, "phCommandBuffer")))
        return result;
    struct zepi_graph *buffer =
        zepi_graph_create(zepi_ur_context(hContext), zepi_ur_device(hDevice));
    if (!buffer)
        return zepi_ur_fail(ZEPI_ERROR_OUT_OF_HOST_MEMORY);
    buffer->is_updatable = pCommandBufferDesc->isUpdatable;
    buffer->commands.is_in_order = pCommandBufferDesc->isInOrder;
    buffer->is_profiled = pCommandBufferDesc->enableProfiling;
    *phCommandBuffer = (ur_exp_command_buffer_handle_t)buffer;
    return UR_RESULT_SUCCESS;
}

ZEPI_UR_DEFINE_REFERENCES(CommandBuffer, Exp, ur_exp_command_buffer_handle_t,
                          zepi_ur_check_command_buffer)

ur_result_t zepi_urCommandBufferFinalizeExp(ur_exp_command_buffer_handle_t hCommandBuffer)
{
    const ur_result_t result = zepi_ur_check_command_buffer(hCommandBuffer);
    if (result != UR_RESULT_SUCCESS)
        return result;
    const zepi_result_t finalized = zepi_graph_finalize(zepi_ur_command_buffer(hCommandBuffer));
    return finalized == ZEPI_ERROR_WRONG_STATE ? fail_graph(finalized) : zepi_ur_result(finalized);
}

static ur_result_t get_descriptor(void *object, const struct zepi_ur_info *info)
{
    const struct zepi_graph *buffer = object;
    const ur_exp_command_buffer_desc_t desc = {.stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_DESC,
                                               .isUpdatable = buffer->is_updatable,
                                               .isInOrder = buffer->commands.is_in_order,
                                               .enableProfiling = buffer->is_profiled};
    return zepi_ur_info_return(info, &desc, sizeof(desc));
}

static const struct zepi_ur_query command_buffer_queries[] = {
    {ZEPI_UR_REFERENCES(EXP_COMMAND_BUFFER_INFO_REFERENCE_COUNT)},
    {ZEPI_UR_VALUE(EXP_COMMAND_BUFFER_INFO_DESCRIPTOR, get_descriptor)},
};

ZEPI_UR_DEFINE_GET_INFO(CommandBuffer, Exp, exp_command_buffer, zepi_ur_check_command_buffer,
                        command_buffer_queries, EXP_COMMAND_BUFFER_INFO_DESCRIPTOR)

ur_result_t zepi_urEnqueueCommandBufferExp(ur_queue_handle_t hQueue,
                                           ur_exp_command_buffer_handle_t hCommandBuffer,
                                           ZEPI_UR_ENQUEUE_PARAMETERS)
{
    struct zepi_ur_command command = ZEPI_UR_COMMAND(hQueue, false);
    struct zepi_graph *graph = zepi_ur_command_buffer(hCommandBuffer);
    ur_result_t result;
    if ((result = zepi_ur_command_begin(&command)) ||
        (result = zepi_ur_check_command_buffer(hCommandBuffer)))
        return result;
    if (command.queue->context != graph->context || command.queue->device != graph->device)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_QUEUE,
                              "the queue is of another context or device than the command buffer");
    const zepi_result_t done =
        zepi_capture_execute(graph, command.queue, command.wait, zepi_ur_command_event(&command));
    return done == ZEPI_ERROR_WRONG_STATE
               ? fail_graph(done)
               : zepi_ur_command_end(&command, done, UR_COMMAND_ENQUEUE_COMMAND_BUFFER_EXP);
}
