// SPDX-License-Identifier: MIT
#ifndef ZEPI_GRAPH_FOLLOW_H
#define ZEPI_GRAPH_FOLLOW_H

#include "graph/graph.h"
#include "graph/recording.h"

// Recordings follow updates: one that does not run gets the graph's launches as they are, and gives
// up objects that the earlier ones used.

// With the submit_mutex. The recording does not run: puts the launches that updates have changed
// since into its list. False: it cannot, has been cleared, and has to be recorded anew.
bool zepi_graph_follow(struct zepi_graph *graph, struct zepi_recording *recording);
// With the submit_mutex: all recordings that do not run.
void zepi_graph_follow_all(struct zepi_graph *graph);
// The same, unless an execution is being enqueued: then this or the next one sees to it.
void zepi_graph_try_follow(struct zepi_graph *graph);

#endif
