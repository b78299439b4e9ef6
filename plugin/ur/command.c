// SPDX-License-Identifier: MIT
#include "ur/command.h"

#include "queue/capture_command.h"

ur_result_t zepi_ur_check_blocking(const struct zepi_ur_command *command)
{
    const ur_result_t result = zepi_ur_check_wait_list(command->queue->context, command->wait);
    return result ? result
                  : zepi_ur_result(zepi_capture_refuse(command->queue, command->wait,
                                                       "a command that the host waits for"));
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
