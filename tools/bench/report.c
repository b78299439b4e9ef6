// SPDX-License-Identifier: MIT
#include "report.h"

static double cost_of(const struct bench_cell *cell, bool is_time)
{
    if (is_time)
        return cell->has_time ? cell->time.best_ns : 0;
    return cell->has_count ? cell->count.whole : 0;
}

static double plain_cost(const struct bench *bench, int operation, bool is_time)
{
    const enum bench_operation plain = bench_operations[operation].plain;
    double best = 0;
    for (int place = BENCH_ROW_PLAIN; place <= BENCH_ROW_ONE_CALL; place++) {
        const double cost = cost_of(&bench->cells[place][plain], is_time);
        if (cost > 0 && (best == 0 || cost < best))
            best = cost;
    }
    return best;
}

struct bench_ratio bench_ratio(const struct bench *bench, int place, int operation)
{
    bool is_time = plain_cost(bench, operation, false) == 0;
    for (int i = 0; i < BENCH_ROW_COUNT; i++) {
        const struct bench_cell *cell = &bench->cells[i][operation];
        is_time = is_time || (cell->has_time && !cell->has_count);
    }
    const double plain = plain_cost(bench, operation, is_time);
    const double cost = cost_of(&bench->cells[place][operation], is_time);
    return (struct bench_ratio){plain > 0 ? cost / plain : 0, is_time};
}
