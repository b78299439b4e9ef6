// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_BENCH_THREADS_H
#define ZEPI_TOOL_BENCH_THREADS_H

#include "bench.h"

// One thread against two, for what is asked for; and two that only spin, in the same rounds: what
// the machine had to give. Fills in `pairs` and `spin`.
bool bench_threads_measure(struct bench *bench);

#endif
