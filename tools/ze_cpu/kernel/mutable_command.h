// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_MUTABLE_COMMAND_H
#define ZE_CPU_MUTABLE_COMMAND_H

#include "command/command_list.h"
#include "module/program.h"

// A command of a mutable list with an identifier, and its fields that may change between two
// executions of the list.
struct cpu_mutable_command {
    struct cpu_command *command; // borrowed from the list; NULL until it is appended
    uint32_t flags;
    bool has_signal, signal_counts;      // as it was appended
    struct cpu_program_kernel **kernels; // owned, each retained: its choice
    uint32_t kernel_count;
    bool *is_set; // owned, for each argument; NULL: all are, since the kernel was never switched
};

// The command that is recorded in the list next, to the identifier that was asked for before it.
void cpu_mutable_attach(struct cpu_list *list, struct cpu_command *command);

// Room for the arguments of the next launch: `argument_bytes`, or the size that one of `kernels`
// needs.
size_t cpu_mutable_argument_bytes(const struct cpu_list *list, size_t argument_bytes);

// INVALID_ARGUMENT, with a line, if a switched kernel lacks arguments.
ze_result_t cpu_mutable_check(const struct cpu_list *list, const char *function);

// Forgets all identifiers.
void cpu_mutable_finish(struct cpu_list *list);

#endif
