// SPDX-License-Identifier: MIT
#ifndef ZEPI_GRAPH_RECORDING_H
#define ZEPI_GRAPH_RECORDING_H

#include "graph/graph_command.h"
#include "graph/list_run.h"

// A graph's commands as closed command lists: one list, and one more behind each native command's
// list. Commands of a graph in order have barriers between them, others events of the recording's
// own where one waits for another; the last commands in the lists reset these. Every native command
// has a barrier on both sides. Under the graph's submit_mutex, but for the deferred free.

// A command in the lists.
struct zepi_recorded_command {
    struct zepi_launch_record *launch; // reference: as the list has it; NULL: no launch is held
    uint64_t usm_version;    // of USM (usm_table.h), as the launch was last put into the list
    uint64_t mutable_id;     // by which the list changes the launch; 0: it cannot
    ze_event_handle_t event; // owned; NULL: no command waits for it
    // While updates are followed: of a launch that is changed, that of before, a reference.
    struct zepi_launch_record *replaced;
    struct zepi_recorded_command *next_replaced;
};

// The instance of a kernel that launches were recorded with, which may hold memory of these (quirk
// launch-memory-in-kernel).
struct zepi_recorded_instance {
    struct zepi_device_kernel *kernel; // borrowed from a launch
    struct zepi_kernel_instance *instance;
};

struct zepi_graph;

struct zepi_recording {
    struct zepi_deferred deferred; // once the graph is gone
    struct zepi_graph *graph;      // borrowed, as the three below
    struct zepi_context *context;
    struct zepi_device *device;
    const struct zepi_graph_commands *graph_commands; // which do not change any more
    struct zepi_recording *prev, *next;               // of the graph
    uint64_t version;  // of the graph's launches that is recorded; 0: none
    zepi_event_t last; // owned; of the last execution; NULL: it is over
    struct zepi_queue
        *kept_queues; // owned list: of executions that are over; nothing else has them
    struct zepi_command_list **own;  // owned list of owned lists
    ze_command_list_handle_t *lists; // those of an execution, native commands' too; behind `own`
    uint32_t own_count;
    uint32_t list_count;
    ze_event_handle_t *waits;                 // of the command that is recorded; behind `lists`
    ze_event_pool_handle_t pool;              // owned; NULL: no events
    bool is_mutable;                          // the list is
    ze_command_list_handle_t mutable_list;    // that list, for mutable_launch.h
    struct zepi_list_run *run;                // owned; NULL: the driver appends closed lists
    struct zepi_recorded_instance *instances; // owned list, one a kernel
    size_t instance_count;
    size_t instance_capacity;
    void **values; // owned list of memory: of emulated constants, patterns
    size_t value_count;
    size_t value_capacity;
    // Owned list of uses, borrowed from commands and launches: of buffers that move, which are
    // brought to the device before each execution.
    const struct zepi_arg_use **moves;
    size_t move_count;
    size_t move_capacity;
    size_t command_count;
    struct zepi_recorded_command commands[]; // by number
};

// With nothing recorded. `is_mutable`: its list is to be, if there is one alone and the device has
// such lists.
zepi_result_t zepi_recording_create(struct zepi_context *context, struct zepi_device *device,
                                    const struct zepi_graph_commands *commands, bool is_mutable,
                                    struct zepi_recording **out_recording);
// Its executions are over, or will be once the queues are empty: releases the objects that it uses,
// and destroys its lists when no command can use them any more.
void zepi_recording_destroy(struct zepi_recording *recording);

zepi_result_t zepi_recording_ask_last(struct zepi_recording *recording);
// Asks whether the recording may be changed and executed: nothing of it runs. ZEPI_ERROR_NOT_READY,
// which is not noted: its last execution is not over.
static inline zepi_result_t zepi_recording_ask_idle(struct zepi_recording *recording)
{
    return recording->last ? zepi_recording_ask_last(recording) : ZEPI_SUCCESS;
}

void zepi_recording_destroy_lists(struct zepi_recording *recording);
// It does not run: forgets its lists, and gives up the objects that these use.
void zepi_recording_clear(struct zepi_recording *recording);
// The chain of a description of its lists.
const void *zepi_recording_extension(const struct zepi_recording *recording);
// The last event is signalled, but a command queue may not be done with the lists.
static inline zepi_result_t zepi_recording_wait_for_run(struct zepi_recording *recording)
{
    return recording->run ? zepi_list_run_wait(recording->run) : ZEPI_SUCCESS;
}

// ---- What the lists use ----

// Consumes memory of the context.
zepi_result_t zepi_recording_keep(struct zepi_recording *recording, void *values);
// The instance of the kernel, from the first time on.
zepi_result_t zepi_recording_get_instance(struct zepi_recording *recording,
                                          struct zepi_device_kernel *kernel,
                                          struct zepi_kernel_instance **out_instance);

#endif
