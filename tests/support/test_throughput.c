// SPDX-License-Identifier: MIT
#include "test_throughput.h"

#include "test_env.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

bool test_throughput_is_measurable(void)
{
    if (TEST_IS_MEASURABLE && sysconf(_SC_NPROCESSORS_ONLN) >= 2)
        return true;
    puts("skipped: this needs two processors and a build with optimisation, without sanitizers");
    return false;
}

static double now_s(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void spin(void *user)
{
    const unsigned count = *(const unsigned *)user;
    volatile unsigned value = 1;
    for (unsigned i = 0; i < count; i++)
        value = value * 5 + 1;
}

struct worker {
    pthread_t thread;
    pthread_barrier_t *start; // borrowed
    void (*work)(void *user);
    void *user; // borrowed
};

static void *run_worker(void *argument)
{
    const struct worker *worker = argument;
    pthread_barrier_wait(worker->start);
    worker->work(worker->user);
    return NULL;
}

static void measure(struct test_load *load)
{
    struct worker workers[2];
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, load->thread_count + 1);
    for (unsigned i = 0; i < load->thread_count; i++) {
        workers[i] = (struct worker){.start = &start, .work = load->work, .user = load->users[i]};
        if (pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]) != 0) {
            fputs("test throughput: no thread can be made\n", stderr);
            exit(1);
        }
    }
    const double begin_s = now_s();
    pthread_barrier_wait(&start);
    for (unsigned i = 0; i < load->thread_count; i++)
        pthread_join(workers[i].thread, NULL);
    const double per_s = load->thread_count / (now_s() - begin_s);
    pthread_barrier_destroy(&start);
    if (per_s > load->best_per_s)
        load->best_per_s = per_s;
}

double test_throughput_measure(unsigned load_count, struct test_load *loads, unsigned round_count,
                               unsigned spin_count)
{
    struct test_load one = {.thread_count = 1, .work = spin, .users = {&spin_count}};
    struct test_load two = {.thread_count = 2, .work = spin, .users = {&spin_count, &spin_count}};
    for (unsigned round = 0; round < round_count; round++) {
        measure(&one);
        measure(&two);
        for (unsigned i = 0; i < load_count; i++)
            measure(&loads[i]);
    }
    return two.best_per_s / one.best_per_s;
}

int test_throughput_judge(double ratio, double limit, double spin_ratio)
{
    if (spin_ratio < 1.2) {
        puts("skipped: two threads that share nothing do not get two processors here");
        return TEST_SKIPPED;
    }
    // Two processors do twice at most: more means that others used them whenever one was measured.
    return ratio >= limit / 2 * (spin_ratio < 2 ? spin_ratio : 2) ? 0 : 1;
}
