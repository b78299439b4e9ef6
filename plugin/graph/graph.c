// SPDX-License-Identifier: MIT
#include "graph/graph.h"

#include "core/alloc.h"
#include "device/context.h"
#include "device/device.h"
#include "graph/recording.h"
#include "launch/launch.h"
#include "queue/event.h"
#include "ze/ze.h"

#include <utlist.h>

// ---- Commands ----

// The list that zepi_graph_open_list returns from now on; NULL: none. False: another function is
// recording.
static bool graph_set_open_list(struct zepi_graph *graph, ze_command_list_handle_t list)
{
    zepi_mutex_lock(&graph->mutex);
    const bool is_free = !list || !graph->open;
    if (is_free)
        graph->open = list;
    zepi_mutex_unlock(&graph->mutex);
    return is_free;
}

ze_command_list_handle_t zepi_graph_open_list(struct zepi_graph *graph)
{
    zepi_mutex_lock(&graph->mutex);
    const ze_command_list_handle_t list = graph->open;
    zepi_mutex_unlock(&graph->mutex);
    return list;
}

zepi_result_t zepi_graph_record_native(struct zepi_graph_command *command,
                                       void (*function)(void *data), void *data)
{
    struct zepi_graph *graph = command->graph;
    const zepi_result_t result =
        zepi_closed_list_take(graph->context, graph->device, NULL, &command->native);
    if (result != ZEPI_SUCCESS)
        return result;
    if (!graph_set_open_list(graph, command->native->ze))
        return zepi_fail(ZEPI_ERROR_WRONG_STATE, "another native command is being recorded");
    function(data);
    graph_set_open_list(graph, NULL);
    return ZEPI_ZE(zeCommandListClose, command->native->ze);
}

static zepi_result_t graph_check_add_locked(const struct zepi_graph *graph, bool is_captured,
                                            uint32_t wait_count, const uint32_t *waits)
{
    const enum zepi_graph_state state = zepi_graph_get_state(graph);
    if (state == ZEPI_GRAPH_FINALIZED)
        return zepi_fail(ZEPI_ERROR_WRONG_STATE, "it was finalized: nothing can be added any more");
    if (!is_captured && state != ZEPI_GRAPH_OPEN)
        return zepi_fail(ZEPI_ERROR_WRONG_STATE, "the graph gets its commands from queues");
    if (graph->commands.count == UINT32_MAX)
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE, "too many commands");
    for (uint32_t i = 0; i < wait_count && !graph->commands.is_in_order; i++) {
        if (waits[i] >= graph->commands.count)
            return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                             "sync point %u of the wait list is of no command, the graph has %zu",
                             waits[i], graph->commands.count);
    }
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_graph_check_add(struct zepi_graph *graph, uint32_t wait_count,
                                   const uint32_t *waits)
{
    zepi_mutex_lock(&graph->mutex);
    const zepi_result_t result = graph_check_add_locked(graph, false, wait_count, waits);
    zepi_mutex_unlock(&graph->mutex);
    return result;
}

struct zepi_graph_command *zepi_graph_make_command(struct zepi_graph *graph,
                                                   enum zepi_command_kind kind, uint32_t wait_count,
                                                   const uint32_t *waits)
{
    struct zepi_graph_command *command = zepi_object_create(&zepi_graph_command_type);
    if (!command)
        return NULL;
    command->graph = graph;
    command->context = graph->context;
    command->kind = kind;
    if (wait_count == 0 || graph->commands.is_in_order)
        return command;
    command->waits = zepi_duplicate(waits, wait_count * sizeof(waits[0]));
    if (!command->waits) {
        zepi_fail_no_memory();
        zepi_release(command);
        return NULL;
    }
    command->wait_count = wait_count;
    return command;
}

zepi_result_t zepi_graph_make_launch(struct zepi_graph *graph, const struct zepi_launch *launch,
                                     struct zepi_launch_record **out_record)
{
    const zepi_result_t result = zepi_launch_check(graph->device, launch);
    if (result != ZEPI_SUCCESS)
        return result;
    *out_record = zepi_launch_record_create(launch);
    return *out_record ? ZEPI_SUCCESS : ZEPI_ERROR_OUT_OF_HOST_MEMORY;
}

static zepi_result_t graph_add_command_locked(struct zepi_graph *graph,
                                              struct zepi_graph_command *command)
{
    // The graph may have been finalized meanwhile, or a capture begun.
    const zepi_result_t result =
        graph_check_add_locked(graph, command->queue != NULL, command->wait_count, command->waits);
    if (result != ZEPI_SUCCESS)
        return result;
    struct zepi_graph_commands *commands = &graph->commands;
    struct zepi_graph_command **list =
        zepi_grow(commands->list, commands->count, &commands->capacity, sizeof(list[0]));
    if (!list)
        return zepi_fail_no_memory();
    for (uint32_t i = 0; i < command->wait_count; i++)
        list[command->waits[i]]->is_awaited = true;
    if (command->wait_count > commands->most_waits)
        commands->most_waits = command->wait_count;
    if (command->kind == ZEPI_COMMAND_NATIVE)
        commands->native_count++;
    command->number = (uint32_t)commands->count;
    list[commands->count++] = command;
    commands->list = list;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_graph_add(struct zepi_graph_command *command, uint32_t *out_number)
{
    struct zepi_graph *graph = command->graph;
    zepi_mutex_lock(&graph->mutex);
    const zepi_result_t result = graph_add_command_locked(graph, command);
    zepi_mutex_unlock(&graph->mutex);
    if (result == ZEPI_SUCCESS)
        *out_number = command->number;
    else
        zepi_release(command);
    return result;
}

// ---- Graphs ----

void zepi_graph_release_outside(struct zepi_graph_outside *list)
{
    struct zepi_graph_outside *next;
    for (; list; list = next) {
        next = list->next;
        zepi_release(list->event);
        zepi_free(list);
    }
}

static void graph_destroy(void *object)
{
    struct zepi_graph *graph = object;
    struct zepi_recording *last = graph->recordings ? graph->recordings->prev : NULL;
    struct zepi_recording *recording, *next;
    // Executions follow each other: with the last one all are over.
    if (last && last->last)
        zepi_event_wait(1, &last->last, UINT64_MAX);
    DL_FOREACH_SAFE(graph->recordings, recording, next)
    zepi_recording_destroy(recording);
    // The last one first: the C library joins the memory of each with that behind it.
    for (size_t i = graph->commands.count; i-- > 0;)
        zepi_release(graph->commands.list[i]);
    zepi_free(graph->commands.list);
    for (size_t i = 0; i < graph->commands.kept_count; i++)
        zepi_release(graph->commands.kept[i].object);
    zepi_free(graph->commands.kept);
    zepi_graph_release_outside(graph->outside);
    zepi_release(graph->context);
}

ZEPI_DEFINE_TYPE(graph, graph_destroy);

struct zepi_graph *zepi_graph_create(struct zepi_context *context, struct zepi_device *device)
{
    struct zepi_graph *graph = zepi_object_create(&zepi_graph_type);
    if (!graph)
        return NULL;
    graph->context = zepi_retain(context);
    graph->device = device;
    graph->device_index = zepi_context_device_index(context, device);
    atomic_init(&graph->version, 1);
    return graph;
}

size_t zepi_graph_count(struct zepi_graph *graph)
{
    zepi_mutex_lock(&graph->mutex);
    const size_t count = graph->commands.count;
    zepi_mutex_unlock(&graph->mutex);
    return count;
}

zepi_result_t zepi_graph_fail_update(const struct zepi_graph *graph)
{
    return zepi_fail(ZEPI_ERROR_WRONG_STATE, "the graph %s",
                     graph->is_updatable ? "was not finalized yet"
                                         : "was not made to be updatable");
}
