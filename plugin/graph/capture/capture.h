// SPDX-License-Identifier: MIT
#ifndef ZEPI_GRAPH_CAPTURE_CAPTURE_H
#define ZEPI_GRAPH_CAPTURE_CAPTURE_H

#include "graph/capture/captured_graph.h"
#include "graph/execution.h"
#include "queue/capture_command.h"

// Captures the commands of queues to a graph (queue/capture.h). A command of an in-order queue
// waits for the one before; one of any other queue for the last barrier; both for the captured
// events of their wait lists. Events from outside are waited for by executions.

// The queue's commands go to the graph from now on: a graph without commands, of the queue's
// context and device. `owner` is the object that zepi_capture_end gives back; retained.
// ZEPI_ERROR_WRONG_STATE: the queue or the graph is in another capture. ZEPI_ERROR_INVALID_VALUE:
// the graph has commands.
zepi_result_t zepi_capture_begin(struct zepi_queue *queue, struct zepi_graph *graph, void *owner);

// Ends the capture, for all its queues. *out_owner is a new reference, on failure too, if there was
// a capture to end, else NULL. The errors:
// ZEPI_ERROR_NOT_CAPTURING: the queue is in no capture. ZEPI_ERROR_WRONG_STATE: it began on another
// queue, and goes on.
// ZEPI_ERROR_CAPTURE_UNJOINED: no command of this queue waits for the last one of another.
// ZEPI_ERROR_CAPTURE_INVALIDATED: part of something was not captured. With these two the capture is
// over, and the graph cannot be executed.
zepi_result_t zepi_capture_end(struct zepi_queue *queue, void **out_owner);

// Ends the capture of an owner that goes, wherever it began. The caller has a reference to the
// owner.
void zepi_capture_end_of(void *owner);

// The owner of the queue's capture, a new reference; NULL: there is none.
void *zepi_capture_get_owner(struct zepi_queue *queue);

// zepi_graph_execute of any graph. A queue in capture mode captures the commands of the graph.
static inline zepi_result_t zepi_capture_execute(struct zepi_graph *graph, struct zepi_queue *queue,
                                                 zepi_wait_list_t wait, zepi_event_t *out_event)
{
    const bool may_be_captured = wait.count > 0 || zepi_queue_is_capturing(queue);
    return may_be_captured && zepi_capture_takes(queue, wait)
               ? zepi_captured_graph_add(queue, graph, wait, out_event)
               : zepi_graph_execute(graph, queue, wait, out_event);
}

#endif
