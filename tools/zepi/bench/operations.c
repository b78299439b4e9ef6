// SPDX-License-Identifier: MIT
#include "../kernels.h"
#include "bench.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

const struct bench_operation_info bench_operations[BENCH_OPERATION_COUNT] = {
    [BENCH_LAUNCH_3] = {"launch-3", "in-order launch, 3 arguments", NULL, true, BENCH_LAUNCH_3},
    [BENCH_LAUNCH_12] = {"launch-12", "in-order launch, 12 arguments", NULL, true, BENCH_LAUNCH_12},
    [BENCH_LAUNCH_EVENT] = {"launch-event", "in-order launch with event, released", NULL, true,
                            BENCH_LAUNCH_EVENT},
    [BENCH_LAUNCH_AFTER] = {"launch-after", "out-of-order launch after the one before", NULL, true,
                            BENCH_LAUNCH_AFTER},
    [BENCH_LAUNCH_SUGGESTED] = {"launch-suggested", "in-order launch, suggested group size", NULL,
                                true, BENCH_LAUNCH_SUGGESTED},
    [BENCH_LAUNCH_VALUE] = {"launch-value", "launch by name with a constant's value", NULL, true,
                            BENCH_LAUNCH_3},
    [BENCH_LAUNCH_VALUES] = {"launch-values", "launch by name, the next of 4 values", NULL, true,
                             BENCH_LAUNCH_3},
    [BENCH_COPY] = {"copy", "copy of 64 bytes", NULL, false, BENCH_COPY},
    [BENCH_ALLOCATE] = {"allocate", "allocate and free 4 KiB", NULL, false, BENCH_ALLOCATE},
    [BENCH_KERNEL] = {"kernel", "create and release a kernel object", NULL, false, BENCH_KERNEL},
    [BENCH_PROGRAM] = {"program", "create to release of a known program", "bench", false,
                       BENCH_PROGRAM},
    [BENCH_PROGRAM_LARGE] = {"program-large", "create to release of a known program", "bench_large",
                             false, BENCH_PROGRAM_LARGE},
    [BENCH_BUILD_AGAIN] = {"build-memory", "build that memory answers", "bench", false,
                           BENCH_PROGRAM},
    [BENCH_DISK] = {"build-disk", "build that the disk answers", "bench", false, BENCH_DISK},
    [BENCH_COLD] = {"build-cold", "build that is new", "bench", false, BENCH_COLD},
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

bool bench_asks_for_threads(const struct bench *bench)
{
    for (int i = 0; i < BENCH_CREW_COUNT; i++) {
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
