// SPDX-License-Identifier: MIT
#ifndef ZEPI_GRAPH_EXECUTION_H
#define ZEPI_GRAPH_EXECUTION_H

#include "graph/recording.h"

// Nothing of the recording runs: enqueues an execution, whose event is recording->last then; NULL
// on failure.
zepi_result_t zepi_recording_execute(struct zepi_recording *recording, struct zepi_queue *queue,
                                     zepi_wait_list_t wait, zepi_event_t *out_event);

#endif
