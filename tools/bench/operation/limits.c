// SPDX-License-Identifier: MIT
#include "bench.h"

#include <stdio.h>
#include <string.h>

// The numbers are those of one compiler.
#if defined(__OPTIMIZE__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ == 12
#define HAS_LIMITS true
#else
#define HAS_LIMITS false
#endif

// Of zepi's table, whose launches are read from a longer description.
#define TABLE_EXTRA 20

// Kibibytes after a million: less than a byte and a half each.
#define GROWTH_LIMIT 1024

static bool is_within_limits(const struct bench *bench, int place, int operation)
{
    const struct bench_cell *cell = &bench->cells[place][operation];
    const struct bench_operation_info *info = &bench_operations[operation];
    const char *row = bench->rows[place].name;
    const double limit = info->limit + (place == BENCH_ROW_ZEPI ? TABLE_EXTRA : 0);
    const bool is_cheap =
        !HAS_LIMITS || info->is_unlimited || !cell->has_count || cell->count.whole <= limit;
    const bool is_small = !cell->has_growth || cell->growth_kib <= GROWTH_LIMIT;
    if (!is_cheap)
        fprintf(stderr, "zepi-bench: %s, %s: %.0f instructions, at most %.0f\n", row, info->name,
                cell->count.whole, limit);
    if (!is_small)
        fprintf(stderr, "zepi-bench: %s, %s: a million leave %ld KiB, at most %d\n", row,
                info->name, cell->growth_kib, GROWTH_LIMIT);
    return is_cheap && is_small;
}

// An operation may cost so much more than through Intel's adapter v2, on Intel's driver.
#define LIMIT_BESIDE_V2 1.01

#define NOT_ENQUEUED                                                                               \
    "not compared",                                                                                \
        "v2 does not enqueue such a copy: the call waits for all commands before it, also where "  \
        "these wait for the caller. The blocking copy does the same with both"

// The operations that may cost more all the same. At most two are explained: others are defects.
static const struct {
    enum bench_operation operation;
    const char *state;
    const char *reason;
} excused[] = {
    {BENCH_COPY, "explained",
     "the driver searches the allocations of all adapters in the process, 53 instructions a step, "
     "and those of the adapter that came first are found later"},
    {BENCH_READ_IN_ORDER, NOT_ENQUEUED},
    {BENCH_READ_EVENT_IN_ORDER, NOT_ENQUEUED},
    {BENCH_READ_ANY_ORDER, NOT_ENQUEUED},
    {BENCH_READ_EVENT_ANY_ORDER, NOT_ENQUEUED},
    {BENCH_READ_PROFILING, NOT_ENQUEUED},
    {BENCH_READ_EVENT_PROFILING, NOT_ENQUEUED},
};

static bool is_within_v2(const struct bench *bench, int v2, int operation)
{
    const struct bench_cell *own = &bench->cells[BENCH_ROW_UR][operation];
    const struct bench_cell *other = &bench->cells[v2][operation];
    if (!own->has_count || !other->has_count ||
        own->count.whole <= other->count.whole * LIMIT_BESIDE_V2)
        return true;
    fprintf(stderr, "zepi-bench: %s: %.0f instructions, %.0f through %s\n",
            bench_operations[operation].name, own->count.whole, other->count.whole,
            bench->rows[v2].name);
    for (size_t i = 0; i < sizeof(excused) / sizeof(excused[0]); i++) {
        if ((int)excused[i].operation != operation)
            continue;
        fprintf(stderr, "zepi-bench: %s is %s: %s\n", bench_operations[operation].name,
                excused[i].state, excused[i].reason);
        return true;
    }
    return false;
}

// Of each operation that both count.
static bool is_beside_v2(const struct bench *bench)
{
    bool is_within = true;
    for (int place = BENCH_ROW_ADAPTER; place < BENCH_ROW_COUNT; place++) {
        const char *name = bench->rows[place].name;
        for (int i = 0; i < BENCH_OPERATION_COUNT && name && strstr(name, "_v2"); i++)
            is_within = is_within_v2(bench, place, i) && is_within;
    }
    return is_within;
}

bool bench_is_within_limits(const struct bench *bench)
{
    bool is_within = bench->driver != HOST_DRIVER_INTEL || is_beside_v2(bench);
    for (int place = BENCH_ROW_ZEPI; place <= BENCH_ROW_UR && bench->driver == HOST_DRIVER_CPU;
         place++) {
        for (int operation = 0; operation < BENCH_OPERATION_COUNT; operation++)
            is_within = is_within_limits(bench, place, operation) && is_within;
    }
    return is_within;
}
