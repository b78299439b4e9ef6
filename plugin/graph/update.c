// SPDX-License-Identifier: MIT
#include "graph/update.h"

#include "graph/execution.h"

#include <utlist.h>

// Puts the command before all others whose launches recordings lack.
static void mark_dirty(struct zepi_graph_command *command)
{
    struct zepi_graph *graph = command->graph;
    if (command != graph->dirty) {
        if (command->dirty_version > 0)
            DL_DELETE2(graph->dirty, command, prev_dirty, next_dirty);
        DL_PREPEND2(graph->dirty, command, prev_dirty, next_dirty);
    }
    command->dirty_version = atomic_load_explicit(&graph->version, memory_order_relaxed) + 1;
}

void zepi_graph_update_put(struct zepi_graph_command *command, struct zepi_launch_record *draft)
{
    if (command->draft)
        LL_PREPEND(command->graph->gone, command->draft);
    command->draft = draft;
    mark_dirty(command);
}

zepi_result_t zepi_graph_update_set(struct zepi_graph_command *command,
                                    const struct zepi_launch *launch)
{
    if (command->draft && zepi_launch_record_rewrite(command->draft, launch)) {
        mark_dirty(command);
        return ZEPI_SUCCESS;
    }
    struct zepi_launch_record *draft = zepi_launch_record_create(launch);
    if (!draft)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    zepi_graph_update_put(command, draft);
    return ZEPI_SUCCESS;
}

// The record that the command does not have is kept as its next draft, if nothing stays alive for
// that.
static void end_draft(struct zepi_graph_command *command, bool takes_effect)
{
    struct zepi_launch_record *draft = command->draft;
    if (takes_effect) {
        command->draft = command->launch;
        command->launch = draft;
    }
    if (!command->launch->is_plain ||
        !zepi_launch_record_has_form_of(command->draft, &command->launch->launch)) {
        LL_PREPEND(command->graph->gone, command->draft);
        command->draft = NULL;
    }
}

void zepi_graph_update_end(struct zepi_graph *graph, bool takes_effect)
{
    const uint64_t before = atomic_load_explicit(&graph->version, memory_order_relaxed);
    const uint64_t version = takes_effect ? before + 1 : before;
    for (struct zepi_graph_command *command = graph->dirty;
         command && command->dirty_version > before; command = command->next_dirty) {
        end_draft(command, takes_effect);
        command->dirty_version = version;
    }
    struct zepi_launch_record *gone = graph->gone;
    graph->gone = NULL;
    // Release: the launches of the version.
    atomic_store_explicit(&graph->version, version, memory_order_release);
    zepi_mutex_unlock(&graph->mutex);
    if (takes_effect)
        zepi_graph_try_follow(graph);
    while (gone) {
        struct zepi_launch_record *record = gone;
        gone = record->next;
        zepi_launch_record_release(record);
    }
}
