// SPDX-License-Identifier: MIT
#ifndef ZEPI_GRAPH_RECORDER_H
#define ZEPI_GRAPH_RECORDER_H

#include "graph/graph_command.h"
#include "graph/recorded_uses.h"

// Where a command is recorded to, and how it is ordered there. For one command.
struct zepi_recorder {
    struct zepi_recorded_uses *uses;
    ze_command_list_handle_t list;
    ze_event_handle_t signal; // NULL: no command waits for this one
    uint32_t wait_count;
    ze_event_handle_t *waits;
    // Of a mutable list: its handle for the functions of mutable_launch.h, and the id by which the
    // launch is changed there; 0: it cannot be. NULL: the list is not mutable.
    ze_command_list_handle_t mutable_list;
    uint64_t *out_id;
};

// A command that is not native.
zepi_result_t zepi_record_command(const struct zepi_recorder *recorder,
                                  const struct zepi_graph_command *command);

#endif
