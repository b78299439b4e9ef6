// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_RUNTIME_H
#define ZEPI_TOOL_RUNTIME_H

#include <limits.h>
#include <stdbool.h>

// The DPC++ runtime, libsycl, that a command loads in this environment. A program that links with
// it loads the one that the dynamic loader lists. Python loads it with a package: the one that the
// dynamic loader lists for the first library in sys.path that links with it. Packages may open it
// by themselves: then looked at are LD_LIBRARY_PATH, the folder of the environment, those above the
// packages, and the other ones of the dynamic loader. Of other programs nothing can be known:
// programs that a shell starts may load one.

enum runtime_state {
    RUNTIME_FOUND,
    RUNTIME_MISSING, // and the program has need of it
    RUNTIME_UNKNOWN,
};

struct runtime {
    char program[PATH_MAX]; // that loads it: of a script the interpreter
    char
        library[PATH_MAX]; // libsycl; if it is missing, the name that the program links with, or ""
    char release[32];      // of DPC++, as in "2026.2.0"; "" if the file does not say it
};

enum runtime_state runtime_find(char *const command[], struct runtime *out_runtime);

// Its loader counts an adapter that refuses it and then calls through a table that was never
// filled. False where the release is not known.
bool runtime_is_too_old(const struct runtime *runtime);

#endif
