// SPDX-License-Identifier: MIT
#include "graph/launch_update.h"

#include "core/alloc.h"
#include "graph/recording.h"

void zepi_launch_update_begin(struct zepi_graph *graph)
{
    zepi_mutex_lock(&graph->turn);
}

// NULL without memory (noted).
static struct zepi_graph_edit *launch_update_note(struct zepi_graph_command *command,
                                                  enum zepi_graph_edit_kind kind, uint64_t changes)
{
    struct zepi_graph *graph = command->graph;
    if (graph->edit_count == graph->edit_capacity) {
        struct zepi_graph_edit *edits =
            zepi_grow(graph->edits, graph->edit_count, &graph->edit_capacity, sizeof(edits[0]));
        if (!edits) {
            zepi_fail_no_memory();
            return NULL;
        }
        graph->edits = edits;
    }
    struct zepi_graph_edit *edit = &graph->edits[graph->edit_count++];
    edit->command = command;
    edit->kind = kind;
    edit->changes = changes;
    return edit;
}

// Consumes the launch. NULL: there was no memory for it.
static zepi_result_t launch_update_put(struct zepi_graph_command *command,
                                       struct zepi_graph_launch *launch, uint64_t changes)
{
    struct zepi_graph_edit *edit =
        launch ? launch_update_note(command, ZEPI_GRAPH_EDIT_LAUNCH, changes) : NULL;
    if (!edit) {
        zepi_graph_launch_release(launch);
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    }
    // The recordings bring such buffers to the device.
    if (command->launch->moves)
        edit->changes |= ZEPI_GRAPH_CHANGED_FOR_GOOD;
    edit->old.launch = command->launch;
    launch->is_draft = true;
    command->launch = launch;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_launch_update_set_kernel(struct zepi_graph_command *command,
                                            struct zepi_kernel *kernel,
                                            const struct zepi_device_kernel *device_kernel)
{
    return kernel == command->launch->kernel
               ? ZEPI_SUCCESS
               : launch_update_put(command,
                                   zepi_graph_launch_create_changed(command->launch, kernel,
                                                                    device_kernel->argument_count,
                                                                    UINT32_MAX, NULL, NULL),
                                   ZEPI_GRAPH_CHANGED_KERNEL);
}

// *out_is_done is false if it cannot be set in place.
static zepi_result_t launch_update_set_in_place(struct zepi_graph_command *command, uint32_t index,
                                                const zepi_argument_t *argument, bool *out_is_done)
{
    struct zepi_graph_launch *launch = command->launch;
    const zepi_argument_t *own = &launch->arguments[index];
    const bool has_bytes = own->kind == ZEPI_ARGUMENT_VALUE && own->value;
    *out_is_done = !has_bytes || own->size_bytes <= ZEPI_GRAPH_EDIT_BYTES;
    if (!*out_is_done)
        return ZEPI_SUCCESS;
    struct zepi_graph_edit *edit =
        launch_update_note(command, ZEPI_GRAPH_EDIT_ARGUMENT, zepi_graph_changed_argument(index));
    if (!edit)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    edit->index = index;
    edit->old.argument = *own;
    if (has_bytes)
        memcpy(edit->old.value, own->value, own->size_bytes);
    *out_is_done = zepi_graph_launch_set_argument(launch, index, argument);
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_launch_update_set_argument(struct zepi_graph_command *command,
                                              const struct zepi_device_kernel *device_kernel,
                                              uint32_t index, const zepi_argument_t *argument,
                                              const struct zepi_graph_memory *memory)
{
    struct zepi_graph_launch *launch = command->launch;
    const uint64_t changes = zepi_graph_changed_argument(index);
    bool is_done = false;
    // Emulated constants are an argument that comes with the launch.
    zepi_result_t result = launch->kernel->is_emulated
                               ? ZEPI_SUCCESS
                               : zepi_argument_check(device_kernel, index, argument);
    if (result != ZEPI_SUCCESS ||
        (argument->kind != ZEPI_ARGUMENT_POINTER &&
         zepi_graph_launch_has_argument(launch, device_kernel, index, argument, memory)))
        return result;
    if (launch->is_draft) {
        is_done = zepi_graph_launch_set_argument(launch, index, argument);
        if (is_done) {
            zepi_graph_launch_set_memory(launch, index, memory);
            return launch_update_note(command, ZEPI_GRAPH_EDIT_OF_DRAFT, changes)
                       ? ZEPI_SUCCESS
                       : ZEPI_ERROR_OUT_OF_HOST_MEMORY;
        }
    } else if (!launch->has_objects && !(memory && memory->object)) {
        result = launch_update_set_in_place(command, index, argument, &is_done);
    }
    if (result != ZEPI_SUCCESS || is_done)
        return result;
    return launch_update_put(command,
                             zepi_graph_launch_create_changed(launch, launch->kernel,
                                                              launch->desc.argument_count, index,
                                                              argument, memory),
                             changes);
}

zepi_result_t zepi_launch_update_set_sizes(struct zepi_graph_command *command,
                                           const zepi_launch_desc_t *desc)
{
    zepi_launch_desc_t *own = &command->launch->desc;
    const uint64_t changes = zepi_graph_compare_sizes(own, desc);
    if (changes == 0)
        return ZEPI_SUCCESS;
    struct zepi_graph_edit *edit = launch_update_note(command, ZEPI_GRAPH_EDIT_SIZES, changes);
    if (!edit)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    edit->old.desc = *own;
    own->work_dim = desc->work_dim;
    memcpy(own->global_size, desc->global_size, sizeof(own->global_size));
    memcpy(own->group_size, desc->group_size, sizeof(own->group_size));
    memcpy(own->global_offset, desc->global_offset, sizeof(own->global_offset));
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_launch_update_replace(struct zepi_graph_command *command,
                                         struct zepi_graph_launch *launch)
{
    const struct zepi_graph *graph = command->graph;
    const struct zepi_graph_launch *old = command->launch;
    const struct zepi_device_kernel *device_kernel =
        zepi_graph_device_kernel(graph, launch->kernel);
    uint64_t changes = zepi_graph_launch_compare(old, launch, device_kernel);
    // The command was added with one kernel: lists can take no other.
    if (device_kernel != zepi_graph_device_kernel(graph, old->kernel))
        changes |= ZEPI_GRAPH_CHANGED_FOR_GOOD;
    return launch_update_put(command, launch, changes);
}

// ---- End ----

static void launch_update_undo(const struct zepi_graph_edit *edit)
{
    struct zepi_graph_command *command = edit->command;
    struct zepi_graph_launch *launch = command->launch;
    switch (edit->kind) {
    case ZEPI_GRAPH_EDIT_OF_DRAFT:
        break;
    case ZEPI_GRAPH_EDIT_LAUNCH:
        command->launch = edit->old.launch;
        zepi_graph_launch_release(launch);
        break;
    case ZEPI_GRAPH_EDIT_ARGUMENT:
        launch->arguments[edit->index] = edit->old.argument;
        if (edit->old.argument.kind == ZEPI_ARGUMENT_VALUE && edit->old.argument.value)
            memcpy((void *)edit->old.argument.value, edit->old.value,
                   edit->old.argument.size_bytes);
        break;
    case ZEPI_GRAPH_EDIT_SIZES:
        launch->desc = edit->old.desc;
        break;
    }
}

void zepi_launch_update_end(struct zepi_graph *graph, bool takes_effect)
{
    const size_t count = graph->edit_count;
    if (takes_effect && count > 0) {
        graph->version++;
        for (uint32_t i = 0; i < graph->recording_count; i++)
            zepi_recording_note_edits(graph->recordings[i], graph->edits, count);
        zepi_graph_update_recordings_locked(graph);
    }
    // The last one first.
    for (size_t i = count; i-- > 0;) {
        const struct zepi_graph_edit *edit = &graph->edits[i];
        if (!takes_effect) {
            launch_update_undo(edit);
        } else if (edit->kind == ZEPI_GRAPH_EDIT_LAUNCH) {
            edit->command->launch->is_draft = false;
            zepi_graph_launch_release(edit->old.launch);
        }
    }
    graph->edit_count = 0;
    zepi_mutex_unlock(&graph->turn);
}
