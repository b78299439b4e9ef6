// SPDX-License-Identifier: MIT
//
// Builds a second that the cache answers, through the table: one thread, two threads on inputs and
// entries of their own, two threads on the same input; and the most that two threads can do on this
// machine.
#include "test_env.h"
#include "test_plugin.h"
#include "test_throughput.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 250, BUILDS = 10000, SPINS = 1000000 };
// The lock of the cache is most of such a build: two threads do not do less than one.
static const double LIMIT = 0.8;

static void build_often(void *user)
{
    zepi_module_t input = user;
    for (int i = 0; i < BUILDS; i++) {
        zepi_module_t executable;
        TEST_OK(zepi.module_build(input, NULL, &executable));
        TEST_OK(zepi.release(executable));
    }
}

int main(void)
{
    zepi_module_t inputs[2];
    if (!test_throughput_is_measurable())
        return TEST_SKIPPED;
    test_env_use_null_driver();
    unsetenv("ZE_ENABLE_TRACING_LAYER");
    unsetenv("ZE_ENABLE_VALIDATION_LAYER");
    test_plugin_load();
    struct test_gear gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    for (int32_t i = 0; i < 2; i++) {
        const int32_t value = 5 + i;
        inputs[i] = test_input(gear.context, "scaled_copy");
        TEST_OK(zepi.spec_constant_set(inputs[i], 7, sizeof(value), &value));
    }
    enum { ONE, APART, SAME, LOADS };
    struct test_load loads[LOADS] = {
        [ONE] = {.thread_count = 1, .work = build_often, .users = {inputs[0]}},
        [APART] = {.thread_count = 2, .work = build_often, .users = {inputs[0], inputs[1]}},
        [SAME] = {.thread_count = 2, .work = build_often, .users = {inputs[0], inputs[0]}},
    };
    const double spin_ratio = test_throughput_measure(LOADS, loads, ROUNDS, SPINS);
    const double one = loads[ONE].best_per_s;
    const double apart_ratio = loads[APART].best_per_s / one;
    printf(
        "one thread: %.0f builds a second; two on different entries: %.2f times that; two on one "
        "input: %.2f times; two that spin: %.2f times\n",
        one * BUILDS, apart_ratio, loads[SAME].best_per_s / one, spin_ratio);
    for (int i = 0; i < 2; i++)
        TEST_OK(zepi.release(inputs[i]));
    test_gear_destroy(&gear);
    test_plugin_unload();
    return test_throughput_judge(apart_ratio, LIMIT, spin_ratio);
}
