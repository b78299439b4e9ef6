// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_WINDOW_H
#define ZE_CPU_WINDOW_H

#include "command/command.h"

#include <stdbool.h>
#include <stddef.h>

struct cpu_executor;

// The oldest commands of an immediate list that is not in-order and that are not executed yet, with
// ZE_CPU_REORDER. The next one is any that the specification allows: its waits are over, no barrier
// is before it, and a barrier without a wait list has nothing before it. A barrier with a wait list
// waits for these events alone.
#define CPU_WINDOW_UNITS 8

// A choice takes one unit: a command, or closed lists with the commands around them.
struct cpu_unit {
    struct cpu_command *next; // owned; the first that is not executed, linked by `next`
    uint64_t position;        // commands of the list before the unit
};

struct cpu_window {
    struct cpu_unit units[CPU_WINDOW_UNITS]; // in the order of submission
    size_t count;
    uint64_t arrived; // commands that it has had
    uint64_t random;  // state of the generator, not 0
};

// The copies of a closed list that is not in-order are executed backwards, as far as barriers and
// wait lists allow: where the first command is such a copy, the last one behind it that may come
// before the others comes first. It looks at so many copies.
#define CPU_WINDOW_COPIES 64
void cpu_window_choose_copy(struct cpu_command **first);

// Its order follows from the seed.
void cpu_window_init(struct cpu_window *window, uint64_t seed);

// The window has room. Consumes the `count` commands, which the last one ends.
void cpu_window_add(struct cpu_window *window, struct cpu_command *first, uint64_t count);

// Executes a unit that is ready, as far as it does not wait again, with the first error of its
// commands. False where every unit waits for something.
bool cpu_window_step(struct cpu_window *window, struct cpu_executor *executor,
                     ze_result_t *out_result);

// The commands before the oldest that is not executed.
uint64_t cpu_window_executed(const struct cpu_window *window);

#endif
