// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_EXEC_H
#define ZEPI_TOOL_EXEC_H

#include "host.h"
#include "runtime.h"

#include <sys/resource.h>

// How a program of the DPC++ runtime comes up on zepi, or on another adapter of Unified Runtime.

// Chooses the driver, and finds the runtime that the program loads; its library is "" if that is
// not known. Returns an exit code after a message.
int exec_prepare(enum host_driver driver, char *const program[], struct runtime *out_runtime);

// After exec_prepare: gives the environment zepi beside other backends, or (not NULL) the adapter
// in this file alone. Returns an exit code after a message.
int exec_set_adapter(enum host_driver driver, const char *adapter);

// Replaces this process by the program. Returns an exit code after a message.
int exec_start(enum host_driver driver, char *const program[]);

// Runs a child that becomes a program, to which signals that are sent to this process go from then
// on. Returns its status and times, as wait4() does; -1: it does not start; errno has the
// reason, unless there was such a signal before.
int exec_run_child(int (*become)(void *user), void *user, struct rusage *out_usage);
// The last of these signals; 0: there was none.
int exec_received_signal(void);

#endif
