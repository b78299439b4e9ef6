// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_BENCH_COUNTS_H
#define ZEPI_TOOL_BENCH_COUNTS_H

#include "operation/bench.h"

// Instructions of operations, by callgrind: this program runs itself under it, and the count of
// each loop is written to a file of its own.

// Fills in the counts of all cells. `folder`: for callgrind's files.
bool bench_counts_measure(struct bench *bench, const char *folder);

// The part that runs under callgrind: the loops of the chosen operations. Prints the file of each
// cell on stdout. Returns an exit code.
int bench_counts_run(struct bench *bench);

// Whether two slopes say the same.
bool bench_slope_is_straight(const struct bench_slope *slope);

#endif
