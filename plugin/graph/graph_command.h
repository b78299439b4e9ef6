// SPDX-License-Identifier: MIT
#ifndef ZEPI_GRAPH_GRAPH_COMMAND_H
#define ZEPI_GRAPH_GRAPH_COMMAND_H

#include "copy/transfer.h"
#include "launch/launch_record.h"

struct zepi_command_list;
struct zepi_graph;

// A copy, fill or hint with copies of all that it needs. Of the memory, the first is written and
// the second read; `to` and `from` are in them.
struct zepi_graph_transfer {
    struct zepi_transfer transfer; // the pattern lies behind it
    struct zepi_arg_use memory[2];
};

// A command, whose handle the host may have for updates. It goes with its graph. Written only
// before it is added, but for `launch`, `number`, `is_awaited` and what updates have.
struct zepi_graph_command {
    struct zepi_object object;
    struct zepi_graph *graph;     // borrowed: holds the command
    struct zepi_context *context; // borrowed from it
    enum zepi_command_kind kind;
    uint32_t number;     // in its graph, once it is added
    bool is_updatable;   // a launch whose list is to be one that an update can change
    bool is_awaited;     // by a later command
    bool is_followed;    // captured: by a later command of the same queue
    const void *queue;   // captured: borrowed, to be compared: where it was enqueued
    uint32_t wait_count; // in graphs that are not in order
    uint32_t *waits;     // owned: numbers of earlier commands
    struct zepi_graph_transfer *transfer; // owned; of copies, fills, hints
    // Launches. Replaced by updates, under the graph's mutex.
    struct zepi_launch_record *launch; // one reference
    // During an update, the launch to come. Between updates, the record before `launch`, which the
    // next update writes again, or NULL.
    struct zepi_launch_record *draft;
    struct zepi_kernel **kernels; // owned list of references: that an update may choose
    uint32_t kernel_count;
    uint64_t dirty_version; // of the last update of it; 0: there was none
    struct zepi_graph_command *prev_dirty, *next_dirty; // the last one first
    // Owned: commands that a host recorded itself, through Level Zero. Closed once this is added.
    struct zepi_command_list *native;
};

extern const struct zepi_type zepi_graph_command_type;

// The commands of a graph in the order in which they were added, and facts of all of them that
// recordings need.
struct zepi_graph_commands {
    struct zepi_graph_command **list; // owned list of references
    size_t count;
    size_t capacity;
    size_t native_count; // of these: lists of the host's own
    uint32_t most_waits; // of any command
    bool is_in_order;    // each after the one before; else after those that it waits for
    // Objects that captured commands use, one reference each. Buffers move as those of commands do.
    struct zepi_arg_use *kept; // owned list
    size_t kept_count;
    size_t kept_capacity;
};

// The command is to have this transfer of checked memory, of the command's kind. `memory`: that of
// buffers; NULL: there are none.
zepi_result_t zepi_graph_command_set_transfer(struct zepi_graph_command *command,
                                              const struct zepi_transfer *transfer,
                                              const struct zepi_arg_use memory[2]);
// "a copy" and its like, for messages.
const char *zepi_graph_command_name(const struct zepi_graph_command *command);

#endif
