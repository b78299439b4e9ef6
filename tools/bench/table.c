// SPDX-License-Identifier: MIT
#include "measure/grid.h"
#include "measure/times.h"
#include "measures.h"

#include <stdio.h>
#include <string.h>

// ---- Operations ----

typedef bool print_cell_fn(const struct bench *bench, int place, int operation, char *text,
                           size_t size);

static bool print_count(const struct bench *bench, int place, int operation, char *text,
                        size_t size)
{
    const struct bench_cell *cell = &bench->cells[place][operation];
    const char *mark = bench_slope_is_straight(&cell->count) ? "" : "~";
    snprintf(text, size, "%.0f + %.0f + %.0f%s",
             cell->count.whole - cell->loader_count - cell->driver_count, cell->loader_count,
             cell->driver_count, mark);
    return cell->has_count;
}

static bool print_time(const struct bench *bench, int place, int operation, char *text, size_t size)
{
    const struct bench_cell *cell = &bench->cells[place][operation];
    if (cell->time.median_ns >= 1e5)
        snprintf(text, size, "%.2f ms (%.2f ms)", cell->time.best_ns * 1e-6,
                 cell->time.median_ns * 1e-6);
    else
        snprintf(text, size, "%.0f (%.0f)", cell->time.best_ns, cell->time.median_ns);
    return cell->has_time;
}

static bool print_growth(const struct bench *bench, int place, int operation, char *text,
                         size_t size)
{
    const struct bench_cell *cell = &bench->cells[place][operation];
    snprintf(text, size, "%ld", cell->growth_kib);
    return cell->has_growth;
}

// Whether a row has a value of the operation.
static bool is_in_any_row(const struct bench *bench, int operation, print_cell_fn *print_cell)
{
    char text[BENCH_TITLE_SIZE];
    bool is_there = false;
    for (int place = 0; place < BENCH_ROW_COUNT && !is_there; place++)
        is_there = print_cell(bench, place, operation, text, sizeof(text));
    return is_there;
}

// One line an operation, one column a row of the bench; counts have their limits behind them.
static void print_operations(const struct bench *bench, const char *title,
                             print_cell_fn *print_cell)
{
    static struct grid grid;
    const bool has_limits = print_cell == print_count && bench->driver != HOST_DRIVER_INTEL;
    memset(&grid, 0, sizeof(grid));
    grid_put(&grid, 0, 0, "%s", title);
    grid.lines = 1;
    for (int i = 0; i < BENCH_OPERATION_COUNT; i++) {
        char(*line)[BENCH_TITLE_SIZE] = grid.text[grid.lines];
        int column = 1;
        if (!is_in_any_row(bench, i, print_cell))
            continue;
        bench_title(i, line[0]);
        for (int place = 0; place < BENCH_ROW_COUNT; place++) {
            if (!bench->rows[place].steps)
                continue;
            grid_put(&grid, 0, column, "%s", bench->rows[place].name);
            if (!print_cell(bench, place, i, line[column], BENCH_TITLE_SIZE))
                line[column][0] = '\0';
            column++;
        }
        if (has_limits)
            grid_put(&grid, 0, column, "limit");
        if (has_limits && !bench_operations[i].is_unlimited)
            grid_put(&grid, grid.lines, column, "%.0f", bench_operations[i].limit);
        grid.columns = column + has_limits;
        grid.lines++;
    }
    if (grid.lines > 1)
        grid_print(&grid);
}

static bool has_counts(const struct bench *bench)
{
    bool has_any = false;
    for (int i = 0; i < BENCH_ROW_COUNT * BENCH_OPERATION_COUNT; i++)
        has_any =
            has_any || bench->cells[i / BENCH_OPERATION_COUNT][i % BENCH_OPERATION_COUNT].has_count;
    return has_any;
}

// ---- Threads ----

static void print_threads(const struct bench *bench)
{
    static struct grid grid;
    memset(&grid, 0, sizeof(grid));
    grid.columns = 1;
    grid_put(&grid, 0, 0, "two threads: nanoseconds an operation (throughput in times one's)");
    for (int place = BENCH_ROW_ZEPI; place < BENCH_ROW_COUNT; place++) {
        if (!bench->rows[place].steps)
            continue;
        grid.lines = 1;
        grid_put(&grid, 0, grid.columns, "%s", bench->rows[place].name);
        for (int i = 0; i < BENCH_CREW_COUNT; i++) {
            const struct bench_pair *pair = &bench->pairs[place][i];
            if (!bench_is_asked_for(bench, bench_crews[i].name))
                continue;
            grid_put(&grid, grid.lines, 0, "%s", bench_crews[i].title);
            if (pair->two_ns > 0)
                grid_put(&grid, grid.lines, grid.columns, "%.0f (%.2f)", pair->two_ns,
                         pair->one_ns / pair->two_ns);
            grid.lines++;
        }
        grid.columns++;
    }
    grid_print(&grid);
    printf("Two threads that only spin, in the same rounds: %.2f times one. Threads are not\n"
           "counted in instructions: callgrind runs one at a time.\n",
           bench->spin.one_ns / bench->spin.two_ns);
}

void bench_report_table(const struct bench *bench)
{
    const bool is_counted = has_counts(bench);
    if (is_counted)
        print_operations(bench, "instructions", print_count);
    print_operations(bench, "nanoseconds, best (median)", print_time);
    print_operations(bench, "KiB more after a million", print_growth);
    if (is_counted)
        puts("Instructions: of the plugin or adapter + of the loader + of the driver.");
    printf("Launches: 1,024 work-items. Times: %d rounds in turns.%s\n\n", BENCH_ROUNDS,
           is_counted ? " ~: not the same each time, see --json." : "");
    if (bench->spin.two_ns > 0)
        print_threads(bench);
}
