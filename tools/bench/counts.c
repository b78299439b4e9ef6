// SPDX-License-Identifier: MIT
#include "measures.h"

#include "measure/callgrind.h"
#include "tools/zepi/commands.h"

#include <math.h>
#include <stdio.h>

// Lengths of loops. Work before and after the loop falls out of the differences. One loop of the
// first length goes before them, so that structures have their size.
enum { LENGTHS = 3 };
static const unsigned lengths[LENGTHS] = {400, 800, 1200};

static bool is_counted(const struct bench *bench, int place, int operation)
{
    return bench->cells[place][operation].is_chosen && bench_is_of_part(bench, operation);
}

static void loop_lengths(const struct bench *bench, int operation, unsigned counts[LENGTHS])
{
    for (int i = 0; i < LENGTHS; i++)
        counts[i] = bench_loop_length(bench, operation, lengths[i]);
}

// ---- Under callgrind ----

struct counted_loop {
    const struct bench_row *row;
    enum bench_operation operation;
    unsigned count;
};

static bool run_loop(const void *user)
{
    const struct counted_loop *loop = user;
    return bench_run(loop->row, loop->operation, loop->count);
}

static bool run_cell(const struct bench *bench, const struct bench_row *row, int operation)
{
    unsigned counts[LENGTHS];
    loop_lengths(bench, operation, counts);
    bool is_good = bench_run(row, operation, counts[0]);
    for (size_t i = 0; i < LENGTHS && is_good; i++) {
        const struct counted_loop loop = {row, operation, counts[i]};
        is_good = row->settle(row->state) && bench_callgrind_count(run_loop, &loop);
    }
    return is_good;
}

int bench_counts_run(struct bench *bench)
{
    for (int place = 0; place < BENCH_ROW_COUNT; place++) {
        for (int operation = 0; operation < BENCH_OPERATION_COUNT; operation++) {
            if (is_counted(bench, place, operation) &&
                !run_cell(bench, &bench->rows[place], operation))
                return EXIT_FAILED;
        }
    }
    return EXIT_OK;
}

// ---- Reading ----

static bool read_cell(struct bench_callgrind *callgrind, const struct bench *bench, int operation,
                      struct bench_cell *cell)
{
    struct callgrind_file own[LENGTHS];
    unsigned counts[LENGTHS];
    loop_lengths(bench, operation, counts);
    for (size_t i = 0; i < LENGTHS; i++) {
        if (!bench_callgrind_read(callgrind, &own[i]))
            return false;
    }
    struct bench_slope *slope = &cell->count;
    slope->whole = (own[2].all - own[0].all) / (counts[2] - counts[0]);
    slope->first = (own[1].all - own[0].all) / (counts[1] - counts[0]);
    slope->second = (own[2].all - own[1].all) / (counts[2] - counts[1]);
    cell->loader_count = (own[2].loader - own[0].loader) / (counts[2] - counts[0]);
    cell->driver_count = (own[2].driver - own[0].driver) / (counts[2] - counts[0]);
    cell->has_count = true;
    return true;
}

bool bench_slope_is_straight(const struct bench_slope *slope)
{
    return fabs(slope->second - slope->first) <= 1 + 0.02 * fabs(slope->second);
}

static int count_cells(const struct bench *bench)
{
    int count = 0;
    for (int i = 0; i < BENCH_ROW_COUNT * BENCH_OPERATION_COUNT; i++)
        count += is_counted(bench, i / BENCH_OPERATION_COUNT, i % BENCH_OPERATION_COUNT);
    return count;
}

// Reads the counts while the process runs.
static bool follow(struct bench *bench, struct bench_callgrind *callgrind, int count)
{
    int done = 0;
    bool is_good = true;
    for (int place = 0; place < BENCH_ROW_COUNT && is_good; place++) {
        for (int operation = 0; operation < BENCH_OPERATION_COUNT && is_good; operation++) {
            if (!is_counted(bench, place, operation))
                continue;
            command_progress("counting instructions: case, %d of %d", ++done, count);
            is_good = read_cell(callgrind, bench, operation, &bench->cells[place][operation]);
        }
    }
    command_progress_end();
    return is_good;
}

static bool measure_part(struct bench *bench, const char *folder)
{
    const int count = count_cells(bench);
    if (count == 0)
        return true;
    struct bench_callgrind callgrind = bench_callgrind_start(bench, folder);
    const bool is_good = callgrind.output && follow(bench, &callgrind, count);
    return bench_callgrind_end(&callgrind, is_good);
}

bool bench_counts_measure(struct bench *bench, const char *folder)
{
    bool is_good = true;
    for (int part = BENCH_PART_ALL + 1; is_good && part < BENCH_PART_COUNT; part++) {
        bench->part = part;
        is_good = measure_part(bench, folder);
    }
    bench->part = BENCH_PART_ALL;
    return is_good;
}
