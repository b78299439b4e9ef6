// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_BENCH_THREADS_H
#define ZEPI_TOOL_BENCH_THREADS_H

#include "operation/bench.h"

// One thread against two, for the chosen operations; and two that only spin, in the same rounds:
// the limit of the machine. Fills in `pairs` and `spin`.
bool bench_threads_measure(struct bench *bench);

#endif
