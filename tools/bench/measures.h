// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_BENCH_MEASURES_H
#define ZEPI_TOOL_BENCH_MEASURES_H

#include "operation/bench.h"

// Measurements beside times (measure/times.h). Each function returns false after a message.

// Instructions of operations, by callgrind: this program runs itself under it, and the count of
// each loop is written to a file of `folder`. Fills in the counts of all cells.
bool bench_counts_measure(struct bench *bench, const char *folder);
// The part that runs under callgrind: the loops of the chosen operations. Returns an exit code.
int bench_counts_run(struct bench *bench);
// Whether two slopes say the same.
bool bench_slope_is_straight(const struct bench_slope *slope);

// One thread against two, for the chosen operations; and two that only spin, in the same rounds:
// the limit of the machine. Fills in `pairs` and `spin`.
bool bench_threads_measure(struct bench *bench);

// The growth of this process while an operation is done a million times, without a wait. Fills in
// the growth of all cells.
bool bench_growth_measure(struct bench *bench);

// The memory that zepi's adapter, or the one in its place, keeps after a program of random sizes
// that has freed all. One adapter a process, since drivers keep freed memory for the next one.
// Prints it. Returns an exit code.
int bench_held(const struct bench *bench);

// Print the measurements: in Markdown for people, or as JSON.
void bench_report_table(const struct bench *bench);
void bench_report_json(const struct bench *bench);

#endif
