// SPDX-License-Identifier: MIT
#ifndef ZEPI_GRAPH_CAPTURE_CAPTURED_COMMAND_H
#define ZEPI_GRAPH_CAPTURE_CAPTURED_COMMAND_H

#include "graph/graph.h"
#include "queue/capture_command.h"

// Commands of queues in capture mode on their way into a graph. Any thread, under no lock. A
// failure leaves the capture as it was, unless it says ZEPI_ERROR_CAPTURE_INVALIDATED.

// The functions of zepi_capture_functions.
zepi_result_t zepi_captured_command_add(struct zepi_capture *capture, struct zepi_queue *queue,
                                        const struct zepi_captured_command *command,
                                        zepi_wait_list_t wait, zepi_event_t *out_event);
zepi_result_t zepi_captured_command_keep(struct zepi_capture *capture, void *object,
                                         const struct zepi_buffer_part *part);
ze_command_list_handle_t zepi_captured_command_get_list(struct zepi_capture *capture);

// Has a function of the host's record to a command list, which zepi_queue_get_native returns
// meanwhile. For a command that is to be captured.
zepi_result_t zepi_captured_command_add_native(struct zepi_queue *queue,
                                               void (*function)(void *data), void *data,
                                               zepi_wait_list_t wait, zepi_event_t *out_event);

#endif
