// SPDX-License-Identifier: MIT
#ifndef ZEPI_GRAPH_MUTABLE_LAUNCH_H
#define ZEPI_GRAPH_MUTABLE_LAUNCH_H

#include "graph/graph.h"
#include "graph/recording.h"
#include "ze/ze_optional.h"

// A launch in a mutable command list (ZE_experimental_mutable_command_list), which is changed there
// while nothing of the list runs: arguments but images and samplers, sizes, offset, and the kernel,
// if it is one of those that the command was appended with. So a recording follows updates: it gets
// the graph's launches as they are, and gives up objects that the earlier ones used.

// A handle as the functions for such lists take it: the loader's or the driver's.
void *zepi_mutable_handle(const struct zepi_device *device, zel_handle_type_t type, void *handle);

// Asks for the id of the command's launch, which is appended to the recording's list next and was
// translated. It stays 0 if the list cannot change it.
zepi_result_t zepi_mutable_launch_identify(struct zepi_recording *recording,
                                           const struct zepi_graph_command *command);

// With the submit_mutex. The recording does not run: puts the launches that updates have changed
// since into its list. One whose list cannot change them is cleared, to be recorded anew.
void zepi_mutable_launch_follow(struct zepi_recording *recording);

#endif
