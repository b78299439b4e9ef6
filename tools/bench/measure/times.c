// SPDX-License-Identifier: MIT
#include "times.h"

#include "interrupts.h"
#include "tools/zepi/commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOP 2000

typedef double round_times[BENCH_ROW_COUNT][BENCH_OPERATION_COUNT]; // 0: not measured

static bool run_round(const struct bench *bench, round_times out_round)
{
    memset(out_round, 0, sizeof(round_times));
    for (int operation = 0; operation < BENCH_OPERATION_COUNT; operation++) {
        for (int place = 0; place < BENCH_ROW_COUNT; place++) {
            if (!bench->cells[place][operation].is_chosen)
                continue;
            const struct bench_row *row = &bench->rows[place];
            const unsigned count = bench_loop_length(bench, operation, LOOP);
            const bool is_settled = row->settle(row->state);
            const uint64_t start_ns = host_now_ns();
            if (!is_settled || !bench_run(row, operation, count)) {
                fprintf(stderr, "%s: %s: failed: %s\n", program_invocation_short_name, row->name,
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

static void summarize(struct bench *bench, round_times rounds[])
{
    for (int place = 0; place < BENCH_ROW_COUNT; place++) {
        for (int operation = 0; operation < BENCH_OPERATION_COUNT; operation++) {
            double times[BENCH_ROUNDS];
            if (!bench->cells[place][operation].is_chosen)
                continue;
            for (int i = 0; i < BENCH_ROUNDS; i++)
                times[i] = rounds[i][place][operation];
            qsort(times, BENCH_ROUNDS, sizeof(times[0]), compare);
            bench->cells[place][operation].has_time = true;
            bench->cells[place][operation].time =
                (struct bench_time){times[0], times[BENCH_ROUNDS / 2]};
        }
    }
}

bool bench_times_measure(struct bench *bench)
{
    static round_times rounds[BENCH_ROUNDS];
    bool is_good = true;
    for (int i = 0; i < BENCH_ROUNDS && is_good; i++) {
        command_progress("round %d of %d", i + 1, BENCH_ROUNDS);
        is_good = run_round(bench, rounds[i]) && !bench_is_interrupted();
    }
    command_progress_end();
    if (is_good)
        summarize(bench, rounds);
    return is_good;
}
