// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_COMMAND_LINE_H
#define ZEPI_TOOL_COMMAND_LINE_H

#include <limits.h>
#include <stdbool.h>

// A command as a person types it, and the program that the kernel would load for it.

// A list of arguments that grows at its front. Their strings live as long as the process.
struct command_line {
    char **first; // borrowed, ends with NULL
    char **room;  // owned
};

struct program {
    char path[PATH_MAX];
    char loader[PATH_MAX]; // the dynamic loader that it names, "" if it names none
    bool is_interpreter;   // of a script, which is the command
};

// False: there is no memory.
bool command_line_init(struct command_line *command, char *const arguments[]);
void command_line_finish(struct command_line *command);

void command_line_put(struct command_line *command, const char *argument);

// Finds the program in PATH, as execvp does. Scripts get their interpreters at the front. Returns 0
// or an error of errno.h, which is about the first argument.
int command_line_resolve(struct command_line *command, struct program *out_program);

#endif
