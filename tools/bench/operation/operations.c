// SPDX-License-Identifier: MIT
#include "bench.h"
#include "tools/zepi/kernels.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define BESIDE .is_beside = true
#define LONG .is_long = true

const struct bench_kernel_info bench_kernels[BENCH_KERNEL_COUNT] = {
    [BENCH_THREE] = {"three", 3},
    [BENCH_THREE_TOO] = {"three_too", 3},
    [BENCH_WITH_LOCAL] = {"with_local", 4},
    [BENCH_TWELVE] = {"twelve", 12},
    [BENCH_TWENTY_FOUR] = {"twenty_four", 24},
};

#define VALUE(member)                                                                              \
    .size_bytes = sizeof(((struct bench_values *)0)->member),                                      \
    .offset = offsetof(struct bench_values, member)
const struct bench_argument bench_arguments[BENCH_ARGUMENT_CYCLE] = {
    {.memory = 0, .is_changing = true},
    {.memory = 2},
    {VALUE(changing)},
    {VALUE(same)},
    {VALUE(changing)},
    {VALUE(same)},
    {VALUE(wide)},
    {VALUE(wide_same)},
    {VALUE(real)},
    {VALUE(same)},
    {.memory = 0, .is_changing = true},
    {.memory = 3},
};

// A limit of instructions is the measured number plus 10 %.
const struct bench_operation_info bench_operations[BENCH_OPERATION_COUNT] = {
    [BENCH_LAUNCH_3] = {"launch-3", "in-order launch, 3 arguments", NULL, 465,
                        .launch = {.kernel = BENCH_THREE}, BESIDE},
    [BENCH_LAUNCH_12] = {"launch-12", "in-order launch, 12 arguments", NULL, 865,
                         .launch = {.kernel = BENCH_TWELVE}, BESIDE},
    [BENCH_LAUNCH_24] = {"launch-24", "in-order launch, 24 arguments", NULL, 1420,
                         .launch = {.kernel = BENCH_TWENTY_FOUR}},
    [BENCH_LAUNCH_EVENT] = {"launch-event", "in-order launch with event, released", NULL, 560,
                            .launch = {.has_event = true}, BESIDE},
    [BENCH_LAUNCH_AFTER] = {"launch-after", "out-of-order launch after the one before", NULL, 695,
                            .launch = {.has_event = true, .is_after = true}, BESIDE},
    [BENCH_LAUNCH_LOCAL] = {"launch-local", "in-order launch with local memory", NULL, 530,
                            .launch = {.kernel = BENCH_WITH_LOCAL}},
    [BENCH_LAUNCH_2_SIZES] = {"launch-2-sizes", "in-order launch, 2 sizes in turns", NULL, 515,
                              .launch = {.more_sizes = 1}},
    [BENCH_LAUNCH_100_SIZES] = {"launch-100-sizes", "in-order launch, 100 sizes in turns", NULL,
                                515, .launch = {.more_sizes = 99}},
    [BENCH_LAUNCH_TURNS] = {"launch-turns", "in-order launch, 2 kernels in turns", NULL, 465,
                            .launch = {.has_turns = true}},
    [BENCH_LAUNCH_BUFFER] = {"launch-buffer", "in-order launch with a buffer", NULL, 705,
                             .launch = {.has_buffer = true}},
    [BENCH_LAUNCH_VALUE] = {"launch-value", "launch by name with a constant's value", NULL, 900,
                            .launch = {.values = 1}},
    [BENCH_LAUNCH_VALUES] = {"launch-values", "launch by name, the next of 4 values", NULL, 865,
                             .launch = {.values = 4}},
    [BENCH_COPY] = {"copy", "copy of 64 bytes", NULL, 180, BESIDE},
    [BENCH_QUEUE] = {"queue", "create and release a queue", NULL, 1170, BESIDE, LONG},
    [BENCH_ALLOCATE] = {"allocate", "allocate and free 4 KiB", NULL, 275, BESIDE},
    [BENCH_ALLOCATE_BUSY] = {"busy-allocate", "allocate 4 KiB, copy 64 bytes there, free", NULL,
                             580},
    [BENCH_KERNEL] = {"kernel", "create and release a kernel object", NULL, 1025, BESIDE},
    [BENCH_PROGRAM] = {"program", "create to release of a known program", "bench_small", 5285,
                       BESIDE, LONG},
    [BENCH_PROGRAM_LARGE] = {"program-large", "create to release of a known program", "bench_large",
                             8375, LONG},
    [BENCH_DISK] = {"build-disk", "build that the disk answers", "bench_small"},
    [BENCH_COLD] = {"build-cold", "build that is new", "bench_small"},
#define TRANSFER(constant, name, title, ...)                                                       \
    [BENCH_##constant] = {name, title, NULL, .is_extra = true, .is_unlimited = true},
    BENCH_TRANSFERS(TRANSFER)
#undef TRANSFER
// Whatever the graph's size. To record one costs as much as it has commands.
#define GRAPH_LIMIT_EXECUTE 595
#define GRAPH_LIMIT_UPDATE 1585
#define GRAPH_LIMIT_FIRST 0
#define GRAPH(constant, name, title, less, launches, action)                                       \
    [BENCH_##constant] = {name,                                                                    \
                          title,                                                                   \
                          NULL,                                                                    \
                          GRAPH_LIMIT_##action,                                                    \
                          .is_extra = true,                                                        \
                          .is_unlimited = GRAPH_LIMIT_##action == 0,                               \
                          .is_long = (less) == 1,                                                  \
                          .shortening = (less)},
        BENCH_GRAPHS(GRAPH)
#undef GRAPH
#define CYCLE(constant, name, title, less, ...)                                                    \
    [BENCH_##constant] = {                                                                         \
        name, title, NULL, .is_extra = true, .is_unlimited = true, .shortening = (less)},
            BENCH_CYCLES(CYCLE)
#undef CYCLE
};

const struct bench_crew_info bench_crews[BENCH_CREW_COUNT] = {
    [BENCH_CREW_LAUNCH] = {"threads-launch", "launches of one kernel object, own queues", 20000},
    [BENCH_CREW_ONE_QUEUE] = {"threads-one-queue", "launches of one kernel object, one queue",
                              100000},
    [BENCH_CREW_SAME] = {"threads-same", "known programs, the same build", 4000},
    [BENCH_CREW_DIFFERENT] = {"threads-different", "known programs, different builds", 4000},
    [BENCH_CREW_COLD_SAME] = {"threads-cold-same", "new programs, the same build", 1},
    [BENCH_CREW_COLD_DIFFERENT] = {"threads-cold-different", "new programs, different builds", 1},
};

bool bench_is_asked_for(const struct bench *bench, const char *name)
{
    bool is_asked_for = bench->only_count == 0;
    for (int i = 0; i < bench->only_count && !is_asked_for; i++)
        is_asked_for = strstr(name, bench->only[i]) != NULL;
    return is_asked_for;
}

bool bench_asks_for(const struct bench *bench, enum bench_operation operation)
{
    const struct bench_operation_info *info = &bench_operations[operation];
    if (bench->only_count > 0)
        return bench_is_asked_for(bench, info->name);
    return bench->driver != HOST_DRIVER_CPU ? info->is_beside : !info->is_extra;
}

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

// The operations that may cost more all the same: at most two.
static const struct {
    enum bench_operation operation;
    const char *reason;
} explained[] = {
    {BENCH_COPY, "the driver searches the allocations of all adapters in the process, 53 "
                 "instructions a step, and those of the adapter that came first are found later"},
};
_Static_assert(sizeof(explained) / sizeof(explained[0]) <= 2, "the others are defects");

// NULL: v2 does the operation, so that its cost is a measure.
static const char *reason_not_compared(int operation)
{
    switch (operation) {
    case BENCH_READ_IN_ORDER:
    case BENCH_READ_EVENT_IN_ORDER:
    case BENCH_READ_ANY_ORDER:
    case BENCH_READ_EVENT_ANY_ORDER:
    case BENCH_READ_PROFILING:
    case BENCH_READ_EVENT_PROFILING:
        return "v2 does not enqueue such a copy: the call waits for all commands before it, also "
               "where these wait for the caller. The blocking copy does the same with both";
    default:
        return NULL;
    }
}

static const char *reason_beside_v2(int operation)
{
    for (size_t i = 0; i < sizeof(explained) / sizeof(explained[0]); i++) {
        if ((int)explained[i].operation == operation)
            return explained[i].reason;
    }
    return NULL;
}

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
    const char *reason = reason_not_compared(operation);
    const char *state = reason ? "not compared" : "explained";
    reason = reason ? reason : reason_beside_v2(operation);
    if (reason)
        fprintf(stderr, "zepi-bench: %s is %s: %s\n", bench_operations[operation].name, state,
                reason);
    return reason != NULL;
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

#define KNOWN_VALUE 5

static bool build_cold(const struct bench_row *row, const char *image, unsigned count)
{
    bool is_good = true;
    for (unsigned i = 0; i < count && is_good; i++)
        is_good = row->steps[BENCH_COLD].build(row->state, image, 1, bench_new_values());
    return is_good;
}

bool bench_run(const struct bench_row *row, enum bench_operation operation, unsigned count)
{
    const struct bench_step *step = &row->steps[operation];
    const struct bench_operation_info *info = &bench_operations[operation];
    if (operation == BENCH_COLD)
        return build_cold(row, info->image, count);
    return step->launch  ? step->launch(row->state, &info->launch, count, true)
           : step->build ? step->build(row->state, info->image, count, KNOWN_VALUE)
                         : step->run(row->state, count);
}

bool bench_launch_to_one_queue(const struct bench_row *row, unsigned thread, unsigned count,
                               int first_value)
{
    (void)thread;
    return row->crews[BENCH_CREW_LAUNCH](row, 0, count, first_value);
}

static bool build(const struct bench_row *row, unsigned count, int value)
{
    return row->steps[BENCH_PROGRAM].build(row->state, bench_operations[BENCH_PROGRAM].image, count,
                                           value);
}

bool bench_build_same(const struct bench_row *row, unsigned thread, unsigned count, int first_value)
{
    (void)thread;
    (void)first_value;
    return build(row, count, KNOWN_VALUE);
}

bool bench_build_different(const struct bench_row *row, unsigned thread, unsigned count,
                           int first_value)
{
    (void)first_value;
    return build(row, count, KNOWN_VALUE + (int)thread);
}

bool bench_build_cold_same(const struct bench_row *row, unsigned thread, unsigned count,
                           int first_value)
{
    (void)thread;
    return build(row, count, first_value);
}

bool bench_build_cold_different(const struct bench_row *row, unsigned thread, unsigned count,
                                int first_value)
{
    return build(row, count, first_value + (int)thread);
}

bool bench_prepare(const struct bench_row *row, enum bench_operation operation, unsigned count)
{
    const struct bench_step *step = &row->steps[operation];
    if (step->launch)
        return step->launch(row->state, &bench_operations[operation].launch, count, false);
    for (unsigned i = 0; i < count; i++)
        bench_keep(row->state);
    return true;
}

bool bench_is_of_part(const struct bench *bench, enum bench_operation operation)
{
#define ONE(...) +1
    static const unsigned ends[BENCH_PART_COUNT] = {
        [BENCH_PART_SINGLE] = BENCH_COLD + 1,
        [BENCH_PART_TRANSFERS] = BENCH_COLD + 1 BENCH_TRANSFERS(ONE),
        [BENCH_PART_GRAPHS] = BENCH_COLD + 1 BENCH_TRANSFERS(ONE) BENCH_GRAPHS(ONE),
        [BENCH_PART_CYCLES] = BENCH_OPERATION_COUNT,
    };
#undef ONE
    return bench->part == BENCH_PART_ALL ||
           (operation >= ends[bench->part - 1] && operation < ends[bench->part]);
}

unsigned bench_loop_length(const struct bench *bench, enum bench_operation operation,
                           unsigned length)
{
    const struct bench_operation_info *info = &bench_operations[operation];
    if (bench->driver != HOST_DRIVER_CPU && info->is_long)
        length /= 20;
    if (info->shortening > 1)
        length /= info->shortening;
    return length > 0 ? length : 1;
}

bool bench_asks_for_threads(const struct bench *bench)
{
    bool is_asked_for = false;
    for (int i = 0; i < BENCH_CREW_COUNT && !is_asked_for; i++)
        is_asked_for = (bench->driver == HOST_DRIVER_CPU || bench->only_count > 0) &&
                       bench_is_asked_for(bench, bench_crews[i].name);
    return is_asked_for;
}

void bench_title(enum bench_operation operation, char title[BENCH_TITLE_SIZE])
{
    const struct bench_operation_info *info = &bench_operations[operation];
    if (info->image)
        snprintf(title, BENCH_TITLE_SIZE, "%s (%zu bytes)", info->title,
                 kernel_image(info->image).size_bytes);
    else
        snprintf(title, BENCH_TITLE_SIZE, "%s", info->title);
}

int bench_new_values(void)
{
    // Small numbers are those of known builds.
    static atomic_int last = 1000;
    return atomic_fetch_add_explicit(&last, 2, memory_order_relaxed);
}
