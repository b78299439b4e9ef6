// SPDX-License-Identifier: MIT
#include "graph/launch_update.h"

#include "core/alloc.h"

#include <utlist.h>

// Recordings are to get these changes. If the update fails, they set again what they have.
static void launch_update_mark(struct zepi_graph_command *command, uint64_t changes)
{
    struct zepi_graph *graph = command->graph;
    const uint64_t version = graph->version + 1;
    if (command->changed_version <= graph->oldest_version)
        command->changes = 0;
    command->changes |= changes;
    if (graph->changed != command) {
        if (command->changed_version > 0)
            DL_DELETE(graph->changed, command);
        DL_PREPEND(graph->changed, command);
    }
    command->changed_version = version;
}

// False: there was no memory (noted).
static __attribute__((noinline)) bool launch_update_grow_edits(struct zepi_graph *graph)
{
    struct zepi_graph_edit *edits =
        zepi_grow(graph->edits, graph->edit_count, &graph->edit_capacity, sizeof(edits[0]));
    if (!edits) {
        zepi_fail_no_memory();
        return false;
    }
    graph->edits = edits;
    return true;
}

// NULL without memory (noted).
static inline struct zepi_graph_edit *launch_update_note(struct zepi_graph_command *command,
                                                         enum zepi_graph_edit_kind kind,
                                                         uint64_t changes)
{
    struct zepi_graph *graph = command->graph;
    if (graph->edit_count == graph->edit_capacity && !launch_update_grow_edits(graph))
        return NULL;
    struct zepi_graph_edit *edit = &graph->edits[graph->edit_count++];
    edit->command = command;
    edit->kind = kind;
    launch_update_mark(command, changes);
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

static zepi_result_t launch_update_set_in_place(struct zepi_graph_command *command, uint32_t index,
                                                const zepi_argument_t *argument)
{
    struct zepi_graph_launch *launch = command->launch;
    const zepi_argument_t *own = &launch->arguments[index];
    struct zepi_graph_edit *edit =
        launch_update_note(command, ZEPI_GRAPH_EDIT_ARGUMENT, zepi_graph_changed_argument(index));
    if (!edit)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    edit->index = index;
    edit->old.argument = *own;
    if (zepi_graph_has_bytes(own))
        memcpy(edit->old.value, own->value, own->size_bytes);
    zepi_graph_launch_set_argument(launch, index, argument);
    return ZEPI_SUCCESS;
}

static __attribute__((noinline)) zepi_result_t
launch_update_set_in_another(struct zepi_graph_command *command, uint32_t index,
                             const zepi_argument_t *argument,
                             const struct zepi_graph_memory *memory)
{
    struct zepi_graph_launch *launch = command->launch;
    const uint64_t changes = zepi_graph_changed_argument(index);
    if (launch->is_draft && zepi_graph_launch_has_room(launch, index, argument)) {
        zepi_graph_launch_set_argument(launch, index, argument);
        zepi_graph_launch_set_memory(launch, index, memory);
        launch_update_mark(command, changes);
        return ZEPI_SUCCESS;
    }
    return launch_update_put(command,
                             zepi_graph_launch_create_changed(launch, launch->kernel,
                                                              launch->desc.argument_count, index,
                                                              argument, memory),
                             changes);
}

zepi_result_t zepi_launch_update_set_argument(struct zepi_graph_command *command,
                                              const struct zepi_device_kernel *device_kernel,
                                              uint32_t index, const zepi_argument_t *argument,
                                              const struct zepi_graph_memory *memory)
{
    const struct zepi_graph_launch *launch = command->launch;
    const zepi_argument_t *own = &launch->arguments[index];
    // Emulated constants are an argument that comes with the launch.
    if (!launch->kernel->is_emulated) {
        const zepi_result_t result = zepi_argument_check(device_kernel, index, argument);
        if (result != ZEPI_SUCCESS)
            return result;
    }
    if (argument->kind != ZEPI_ARGUMENT_POINTER &&
        zepi_graph_launch_has_argument(launch, device_kernel, index, argument, memory))
        return ZEPI_SUCCESS;
    const bool fits = zepi_graph_launch_has_room(launch, index, argument) &&
                      (!zepi_graph_has_bytes(own) || own->size_bytes <= ZEPI_GRAPH_EDIT_BYTES);
    return !fits || launch->is_draft || launch->has_objects || (memory && memory->object)
               ? launch_update_set_in_another(command, index, argument, memory)
               : launch_update_set_in_place(command, index, argument);
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
    const struct zepi_device_kernel *device_kernel =
        zepi_graph_device_kernel(command->graph, launch->kernel);
    return launch_update_put(command, launch,
                             zepi_graph_launch_compare(command->launch, launch, device_kernel));
}

// ---- End ----

static void launch_update_undo(const struct zepi_graph_edit *edit)
{
    struct zepi_graph_command *command = edit->command;
    struct zepi_graph_launch *launch = command->launch;
    switch (edit->kind) {
    case ZEPI_GRAPH_EDIT_LAUNCH:
        command->launch = edit->old.launch;
        zepi_graph_launch_release(launch);
        break;
    case ZEPI_GRAPH_EDIT_ARGUMENT:
        launch->arguments[edit->index] = edit->old.argument;
        if (zepi_graph_has_bytes(&edit->old.argument))
            memcpy((void *)edit->old.argument.value, edit->old.value,
                   edit->old.argument.size_bytes);
        break;
    case ZEPI_GRAPH_EDIT_SIZES:
        launch->desc = edit->old.desc;
        break;
    }
}

// The last one first.
static __attribute__((noinline)) void launch_update_undo_all(const struct zepi_graph *graph)
{
    for (size_t i = graph->edit_count; i-- > 0;)
        launch_update_undo(&graph->edits[i]);
}

static void launch_update_take_effect(struct zepi_graph *graph)
{
    graph->version++;
    zepi_graph_update_recordings_locked(graph);
    for (size_t i = 0; i < graph->edit_count; i++) {
        const struct zepi_graph_edit *edit = &graph->edits[i];
        if (edit->kind == ZEPI_GRAPH_EDIT_LAUNCH) {
            edit->command->launch->is_draft = false;
            zepi_graph_launch_release(edit->old.launch);
        }
    }
}

void zepi_launch_update_end(struct zepi_graph *graph, bool takes_effect)
{
    if (!takes_effect)
        launch_update_undo_all(graph);
    else if (graph->edit_count > 0)
        launch_update_take_effect(graph);
    graph->edit_count = 0;
    zepi_mutex_unlock(&graph->turn);
}
