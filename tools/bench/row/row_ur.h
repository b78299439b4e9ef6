// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_BENCH_ROW_UR_H
#define ZEPI_TOOL_BENCH_ROW_UR_H

#include "../operation/bench.h"

// The operations through an adapter of Unified Runtime, loaded directly, without a loader.

struct ur_row; // opaque

// Loads the adapter and makes the objects of the operations, on the first device that it lists.
// NULL if it does not come up; `out_message` (static or borrowed from the dynamic loader) then says
// why.
struct ur_row *ur_row_open(const char *path, const char **out_message);
void ur_row_close(struct ur_row *row); // NULL is fine

bool ur_row_settle(void *state);

// A program that allocates memory of every kind in random sizes of up to 16 MiB, writes what the
// host may write, frees some of it between, and all in the end.
bool ur_row_use_random_sizes(void *state, unsigned steps);
// Of the device's memory; -1: the adapter does not know.
int64_t ur_row_free_device_bytes(const void *state);
extern const struct bench_step ur_row_steps[BENCH_OPERATION_COUNT];
extern bench_crew_fn *const ur_row_crews[BENCH_CREW_COUNT];

#endif
