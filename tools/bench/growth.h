// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_BENCH_GROWTH_H
#define ZEPI_TOOL_BENCH_GROWTH_H

#include "operation/bench.h"

// The growth of this process while an operation is done a million times, without a wait. Operations
// of milliseconds are left out. Fills in the growth of all cells.
bool bench_growth_measure(struct bench *bench);

// Memory of this process in KiB; -1: unknown.
long bench_resident_kib(void);

#endif
