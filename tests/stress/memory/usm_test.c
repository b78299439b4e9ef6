// SPDX-License-Identifier: MIT
// Threads that allocate, ask about and free USM, their own and each other's, beside one that looks
// at addresses which may be free by then and one that makes the context's pools give back idle
// memory. An owner's queries about its memory are always right; everything is freed in the end.
#include "test_env.h"
#include "test_plugin.h"
#include "test_threads.h"
#include "test_ze_cpu.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, ROUNDS = 3000, HELD = 24, EXCHANGE = 64 };

static struct test_gear gear;
static struct test_ze_cpu ze_cpu;
static _Atomic(void *) exchange[EXCHANGE]; // memory: its owner is the thread that takes it
static _Atomic(void *) seen[EXCHANGE];
static atomic_bool is_over;

static unsigned next(unsigned *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

static void check(void *memory, size_t size_bytes, zepi_usm_kind_t kind)
{
    zepi_usm_info_t info = {.size = sizeof(info)};
    TEST_OK(zepi.usm_get_info(gear.context, (char *)memory + size_bytes - 1, &info));
    if (info.base != memory || info.size_bytes != size_bytes || info.kind != kind) {
        fprintf(stderr, "%p: base %p, %zu bytes, kind %d\n", memory, info.base, info.size_bytes,
                (int)info.kind);
        exit(1);
    }
}

static void *allocate(zepi_usm_kind_t kind, size_t size_bytes)
{
    void *memory;
    zepi_result_t result;
    do
        result = zepi.usm_allocate(gear.context, kind == ZEPI_USM_HOST ? NULL : gear.device, kind,
                                   size_bytes, 0, &memory);
    while (result == ZEPI_ERROR_OUT_OF_DEVICE_MEMORY); // another's failure: see starve
    TEST_OK(result);
    return memory;
}

static void *work(void *user)
{
    struct {
        unsigned char *memory;
        size_t size_bytes;
        zepi_usm_kind_t kind;
    } held[HELD] = {0};
    unsigned state = (unsigned)(uintptr_t)user;
    for (int round = 0; round < ROUNDS; round++) {
        const unsigned at = next(&state) % HELD;
        if (held[at].memory) {
            check(held[at].memory, held[at].size_bytes, held[at].kind);
            if (held[at].kind == ZEPI_USM_HOST && held[at].memory[0] != (unsigned char)at)
                exit(1);
            void *memory = held[at].memory;
            if (next(&state) % 4 == 0)
                memory = atomic_exchange(&exchange[next(&state) % EXCHANGE], memory);
            if (memory)
                TEST_OK(zepi.usm_free(gear.context, memory));
        }
        held[at].size_bytes = 1 + next(&state) % (round % 50 == 0 ? 300000 : 20000);
        held[at].kind = (zepi_usm_kind_t)(ZEPI_USM_HOST + next(&state) % (round % 8 == 0 ? 3 : 2));
        held[at].memory = allocate(held[at].kind, held[at].size_bytes);
        if (held[at].kind == ZEPI_USM_HOST)
            held[at].memory[0] = (unsigned char)at;
        atomic_store(&seen[at], held[at].memory);
    }
    for (int i = 0; i < HELD; i++) {
        if (held[i].memory)
            TEST_OK(zepi.usm_free(gear.context, held[i].memory));
    }
    return NULL;
}

// Any result is good; it is an error if the driver is asked about memory that is being freed.
static void *look(void *user)
{
    (void)user;
    for (unsigned i = 0; !atomic_load(&is_over); i++) {
        zepi_usm_info_t info = {.size = sizeof(info)};
        void *memory = atomic_load(&seen[i % EXCHANGE]);
        if (memory)
            zepi.usm_get_info(gear.context, memory, &info);
    }
    return NULL;
}

// Each failure of the driver makes the pools give back what is idle. Workers may meet it, too.
static void *starve(void *user)
{
    (void)user;
    while (!atomic_load(&is_over)) {
        void *memory;
        ze_cpu.reset_counts();
        ze_cpu.set_fail("zeMemAllocShared:1:ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
        if (zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, 64, 0, &memory) ==
            ZEPI_SUCCESS)
            TEST_OK(zepi.usm_free(gear.context, memory));
        ze_cpu.set_fail("");
    }
    return NULL;
}

static void run_all(void)
{
    pthread_t threads[THREADS];
    pthread_t others[2];
    atomic_store(&is_over, false);
    others[0] = test_thread_start(look, NULL);
    others[1] = test_thread_start(starve, NULL);
    for (int i = 0; i < THREADS; i++)
        threads[i] = test_thread_start(work, (void *)(uintptr_t)(i + 1));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    atomic_store(&is_over, true);
    pthread_join(others[0], NULL);
    pthread_join(others[1], NULL);
    for (int i = 0; i < EXCHANGE; i++) {
        void *memory = atomic_exchange(&exchange[i], NULL);
        if (memory)
            TEST_OK(zepi.usm_free(gear.context, memory));
        atomic_store(&seen[i], NULL);
    }
}

int main(void)
{
    ze_cpu = test_ze_cpu_use();
    test_plugin_load();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    run_all();
    test_gear_destroy(&gear);
    const uint64_t left = ze_cpu.get_live_objects();
    test_plugin_unload();
    if (left > 0)
        fprintf(stderr, "%llu objects are left in the driver\n", (unsigned long long)left);
    return left > 0;
}
