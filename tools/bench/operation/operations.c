// SPDX-License-Identifier: MIT
#include "bench.h"
#include "tools/zepi/kernels.h"

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
    [BENCH_LAUNCH_3] = {"launch-3", "in-order launch, 3 arguments", NULL, 460,
                        .launch = {.kernel = BENCH_THREE}, BESIDE},
    [BENCH_LAUNCH_12] = {"launch-12", "in-order launch, 12 arguments", NULL, 850,
                         .launch = {.kernel = BENCH_TWELVE}, BESIDE},
    [BENCH_LAUNCH_24] = {"launch-24", "in-order launch, 24 arguments", NULL, 1400,
                         .launch = {.kernel = BENCH_TWENTY_FOUR}},
    [BENCH_LAUNCH_EVENT] = {"launch-event", "in-order launch with event, released", NULL, 540,
                            .launch = {.has_event = true}, BESIDE},
    [BENCH_LAUNCH_AFTER] = {"launch-after", "out-of-order launch after the one before", NULL, 665,
                            .launch = {.has_event = true, .is_after = true}, BESIDE},
    [BENCH_LAUNCH_LOCAL] = {"launch-local", "in-order launch with local memory", NULL, 520,
                            .launch = {.kernel = BENCH_WITH_LOCAL}},
    [BENCH_LAUNCH_2_SIZES] = {"launch-2-sizes", "in-order launch, 2 sizes in turns", NULL, 505,
                              .launch = {.more_sizes = 1}},
    [BENCH_LAUNCH_100_SIZES] = {"launch-100-sizes", "in-order launch, 100 sizes in turns", NULL,
                                505, .launch = {.more_sizes = 99}},
    [BENCH_LAUNCH_TURNS] = {"launch-turns", "in-order launch, 2 kernels in turns", NULL, 460,
                            .launch = {.has_turns = true}},
    [BENCH_LAUNCH_BUFFER] = {"launch-buffer", "in-order launch with a buffer", NULL, 665,
                             .launch = {.has_buffer = true}},
    [BENCH_LAUNCH_VALUE] = {"launch-value", "launch by name with a constant's value", NULL, 880,
                            .launch = {.values = 1}},
    [BENCH_LAUNCH_VALUES] = {"launch-values", "launch by name, the next of 4 values", NULL, 845,
                             .launch = {.values = 4}},
    [BENCH_COPY] = {"copy", "copy of 64 bytes", NULL, 170, BESIDE},
    [BENCH_QUEUE] = {"queue", "create and release a queue", NULL, 1220, BESIDE, LONG},
    [BENCH_ALLOCATE] = {"allocate", "allocate and free 4 KiB", NULL, 280, BESIDE},
    [BENCH_ALLOCATE_BUSY] = {"busy-allocate", "allocate 4 KiB, copy 64 bytes there, free", NULL,
                             705},
    [BENCH_KERNEL] = {"kernel", "create and release a kernel object", NULL, 1030, BESIDE},
    [BENCH_PROGRAM] = {"program", "create to release of a known program", "bench_small", 5915,
                       BESIDE, LONG},
    [BENCH_PROGRAM_LARGE] = {"program-large", "create to release of a known program", "bench_large",
                             8845, LONG},
#define TRANSFER(constant, name, title, ...)                                                       \
    [BENCH_##constant] = {name, title, NULL, .is_extra = true, .is_unlimited = true},
    BENCH_TRANSFERS(TRANSFER)
#undef TRANSFER
// Whatever the graph's size. To record one costs as much as it has commands.
#define GRAPH_LIMIT_EXECUTE 550
#define GRAPH_LIMIT_UPDATE 1320
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

// ---- Loops ----

bool bench_run(const struct bench_row *row, enum bench_operation operation, unsigned count)
{
    bool is_good = true;
    for (unsigned i = 0; i < count && is_good; i++)
        is_good = row->steps[operation](row->state, operation, i);
    return is_good;
}

bool bench_is_of_part(const struct bench *bench, enum bench_operation operation)
{
    static const unsigned ends[BENCH_PART_COUNT] = {
        [BENCH_PART_SINGLE] = BENCH_FIRST_TRANSFER,
        [BENCH_PART_TRANSFERS] = BENCH_FIRST_GRAPH,
        [BENCH_PART_GRAPHS] = BENCH_FIRST_CYCLE,
        [BENCH_PART_CYCLES] = BENCH_OPERATION_COUNT,
    };
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
