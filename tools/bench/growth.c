// SPDX-License-Identifier: MIT
#include "measures.h"

#include "measure/interrupts.h"
#include "row/row_ur.h"
#include "tools/zepi/commands.h"
#include "tools/zepi/json.h"

#include <stdio.h>
#include <unistd.h>

#define MILLION 1000000
// Before it, so that pools have the memory that they keep.
#define FIRST_LOOP 20000
#define HELD_STEPS 3000

// Memory of this process in KiB; -1: unknown.
static long resident_kib(void)
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
    const long before_kib = resident_kib();
    if (!bench_run(row, operation, MILLION) || !row->settle(row->state))
        return false;
    cell->has_growth = before_kib >= 0;
    cell->growth_kib = resident_kib() - before_kib;
    return true;
}

bool bench_growth_measure(struct bench *bench)
{
    for (int operation = 0; operation < BENCH_OPERATION_COUNT; operation++) {
        command_progress("a million of each: operation, %d of %d", operation + 1,
                         BENCH_OPERATION_COUNT);
        for (int place = 0; place < BENCH_ROW_COUNT; place++) {
            const struct bench_row *row = &bench->rows[place];
            struct bench_cell *cell = &bench->cells[place][operation];
            if (!cell->is_chosen)
                continue;
            if (!measure_cell(row, operation, cell)) {
                command_progress_end();
                fprintf(stderr, "zepi-bench: %s: failed: %s\n", row->name,
                        bench_operations[operation].title);
                return false;
            }
            if (bench_is_interrupted())
                return false;
        }
    }
    command_progress_end();
    return true;
}

int bench_held(const struct bench *bench)
{
    const struct bench_row *row = &bench->rows[BENCH_ROW_UR];
    // The driver's own structures are there after the first allocations.
    if (!row->state || !ur_row_use_random_sizes(row->state, HELD_STEPS / 100) ||
        !row->settle(row->state)) {
        fputs("zepi-bench: the adapter does not allocate memory\n", stderr);
        return EXIT_FAILED;
    }
    const long before_kib = resident_kib();
    const int64_t free_bytes = ur_row_free_device_bytes(row->state);
    if (!ur_row_use_random_sizes(row->state, HELD_STEPS) || !row->settle(row->state)) {
        fprintf(stderr, "zepi-bench: %s: failed: allocations of random sizes\n", row->name);
        return EXIT_FAILED;
    }
    const long more_kib = resident_kib() - before_kib;
    const long long device_kib =
        free_bytes < 0 ? -1 : (long long)(free_bytes - ur_row_free_device_bytes(row->state)) / 1024;
    cJSON *document = cJSON_CreateObject();
    cJSON_AddNumberToObject(document, "allocations", HELD_STEPS);
    cJSON_AddNumberToObject(document, "resident_kib", (double)more_kib);
    if (free_bytes >= 0)
        cJSON_AddNumberToObject(document, "device_kib", (double)device_kib);
    json_print(document);
    if (json_is_asked_for())
        return EXIT_OK;
    printf("resident: %ld KiB more after %d allocations of random sizes\n", more_kib, HELD_STEPS);
    if (free_bytes < 0)
        puts("device: not known");
    else
        printf("device: %lld KiB more\n", device_kib);
    return EXIT_OK;
}
