// SPDX-License-Identifier: MIT
#include "graph/capture/captured_command.h"

#include "copy/copy.h"
#include "core/alloc.h"
#include "device/context.h"
#include "graph/capture/capture_draft.h"
#include "launch/launch.h"
#include "queue/command/barrier.h"

zepi_result_t zepi_captured_command_keep(struct zepi_capture *capture, void *object,
                                         const struct zepi_buffer_part *part)
{
    struct zepi_graph *graph;
    const zepi_result_t result = zepi_capture_get_graph(capture, &graph);
    if (result != ZEPI_SUCCESS)
        return result;
    struct zepi_graph_commands *commands = &graph->commands;
    const struct zepi_buffer_part none = {0};
    zepi_mutex_lock(&graph->mutex);
    struct zepi_arg_use *kept =
        zepi_grow(commands->kept, commands->kept_count, &commands->kept_capacity, sizeof(kept[0]));
    if (kept) {
        commands->kept = kept;
        kept[commands->kept_count++] =
            (struct zepi_arg_use){zepi_retain(object), part ? *part : none, ZEPI_BUFFER_WRITE};
    }
    zepi_mutex_unlock(&graph->mutex);
    zepi_release(graph);
    return kept ? ZEPI_SUCCESS : zepi_fail_no_memory();
}

static zepi_result_t capture_make_command(struct zepi_capture_draft *draft,
                                          const struct zepi_captured_command *from)
{
    struct zepi_graph_command *command = zepi_graph_make_command(draft->graph, from->kind, 0, NULL);
    draft->command = command;
    if (!command)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    if (from->kind == ZEPI_COMMAND_LAUNCH) {
        const struct zepi_captured_launch *launch = (const struct zepi_captured_launch *)from;
        command->is_updatable = draft->graph->is_updatable;
        return zepi_graph_make_launch(draft->graph, launch->launch, &command->launch);
    }
    return from->kind == ZEPI_COMMAND_MARKER || from->kind == ZEPI_COMMAND_BARRIER
               ? ZEPI_SUCCESS
               : zepi_graph_command_set_transfer(command, (const struct zepi_transfer *)from, NULL);
}

static zepi_result_t capture_check_queue(const struct zepi_capture *capture,
                                         const struct zepi_queue *queue)
{
    return queue->context == capture->context && queue->device == capture->device
               ? ZEPI_SUCCESS
               : zepi_fail(ZEPI_ERROR_CAPTURE_UNSUPPORTED,
                           "a capture is of queues of one context and device");
}

zepi_result_t zepi_captured_command_add(struct zepi_capture *capture, struct zepi_queue *queue,
                                        const struct zepi_captured_command *command,
                                        zepi_wait_list_t wait, zepi_event_t *out_event)
{
    struct zepi_capture_draft draft = {
        .capture = capture,
        .queue = queue,
        .waits_for_all = command->kind == ZEPI_COMMAND_BARRIER ||
                         (command->kind == ZEPI_COMMAND_MARKER && wait.count == 0),
        .holds_up_all = command->kind == ZEPI_COMMAND_BARRIER};
    zepi_result_t result = capture_check_queue(capture, queue);
    if (result == ZEPI_SUCCESS)
        result = zepi_capture_get_graph(capture, &draft.graph);
    if (result == ZEPI_SUCCESS)
        result = capture_make_command(&draft, command);
    if (result == ZEPI_SUCCESS)
        result = zepi_capture_draft_read_waits(&draft, wait);
    if (result == ZEPI_SUCCESS)
        result = zepi_capture_draft_add(&draft, out_event);
    zepi_capture_draft_finish(&draft);
    return result;
}

zepi_result_t zepi_captured_command_add_native(struct zepi_queue *queue,
                                               void (*function)(void *data), void *data,
                                               zepi_wait_list_t wait, zepi_event_t *out_event)
{
    zepi_event_t before = NULL;
    // With this the queue is in capture mode, if it was not.
    zepi_result_t result = zepi_queue_marker(queue, wait, &before);
    if (result != ZEPI_SUCCESS)
        return result;
    struct zepi_capture_draft draft;
    result = zepi_capture_draft_init_behind(&draft, queue, before, ZEPI_COMMAND_NATIVE);
    if (result == ZEPI_SUCCESS)
        result = zepi_capture_draft_read_waits(&draft, (zepi_wait_list_t){&before, 1});
    if (result == ZEPI_SUCCESS)
        result = zepi_graph_record_native(draft.command, function, data);
    if (result == ZEPI_SUCCESS)
        result = zepi_capture_draft_add(&draft, out_event);
    zepi_capture_draft_finish(&draft);
    zepi_release(before);
    return result;
}

ze_command_list_handle_t zepi_captured_command_get_list(struct zepi_capture *capture)
{
    struct zepi_graph *graph;
    if (zepi_capture_get_graph(capture, &graph) != ZEPI_SUCCESS)
        return NULL;
    const ze_command_list_handle_t list = zepi_graph_open_list(graph);
    zepi_release(graph);
    return list;
}
