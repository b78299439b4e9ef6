// SPDX-License-Identifier: MIT
#include "times.h"

#include "../host.h"
#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOP 2000

static bool belongs(const struct bench *bench, enum bench_column column, int place, int operation)
{
    return bench->cells[place][operation].is_chosen &&
           (column == BENCH_NEWEST ||
            (bench->rows[place].has_switch && bench_operations[operation].is_launch));
}

bool bench_times_run_round(const struct bench *bench, enum bench_column column,
                           bench_round_t out_round)
{
    memset(out_round, 0, sizeof(bench_round_t));
    for (int operation = 0; operation < BENCH_OPERATION_COUNT; operation++) {
        for (int place = 0; place < BENCH_ROW_COUNT; place++) {
            if (!belongs(bench, column, place, operation))
                continue;
            const struct bench_row *row = &bench->rows[place];
            const struct bench_step *step = &row->steps[operation];
            const unsigned count = step->is_slow ? 1 : bench_loop_length(bench, operation, LOOP);
            const bool is_settled = row->settle(row->state);
            const uint64_t start_ns = host_now_ns();
            if (!is_settled || !step->run(row->state, count)) {
                fprintf(stderr, "zepi bench: %s: failed: %s\n", row->name,
                        bench_operations[operation].title);
                return false;
            }
            out_round[place][operation] = (double)(host_now_ns() - start_ns) / count;
        }
    }
    return true;
}

static int compare(const void *a, const void *b)
{
    const double *first = a;
    const double *second = b;
    return (*first > *second) - (*first < *second);
}

static void summarize(struct bench *bench, bench_round_t rounds[][BENCH_COLUMN_COUNT],
                      enum bench_column column)
{
    for (int place = 0; place < BENCH_ROW_COUNT; place++) {
        for (int operation = 0; operation < BENCH_OPERATION_COUNT; operation++) {
            double times[BENCH_ROUNDS];
            if (!belongs(bench, column, place, operation))
                continue;
            for (int i = 0; i < BENCH_ROUNDS; i++)
                times[i] = rounds[i][column][place][operation];
            qsort(times, BENCH_ROUNDS, sizeof(times[0]), compare);
            bench->cells[place][operation].has_time[column] = true;
            bench->cells[place][operation].times[column] =
                (struct bench_time){times[0], times[BENCH_ROUNDS / 2]};
        }
    }
}

bool bench_times_measure(struct bench *bench, const struct bench_twin *twin)
{
    static bench_round_t rounds[BENCH_ROUNDS][BENCH_COLUMN_COUNT];
    bool is_good = true;
    for (int i = 0; i < BENCH_ROUNDS && is_good; i++) {
        bench_progress("round", i + 1, BENCH_ROUNDS);
        is_good = bench_times_run_round(bench, BENCH_NEWEST, rounds[i][BENCH_NEWEST]) &&
                  bench_twin_run_round(twin, rounds[i][BENCH_ONE_BY_ONE]) &&
                  !bench_is_interrupted();
    }
    bench_progress_end();
    for (int column = 0; column < BENCH_COLUMN_COUNT && is_good; column++)
        summarize(bench, rounds, column);
    return is_good;
}
