// SPDX-License-Identifier: MIT
#include "graph/capture/checked_capture.h"

#include "graph/capture/capture.h"

zepi_result_t zepi_queue_begin_capture(zepi_queue_t queue, zepi_graph_t graph)
{
    zepi_result_t result = zepi_check_object(queue, &zepi_queue_type);
    if (result == ZEPI_SUCCESS)
        result = zepi_check_object(graph, &zepi_graph_type);
    return result == ZEPI_SUCCESS ? zepi_capture_begin(queue, graph, graph) : result;
}

zepi_result_t zepi_queue_end_capture(zepi_queue_t queue)
{
    void *graph;
    zepi_result_t result = zepi_check_object(queue, &zepi_queue_type);
    if (result != ZEPI_SUCCESS)
        return result;
    result = zepi_capture_end(queue, &graph);
    zepi_release(graph);
    return result;
}

zepi_result_t zepi_queue_execute(zepi_queue_t queue, zepi_graph_t graph, zepi_wait_list_t wait,
                                 zepi_event_t *out_event)
{
    zepi_result_t result = zepi_check_object(queue, &zepi_queue_type);
    if (result == ZEPI_SUCCESS)
        result = zepi_check_object(graph, &zepi_graph_type);
    if (result != ZEPI_SUCCESS)
        return result;
    if (queue->context != graph->context || queue->device != graph->device)
        return zepi_fail(ZEPI_ERROR_INVALID_OBJECT,
                         "the graph is of another context or device than the queue");
    if (!zepi_graph_is_finalized(graph))
        return zepi_fail(ZEPI_ERROR_WRONG_STATE, "the graph was not finalized yet");
    return zepi_capture_execute(graph, queue, wait, out_event);
}
