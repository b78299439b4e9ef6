// SPDX-License-Identifier: MIT
#include "graph/update.h"

#include "graph/execution.h"

#include <utlist.h>

void zepi_graph_update_put(struct zepi_graph_command *command, struct zepi_launch_record *launch)
{
    command->launch->command = command;
    LL_PREPEND(command->graph->replaced, command->launch);
    command->launch = launch;
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

// Release: the launches of the version.
static void take_effect(struct zepi_graph *graph)
{
    const uint64_t version = atomic_load_explicit(&graph->version, memory_order_relaxed) + 1;
    for (struct zepi_launch_record *record = graph->replaced; record; record = record->next)
        mark_dirty(graph, record->command, version);
    atomic_store_explicit(&graph->version, version, memory_order_release);
}

// The commands get their records back, the last one that was replaced first. The list has the
// others then.
static void take_back(struct zepi_graph *graph)
{
    for (struct zepi_launch_record **at = &graph->replaced; *at; at = &(*at)->next) {
        struct zepi_launch_record *before = *at;
        struct zepi_launch_record *after = before->command->launch;
        before->command->launch = before;
        after->next = before->next;
        *at = after;
    }
}

void zepi_graph_update_end(struct zepi_graph *graph, bool takes_effect)
{
    struct zepi_launch_record *next;
    if (takes_effect)
        take_effect(graph);
    else
        take_back(graph);
    struct zepi_launch_record *record = graph->replaced;
    graph->replaced = NULL;
    zepi_mutex_unlock(&graph->mutex);
    if (takes_effect)
        zepi_graph_try_follow(graph);
    for (; record; record = next) {
        next = record->next;
        zepi_launch_record_release(record);
    }
}
