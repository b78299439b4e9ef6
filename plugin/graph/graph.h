// SPDX-License-Identifier: MIT
#ifndef ZEPI_GRAPH_GRAPH_H
#define ZEPI_GRAPH_GRAPH_H

#include "graph/graph_command.h"

struct zepi_recording;

// Commands that are described once and executed often. Finalizing records them to closed command
// lists (recording.h); an execution is one call of the driver, whatever the number of commands. A
// graph keeps alive the kernels and memory objects of its commands.

// Recordings of one graph. A list runs at most once at a time, and is never changed while it may
// run (quirk submission-writes-to-list): an execution that is enqueued while all recordings run
// gets one more, and the last of these many waits until the oldest is over.
#define ZEPI_GRAPH_RECORDINGS 8

enum zepi_graph_state {
    ZEPI_GRAPH_OPEN,           // commands may be added
    ZEPI_GRAPH_CAPTURING,      // queues add commands
    ZEPI_GRAPH_CAPTURED,       // all were added
    ZEPI_GRAPH_CAPTURE_FAILED, // the captured commands cannot be executed
    ZEPI_GRAPH_FINALIZED,      // the commands do not change any more, but for launches
};

// An event that is not captured, and for which executions wait.
struct zepi_graph_outside {
    struct zepi_graph_outside *next;
    zepi_event_t event; // reference
};

struct zepi_graph {
    struct zepi_object object;
    struct zepi_context *context; // retained
    struct zepi_device *device;   // borrowed
    uint32_t device_index;        // in the context
    bool is_updatable;
    bool is_profiled;
    // Guards the members below, and launches of commands. Nothing waits under it.
    struct zepi_mutex mutex;
    _Atomic(enum zepi_graph_state) state; // read without it, too
    struct zepi_graph_commands commands;  // but for its is_in_order
    struct zepi_graph_outside *outside;   // owned list
    uint32_t outside_count;
    ze_command_list_handle_t open;    // borrowed; the list of a host's function
    atomic_uint_fast64_t version;     // of the launches: the next one with each update
    struct zepi_graph_command *dirty; // borrowed list: of updated commands, the last one first
    struct zepi_launch_record *gone;  // owned list: that the update which is being made gives up
    // Guards the members below: the order of executions, and their recordings. An execution waits
    // under it if all recordings run. `mutex` may be taken under it.
    struct zepi_mutex submit_mutex;
    // Owned list. The one that was executed last comes last, so that those that do not run come
    // first: executions follow each other.
    struct zepi_recording *recordings;
    uint32_t recording_count;
};

extern const struct zepi_type zepi_graph_type;

// A graph for a device of a context, which have been checked. NULL without memory (noted).
struct zepi_graph *zepi_graph_create(struct zepi_context *context, struct zepi_device *device);

// Whether a command that waits for these may be added: the graph is neither finalized nor captured,
// and has them. ZEPI_ERROR_WRONG_STATE: it is; ZEPI_ERROR_INVALID_VALUE: it lacks one.
zepi_result_t zepi_graph_check_add(struct zepi_graph *graph, uint32_t wait_count,
                                   const uint32_t *waits);
// A command that waits for these, to be filled in and added. NULL without memory (noted).
struct zepi_graph_command *zepi_graph_make_command(struct zepi_graph *graph,
                                                   enum zepi_command_kind kind, uint32_t wait_count,
                                                   const uint32_t *waits);
// Checks a launch of a kernel object on the graph's device, and makes a record of it.
zepi_result_t zepi_graph_make_launch(struct zepi_graph *graph, const struct zepi_launch *launch,
                                     struct zepi_launch_record **out_record);
// Consumes the command. *out_number: by which a later one waits for it.
zepi_result_t zepi_graph_add(struct zepi_graph_command *command, uint32_t *out_number);

// Has the command list of a native command, which is not added yet, recorded by a function of the
// host's: meanwhile it is zepi_graph_open_list. One function at a time; another one is
// ZEPI_ERROR_WRONG_STATE.
zepi_result_t zepi_graph_record_native(struct zepi_graph_command *command,
                                       void (*function)(void *data), void *data);
ze_command_list_handle_t zepi_graph_open_list(struct zepi_graph *graph); // NULL: none is recorded

static inline enum zepi_graph_state zepi_graph_get_state(const struct zepi_graph *graph)
{
    // Acquire: the commands as they are then.
    return atomic_load_explicit(&graph->state, memory_order_acquire);
}
// The caller holds the mutex.
static inline void zepi_graph_set_state(struct zepi_graph *graph, enum zepi_graph_state state)
{
    atomic_store_explicit(&graph->state, state, memory_order_release);
}
size_t zepi_graph_count(struct zepi_graph *graph); // of commands
void zepi_graph_release_outside(struct zepi_graph_outside *list);

zepi_result_t zepi_graph_fail_update(const struct zepi_graph *graph)
    __attribute__((cold, noinline));
// Whether its launches may be updated: ZEPI_ERROR_WRONG_STATE if not.
static inline zepi_result_t zepi_graph_check_update(const struct zepi_graph *graph)
{
    return graph->is_updatable && zepi_graph_get_state(graph) == ZEPI_GRAPH_FINALIZED
               ? ZEPI_SUCCESS
               : zepi_graph_fail_update(graph);
}

#endif
