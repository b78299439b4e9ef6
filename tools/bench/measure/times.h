// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_BENCH_TIMES_H
#define ZEPI_TOOL_BENCH_TIMES_H

#include "../operation/bench.h"

#define BENCH_ROUNDS 15

// Fills in the times of all cells.
bool bench_times_measure(struct bench *bench);

#endif
