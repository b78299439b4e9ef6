// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_PATHS_H
#define ZEPI_TOOL_PATHS_H

#include <stdbool.h>

// Where the command and its libraries are.

// The path of this program, in `path` of PATH_MAX bytes; false: it cannot be found.
bool path_of_program(char *path);

// A library beside this program: NAME in ../lib (or where it is installed), or the value of the
// variable. `path` (of PATH_MAX bytes) gets the place even if there is no such file.
bool path_find_library(const char *variable, const char *name, char *path);

// Intel's adapters of Unified Runtime for Level Zero leave newer or older devices to each other.
// Sets the variable that says which one is wanted, by the name of its file.
void path_ask_for_adapter(const char *path);

#endif
