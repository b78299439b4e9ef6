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

const struct bench_step ur_row_steps[BENCH_OPERATION_COUNT];
bench_crew_fn *const ur_row_crews[BENCH_CREW_COUNT];
