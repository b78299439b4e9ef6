// SPDX-License-Identifier: MIT
#include "rows.h"

#include "row_ur.h"
#include "row_zepi.h"
#include "tools/zepi/paths.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define FIRST_LOOP 64

static struct zepi_row zepi_row;

// Does each chosen operation once. With an adapter of another project, operations that fail are
// left out.
static bool choose(struct bench *bench, int place)
{
    const struct bench_row *row = &bench->rows[place];
    for (int i = 0; row->steps && i < BENCH_OPERATION_COUNT; i++) {
        if (!row->steps[i] || !bench_asks_for(bench, i) || !bench_is_of_part(bench, i))
            continue;
        if (bench_run(row, i, bench_loop_length(bench, i, FIRST_LOOP))) {
            bench->cells[place][i].is_chosen = true;
            continue;
        }
        fprintf(stderr, "zepi-bench: %s: failed: %s\n", row->name, bench_operations[i].title);
        if (place < BENCH_ROW_ADAPTER)
            return false;
    }
    return true;
}

// ---- Bringing up ----

static bool open_ur(struct bench *bench, int place, const char *path)
{
    const char *message = NULL;
    const char *slash = strrchr(path, '/');
    struct ur_row *row = ur_row_open(path, &message);
    if (!row) {
        fprintf(stderr, "zepi-bench: %s is left out: %s\n", path, message);
        return false;
    }
    bench->rows[place] = (struct bench_row){.name = place == BENCH_ROW_UR ? "zepi, Unified Runtime"
                                                    : slash               ? slash + 1
                                                                          : path,
                                            .steps = ur_row_steps,
                                            .launch = ur_row_launch,
                                            .settle = ur_row_settle,
                                            .state = row};
    return true;
}

int bench_rows_open_zepi(struct bench *bench)
{
    char path[PATH_MAX];
    const int code = zepi_row_open(&zepi_row, bench->driver);
    bench->rows[BENCH_ROW_ZEPI] = zepi_row_of(&zepi_row);
    if (code != EXIT_OK)
        return code;
    path_find_library("ZEPI_UR_ADAPTER", "libur_adapter_zepi.so", path);
    return open_ur(bench, BENCH_ROW_UR, path) ? EXIT_OK : EXIT_FAILED;
}

int bench_rows_open(struct bench *bench)
{
    const int code = bench_rows_open_zepi(bench);
    if (code != EXIT_OK)
        return code;
    for (int i = 0; i < bench->adapter_count; i++)
        open_ur(bench, BENCH_ROW_ADAPTER + i, bench->adapters[i]);
    for (int place = 0; place < BENCH_ROW_COUNT; place++) {
        if (!choose(bench, place))
            return EXIT_FAILED;
    }
    return EXIT_OK;
}

void bench_rows_close(struct bench *bench)
{
    for (int place = BENCH_ROW_COUNT - 1; place >= BENCH_ROW_UR; place--)
        ur_row_close(bench->rows[place].state);
    zepi_row_close(&zepi_row);
}
