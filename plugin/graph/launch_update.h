// SPDX-License-Identifier: MIT
#ifndef ZEPI_GRAPH_LAUNCH_UPDATE_H
#define ZEPI_GRAPH_LAUNCH_UPDATE_H

#include "graph/graph.h"

// An update of launches of a finalized graph: it begins, changes launches of commands of the graph,
// and ends. No execution is enqueued and no other update begins meanwhile. Executions that are
// enqueued afterwards have all of it. Commands have the changed launches at once; what they were is
// noted, so that an update that fails has no effect.
//
// A launch is changed in place, unless recordings need its kernel or its objects for longer: then
// the command gets another launch.

static inline void zepi_launch_update_begin(struct zepi_graph *graph)
{
    zepi_mutex_lock(&graph->turn);
}
// Another kernel. Arguments that it has none of are gone; new ones are values without bytes.
zepi_result_t zepi_launch_update_set_kernel(struct zepi_graph_command *command,
                                            struct zepi_kernel *kernel,
                                            const struct zepi_device_kernel *device_kernel);
// Checks one argument of the kernel, and sets it. `memory` without a reference, or NULL.
// ZEPI_ERROR_INVALID_SIZE is the argument's.
zepi_result_t zepi_launch_update_set_argument(struct zepi_graph_command *command,
                                              const struct zepi_device_kernel *device_kernel,
                                              uint32_t index, const zepi_argument_t *argument,
                                              const struct zepi_graph_memory *memory);
// The work sizes and the offset of the description.
zepi_result_t zepi_launch_update_set_sizes(struct zepi_graph_command *command,
                                           const zepi_launch_desc_t *desc);
// The command is to have this launch, a reference to which is consumed.
zepi_result_t zepi_launch_update_replace(struct zepi_graph_command *command,
                                         struct zepi_graph_launch *launch);
// The update takes effect, or nothing of it does.
void zepi_launch_update_end(struct zepi_graph *graph, bool takes_effect);

#endif
