// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_BENCH_PROGRESS_H
#define ZEPI_TOOL_BENCH_PROGRESS_H

#include <stdbool.h>

// One line on stderr that is written over, if that is a terminal.
void bench_progress(const char *what, int at, int count);
void bench_progress_end(void);

// SIGINT and SIGTERM end the measurement; its files are still removed.
void bench_watch_interrupts(void);
bool bench_is_interrupted(void);

#endif
