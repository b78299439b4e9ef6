// SPDX-License-Identifier: MIT
//
// Allocations of 4 KiB of device memory a second: of one thread and of two, beside what two threads
// can do at most on this machine.
#include "test_env.h"
#include "test_plugin.h"
#include "test_throughput.h"

#include <stdio.h>

enum { ROUNDS = 400, PAIRS = 30000, SPINS = 400000 };
// Threads that write to a common line reach 1.0 or less.
static const double LIMIT = 1.6;

static void allocate_often(void *user)
{
    const struct test_gear *gear = user;
    for (int i = 0; i < PAIRS; i++) {
        void *memory;
        TEST_OK(zepi.usm_allocate(gear->context, gear->device, ZEPI_USM_DEVICE, 4096, 0, &memory));
        TEST_OK(zepi.usm_free(gear->context, memory));
    }
}

int main(void)
{
    if (!test_throughput_is_measurable())
        return TEST_SKIPPED;
    test_env_use_ze_cpu();
    test_plugin_load();
    struct test_gear gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    enum { ONE, TWO, LOADS };
    struct test_load loads[LOADS] = {
        [ONE] = {.thread_count = 1, .work = allocate_often, .users = {&gear}},
        [TWO] = {.thread_count = 2, .work = allocate_often, .users = {&gear, &gear}},
    };
    const double spin_ratio = test_throughput_measure(LOADS, loads, ROUNDS, SPINS);
    test_gear_destroy(&gear);
    test_plugin_unload();
    const double one = loads[ONE].best_per_s;
    const double ratio = loads[TWO].best_per_s / one;
    printf("one thread: %.0f allocations a second; two: %.2f times that; two that spin: %.2f "
           "times\n",
           one * PAIRS, ratio, spin_ratio);
    return test_throughput_judge(ratio, LIMIT, spin_ratio);
}
