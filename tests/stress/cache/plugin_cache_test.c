// SPDX-License-Identifier: MIT
// The cache in many hands at once: threads of two contexts build a few modules and launch
// their kernels, while one thread trims, clears and moves the limits, and one lists the modules.
// Every number is checked.
#include "test_env.h"
#include "test_plugin.h"
#include "test_threads.h"
#include "test_ze_cpu.h"

#include <stdatomic.h>
#include <stdlib.h>

#define WORKERS 6
#define ROUNDS 40
#define VALUES 4

static struct test_gear gear;
static zepi_context_t contexts[2];
static zepi_kernel_t shared_kernel;
static atomic_bool is_over;

struct worker {
    unsigned number;
    zepi_context_t context;
    zepi_queue_t queue;
    int32_t *memory;
};

static void launch(struct worker *worker, zepi_kernel_t kernel, int32_t factor)
{
    const zepi_argument_t arguments[] = {TEST_POINTER(worker->memory),
                                         TEST_POINTER(worker->memory + 1)};
    const zepi_launch_desc_t desc = test_launch(kernel, 2, arguments, 1);
    TEST_OK(zepi.queue_launch(worker->queue, &desc, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(worker->queue));
    TEST_EXPECT(worker->memory[1] == factor * worker->memory[0], "a wrong number");
}

static void build_and_launch(struct worker *worker, zepi_module_t input, int32_t value)
{
    zepi_module_t executable;
    zepi_kernel_t kernel;
    TEST_OK(zepi.spec_constant_set(input, 7, sizeof(value), &value));
    TEST_OK(zepi.module_build(input, NULL, &executable));
    // Again, from the cache.
    for (int i = 0; i < 3; i++) {
        TEST_OK(zepi.release(executable));
        TEST_OK(zepi.module_build(input, NULL, &executable));
    }
    TEST_OK(zepi.module_get_kernel(executable, "scaled_copy_int", &kernel));
    TEST_OK(zepi.release(executable));
    launch(worker, kernel, value);
    TEST_OK(zepi.release(kernel));
}

static void *work(void *user)
{
    struct worker *worker = user;
    zepi_module_t input = test_input(worker->context, "scaled_copy");
    TEST_OK(zepi.queue_create(worker->context, gear.device, ZEPI_QUEUE_IN_ORDER, &worker->queue));
    TEST_OK(zepi.usm_allocate(worker->context, gear.device, ZEPI_USM_SHARED, 8, 0,
                              (void **)&worker->memory));
    for (int round = 0; round < ROUNDS; round++) {
        worker->memory[0] = (int32_t)worker->number + 10 * round;
        build_and_launch(worker, input, 2 + (round + (int32_t)worker->number) % VALUES);
        if (worker->context == contexts[0])
            launch(worker, shared_kernel, 1);
    }
    TEST_OK(zepi.usm_free(worker->context, worker->memory));
    TEST_OK(zepi.release(worker->queue));
    TEST_OK(zepi.release(input));
    return NULL;
}

static void *disturb(void *user)
{
    (void)user;
    zepi_cache_limits_t limits = {.size = sizeof(limits)};
    TEST_OK(zepi.cache_get_limits(contexts[0], &limits));
    for (unsigned i = 0; !atomic_load(&is_over); i++) {
        zepi_context_t context = contexts[i % 2];
        zepi_cache_limits_t narrow = limits;
        narrow.memory_entries = i % 5;
        switch (i % 4) {
        case 0:
            TEST_OK(zepi.cache_set_limits(context, &narrow));
            break;
        case 1:
            TEST_OK(zepi.cache_clear(context));
            break;
        case 2:
            TEST_OK(zepi.cache_trim(context, 5000));
            break;
        default:
            TEST_OK(zepi.cache_set_limits(context, &limits));
            TEST_OK(zepi.cache_clear(NULL));
        }
    }
    return NULL;
}

static void *look(void *user)
{
    (void)user;
    while (!atomic_load(&is_over)) {
        test_look_at_modules(contexts[0], rand() % 2 ? ZEPI_MODULE_INPUT : ZEPI_MODULE_EXECUTABLE);
        zepi_cache_counters_t counters = {.size = sizeof(counters)};
        TEST_OK(zepi.cache_get_counters(contexts[0], ZEPI_CACHE_MODULES, &counters));
        TEST_EXPECT(counters.waits <= counters.hits, "more waits than hits");
    }
    return NULL;
}

int main(void)
{
    struct worker workers[WORKERS] = {0};
    const struct test_ze_cpu ze_cpu = test_ze_cpu_use();
    test_plugin_load();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    contexts[0] = gear.context;
    TEST_OK(zepi.context_create(1, &gear.device, &contexts[1]));
    zepi_module_t executable = test_executable(contexts[0], "scaled_copy");
    TEST_OK(zepi.module_get_kernel(executable, "scaled_copy_int", &shared_kernel));
    TEST_OK(zepi.release(executable));
    for (unsigned i = 0; i < WORKERS; i++) {
        workers[i].number = i;
        workers[i].context = contexts[i % 2];
    }
    const pthread_t disturber = test_thread_start(disturb, NULL);
    const pthread_t observer = test_thread_start(look, NULL);
    test_threads_run(WORKERS, work, workers, sizeof(workers[0]));
    atomic_store(&is_over, true);
    pthread_join(disturber, NULL);
    pthread_join(observer, NULL);
    TEST_OK(zepi.release(shared_kernel));
    TEST_OK(zepi.release(contexts[1]));
    test_gear_destroy(&gear);
    TEST_EXPECT(ze_cpu.get_live_objects() == 0, "something was not destroyed");
    test_plugin_unload();
    return 0;
}
