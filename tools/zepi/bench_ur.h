// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_BENCH_UR_H
#define ZEPI_TOOL_BENCH_UR_H

#include "bench.h"

// The operations through an adapter of Unified Runtime, loaded directly, without a loader.

#define BENCH_UR_CASES 16

struct bench_ur; // opaque

// Loads the adapter and makes what its cases need, on the first device of the type that it lists.
// `row` names it in the table. Says what failed and returns NULL if it does not come up.
struct bench_ur *bench_ur_open(const char *path, const char *row);
void bench_ur_close(struct bench_ur *ur); // NULL is fine

// Its cases, ended by one without a name.
const struct bench_case *bench_ur_cases(const struct bench_ur *ur);

#endif
