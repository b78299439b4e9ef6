// SPDX-License-Identifier: MIT
#include "measures.h"

#include "measure/interrupts.h"
#include "measure/times.h"
#include "tools/zepi/commands.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define SPINS 2000000

struct crew {
    const struct bench_row *row; // NULL: the threads spin
    bool is_one_queue;
    unsigned count;      // operations of each thread
    atomic_uint missing; // threads that are not there yet
};

struct member {
    struct crew *crew;
    unsigned thread;
    uint64_t start_ns;
    uint64_t end_ns;
    bool is_good;
};

static bool spin(unsigned count)
{
    volatile unsigned value = count;
    for (unsigned i = 0; i < count; i++)
        value = value * 5 + 1;
    return true;
}

static bool launch(const struct crew *crew, unsigned thread)
{
    const struct bench_launch launch = {.is_second = thread > 0 && !crew->is_one_queue};
    bool is_good = true;
    for (unsigned i = 0; i < crew->count && is_good; i++)
        is_good = crew->row->launch(crew->row->state, &launch, i);
    return is_good;
}

static void *run_member(void *user)
{
    struct member *member = user;
    struct crew *crew = member->crew;
    // All begin together, without a system call in between. Acquire and release: as a barrier.
    atomic_fetch_sub_explicit(&crew->missing, 1, memory_order_acq_rel);
    while (atomic_load_explicit(&crew->missing, memory_order_acquire) > 0)
        continue;
    member->start_ns = host_now_ns();
    member->is_good = crew->row ? launch(crew, member->thread) : spin(crew->count);
    member->end_ns = host_now_ns();
    return NULL;
}

// Nanoseconds an operation; 0: one failed.
static double measure(struct crew *crew, unsigned size)
{
    pthread_t threads[BENCH_CREW_SIZE];
    struct member members[BENCH_CREW_SIZE];
    unsigned made = 0;
    bool is_good = true;
    uint64_t start_ns = UINT64_MAX;
    uint64_t end_ns = 0;
    atomic_init(&crew->missing, size);
    for (unsigned i = 0; i < size; i++) {
        members[i] = (struct member){.crew = crew, .thread = i};
        if (pthread_create(&threads[i], NULL, run_member, &members[i]) != 0)
            break;
        made++;
    }
    // Those that wait for one that could not be made go on.
    if (made < size)
        atomic_store_explicit(&crew->missing, 0, memory_order_release);
    for (unsigned i = 0; i < made; i++) {
        pthread_join(threads[i], NULL);
        is_good = is_good && members[i].is_good;
        start_ns = members[i].start_ns < start_ns ? members[i].start_ns : start_ns;
        end_ns = members[i].end_ns > end_ns ? members[i].end_ns : end_ns;
    }
    if (!is_good || made < size)
        return 0;
    return (double)(end_ns - start_ns) / ((double)crew->count * size);
}

// Keeps the best of both. False: an operation failed.
static bool measure_pair(struct crew *crew, struct bench_pair *pair)
{
    const double one_ns = measure(crew, 1);
    const double two_ns = one_ns > 0 ? measure(crew, BENCH_CREW_SIZE) : 0;
    if (two_ns == 0)
        return false;
    if (pair->one_ns == 0 || one_ns < pair->one_ns)
        pair->one_ns = one_ns;
    if (pair->two_ns == 0 || two_ns < pair->two_ns)
        pair->two_ns = two_ns;
    return true;
}

static bool run_round(struct bench *bench)
{
    struct crew spinning = {.count = SPINS};
    bool is_good = measure_pair(&spinning, &bench->spin);
    for (int i = 0; i < BENCH_CREW_COUNT && is_good; i++) {
        const struct bench_crew_info *info = &bench_crews[i];
        for (int place = BENCH_ROW_ZEPI; place < BENCH_ROW_COUNT && is_good; place++) {
            const struct bench_row *row = &bench->rows[place];
            struct crew crew = {
                .row = row, .is_one_queue = i == BENCH_CREW_ONE_QUEUE, .count = info->loop};
            if (!row->steps || !bench_is_asked_for(bench, info->name))
                continue;
            is_good = row->settle(row->state) && measure_pair(&crew, &bench->pairs[place][i]);
            if (!is_good)
                fprintf(stderr, "zepi-bench: %s: failed: %s\n", row->name, info->title);
        }
    }
    return is_good;
}

bool bench_threads_measure(struct bench *bench)
{
    bool is_good = true;
    for (int i = 0; i < BENCH_ROUNDS && is_good; i++) {
        command_progress("threads, round %d of %d", i + 1, BENCH_ROUNDS);
        is_good = run_round(bench) && !bench_is_interrupted();
    }
    command_progress_end();
    return is_good;
}
