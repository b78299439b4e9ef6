// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_BENCH_CALLGRIND_H
#define ZEPI_TOOL_BENCH_CALLGRIND_H

#include "../operation/bench.h"
#include "callgrind_file.h"

#include <stdio.h>
#include <sys/types.h>

// This program under callgrind. What it counts is written to files of the folder: out.1, out.2, ...

// Says on stderr if callgrind is not there.
bool bench_callgrind_is_there(void);

struct bench_callgrind {
    pid_t process;
    const char *folder; // borrowed
    FILE *output;       // of the process; NULL: it did not start
    unsigned files;     // that were read
};

// Starts this program with its arguments and --counted=N, 1 and the part of the bench.
struct bench_callgrind bench_callgrind_start(const struct bench *bench, const char *folder);
// Waits for the next count, reads its file and removes it. False: there is none, or it has a wrong
// format.
bool bench_callgrind_read(struct bench_callgrind *callgrind, struct callgrind_file *out_file);
// Waits for its end; false: it did not end well, or `is_good` is not. Says so on stderr, with its
// log.
bool bench_callgrind_end(struct bench_callgrind *callgrind, bool is_good);

// Under callgrind: calls `run`. Only in here callgrind counts. The count is the next that
// bench_callgrind_read reads.
bool bench_callgrind_count(bool (*run)(const void *user), const void *user);

#endif
