// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_BENCH_HELD_H
#define ZEPI_TOOL_BENCH_HELD_H

#include "operation/bench.h"

#include <stdbool.h>

// The memory that zepi's adapter, or the one in its place, keeps after a program of random sizes
// that has freed all. One adapter a process, since drivers keep freed memory for the next one.
// Prints it. Returns an exit code.
int bench_held(const struct bench *bench, bool is_json);

#endif
