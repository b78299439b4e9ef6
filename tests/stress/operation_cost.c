// SPDX-License-Identifier: MIT
//
// Instructions of operations, as zepi-bench counts and judges them; and how much a million of each
// leaves behind.
#include "test_cost.h"
#include "test_env.h"

#include <stdio.h>
#include <stdlib.h>

// Operations with a limit that do not wait for a compiler or a disk.
#define CASES                                                                                      \
    " --case launch --case copy --case queue --case allocate --case kernel --case program"         \
    " --case graph-execute --case graph-update"

static bool is_well(const char *options)
{
    char command[1024];
    snprintf(command, sizeof(command), "'" TEST_BENCH "'" CASES " %s", options);
    return system(command) == 0; // NOLINT(cert-env33-c): the command is ours
}

int main(void)
{
    if (!test_cost_is_measurable())
        return TEST_SKIPPED;
    const bool is_counted = test_cost_has_valgrind();
    if (!is_well(is_counted ? "--growth --instructions" : "--growth"))
        return 1;
    return is_counted ? 0 : TEST_SKIPPED;
}
