// SPDX-License-Identifier: MIT
#include "held.h"

#include "growth.h"
#include "row/row_ur.h"
#include "tools/zepi/json.h"

#include <stdio.h>
#include <stdlib.h>

#define STEPS 3000

int bench_held(const struct bench *bench, bool is_json)
{
    const struct bench_row *row = &bench->rows[BENCH_ROW_UR];
    // The driver's own structures are there after the first allocations.
    if (!row->state || !ur_row_use_random_sizes(row->state, STEPS / 100) ||
        !row->settle(row->state)) {
        fputs("zepi-bench: the adapter does not allocate memory\n", stderr);
        return EXIT_FAILED;
    }
    const long resident_kib = bench_resident_kib();
    const int64_t free_bytes = ur_row_free_device_bytes(row->state);
    if (!ur_row_use_random_sizes(row->state, STEPS) || !row->settle(row->state)) {
        fprintf(stderr, "zepi-bench: %s: failed: allocations of random sizes\n", row->name);
        return EXIT_FAILED;
    }
    const long more_kib = bench_resident_kib() - resident_kib;
    const long long device_kib =
        free_bytes < 0 ? -1 : (long long)(free_bytes - ur_row_free_device_bytes(row->state)) / 1024;
    if (is_json) {
        cJSON *document = cJSON_CreateObject();
        cJSON_AddNumberToObject(document, "allocations", STEPS);
        cJSON_AddNumberToObject(document, "resident_kib", (double)more_kib);
        if (free_bytes >= 0)
            cJSON_AddNumberToObject(document, "device_kib", (double)device_kib);
        json_print(document);
        return EXIT_OK;
    }
    printf("resident: %ld KiB more after %d allocations of random sizes\n", more_kib, STEPS);
    if (free_bytes < 0)
        puts("device: not known");
    else
        printf("device: %lld KiB more\n", device_kib);
    return EXIT_OK;
}
