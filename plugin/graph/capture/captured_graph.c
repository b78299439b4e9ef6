// SPDX-License-Identifier: MIT
#include "graph/capture/captured_graph.h"

#include "core/alloc.h"
#include "graph/capture/capture_draft.h"
#include "graph/capture/captured_command.h"
#include "queue/command/barrier.h"
#include "queue/event.h"

// Another graph whose commands are captured: between two commands of the queue, the first of which
// has been captured.
struct nested_graph {
    struct zepi_graph *graph;             // borrowed; finalized
    uint32_t before;                      // the number of the first
    struct zepi_graph_command **commands; // owned list of references: copies
    size_t count;
    uint32_t *ends; // owned list: what the second one waits for
    uint32_t end_count;
};

static zepi_result_t nested_graph_check(struct zepi_graph *graph)
{
    if (zepi_graph_get_state(graph) != ZEPI_GRAPH_FINALIZED)
        return zepi_fail(ZEPI_ERROR_WRONG_STATE, "it was not finalized yet");
    return graph->commands.native_count == 0
               ? ZEPI_SUCCESS
               : zepi_fail(ZEPI_ERROR_CAPTURE_UNSUPPORTED,
                           "an execution of a graph with native commands cannot be captured");
}

// A copy of a command for another graph. It waits for nothing yet. NULL without memory (noted).
static struct zepi_graph_command *copy_command(struct zepi_graph *graph,
                                               const struct zepi_graph_command *from)
{
    struct zepi_graph_command *command = zepi_graph_make_command(graph, from->kind, 0, NULL);
    if (!command)
        return NULL;
    zepi_result_t result = ZEPI_SUCCESS;
    if (from->transfer)
        result = zepi_graph_command_set_transfer(command, &from->transfer->transfer,
                                                 from->transfer->memory);
    if (from->launch)
        command->launch = zepi_launch_record_create(&from->launch->launch);
    if (result == ZEPI_SUCCESS && !command->launch == !from->launch)
        return command;
    zepi_release(command);
    return NULL;
}

// The caller holds the mutex of the nested graph.
static zepi_result_t nested_graph_copy_command_locked(struct nested_graph *nested,
                                                      const struct zepi_capture_draft *draft,
                                                      size_t index)
{
    const struct zepi_graph_commands *commands = &nested->graph->commands;
    const struct zepi_graph_command *from = commands->list[index];
    struct zepi_graph_command *command = copy_command(draft->graph, from);
    if (!command)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    nested->commands[nested->count++] = command;
    command->is_updatable = command->launch && draft->graph->is_updatable;
    command->queue = draft->queue;
    command->is_followed = true; // by the command behind the graph
    // By the numbers of the nested graph, yet; one that waits for nothing waits for `before`.
    const bool is_first = commands->is_in_order ? index == 0 : from->wait_count == 0;
    const bool follows_one = commands->is_in_order || is_first;
    command->wait_count = follows_one ? 1 : from->wait_count;
    command->waits = zepi_allocate(command->wait_count, sizeof(command->waits[0]));
    if (!command->waits)
        return zepi_fail_no_memory();
    if (follows_one)
        command->waits[0] = is_first ? UINT32_MAX : (uint32_t)index - 1;
    else
        memcpy(command->waits, from->waits, from->wait_count * sizeof(from->waits[0]));
    const bool is_end = commands->is_in_order ? index + 1 == commands->count : !from->is_awaited;
    if (is_end)
        nested->ends[nested->end_count++] = (uint32_t)index;
    return ZEPI_SUCCESS;
}

static zepi_result_t nested_graph_init(struct nested_graph *nested,
                                       const struct zepi_capture_draft *draft)
{
    const size_t count = nested->graph->commands.count;
    nested->commands = zepi_allocate(count, sizeof(nested->commands[0]));
    nested->ends = zepi_allocate(count + 1, sizeof(nested->ends[0]));
    if (!nested->commands || !nested->ends)
        return zepi_fail_no_memory();
    zepi_result_t result = ZEPI_SUCCESS;
    // All of an update, or none.
    zepi_mutex_lock(&nested->graph->mutex);
    for (size_t i = 0; i < count && result == ZEPI_SUCCESS; i++)
        result = nested_graph_copy_command_locked(nested, draft, i);
    zepi_mutex_unlock(&nested->graph->mutex);
    return result;
}

static void nested_graph_finish(struct nested_graph *nested)
{
    for (size_t i = 0; i < nested->count; i++)
        zepi_release(nested->commands[i]);
    zepi_free(nested->commands);
    zepi_free(nested->ends);
}

// Uses and waits of the other graph's commands become this one's.
static zepi_result_t nested_graph_keep(const struct nested_graph *nested,
                                       struct zepi_capture_draft *draft)
{
    const struct zepi_graph *graph = nested->graph;
    zepi_result_t result = ZEPI_SUCCESS;
    for (size_t i = 0; i < graph->commands.kept_count && result == ZEPI_SUCCESS; i++)
        result = zepi_captured_command_keep(draft->capture, graph->commands.kept[i].object,
                                            &graph->commands.kept[i].part);
    for (const struct zepi_graph_outside *outside = graph->outside;
         outside && result == ZEPI_SUCCESS; outside = outside->next)
        result = zepi_capture_draft_await(draft, outside->event);
    return result;
}

// The copies get their numbers.
static zepi_result_t nested_graph_add_locked(struct nested_graph *nested,
                                             struct zepi_capture_draft *draft)
{
    const uint32_t first = (uint32_t)draft->graph->commands.count;
    zepi_result_t result = zepi_capture_draft_check_locked(draft);
    if (result != ZEPI_SUCCESS)
        return result;
    for (size_t i = 0; i < nested->count && result == ZEPI_SUCCESS; i++) {
        struct zepi_graph_command *command = nested->commands[i];
        uint32_t number;
        for (uint32_t j = 0; j < command->wait_count; j++)
            command->waits[j] =
                command->waits[j] == UINT32_MAX ? nested->before : first + command->waits[j];
        // Consumed in any case; on success the graph has it.
        result = zepi_graph_add(zepi_retain(command), &number);
        if (result == ZEPI_SUCCESS)
            zepi_capture_draft_note_order_locked(draft, command);
    }
    for (uint32_t i = 0; i < nested->end_count; i++)
        nested->ends[i] += first;
    if (nested->count == 0)
        nested->ends[nested->end_count++] = nested->before;
    return result;
}

// The commands between the two, and the second one.
static zepi_result_t nested_graph_add(struct nested_graph *nested, struct zepi_capture_draft *draft,
                                      zepi_event_t *out_event)
{
    zepi_mutex_lock(&draft->queue->mutex);
    zepi_mutex_lock(&draft->capture->mutex);
    zepi_result_t result = nested_graph_add_locked(nested, draft);
    zepi_mutex_unlock(&draft->capture->mutex);
    zepi_mutex_unlock(&draft->queue->mutex);
    if (result != ZEPI_SUCCESS)
        return result;
    draft->wait_count = nested->end_count;
    draft->waits = nested->ends;
    nested->ends = NULL;
    return zepi_capture_draft_add(draft, out_event);
}

zepi_result_t zepi_captured_graph_add(struct zepi_queue *queue, struct zepi_graph *graph,
                                      zepi_wait_list_t wait, zepi_event_t *out_event)
{
    zepi_event_t before = NULL;
    struct nested_graph nested = {.graph = graph};
    struct zepi_capture_draft draft;
    zepi_result_t result = nested_graph_check(graph);
    if (result == ZEPI_SUCCESS)
        result = zepi_queue_marker(queue, wait, &before);
    if (result != ZEPI_SUCCESS)
        return result;
    nested.before = (uint32_t)before->number;
    result = zepi_capture_draft_init_behind(&draft, queue, before, ZEPI_COMMAND_MARKER);
    if (result == ZEPI_SUCCESS)
        result = nested_graph_init(&nested, &draft);
    if (result == ZEPI_SUCCESS)
        result = nested_graph_keep(&nested, &draft);
    if (result == ZEPI_SUCCESS) {
        result = nested_graph_add(&nested, &draft, out_event);
        if (result != ZEPI_SUCCESS)
            zepi_capture_invalidate(queue);
    }
    nested_graph_finish(&nested);
    zepi_capture_draft_finish(&draft);
    zepi_release(before);
    return result;
}
