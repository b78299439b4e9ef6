// SPDX-License-Identifier: MIT
#ifndef ZEPI_GRAPH_RECORDING_H
#define ZEPI_GRAPH_RECORDING_H

#include "graph/list_run.h"
#include "graph/mutable_launch.h"
#include "graph/recorder.h"

// A graph's commands as closed command lists: one list, and one more behind each native command's
// list. Commands of a graph in order have barriers between them, others events of the recording's
// own where one waits for another; the last commands in the lists reset these. Every native command
// has a barrier on both sides. Under the graph's submit_mutex, but for the deferred free.

// A buffer that moves: it is brought to the device before each execution.
struct zepi_recording_move {
    struct zepi_buffer_part part; // borrowed from a command or a launch
    enum zepi_buffer_access access;
};

struct zepi_recording {
    struct zepi_deferred deferred; // once the graph is gone
    uint64_t version;              // of the graph's launches that is recorded; 0: none
    zepi_event_t last;             // owned; of the last execution; NULL: it is over
    uint64_t number;               // of that execution in the graph
    struct zepi_queue
        *kept_queues;              // owned list: of executions that are over; nothing else has them
    ze_command_list_handle_t *own; // owned list of owned lists
    ze_command_list_handle_t *lists; // those of an execution, native commands' too; behind `own`
    uint32_t own_count;
    uint32_t list_count;
    ze_event_pool_handle_t pool; // owned; NULL: no events
    ze_event_handle_t *events;   // owned: by command; NULL: no command waits for it
    ze_event_handle_t *waits;    // of the command that is recorded; behind `lists`
    size_t event_count;          // that of commands, once `events` is there
    bool is_mutable;             // the list is. Set by the owner before anything is recorded
    ze_command_list_handle_t mutable_list; // that list, for mutable_launch.h
    uint64_t *mutable_ids;                 // owned: by command, 0: the list cannot change it
    // Owned: room for a record of each command, as follow.c replaces them.
    struct zepi_launch_record **replaced;
    struct zepi_list_run *run; // owned; NULL: the driver appends closed lists
    struct zepi_recorded_uses uses;
    struct zepi_recording_move *moves; // owned list
    size_t move_count;
    size_t move_capacity;
};

// With nothing recorded.
zepi_result_t zepi_recording_create(struct zepi_context *context, struct zepi_device *device,
                                    struct zepi_recording **out_recording);
// Its executions are over, or will be once the queues are empty: releases the objects that it uses,
// and destroys its lists when no command can use them any more. NULL is fine.
void zepi_recording_destroy(struct zepi_recording *recording);

// Releases the event of an execution that is over. A queue that nothing else has is kept until it
// is idle: its end would wait for later commands, and these may wait for a call that needs the
// submit_mutex.
void zepi_recording_release_event(struct zepi_recording *recording, zepi_event_t event);
zepi_result_t zepi_recording_ask_last(struct zepi_recording *recording);
// Asks whether the recording may be changed and executed: nothing of it runs. ZEPI_ERROR_NOT_READY,
// which is not noted: its last execution is not over.
static inline zepi_result_t zepi_recording_ask_idle(struct zepi_recording *recording)
{
    return recording->last ? zepi_recording_ask_last(recording) : ZEPI_SUCCESS;
}

// It does not run: forgets its lists, and gives up the objects that these use.
void zepi_recording_clear(struct zepi_recording *recording);
// Nothing of it runs, and it has been cleared and then holds the launches of the commands in this
// version: records them. The commands are always the same. On failure nothing is recorded.
zepi_result_t zepi_recording_record(struct zepi_recording *recording,
                                    const struct zepi_graph_commands *commands, uint64_t version);

// The last event is signalled, but a command queue may not be done with the lists.
static inline zepi_result_t zepi_recording_wait_for_run(struct zepi_recording *recording)
{
    return recording->run ? zepi_list_run_wait(recording->run) : ZEPI_SUCCESS;
}

#endif
