// SPDX-License-Identifier: MIT
#ifndef ZEPI_GRAPH_MUTABLE_LAUNCH_H
#define ZEPI_GRAPH_MUTABLE_LAUNCH_H

#include "graph/graph_command.h"
#include "graph/recorded_uses.h"

// A launch in a mutable command list (ZE_experimental_mutable_command_list), which is changed there
// while nothing of the list runs: arguments but images and samplers, sizes, offset, and the kernel,
// if it is one of those that the command was appended with.

// Whether the driver has such lists for the device.
bool zepi_mutable_launch_is_offered(const struct zepi_device *device);
// The chain of a description of such a list.
extern const struct zepi_ze_mutable_flags_desc zepi_mutable_list_desc;

// Of the launch that is appended to the list next. *out_id is 0 if the list cannot change it.
zepi_result_t zepi_mutable_launch_identify(struct zepi_recorded_uses *uses,
                                           ze_command_list_handle_t list,
                                           const struct zepi_graph_command *command,
                                           uint64_t *out_id);

// Changes the command, which was recorded with `old`, to `launch`; `changed` has all differences
// (graph_launch.h). The list is to be closed again before it is executed. False: the list cannot be
// changed so, or the driver failed; the state of the command in the list is not known then.
bool zepi_mutable_launch_change(struct zepi_recorded_uses *uses, ze_command_list_handle_t list,
                                uint64_t id, const struct zepi_graph_launch *old,
                                const struct zepi_graph_launch *launch, uint64_t changed);

#endif
