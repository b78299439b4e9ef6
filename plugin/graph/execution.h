// SPDX-License-Identifier: MIT
#ifndef ZEPI_GRAPH_EXECUTION_H
#define ZEPI_GRAPH_EXECUTION_H

#include "graph/graph.h"

// Records the commands. ZEPI_ERROR_WRONG_STATE: they were recorded before, or are being captured,
// or their capture failed. An error leaves the graph as it was.
zepi_result_t zepi_graph_finalize(struct zepi_graph *graph);
// Enqueues an execution to a queue of the graph's context and device that is not in capture mode
// (zepi_capture_execute). It follows the one before it.
// If all recordings run, this waits for the oldest. ZEPI_ERROR_WRONG_STATE: the graph is not
// finalized.
zepi_result_t zepi_graph_execute(struct zepi_graph *graph, struct zepi_queue *queue,
                                 zepi_wait_list_t wait, zepi_event_t *out_event);
// Recordings that do not run follow updates, unless an execution is being enqueued: then that or
// the next one sees to it.
void zepi_graph_try_follow(struct zepi_graph *graph);

#endif
