// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_BENCH_ROWS_H
#define ZEPI_TOOL_BENCH_ROWS_H

#include "../operation/bench.h"

// Brings all rows up, and does every operation that is asked for once, so that nothing of it is
// new. Returns an exit code after a message.
int bench_rows_open(struct bench *bench);
// zepi's table and its adapter of Unified Runtime alone; does nothing with them.
int bench_rows_open_zepi(struct bench *bench);
void bench_rows_close(struct bench *bench);

#endif
