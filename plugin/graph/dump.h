// SPDX-License-Identifier: MIT
#ifndef ZEPI_GRAPH_DUMP_H
#define ZEPI_GRAPH_DUMP_H

#include "graph/graph.h"

// Writes the graph to a file as Graphviz reads it: its commands with their sizes, arguments and
// dependencies. NULL: a graph without commands. ZEPI_ERROR_UNKNOWN: the file cannot be
// written.
zepi_result_t zepi_graph_dump(struct zepi_graph *graph, const char *path);

#endif
