// SPDX-License-Identifier: MIT
#include "growth.h"

#include "measure/progress.h"

#include <stdio.h>
#include <unistd.h>

#define MILLION 1000000
// Before it, so that pools have the memory that they keep.
#define FIRST_LOOP 20000

long bench_resident_kib(void)
{
    long whole = 0;
    long resident = -1;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file)
        return -1;
    if (fscanf(file, "%ld %ld", &whole, &resident) !=
        2) // NOLINT(cert-err34-c): the kernel's numbers
        resident = -1;
    fclose(file);
    return resident < 0 ? -1 : resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static bool measure_cell(const struct bench_row *row, enum bench_operation operation,
                         struct bench_cell *cell)
{
    if (!bench_run(row, operation, FIRST_LOOP) || !row->settle(row->state))
        return false;
    const long before_kib = bench_resident_kib();
    if (!bench_run(row, operation, MILLION) || !row->settle(row->state))
        return false;
    cell->has_growth = before_kib >= 0;
    cell->growth_kib = bench_resident_kib() - before_kib;
    return true;
}

bool bench_growth_measure(struct bench *bench)
{
    for (int operation = 0; operation < BENCH_OPERATION_COUNT; operation++) {
        bench_progress("a million of each: operation", operation + 1, BENCH_OPERATION_COUNT);
        for (int place = 0; place < BENCH_ROW_COUNT; place++) {
            const struct bench_row *row = &bench->rows[place];
            struct bench_cell *cell = &bench->cells[place][operation];
            if (!cell->is_chosen || row->steps[operation].is_slow)
                continue;
            if (!measure_cell(row, operation, cell)) {
                bench_progress_end();
                fprintf(stderr, "zepi-bench: %s: failed: %s\n", row->name,
                        bench_operations[operation].title);
                return false;
            }
            if (bench_is_interrupted())
                return false;
        }
    }
    bench_progress_end();
    return true;
}
