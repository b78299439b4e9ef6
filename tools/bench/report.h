// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_BENCH_REPORT_H
#define ZEPI_TOOL_BENCH_REPORT_H

#include "operation/bench.h"

// The measurements, for people and for scripts.

// How many times plain Level Zero's cost an operation has in a row, the cheaper of plain's two
// ways. In instructions if all rows that have a time were counted, else in time (best).
struct bench_ratio {
    double value; // 0: there is none
    bool is_time;
};
struct bench_ratio bench_ratio(const struct bench *bench, int place, int operation);

// In Markdown.
void bench_report_table(const struct bench *bench);
void bench_report_json(const struct bench *bench);

#endif
