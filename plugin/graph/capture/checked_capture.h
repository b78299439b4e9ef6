// SPDX-License-Identifier: MIT
#ifndef ZEPI_GRAPH_CAPTURE_CHECKED_CAPTURE_H
#define ZEPI_GRAPH_CAPTURE_CHECKED_CAPTURE_H

#include "core/object.h"

// Captures and executions as the function table has them: handles are checked.

zepi_result_t zepi_queue_begin_capture(zepi_queue_t queue, zepi_graph_t graph);
zepi_result_t zepi_queue_end_capture(zepi_queue_t queue);
zepi_result_t zepi_queue_execute(zepi_queue_t queue, zepi_graph_t graph, zepi_wait_list_t wait,
                                 zepi_event_t *out_event);

#endif
