// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_EXEC_H
#define ZEPI_TOOL_EXEC_H

#include "host.h"
#include "runtime.h"

// How a program of the DPC++ runtime comes up on zepi, or on another adapter of Unified Runtime.

// Chooses the driver, and finds the runtime that the program loads; its library is "" if that is
// not known. Returns an exit code after a message.
int exec_prepare(enum host_driver driver, char *const program[], struct runtime *out_runtime);

// After exec_prepare: gives the environment zepi beside other backends, or (not NULL) the adapter
// in this file alone. Returns an exit code after a message.
int exec_set_adapter(enum host_driver driver, const char *adapter);

// Replaces this process by the program. Returns an exit code after a message.
int exec_start(enum host_driver driver, char *const program[]);

#endif
