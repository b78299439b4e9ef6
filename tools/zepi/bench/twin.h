// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_BENCH_TWIN_H
#define ZEPI_TOOL_BENCH_TWIN_H

#include "bench.h"

#include <sys/types.h>

// The same bench in a second process, without launch-with-arguments: zepi reads its options once a
// process. It waits while this process measures, and runs a round when it is asked to.
struct bench_twin {
    pid_t process; // 0: there is none
    int ask;
    int answer;
};

typedef double bench_round_t[BENCH_ROW_COUNT][BENCH_OPERATION_COUNT]; // nanoseconds, 0: none

// To be called before anything is loaded.
bool bench_twin_start(struct bench_twin *twin, const struct bench *bench);
bool bench_twin_run_round(const struct bench_twin *twin, bench_round_t out_round);
void bench_twin_stop(struct bench_twin *twin); // a zeroed struct is fine

#endif
