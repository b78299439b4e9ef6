// SPDX-License-Identifier: MIT
#include "api/api.h"
#include "api/check.h"
#include "api/launch.h"
#include "core/alloc.h"
#include "core/interface.h"
#include "device/context.h"
#include "graph/capture/capture.h"
#include "graph/dump.h"
#include "graph/execution.h"
#include "graph/update.h"
#include "launch/launch.h"

zepi_result_t zepi_api_graph_create(zepi_context_t context, zepi_device_t device,
                                    zepi_graph_flags_t flags, zepi_graph_t *out_graph)
{
    zepi_result_t result;
    if ((result = zepi_api_check_context_device(context, device)) ||
        (result = zepi_api_check_output(out_graph, "output for the graph")))
        return result;
    if (flags & ~ZEPI_GRAPH_UPDATABLE)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "graph flags 0x%x: only 0x%x is known", flags,
                         ZEPI_GRAPH_UPDATABLE);
    struct zepi_graph *graph = zepi_graph_create(context, device);
    if (!graph)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    graph->is_updatable = flags & ZEPI_GRAPH_UPDATABLE;
    *out_graph = graph;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_api_graph_get_info(zepi_graph_t graph, zepi_graph_info_t *out_info)
{
    const zepi_result_t result = zepi_check_object(graph, &zepi_graph_type);
    if (result != ZEPI_SUCCESS)
        return result;
    const enum zepi_graph_state state = zepi_graph_get_state(graph);
    const zepi_graph_info_t info = {.context = graph->context,
                                    .device = graph->device,
                                    .flags = graph->is_updatable ? ZEPI_GRAPH_UPDATABLE : 0,
                                    .command_count = (uint32_t)zepi_graph_count(graph),
                                    .is_capturing = state == ZEPI_GRAPH_CAPTURING,
                                    .is_finalized = state == ZEPI_GRAPH_FINALIZED};
    return zepi_copy_info(out_info, &info, sizeof(info));
}

// ---- Adding ----

// A command to be filled in.
static zepi_result_t begin_graph_add(struct zepi_graph *graph, enum zepi_command_kind kind,
                                     zepi_graph_wait_list_t wait,
                                     struct zepi_graph_command **out_command)
{
    const zepi_result_t result = zepi_check_object(graph, &zepi_graph_type);
    if (result != ZEPI_SUCCESS)
        return result;
    if (wait.count > 0 && !wait.numbers)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the wait list is NULL, with a count of %u",
                         wait.count);
    *out_command = zepi_graph_make_command(graph, kind, wait.count, wait.numbers);
    return *out_command ? ZEPI_SUCCESS : ZEPI_ERROR_OUT_OF_HOST_MEMORY;
}

// Consumes the command, which may be wrong.
static zepi_result_t end_graph_add(struct zepi_graph_command *command, zepi_result_t filled,
                                   uint32_t *out_number)
{
    uint32_t number;
    if (filled != ZEPI_SUCCESS) {
        zepi_release(command);
        return filled;
    }
    const zepi_result_t result = zepi_graph_add(command, &number);
    if (result == ZEPI_SUCCESS && out_number)
        *out_number = number;
    return result;
}

static zepi_result_t make_described_launch(struct zepi_graph *graph, const zepi_launch_desc_t *desc,
                                           struct zepi_launch_record **out_record)
{
    struct zepi_launch launch;
    struct zepi_launch_room room;
    zepi_result_t result = zepi_api_check_launch_desc(desc);
    if (result != ZEPI_SUCCESS)
        return result;
    if (!desc->kernel || desc->module || desc->spec_value_count > 0 || desc->selector)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "a launch of a graph has a kernel object, and neither a module nor values "
                         "nor a selector");
    if ((result = zepi_check_object(desc->kernel, &zepi_kernel_type)) ||
        (result =
             zepi_launch_set_kernel(&launch, desc->kernel, graph->context, graph->device_index)) ||
        (result = zepi_api_read_launch(&launch, &room, graph->context, graph->device, desc)))
        return result;
    result = zepi_graph_make_launch(graph, &launch, out_record);
    zepi_launch_room_finish(&room, &launch);
    return result;
}

zepi_result_t zepi_api_graph_add_launch(zepi_graph_t graph, const zepi_launch_desc_t *desc,
                                        zepi_graph_wait_list_t wait, uint32_t *out_number)
{
    struct zepi_graph_command *command = NULL;
    zepi_result_t result = begin_graph_add(graph, ZEPI_COMMAND_LAUNCH, wait, &command);
    if (result != ZEPI_SUCCESS)
        return result;
    command->is_updatable = graph->is_updatable;
    result = make_described_launch(graph, desc, &command->launch);
    return end_graph_add(command, result, out_number);
}

zepi_result_t zepi_api_graph_add_copy(zepi_graph_t graph, void *destination, const void *source,
                                      size_t size_bytes, zepi_graph_wait_list_t wait,
                                      uint32_t *out_number)
{
    struct zepi_graph_command *command = NULL;
    zepi_result_t result = begin_graph_add(graph, ZEPI_COMMAND_COPY, wait, &command);
    if (result != ZEPI_SUCCESS)
        return result;
    result = zepi_check_range(graph->context, "destination", destination, size_bytes);
    result = result ? result : zepi_check_range(graph->context, "source", source, size_bytes);
    const struct zepi_transfer copy = {.head.kind = ZEPI_COMMAND_COPY,
                                       .to = destination,
                                       .from = source,
                                       .size_bytes = size_bytes};
    if (result == ZEPI_SUCCESS)
        result = zepi_graph_command_set_transfer(command, &copy, NULL);
    return end_graph_add(command, result, out_number);
}

zepi_result_t zepi_api_graph_add_fill(zepi_graph_t graph, void *destination, const void *pattern,
                                      size_t pattern_size_bytes, size_t size_bytes,
                                      zepi_graph_wait_list_t wait, uint32_t *out_number)
{
    struct zepi_graph_command *command = NULL;
    zepi_result_t result = begin_graph_add(graph, ZEPI_COMMAND_FILL, wait, &command);
    if (result != ZEPI_SUCCESS)
        return result;
    result = zepi_check_range(graph->context, "destination", destination, size_bytes);
    if (result == ZEPI_SUCCESS && !pattern)
        result = zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the pattern is NULL");
    if (result == ZEPI_SUCCESS && (pattern_size_bytes == 0 || size_bytes % pattern_size_bytes != 0))
        result = zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                           "%zu bytes to fill with a pattern of %zu, expected a multiple",
                           size_bytes, pattern_size_bytes);
    const struct zepi_transfer fill = {.head.kind = ZEPI_COMMAND_FILL,
                                       .to = destination,
                                       .size_bytes = size_bytes,
                                       .pattern = pattern,
                                       .pattern_size_bytes = pattern_size_bytes};
    if (result == ZEPI_SUCCESS)
        result = zepi_graph_command_set_transfer(command, &fill, NULL);
    return end_graph_add(command, result, out_number);
}

// ---- Executing ----

zepi_result_t zepi_api_graph_finalize(zepi_graph_t graph)
{
    const zepi_result_t result = zepi_check_object(graph, &zepi_graph_type);
    return result ? result : zepi_graph_finalize(graph);
}

// The record of an update, before the graph's mutex is taken.
static zepi_result_t make_update(struct zepi_graph *graph, const zepi_graph_update_t *update,
                                 struct zepi_launch_record **out_record)
{
    // The commands do not change any more.
    const struct zepi_graph_commands *commands = &graph->commands;
    const uint32_t number = update->number;
    if (number >= commands->count)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "the update is of command %u, the graph has %zu commands", number,
                         (size_t)commands->count);
    if (commands->list[number]->kind != ZEPI_COMMAND_LAUNCH)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "command %u of the graph is %s, expected a launch", number,
                         zepi_graph_command_name(commands->list[number]));
    return make_described_launch(graph, update->launch, out_record);
}

zepi_result_t zepi_api_graph_update(zepi_graph_t graph, uint32_t count,
                                    const zepi_graph_update_t *updates)
{
    struct zepi_launch_record **records;
    uint32_t made = 0;
    zepi_result_t result = zepi_check_object(graph, &zepi_graph_type);
    if (result != ZEPI_SUCCESS)
        return result;
    if (count == 0 || !updates)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "the count of updates is 0, or their list is NULL");
    result = zepi_graph_check_update(graph);
    if (result != ZEPI_SUCCESS)
        return result;
    records = zepi_allocate(count, sizeof(records[0]));
    if (!records)
        return zepi_fail_no_memory();
    while (made < count && result == ZEPI_SUCCESS) {
        result = make_update(graph, &updates[made], &records[made]);
        if (result == ZEPI_SUCCESS)
            made++;
    }
    if (result == ZEPI_SUCCESS) {
        zepi_graph_update_begin(graph);
        for (uint32_t i = 0; i < count; i++)
            zepi_graph_update_put(graph->commands.list[updates[i].number], records[i]);
        zepi_graph_update_end(graph, true);
    } else {
        while (made > 0)
            zepi_launch_record_release(records[--made]);
    }
    zepi_free(records);
    return result;
}

zepi_result_t zepi_api_graph_dump(zepi_graph_t graph, const char *path)
{
    const zepi_result_t result =
        zepi_api_check_pointer(graph, &zepi_graph_type, path, "path of the file");
    return result ? result : zepi_graph_dump(graph, path);
}

zepi_result_t zepi_api_queue_begin_capture(zepi_queue_t queue, zepi_graph_t graph)
{
    zepi_result_t result;
    if ((result = zepi_check_object(queue, &zepi_queue_type)) ||
        (result = zepi_check_object(graph, &zepi_graph_type)))
        return result;
    return zepi_capture_begin(queue, graph, graph);
}

zepi_result_t zepi_api_queue_end_capture(zepi_queue_t queue)
{
    void *graph;
    zepi_result_t result = zepi_check_object(queue, &zepi_queue_type);
    if (result != ZEPI_SUCCESS)
        return result;
    result = zepi_capture_end(queue, &graph);
    zepi_release(graph);
    return result;
}

zepi_result_t zepi_api_queue_execute(zepi_queue_t queue, zepi_graph_t graph, zepi_wait_list_t wait,
                                     zepi_event_t *out_event)
{
    zepi_result_t result;
    if ((result = zepi_api_check_command(queue, wait)) ||
        (result = zepi_check_object(graph, &zepi_graph_type)))
        return result;
    if (queue->context != graph->context || queue->device != graph->device)
        return zepi_fail(ZEPI_ERROR_INVALID_OBJECT,
                         "the graph is of another context or device than the queue");
    if (zepi_graph_get_state(graph) != ZEPI_GRAPH_FINALIZED)
        return zepi_fail(ZEPI_ERROR_WRONG_STATE, "the graph was not finalized yet");
    return zepi_capture_execute(graph, queue, wait, out_event);
}
