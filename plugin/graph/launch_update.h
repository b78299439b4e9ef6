// SPDX-License-Identifier: MIT
#ifndef ZEPI_GRAPH_LAUNCH_UPDATE_H
#define ZEPI_GRAPH_LAUNCH_UPDATE_H

#include "graph/graph.h"

// An update of launches of a finalized graph: it begins, gets launches for commands of the graph,
// and ends. No execution is enqueued and no other update begins meanwhile. Executions that are
// enqueued afterwards have all of it.
struct zepi_launch_update {
    struct zepi_graph *graph;
    struct zepi_graph_command *edited; // a chain, through next_edited
};

void zepi_launch_update_begin(struct zepi_launch_update *update, struct zepi_graph *graph);
// The launch that the command is to have, to be changed (graph_launch.h): a copy of its launch, the
// first time. NULL without memory (noted).
struct zepi_graph_launch **zepi_launch_update_edit(struct zepi_launch_update *update,
                                                   struct zepi_graph_command *command);
// The command is to have this launch, a reference to which is consumed.
void zepi_launch_update_replace(struct zepi_launch_update *update,
                                struct zepi_graph_command *command,
                                struct zepi_graph_launch *launch);
// The update takes effect, or nothing of it does.
void zepi_launch_update_end(struct zepi_launch_update *update, bool takes_effect);

#endif
