// SPDX-License-Identifier: MIT
// In place of row_ur.c where Unified Runtime's headers are not there.
#include "row_ur.h"

struct ur_row *ur_row_open(const char *path, const char **out_message)
{
    (void)path;
    *out_message = "this program was built without Unified Runtime's headers";
    return NULL;
}

void ur_row_close(struct ur_row *row)
{
    (void)row;
}

bool ur_row_settle(void *state)
{
    (void)state;
    return true;
}

bool ur_row_use_random_sizes(void *state, unsigned steps)
{
    (void)state;
    (void)steps;
    return false;
}

int64_t ur_row_free_device_bytes(const void *state)
{
    (void)state;
    return -1;
}

const struct bench_step ur_row_steps[BENCH_OPERATION_COUNT];
bench_crew_fn *const ur_row_crews[BENCH_CREW_COUNT];
