// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_BENCH_INTERRUPTS_H
#define ZEPI_TOOL_BENCH_INTERRUPTS_H

#include <stdbool.h>

// SIGINT and SIGTERM end the measurement; its files are still removed.
void bench_watch_interrupts(void);
bool bench_is_interrupted(void);

#endif
