// SPDX-License-Identifier: MIT
#include "ur/command.h"

#include "queue/capture_command.h"

ur_result_t zepi_ur_refuse_wait_list(uint32_t count)
{
    return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_EVENT_WAIT_LIST, "the wait list %s",
                          count == 0 ? "has no events, and is not NULL" : "is NULL");
}

ur_result_t zepi_ur_check_blocking(const struct zepi_ur_command *command)
{
    const ur_result_t result = zepi_ur_check_wait_list(command->wait);
    return result == UR_RESULT_SUCCESS
               ? zepi_ur_result(zepi_capture_refuse(command->queue, command->wait,
                                                    "a command that the host waits for"))
               : result;
}

ur_result_t zepi_ur_wrong_wait_list(const struct zepi_queue *queue, zepi_wait_list_t wait)
{
    for (uint32_t i = 0; i < wait.count; i++) {
        if (zepi_object_is(wait.events[i], &zepi_event_type) &&
            wait.events[i]->context->platform != queue->context->platform)
            return UR_RESULT_ERROR_INVALID_CONTEXT;
    }
    return UR_RESULT_ERROR_INVALID_EVENT_WAIT_LIST;
}

ur_result_t zepi_ur_fail_command(const struct zepi_ur_command *command, zepi_result_t result)
{
    // Queue and memory were checked before: events are the only objects left.
    const ur_result_t ur = zepi_ur_fail(result);
    return result == ZEPI_ERROR_INVALID_OBJECT
               ? zepi_ur_wrong_wait_list(command->queue, command->wait)
               : ur;
}

ur_result_t zepi_ur_command_wait(struct zepi_ur_command *command)
{
    const ur_result_t result = zepi_ur_result(zepi_event_wait(1, &command->event, UINT64_MAX));
    if (result == UR_RESULT_SUCCESS && command->out_event)
        *command->out_event = (ur_event_handle_t)command->event;
    else
        zepi_release(command->event);
    return result;
}
