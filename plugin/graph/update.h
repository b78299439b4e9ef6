// SPDX-License-Identifier: MIT
#ifndef ZEPI_GRAPH_UPDATE_H
#define ZEPI_GRAPH_UPDATE_H

#include "graph/graph.h"

// An update of launches of a finalized graph: it begins, gives commands other records, and ends;
// then all of these take effect, or none. It has the graph's mutex, and waits for no execution:
// those that are enqueued afterwards have it.

static inline void zepi_graph_update_begin(struct zepi_graph *graph)
{
    zepi_mutex_lock(&graph->mutex);
}
// The command is to have this launch, a reference to which is consumed.
void zepi_graph_update_put(struct zepi_graph_command *command, struct zepi_launch_record *launch);
void zepi_graph_update_end(struct zepi_graph *graph, bool takes_effect);

#endif
