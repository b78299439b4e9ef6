// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_SCRATCH_H
#define ZEPI_TOOL_SCRATCH_H

#include <stdbool.h>

// A folder of a command's own in TMPDIR, which no other user can enter.

// Makes zepi-NAME-XXXXXX and puts its path into `folder`, of PATH_MAX bytes. False after a message.
bool scratch_make(const char *name, char *folder);

// Removes a folder and all that is in it.
void scratch_remove(const char *folder);

#endif
