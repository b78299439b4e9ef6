// SPDX-License-Identifier: MIT
#ifndef ZEPI_GRAPH_MUTABLE_LAUNCH_H
#define ZEPI_GRAPH_MUTABLE_LAUNCH_H

#include "graph/graph_command.h"
#include "graph/recorded_uses.h"
#include "ze/ze_optional.h"

// A launch in a mutable command list (ZE_experimental_mutable_command_list), which is changed there
// while nothing of the list runs: arguments but images and samplers, sizes, offset, and the kernel,
// if it is one of those that the command was appended with.

// Whether the driver has such lists for the device.
bool zepi_mutable_launch_is_offered(const struct zepi_device *device);
// The chain of a description of such a list.
extern const struct zepi_ze_number zepi_mutable_list_desc;

// A handle as the functions for such lists take it: the loader's or the driver's.
void *zepi_mutable_handle(const struct zepi_device *device, zel_handle_type_t type, void *handle);

// Asks for the id of the launch that is appended to the list next, which has been translated.
// *out_id is 0 if the list cannot change it.
zepi_result_t zepi_mutable_launch_identify(struct zepi_recorded_uses *uses,
                                           ze_command_list_handle_t list,
                                           const struct zepi_graph_command *command,
                                           uint64_t *out_id);

#endif
