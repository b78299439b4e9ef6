// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_COMMAND_LIST_H
#define ZE_CPU_COMMAND_LIST_H

#include "command.h"

#include <pthread.h>

struct cpu_stream;

// Regular lists record; immediate ones hand every command to their stream. A list may not be used
// by two threads at once, as the specification has it; immediate lists survive it.
struct cpu_list {
    struct cpu_signaller signaller;
    ze_context_handle_t context; // borrowed
    ze_device_handle_t device;   // borrowed
    uint32_t ordinal, index;
    uint32_t flags;
    bool is_immediate, is_synchronous, is_in_order;
    struct cpu_stream *stream; // owned; immediate only
    struct cpu_chain commands; // owned; regular only
    bool is_closed;
    bool is_changed; // a closed, mutable one: to be closed again before it is executed
    bool is_mutable;
    struct cpu_mutable_command *mutable_commands; // owned; by id, which counts from 1
    uint32_t mutable_count;
    _Atomic uint32_t uses; // submitted executions that are not complete
};

// Copies and fills that were appended to immediate lists of the compute group without the hint that
// other engines may do them.
extern _Atomic uint64_t cpu_compute_copies;

// Hands a filled command on: to the stream, or to the list's own commands. Consumes it. A list that
// is closed refuses.
ze_result_t cpu_list_add(struct cpu_list *list, struct cpu_command *command, const char *function);

// A new command for the list with its waits and signal filled. `extra_bytes` as in
// cpu_command_create. The events are checked; wrong handles are refused.
ze_result_t cpu_list_command(struct cpu_list *list, enum cpu_command_kind kind, size_t extra_bytes,
                             ze_event_handle_t signal, uint32_t wait_count,
                             ze_event_handle_t *waits, const char *function,
                             struct cpu_command **out_command);

// HANDLE_OBJECT_IN_USE, with a line, while the list is being executed.
ze_result_t cpu_list_check_unused(const struct cpu_list *list, const char *function);

// Where closed lists shall be executed: they must have been made for the same.
struct cpu_place {
    ze_context_handle_t context; // borrowed
    ze_device_handle_t device;   // borrowed
    uint32_t ordinal;
};

// The commands that execute closed lists, at least one: the last of them is the end of the last
// list. They are submitted: on success the lists' counts of uses are raised.
ze_result_t cpu_list_make_executions(const struct cpu_place *place, struct cpu_list *const *lists,
                                     uint32_t count, const char *function,
                                     struct cpu_chain *out_chain);

#endif
