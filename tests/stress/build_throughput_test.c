// SPDX-License-Identifier: MIT
//
// Builds a second that the cache answers, through the table: one thread, two threads on inputs and
// entries of their own, two threads on the same input; and what two threads can do at most on this
// machine, by spinning. Rounds of all four take turns, so that whatever else runs hits them alike;
// the best round of each counts.
#include "test_env.h"
#include "test_plugin.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 250, BUILDS = 10000, SPINS = 1000000 };
static const double LIMIT = 1.6;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
static const bool is_measurable = false;
#else
static const bool is_measurable = true;
#endif

static zepi_module_t inputs[2];
static pthread_barrier_t start;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void *build_often(void *user)
{
    zepi_module_t input = user;
    pthread_barrier_wait(&start);
    for (int i = 0; i < BUILDS; i++) {
        zepi_module_t executable;
        TEST_OK(zepi.module_build(input, NULL, &executable));
        TEST_OK(zepi.release(executable));
    }
    return NULL;
}

static void *spin(void *user)
{
    volatile unsigned value = 1;
    (void)user;
    pthread_barrier_wait(&start);
    for (int i = 0; i < SPINS; i++)
        value = value * 5 + 1;
    return NULL;
}

// Work a second of `count` threads that each do one piece.
static double measure(unsigned count, void *(*run)(void *), void *first, void *second)
{
    pthread_t threads[2];
    void *const users[2] = {first, second};
    pthread_barrier_init(&start, NULL, count + 1);
    for (unsigned i = 0; i < count; i++) {
        if (pthread_create(&threads[i], NULL, run, users[i]) != 0)
            exit(1);
    }
    const double begin = now();
    pthread_barrier_wait(&start);
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&start);
    return count / (now() - begin);
}

static void keep_best(double *best, double value)
{
    if (value > *best)
        *best = value;
}

int main(void)
{
    double one = 0;
    double apart = 0;
    double same = 0;
    double spin_one = 0;
    double spin_two = 0;
    if (!is_measurable || sysconf(_SC_NPROCESSORS_ONLN) < 2) {
        puts(
            "skipped: this needs two processors and a build with optimisation, without sanitizers");
        return TEST_SKIPPED;
    }
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
    for (int round = 0; round < ROUNDS; round++) {
        keep_best(&spin_one, measure(1, spin, NULL, NULL));
        keep_best(&spin_two, measure(2, spin, NULL, NULL));
        keep_best(&one, measure(1, build_often, inputs[0], NULL));
        keep_best(&apart, measure(2, build_often, inputs[0], inputs[1]));
        keep_best(&same, measure(2, build_often, inputs[0], inputs[0]));
    }
    printf(
        "one thread: %.0f builds a second; two on different entries: %.2f times that; two on one "
        "input: %.2f times; two that spin: %.2f times\n",
        one * BUILDS, apart / one, same / one, spin_two / spin_one);
    for (int i = 0; i < 2; i++)
        TEST_OK(zepi.release(inputs[i]));
    test_gear_destroy(&gear);
    test_plugin_unload();
    // What two processors give here while others use them, too: at most 2.
    const double available = spin_two / spin_one;
    if (available < 1.2) {
        puts("skipped: two threads that share nothing do not get two processors here");
        return TEST_SKIPPED;
    }
    const double limit = LIMIT / 2 * available < LIMIT ? LIMIT / 2 * available : LIMIT;
    return apart / one >= limit ? 0 : 1;
}
