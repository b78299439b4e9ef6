// SPDX-License-Identifier: MIT
#include "../kernels.h"
#include "bench.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define BESIDE .is_beside = true
#define LONG .is_long = true

const struct bench_operation_info bench_operations[BENCH_OPERATION_COUNT] = {
    [BENCH_LAUNCH_3] = {"launch-3", "in-order launch, 3 arguments", NULL, .plain = BENCH_LAUNCH_3,
                        BESIDE},
    [BENCH_LAUNCH_12] = {"launch-12", "in-order launch, 12 arguments", NULL,
                         .plain = BENCH_LAUNCH_12, BESIDE},
    [BENCH_LAUNCH_EVENT] = {"launch-event", "in-order launch with event, released", NULL,
                            .plain = BENCH_LAUNCH_EVENT, BESIDE},
    [BENCH_LAUNCH_AFTER] = {"launch-after", "out-of-order launch after the one before", NULL,
                            .plain = BENCH_LAUNCH_AFTER, BESIDE},
    [BENCH_LAUNCH_SUGGESTED] = {"launch-suggested", "in-order launch, suggested group size", NULL,
                                .plain = BENCH_LAUNCH_SUGGESTED},
    [BENCH_LAUNCH_VALUE] = {"launch-value", "launch by name with a constant's value", NULL,
                            .plain = BENCH_LAUNCH_3},
    [BENCH_LAUNCH_VALUES] = {"launch-values", "launch by name, the next of 4 values", NULL,
                             .plain = BENCH_LAUNCH_3},
    [BENCH_COPY] = {"copy", "copy of 64 bytes", NULL, .plain = BENCH_COPY, BESIDE},
    [BENCH_QUEUE] = {"queue", "create and release a queue", NULL, .plain = BENCH_QUEUE, BESIDE,
                     LONG},
    [BENCH_ALLOCATE] = {"allocate", "allocate and free 4 KiB", NULL, .plain = BENCH_ALLOCATE,
                        BESIDE},
    [BENCH_ALLOCATE_BUSY] = {"busy-allocate", "allocate 4 KiB, copy 64 bytes there, free", NULL,
                             .plain = BENCH_ALLOCATE},
    [BENCH_KERNEL] = {"kernel", "create and release a kernel object", NULL, .plain = BENCH_KERNEL,
                      BESIDE},
    [BENCH_PROGRAM] = {"program", "create to release of a known program", "bench",
                       .plain = BENCH_PROGRAM, BESIDE, LONG},
    [BENCH_PROGRAM_LARGE] = {"program-large", "create to release of a known program", "bench_large",
                             .plain = BENCH_PROGRAM_LARGE, LONG},
    [BENCH_BUILD_AGAIN] = {"build-memory", "build that memory answers", "bench",
                           .plain = BENCH_PROGRAM},
    [BENCH_DISK] = {"build-disk", "build that the disk answers", "bench", .plain = BENCH_DISK},
    [BENCH_COLD] = {"build-cold", "build that is new", "bench", .plain = BENCH_COLD},
#define TRANSFER(constant, name, title, ...)                                                       \
    [BENCH_##constant] = {name, title, NULL, .is_extra = true, .plain = BENCH_##constant},
    BENCH_TRANSFERS(TRANSFER)
#undef TRANSFER
};

const struct bench_crew_info bench_crews[BENCH_CREW_COUNT] = {
    [BENCH_CREW_LAUNCH] = {"threads-launch", "launches of one kernel object, own queues", 100000},
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
    return bench->is_intel ? info->is_beside : !info->is_extra;
}

unsigned bench_loop_length(const struct bench *bench, enum bench_operation operation,
                           unsigned length)
{
    return bench->is_intel && bench_operations[operation].is_long ? length / 20 : length;
}

bool bench_asks_for_threads(const struct bench *bench)
{
    for (int i = 0; i < BENCH_CREW_COUNT && !(bench->is_intel && bench->only_count == 0); i++) {
        if (bench_is_asked_for(bench, bench_crews[i].name))
            return true;
    }
    return false;
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
