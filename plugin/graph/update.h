// SPDX-License-Identifier: MIT
#ifndef ZEPI_GRAPH_UPDATE_H
#define ZEPI_GRAPH_UPDATE_H

#include "graph/graph.h"

// An update of launches of a finalized graph: it begins, gives commands drafts of other launches,
// and ends; then all drafts take effect, or none. It has the graph's mutex, and waits for no
// execution: those that are enqueued afterwards have it.

static inline void zepi_graph_update_begin(struct zepi_graph *graph)
{
    zepi_mutex_lock(&graph->mutex);
}
// Whether the update has given the command a draft.
static inline bool zepi_graph_update_has(const struct zepi_graph_command *command)
{
    return command->dirty_version >
           atomic_load_explicit(&command->graph->version, memory_order_relaxed);
}
// The command's launch as the update has made it so far.
static inline const struct zepi_launch *
zepi_graph_update_launch(const struct zepi_graph_command *command)
{
    return zepi_graph_update_has(command) ? &command->draft->launch : &command->launch->launch;
}
// The command is to have this launch. The draft is written again if it has the launch's form.
zepi_result_t zepi_graph_update_set(struct zepi_graph_command *command,
                                    const struct zepi_launch *launch);
// Sets a record as the draft, and consumes it.
void zepi_graph_update_put(struct zepi_graph_command *command, struct zepi_launch_record *draft);
void zepi_graph_update_end(struct zepi_graph *graph, bool takes_effect);

#endif
