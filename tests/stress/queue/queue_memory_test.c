// SPDX-License-Identifier: MIT
// Threads that allocate, use and free memory in the order of their queues, and hand memory with the
// event of its release to each other, while one thread trims the pools and asks about them. Every
// number is checked.
#include "test_env.h"
#include "test_plugin.h"
#include "test_threads.h"
#include "test_ze_cpu.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

enum { THREADS = 4, ROUNDS = 60, WORDS_MAX = 3000, COPIES = 8 };

static struct test_gear gear;
static zepi_pool_t pool;
static atomic_bool is_over;

// Events of what was freed, of one thread for the next; NULL: none is there.
static _Atomic(zepi_event_t) freed[THREADS];

struct worker {
    unsigned number;
    zepi_queue_t queue;
    uint32_t *copies; // memory of the host
};

static void release_event(zepi_event_t event)
{
    if (event)
        TEST_OK(zepi.release(event));
}

static unsigned next(unsigned *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

static size_t choose_words(unsigned *state)
{
    // Some are larger than blocks of slabs.
    return next(state) % 16 == 0 ? (size_t)1 << 20 : 1 + next(state) % WORDS_MAX;
}

// Memory that has a value, in the order of the queue. With the event of another queue's release it
// may be the memory that was released there.
static uint32_t *allocate(struct worker *worker, unsigned *state, size_t words, uint32_t value)
{
    void *memory = NULL;
    zepi_event_t event = atomic_exchange(&freed[(worker->number + 1) % THREADS], NULL);
    const zepi_wait_list_t wait = {.count = event != NULL, .events = &event};
    TEST_OK(zepi.queue_allocate(worker->queue, next(state) % 4 ? pool : NULL, ZEPI_USM_DEVICE,
                                words * sizeof(value), 0, wait, &memory, NULL));
    release_event(event);
    TEST_OK(zepi.queue_fill(worker->queue, memory, &value, sizeof(value), words * sizeof(value),
                            TEST_NO_WAIT, NULL));
    return memory;
}

static void release_memory(struct worker *worker, unsigned *state, void *memory)
{
    zepi_event_t event = NULL;
    switch (next(state) % 4) {
    case 0:
        TEST_OK(zepi.queue_free(worker->queue, memory, TEST_NO_WAIT, &event));
        release_event(atomic_exchange(&freed[worker->number], event));
        break;
    case 1:
        TEST_OK(zepi.queue_finish(worker->queue));
        TEST_OK(zepi.usm_free(gear.context, memory));
        break;
    default:
        TEST_OK(zepi.queue_free(worker->queue, memory, TEST_NO_WAIT, NULL));
    }
}

static void *work(void *user)
{
    struct worker *worker = user;
    unsigned state = worker->number;
    uint32_t expected[COPIES];
    TEST_OK(zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_IN_ORDER, &worker->queue));
    TEST_OK(zepi.usm_allocate(gear.context, NULL, ZEPI_USM_HOST, COPIES * sizeof(uint32_t), 0,
                              (void **)&worker->copies));
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < COPIES; i++) {
            const size_t words = choose_words(&state);
            expected[i] = next(&state);
            uint32_t *memory = allocate(worker, &state, words, expected[i]);
            TEST_OK(zepi.queue_copy(worker->queue, &worker->copies[i], memory + words - 1,
                                    sizeof(uint32_t), TEST_NO_WAIT, NULL));
            release_memory(worker, &state, memory);
        }
        TEST_OK(zepi.queue_finish(worker->queue));
        for (int i = 0; i < COPIES; i++)
            TEST_EXPECT(worker->copies[i] == expected[i], "memory has another one's value");
    }
    TEST_OK(zepi.usm_free(gear.context, worker->copies));
    TEST_OK(zepi.release(worker->queue));
    return NULL;
}

static void *disturb(void *user)
{
    (void)user;
    while (!atomic_load(&is_over)) {
        zepi_pool_info_t info = {.size = sizeof(info)};
        TEST_OK(zepi.pool_get_info(pool, &info));
        TEST_OK(zepi.pool_trim(pool, (size_t)(rand() % 3) << 20));
        TEST_OK(zepi.pool_set_limits(pool, 0, (size_t)(rand() % 2) << 22));
    }
    return NULL;
}

int main(void)
{
    struct worker workers[THREADS] = {0};
    const struct test_ze_cpu ze_cpu = test_ze_cpu_use();
    test_plugin_load();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    TEST_OK(zepi.pool_create(gear.context, NULL, &pool));
    for (unsigned i = 0; i < THREADS; i++)
        workers[i].number = i;
    const pthread_t disturber = test_thread_start(disturb, NULL);
    test_threads_run(THREADS, work, workers, sizeof(workers[0]));
    atomic_store(&is_over, true);
    pthread_join(disturber, NULL);
    for (int i = 0; i < THREADS; i++)
        release_event(atomic_load(&freed[i]));
    TEST_OK(zepi.release(pool));
    test_gear_destroy(&gear);
    TEST_EXPECT(ze_cpu.get_live_objects() == 0, "something was not destroyed");
    test_plugin_unload();
    return 0;
}
