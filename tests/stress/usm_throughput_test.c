// SPDX-License-Identifier: MIT
// Allocations of 4 KiB of device memory a second: of one thread and of two, beside what two threads
// can do at most on this machine, by spinning. Rounds take turns, so that whatever else runs hits
// them alike; the best round of each counts.
#include "test_env.h"
#include "test_plugin.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 400, PAIRS = 30000, SPINS = 400000 };
static const double LIMIT = 1.8;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
static const bool is_measurable = false;
#else
static const bool is_measurable = true;
#endif

static struct test_gear gear;
static pthread_barrier_t start;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void *allocate_often(void *user)
{
    (void)user;
    pthread_barrier_wait(&start);
    for (int i = 0; i < PAIRS; i++) {
        void *memory;
        TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_DEVICE, 4096, 0, &memory));
        TEST_OK(zepi.usm_free(gear.context, memory));
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

// Pieces of work a second of `count` threads that each do one.
static double measure(unsigned count, void *(*run)(void *))
{
    pthread_t threads[2];
    pthread_barrier_init(&start, NULL, count + 1);
    for (unsigned i = 0; i < count; i++) {
        if (pthread_create(&threads[i], NULL, run, NULL) != 0)
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
    double two = 0;
    double spin_one = 0;
    double spin_two = 0;
    if (!is_measurable || sysconf(_SC_NPROCESSORS_ONLN) < 2) {
        puts(
            "skipped: this needs two processors and a build with optimisation, without sanitizers");
        return TEST_SKIPPED;
    }
    test_env_use_ze_cpu();
    test_plugin_load();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    for (int round = 0; round < ROUNDS; round++) {
        keep_best(&spin_one, measure(1, spin));
        keep_best(&spin_two, measure(2, spin));
        keep_best(&one, measure(1, allocate_often));
        keep_best(&two, measure(2, allocate_often));
    }
    test_gear_destroy(&gear);
    test_plugin_unload();
    printf("one thread: %.0f allocations a second; two: %.2f times that; two that spin: %.2f "
           "times\n",
           one * PAIRS, two / one, spin_two / spin_one);
    // What two processors give here while others use them, too: at most 2.
    const double available = spin_two / spin_one;
    if (available < 1.2) {
        puts("skipped: two threads that share nothing do not get two processors here");
        return TEST_SKIPPED;
    }
    return two / one >= LIMIT / 2 * (available < 2 ? available : 2) ? 0 : 1;
}
