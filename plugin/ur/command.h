// SPDX-License-Identifier: MIT
#ifndef ZEPI_UR_COMMAND_H
#define ZEPI_UR_COMMAND_H

#include "queue/progress.h"
#include "ur/handles.h"

// The frame around every urEnqueue...: checks queue and wait list, says where the core puts the
// event, then labels it, waits if the caller blocks, and hands it out.
//
//     struct zepi_ur_command command = ZEPI_UR_COMMAND(hQueue, blocking);
//     ur_result_t result = zepi_ur_command_begin(&command);
//     ... more checks ...
//     if (result != UR_RESULT_SUCCESS)
//         return result;
//     return zepi_ur_command_end(&command, zepi_queue_copy(command.queue, ..., command.wait,
//                                zepi_ur_command_event(&command)), UR_COMMAND_USM_MEMCPY);

struct zepi_ur_command {
    struct zepi_queue *queue; // a handle, until it is checked
    zepi_wait_list_t wait;
    bool is_blocking;
    ur_event_handle_t *out_event; // the caller's; NULL: none is wanted
    zepi_event_t event;           // of this command
};

// The last parameters of functions that enqueue, and the frame that is made of them.
#define ZEPI_UR_ENQUEUE_PARAMETERS                                                                 \
    uint32_t wait_count, const ur_event_handle_t *wait_list, ur_event_handle_t *out_event
#define ZEPI_UR_COMMAND(handle, blocks)                                                            \
    {                                                                                              \
        .queue = zepi_ur_queue(handle), .wait = {(const zepi_event_t *)wait_list, wait_count},     \
        .is_blocking = (blocks), .out_event = out_event, .event = NULL                             \
    }

static inline ur_result_t zepi_ur_check_wait_list(const struct zepi_context *context,
                                                  zepi_wait_list_t wait)
{
    if (__builtin_expect(wait.count == 0 && wait.events, 0))
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_EVENT_WAIT_LIST,
                              "the wait list has no events, and is not NULL");
    const zepi_result_t result = zepi_check_wait_list(context, wait);
    return __builtin_expect(result == ZEPI_SUCCESS, 1) ? UR_RESULT_SUCCESS
                                                       : zepi_ur_fail_wait_list(result);
}
// The wait list, and that the command is executed: a host cannot wait for one that is captured.
ur_result_t zepi_ur_check_blocking(const struct zepi_ur_command *command);
ur_result_t zepi_ur_command_wait(struct zepi_ur_command *command);

static inline ur_result_t zepi_ur_command_begin(const struct zepi_ur_command *command)
{
    // Read before the calls, so that the compiler knows them.
    const struct zepi_queue *queue = command->queue;
    const zepi_wait_list_t wait = command->wait;
    const bool is_blocking = command->is_blocking;
    const ur_result_t result = zepi_ur_check_queue((ur_queue_handle_t)queue);
    if (result != UR_RESULT_SUCCESS)
        return result;
    return __builtin_expect(is_blocking, 0) ? zepi_ur_check_blocking(command)
                                            : zepi_ur_check_wait_list(queue->context, wait);
}

// Where the core puts the event, NULL if none is needed: a caller that blocks waits for a queue in
// order itself.
static inline zepi_event_t *zepi_ur_command_event(struct zepi_ur_command *command)
{
    const bool waits_for_event = command->is_blocking && !command->queue->has_in_order_list;
    return command->out_event || waits_for_event ? &command->event : NULL;
}

static inline ur_result_t zepi_ur_command_end(struct zepi_ur_command *command, zepi_result_t done,
                                              ur_command_t type)
{
    if (__builtin_expect(done != ZEPI_SUCCESS, 0))
        return zepi_ur_fail(done);
    if (!command->event)
        return command->is_blocking ? zepi_ur_result(zepi_queue_wait_for_commands(command->queue))
                                    : UR_RESULT_SUCCESS;
    command->event->label = (uint32_t)type;
    if (command->is_blocking)
        return zepi_ur_command_wait(command);
    *command->out_event = (ur_event_handle_t)command->event;
    return UR_RESULT_SUCCESS;
}

#endif
