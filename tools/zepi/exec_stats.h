// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_EXEC_STATS_H
#define ZEPI_TOOL_EXEC_STATS_H

#include "host.h"

// Runs a program as a child with ZEPI_STATS, forwards signals to it, and says if no process has
// written a report. `file` gets the reports; "stderr": they are printed at the end. Returns the
// program's exit code; ends by the program's signal if it ends by one.
int exec_with_stats(enum host_driver driver, char *const program[], const char *file);

#endif
