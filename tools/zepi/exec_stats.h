// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_EXEC_STATS_H
#define ZEPI_TOOL_EXEC_STATS_H

#include "host.h"

// Runs a program as a child with ZEPI_STATS, forwards signals to it, and says if no process has
// written a report. `file` gets the reports; "stderr": they are printed at the end. Returns the
// program's exit code; ends by the program's signal if it ends by one.
// `start` becomes the program, in the child.
typedef int exec_start_fn(enum host_driver driver, char *const program[]);
int exec_with_stats(exec_start_fn *start, enum host_driver driver, char *const program[],
                    const char *file);

#endif
