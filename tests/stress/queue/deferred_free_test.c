// SPDX-License-Identifier: MIT
// Threads that free memory while fills of their own queues may still write to it, and allocate
// again: no fill is ever seen in memory that it was not for. Beside them one thread makes queues
// come and go, and one lets allocations fail, so that memory is given back while others free it.
#include "test_env.h"
#include "test_plugin.h"
#include "test_threads.h"
#include "test_ze_cpu.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 3, ROUNDS = 1500, HELD = 8 };

static struct test_gear gear;
static struct test_ze_cpu ze_cpu;
static atomic_bool is_over;

static unsigned next(unsigned *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

static uint32_t *allocate(size_t size_bytes)
{
    void *memory;
    TEST_OK(zepi.usm_allocate(gear.context, NULL, ZEPI_USM_HOST, size_bytes, 0, &memory));
    return memory;
}

static void give(void *memory)
{
    TEST_OK(zepi.usm_free(gear.context, memory));
}

// Memory that no command was ever given.
struct own {
    uint32_t *words;
    size_t count;
    uint32_t value;
};

static void own_begin(struct own *own, size_t size_bytes, uint32_t value)
{
    *own = (struct own){allocate(size_bytes), size_bytes / sizeof(uint32_t), value};
    for (size_t i = 0; i < own->count; i++)
        own->words[i] = value;
}

static void own_end(struct own *own)
{
    for (size_t i = 0; i < own->count; i++) {
        if (own->words[i] == own->value)
            continue;
        fprintf(stderr, "word %zu of %zu is %x, expected %x\n", i, own->count, own->words[i],
                own->value);
        exit(1);
    }
    if (own->words)
        give(own->words);
}

static void *work(void *user)
{
    unsigned state = (unsigned)(uintptr_t)user;
    struct own held[HELD] = {0};
    zepi_queue_t queue;
    TEST_OK(
        zepi.queue_create(gear.context, gear.device, state % 2 ? ZEPI_QUEUE_IN_ORDER : 0, &queue));
    for (unsigned round = 0; round < ROUNDS; round++) {
        const uint32_t pattern = 0xf0000000u | round;
        const size_t size = (4 + next(&state) % (round % 50 == 0 ? 300000 : 9000)) & ~(size_t)3;
        zepi_event_t event;
        uint32_t *memory = allocate(size);
        TEST_OK(
            zepi.queue_fill(queue, memory, &pattern, sizeof(pattern), size, TEST_NO_WAIT, &event));
        if (next(&state) % 8 == 0)
            TEST_OK(zepi.event_wait(1, &event, UINT64_MAX));
        TEST_OK(zepi.release(event));
        give(memory);
        if (next(&state) % 64 == 0)
            TEST_OK(zepi.queue_finish(queue));
        struct own *own = &held[round % HELD];
        own_end(own);
        own_begin(own, size, round);
    }
    for (int i = 0; i < HELD; i++)
        own_end(&held[i]);
    TEST_OK(zepi.release(queue));
    return NULL;
}

// More at the same time than a context has short ways to look at.
static void *come_and_go(void *user)
{
    enum { QUEUES = 40 };
    (void)user;
    while (!atomic_load(&is_over)) {
        zepi_queue_t queues[QUEUES];
        zepi_buffer_t buffer;
        for (int i = 0; i < QUEUES; i++)
            TEST_OK(zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_IN_ORDER, &queues[i]));
        TEST_OK(zepi.buffer_create(gear.context, (size_t)33 << 20, NULL, &buffer));
        TEST_OK(zepi.queue_barrier(queues[QUEUES - 1], TEST_NO_WAIT, NULL));
        TEST_OK(zepi.release(buffer));
        for (int i = 0; i < QUEUES; i++)
            TEST_OK(zepi.release(queues[i]));
    }
    return NULL;
}

// Each failure of the driver makes the context give back what it can.
static void *starve(void *user)
{
    (void)user;
    while (!atomic_load(&is_over)) {
        void *memory;
        ze_cpu.reset_counts();
        ze_cpu.set_fail("zeMemAllocShared:1:ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
        TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, 64, 0, &memory));
        give(memory);
        ze_cpu.set_fail("");
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    ze_cpu = test_ze_cpu_use();
    test_plugin_load();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    pthread_t others[] = {test_thread_start(come_and_go, NULL), test_thread_start(starve, NULL)};
    for (uintptr_t i = 0; i < THREADS; i++)
        threads[i] = test_thread_start(work, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    atomic_store(&is_over, true);
    for (int i = 0; i < 2; i++)
        pthread_join(others[i], NULL);
    test_gear_destroy(&gear);
    const uint64_t left = ze_cpu.get_live_objects();
    test_plugin_unload();
    if (left > 0)
        fprintf(stderr, "%llu objects are left in the driver\n", (unsigned long long)left);
    return left > 0;
}
