// SPDX-License-Identifier: MIT
#ifndef ZEPI_GRAPH_CHECKED_GRAPH_H
#define ZEPI_GRAPH_CHECKED_GRAPH_H

#include "graph/graph.h"

// Graphs as the function table has them: handles, descriptions and ranges are checked.
// capture/checked_capture.h has captures and executions.

zepi_result_t zepi_graph_create_checked(zepi_context_t context, zepi_device_t device,
                                        zepi_graph_flags_t flags, zepi_graph_t *out_graph);
zepi_result_t zepi_graph_get_info(zepi_graph_t graph, zepi_graph_info_t *out_info);
zepi_result_t zepi_graph_add_launch(zepi_graph_t graph, const zepi_launch_desc_t *desc,
                                    zepi_graph_wait_list_t wait, uint32_t *out_number);
zepi_result_t zepi_graph_add_copy(zepi_graph_t graph, void *destination, const void *source,
                                  size_t size_bytes, zepi_graph_wait_list_t wait,
                                  uint32_t *out_number);
zepi_result_t zepi_graph_add_fill(zepi_graph_t graph, void *destination, const void *pattern,
                                  size_t pattern_size_bytes, size_t size_bytes,
                                  zepi_graph_wait_list_t wait, uint32_t *out_number);
zepi_result_t zepi_graph_finalize_checked(zepi_graph_t graph);
zepi_result_t zepi_graph_update_launches(zepi_graph_t graph, uint32_t count,
                                         const zepi_graph_update_t *updates);
zepi_result_t zepi_graph_dump_checked(zepi_graph_t graph, const char *path);

#endif
