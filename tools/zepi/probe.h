// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_PROBE_H
#define ZEPI_TOOL_PROBE_H

#include <stdio.h>
#include <sys/types.h>

// Calls `probe` in a process of its own, whose stderr goes nowhere: the loader of drivers reads the
// environment once a process, and a driver or adapter that crashes or hangs must not take this
// program with it. Returns the exit code that `probe` returned, or the negative number of the
// signal that ended the process: -SIGALRM if it took longer than `seconds`, also as a program that
// `probe` became. PROBE_NOT_STARTED: there was no process.
#define PROBE_NOT_STARTED (-1000)
#define PROBE_SECONDS 20 // for a driver or an adapter to come up
int probe_in_process(int (*probe)(void *user), void *user, unsigned seconds);

// Starts a program, found as execvp does it, without an input. Returns its standard output; its
// messages are appended to the file `log`. NULL: it does not start.
FILE *probe_start(const char *const arguments[], const char *log, pid_t *out_process);

#endif
