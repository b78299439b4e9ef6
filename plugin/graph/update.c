// SPDX-License-Identifier: MIT
#include "graph/update.h"

#include <utlist.h>

void zepi_graph_update_put(struct zepi_graph_command *command, struct zepi_launch_record *launch)
{
    struct zepi_graph *graph = command->graph;
    if (command->update) {
        LL_PREPEND(graph->given_up, command->update);
    } else {
        command->next_updated = graph->updated;
        graph->updated = command;
    }
    command->update = launch;
}

// The command is the first one of those that recordings lack.
static void mark_dirty(struct zepi_graph *graph, struct zepi_graph_command *command,
                       uint64_t version)
{
    if (command != graph->dirty) {
        if (command->dirty_version > 0)
            DL_DELETE2(graph->dirty, command, prev_dirty, next_dirty);
        DL_PREPEND2(graph->dirty, command, prev_dirty, next_dirty);
    }
    command->dirty_version = version;
}

// The updates become the launches, or go. Returns the records that are given up.
static struct zepi_launch_record *take_updates(struct zepi_graph *graph, bool takes_effect)
{
    const uint64_t version = atomic_load_explicit(&graph->version, memory_order_relaxed) + 1;
    while (graph->updated) {
        struct zepi_graph_command *command = graph->updated;
        struct zepi_launch_record *update = command->update;
        struct zepi_launch_record *given_up = takes_effect ? command->launch : update;
        graph->updated = command->next_updated;
        command->update = NULL;
        LL_PREPEND(graph->given_up, given_up);
        if (!takes_effect)
            continue;
        command->launch = update;
        mark_dirty(graph, command, version);
    }
    // Release: the launches of this version.
    if (takes_effect)
        atomic_store_explicit(&graph->version, version, memory_order_release);
    struct zepi_launch_record *given_up = graph->given_up;
    graph->given_up = NULL;
    return given_up;
}

void zepi_graph_update_end(struct zepi_graph *graph, bool takes_effect)
{
    struct zepi_launch_record *next;
    struct zepi_launch_record *given_up = take_updates(graph, takes_effect);
    zepi_mutex_unlock(&graph->mutex);
    if (takes_effect)
        zepi_graph_try_follow(graph);
    for (; given_up; given_up = next) {
        next = given_up->next;
        zepi_graph_give_up(graph, given_up);
    }
}
