// SPDX-License-Identifier: MIT
// In place of bench_ur.c where Unified Runtime's headers are not there.
#include "bench_ur.h"

#include <stdio.h>

struct bench_ur *bench_ur_open(const char *path, const char *row)
{
    (void)row;
    fprintf(stderr, "zepi bench: %s: this program was built without Unified Runtime's headers\n",
            path);
    return NULL;
}

void bench_ur_close(struct bench_ur *ur)
{
    (void)ur;
}

const struct bench_case *bench_ur_cases(const struct bench_ur *ur)
{
    static const struct bench_case none;
    (void)ur;
    return &none;
}
