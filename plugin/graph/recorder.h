// SPDX-License-Identifier: MIT
#ifndef ZEPI_GRAPH_RECORDER_H
#define ZEPI_GRAPH_RECORDER_H

#include "graph/graph.h"
#include "graph/recording.h"

// With the submit_mutex. Nothing of the recording runs: records the graph's commands, with their
// launches as they are, to closed lists. On failure nothing is recorded.
zepi_result_t zepi_record_graph(struct zepi_recording *recording);

#endif
