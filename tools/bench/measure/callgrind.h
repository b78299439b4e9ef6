// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_BENCH_CALLGRIND_H
#define ZEPI_TOOL_BENCH_CALLGRIND_H

#include "../operation/bench.h"

#include <stdio.h>
#include <sys/types.h>

// This program under callgrind. What it counts is written to files of the folder: out.1, out.2, ...

// Says on stderr if callgrind is not there.
bool bench_callgrind_is_there(void);

struct bench_callgrind {
    pid_t process;
    const char *folder; // borrowed
    FILE *output;       // of the process; NULL: it did not start
};

// Starts `zepi-bench --counted=PART`, with the options of the bench; `is_scale`: and with --scale.
struct bench_callgrind bench_callgrind_start(const struct bench *bench, const char *folder,
                                             bool is_scale);
// Waits for its end; false: it did not end well, or `is_good` is not. Says so on stderr, with the
// end of its log.
bool bench_callgrind_end(struct bench_callgrind *callgrind, bool is_good);

// Under callgrind: calls `run`. Only in here callgrind counts, and the counts go to the next file.
bool bench_callgrind_count(bool (*run)(const void *user), const void *user);

#endif
