// SPDX-License-Identifier: MIT
#ifndef ZEPI_GRAPH_CAPTURE_CAPTURED_GRAPH_H
#define ZEPI_GRAPH_CAPTURE_CAPTURED_GRAPH_H

#include "graph/graph.h"

// An execution of a graph that a queue in capture mode captures: its commands as they are at this
// moment, in their order, between two without effect. A graph with native commands is
// ZEPI_ERROR_CAPTURE_UNSUPPORTED: a host's list cannot be in two graphs. ZEPI_ERROR_WRONG_STATE: it
// is not finalized.
zepi_result_t zepi_captured_graph_add(struct zepi_queue *queue, struct zepi_graph *graph,
                                      zepi_wait_list_t wait, zepi_event_t *out_event);

#endif
