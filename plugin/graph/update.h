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
// The command's launch, to be changed, checked and put: a draft with room for `arg_count`
// arguments, or its own if these are more, and for `more_bytes` of arguments. NULL without memory
// (noted).
struct zepi_launch_record *zepi_graph_update_draft(struct zepi_graph_command *command,
                                                   uint32_t arg_count, size_t more_bytes);
// In place of putting a draft.
void zepi_graph_update_drop_draft(struct zepi_graph *graph, struct zepi_launch_record *draft);
// Holds a draft for the command, which has been checked.
void zepi_graph_update_put_draft(struct zepi_graph_command *command,
                                 struct zepi_launch_record *draft);
// The command is to have this launch, a reference to which is consumed.
void zepi_graph_update_put(struct zepi_graph_command *command, struct zepi_launch_record *launch);
void zepi_graph_update_end(struct zepi_graph *graph, bool takes_effect);

#endif
