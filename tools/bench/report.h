// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_BENCH_REPORT_H
#define ZEPI_TOOL_BENCH_REPORT_H

#include "operation/bench.h"

// The measurements, for people and for scripts.

// In Markdown.
void bench_report_table(const struct bench *bench);
void bench_report_json(const struct bench *bench);

#endif
