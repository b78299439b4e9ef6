// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_BENCH_PROGRESS_H
#define ZEPI_TOOL_BENCH_PROGRESS_H

#include <stdbool.h>

// One line on stderr that is written over, if that is a terminal.
void bench_progress(const char *what, int at, int count);
void bench_progress_end(void);

// Ctrl-C and a polite kill end the measuring, not the clearing away.
void bench_watch_interrupts(void);
bool bench_is_interrupted(void);

#endif
