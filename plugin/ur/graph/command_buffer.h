// SPDX-License-Identifier: MIT
#ifndef ZEPI_UR_GRAPH_COMMAND_BUFFER_H
#define ZEPI_UR_GRAPH_COMMAND_BUFFER_H

#include "graph/graph.h"
#include "ur/memory/mem.h"
#include "ur/program/kernel.h"

// A command buffer is a graph of the core, a command's handle its command there, a sync point its
// number.

ZEPI_UR_DEFINE_HANDLE(command_buffer, ur_exp_command_buffer_handle_t, zepi_graph,
                      UR_RESULT_ERROR_INVALID_COMMAND_BUFFER_EXP)

// ---- Appending ----

// The frame around every append. First the handle, the lists and unsupported arguments are checked;
// then the caller makes its command, and fills it; then the command is appended, or released if it
// cannot be.
//
//     struct zepi_ur_append append = {...};
//     ur_result_t result = zepi_ur_append_begin(&append);
//     ... more checks ...
//     if (result != UR_RESULT_SUCCESS)
//         return result;
//     struct zepi_graph_command *command = zepi_ur_append_make(&append, kind);
//     if (command)
//         command->... = ...;
//     return zepi_ur_append_end(&append, command);
struct zepi_ur_append {
    struct zepi_graph *graph; // a handle, until it is checked
    uint32_t wait_count;
    const ur_exp_command_buffer_sync_point_t *waits;
    uint32_t event_count; // refused, as the two below
    const ur_event_handle_t *events;
    ur_event_handle_t *out_event;
    ur_exp_command_buffer_sync_point_t *out_sync_point;  // NULL: none is wanted
    ur_exp_command_buffer_command_handle_t *out_command; // NULL: none is wanted
};

// The last parameters of all functions that append copies, fills, hints and launches, and the frame
// that is made of them.
#define ZEPI_UR_APPEND_PARAMETERS                                                                  \
    uint32_t numSyncPointsInWaitList,                                                              \
        const ur_exp_command_buffer_sync_point_t *pSyncPointWaitList,                              \
        uint32_t numEventsInWaitList, const ur_event_handle_t *phEventWaitList,                    \
        ur_exp_command_buffer_sync_point_t *pSyncPoint, ur_event_handle_t *phEvent,                \
        ur_exp_command_buffer_command_handle_t *phCommand
#define ZEPI_UR_APPEND                                                                             \
    {                                                                                              \
        .graph = zepi_ur_command_buffer(hCommandBuffer), .wait_count = numSyncPointsInWaitList,    \
        .waits = pSyncPointWaitList, .event_count = numEventsInWaitList,                           \
        .events = phEventWaitList, .out_event = phEvent, .out_sync_point = pSyncPoint,             \
        .out_command = phCommand                                                                   \
    }

ur_result_t zepi_ur_append_begin(struct zepi_ur_append *append);
// Whether the graph takes a command, ahead of zepi_ur_append_end, for what cannot be undone.
ur_result_t zepi_ur_append_check_graph(const struct zepi_ur_append *append);
// NULL without memory (noted).
struct zepi_graph_command *zepi_ur_append_make(const struct zepi_ur_append *append,
                                               enum zepi_command_kind kind);
// `command` is consumed; NULL: there was no memory.
ur_result_t zepi_ur_append_end(const struct zepi_ur_append *append,
                               struct zepi_graph_command *command);

#endif
