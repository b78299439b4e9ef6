// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_BENCH_TIMES_H
#define ZEPI_TOOL_BENCH_TIMES_H

#include "twin.h"

#define BENCH_ROUNDS 15

// Runs what is chosen once: all of it, or the launches of rows that have the switch.
bool bench_times_run_round(const struct bench *bench, enum bench_column column,
                           bench_round_t out_round);

// Fills in the times of all cells, of rounds in turns with the twin's.
bool bench_times_measure(struct bench *bench, const struct bench_twin *twin);

#endif
