// SPDX-License-Identifier: MIT
//
// Two threads that hit different entries reach at least 1.6 times the throughput of one. Each round
// measures, one after the other, a pure spin and hits with one and with two threads; the best of
// the rounds counts, and the spin says what the machine could do at all.
#include "cache_fixture.h"
#include "test_env.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 21, SLICE_NS = 15 * 1000 * 1000, KEYS = 64, BATCH = 256 };

#define NEEDED_RATIO 1.6
#define NEEDED_SPIN_RATIO 1.8

static struct fixture_cache both;
static struct fixture_build build = {.text = "hot"};
static struct zepi_key keys[2][KEYS]; // each thread has its own: sealing writes
static pthread_barrier_t start;

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

// What a thread does again and again: `thread` is 0 or 1.
typedef void batch_fn(unsigned thread, unsigned first, unsigned step);

static void spin(unsigned thread, unsigned first, unsigned step)
{
    (void)step;
    volatile unsigned sink = first + thread;
    for (int i = 0; i < BATCH * 50; i++)
        sink = sink * 1664525 + 1013904223;
}

static void hit(unsigned thread, unsigned first, unsigned step)
{
    const struct zepi_build_request request = {.build = fixture_run_build, .user = &build};
    unsigned at = first;
    for (int i = 0; i < BATCH; i++) {
        struct zepi_build_result *result;
        struct zepi_key *key = &keys[thread][at];
        if (!zepi_key_seal(key) || zepi_build_cache_find_or_build(both.cache, key, &request,
                                                                  &result) != ZEPI_LOOKUP_SUCCEEDED)
            abort();
        zepi_build_result_release(result);
        at = (at + step) % KEYS;
    }
}

struct work {
    batch_fn *batch;
    unsigned thread;
    unsigned first;
    unsigned step;
    double batches_per_s;
};

static void *work(void *argument)
{
    struct work *mine = argument;
    uint64_t batches = 0;
    uint64_t begin_ns;
    uint64_t end_ns;
    pthread_barrier_wait(&start);
    begin_ns = now_ns();
    do {
        mine->batch(mine->thread, mine->first, mine->step);
        batches++;
        end_ns = now_ns();
    } while (end_ns - begin_ns < SLICE_NS);
    mine->batches_per_s = (double)batches * 1e9 / (double)(end_ns - begin_ns);
    return NULL;
}

// Batches a second of `count` threads, one or two, that walk the keys in steps: 2 for keys of
// their own, 0 for one key.
static double measure(batch_fn *batch, unsigned count, unsigned step)
{
    struct work works[2];
    pthread_t threads[2];
    double sum = 0;
    pthread_barrier_init(&start, NULL, count);
    for (unsigned i = 0; i < count; i++) {
        works[i] =
            (struct work){.batch = batch, .thread = i, .first = step > 0 ? i : 0, .step = step};
        if (pthread_create(&threads[i], NULL, work, &works[i]) != 0)
            abort();
    }
    for (unsigned i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        sum += works[i].batches_per_s;
    }
    pthread_barrier_destroy(&start);
    return sum;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

int main(void)
{
    double spin_ratio = 0;
    double different_ratio = 0;
    double same_ratio = 0;
    double hits_per_s = 0;
    both = fixture_cache_create(1 << 20, KEYS, NULL);
    for (unsigned i = 0; i < KEYS; i++) {
        fixture_key(&keys[0][i], i);
        fixture_key(&keys[1][i], i);
        fixture_use(both.cache, i, &build);
    }
    for (int round = 0; round < ROUNDS; round++) {
        double one_spin = measure(spin, 1, 2);
        double two_spins = measure(spin, 2, 2);
        double one = measure(hit, 1, 2);
        double two_different = measure(hit, 2, 2);
        double one_same = measure(hit, 1, 0);
        double two_same = measure(hit, 2, 0);
        spin_ratio = larger(spin_ratio, two_spins / one_spin);
        different_ratio = larger(different_ratio, two_different / one);
        same_ratio = larger(same_ratio, two_same / one_same);
        hits_per_s = larger(hits_per_s, one * BATCH);
    }
    fixture_cache_destroy(&both);

    printf("one thread: %.1f million hits a second, %.0f ns each\n", hits_per_s / 1e6,
           1e9 / hits_per_s);
    printf("two threads against one, best of %d rounds: pure spin %.2f, different entries %.2f, "
           "same entry %.2f\n",
           ROUNDS, spin_ratio, different_ratio, same_ratio);
    if (!TEST_IS_MEASURABLE) {
        puts("skipped: times of a build with sanitizers or without optimisation say nothing");
        return TEST_SKIPPED;
    }
    if (spin_ratio < NEEDED_SPIN_RATIO) {
        puts("skipped: this machine does not run two threads at once");
        return TEST_SKIPPED;
    }
    return different_ratio >= NEEDED_RATIO ? 0 : 1;
}
