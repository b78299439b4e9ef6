// SPDX-License-Identifier: MIT
#include "graph/launch_update.h"

#include "graph/recording.h"

void zepi_launch_update_begin(struct zepi_launch_update *update, struct zepi_graph *graph)
{
    *update = (struct zepi_launch_update){.graph = graph};
    zepi_mutex_lock(&graph->turn);
}

static void launch_update_note_edit(struct zepi_launch_update *update,
                                    struct zepi_graph_command *command,
                                    struct zepi_graph_launch *launch)
{
    command->edit = launch;
    command->next_edited = update->edited;
    update->edited = command;
}

struct zepi_graph_launch **zepi_launch_update_edit(struct zepi_launch_update *update,
                                                   struct zepi_graph_command *command)
{
    if (!command->edit) {
        struct zepi_graph_launch *edit = command->previous;
        command->previous = NULL;
        if (!zepi_graph_launch_follow(edit, command->launch)) {
            zepi_graph_launch_release(edit);
            edit = zepi_graph_launch_copy(command->launch);
        }
        if (!edit)
            return NULL;
        launch_update_note_edit(update, command, edit);
    }
    return &command->edit;
}

void zepi_launch_update_replace(struct zepi_launch_update *update,
                                struct zepi_graph_command *command,
                                struct zepi_graph_launch *launch)
{
    struct zepi_graph_launch *edit = command->edit;
    zepi_graph_launch_note_changes(launch, zepi_graph_device_kernel(update->graph, launch->kernel),
                                   edit ? edit : command->launch);
    if (!edit) {
        launch_update_note_edit(update, command, launch);
        return;
    }
    launch->changes |= edit->changes;
    command->edit = launch;
    zepi_graph_launch_release(edit);
}

// Each edit becomes what its command had.
static void launch_update_apply(const struct zepi_launch_update *update)
{
    struct zepi_graph *graph = update->graph;
    zepi_mutex_lock(&graph->mutex);
    for (struct zepi_graph_command *command = update->edited; command;
         command = command->next_edited) {
        struct zepi_graph_launch *old = command->launch;
        command->launch = command->edit;
        command->edit = old;
    }
    graph->version++;
    zepi_mutex_unlock(&graph->mutex);
    for (uint32_t i = 0; i < graph->recording_count; i++)
        zepi_recording_note_update(graph->recordings[i], update->edited);
    zepi_graph_update_recordings_locked(graph);
}

void zepi_launch_update_end(struct zepi_launch_update *update, bool takes_effect)
{
    if (takes_effect)
        launch_update_apply(update);
    for (struct zepi_graph_command *command = update->edited; command;
         command = command->next_edited) {
        struct zepi_graph_launch *edit = command->edit;
        command->edit = NULL;
        if (takes_effect) {
            zepi_graph_launch_release(command->previous);
            command->previous = edit->has_objects ? NULL : edit;
        }
        if (edit != command->previous)
            zepi_graph_launch_release(edit);
    }
    zepi_mutex_unlock(&update->graph->turn);
}
