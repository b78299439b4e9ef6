// SPDX-License-Identifier: MIT
// Everything at once from eight threads: builds of the same and of different modules, launches of
// one kernel object, events across queues, memory, eviction.
#include "test_env.h"
#include "test_plugin.h"
#include "test_threads.h"
#include "test_ze_cpu.h"

#include <stdlib.h>

#define THREADS 8
#define ROUNDS 60
#define ITEMS 64

static struct test_gear gear;
static zepi_module_t shared_input;
static zepi_kernel_t shared_kernel;

struct worker {
    int number;
    zepi_queue_t queue;
    int32_t *in;
    int32_t *out;
};

static void run(struct worker *worker, zepi_kernel_t kernel, int32_t factor)
{
    const zepi_argument_t arguments[] = {TEST_POINTER(worker->in), TEST_POINTER(worker->out)};
    const zepi_launch_desc_t launch = test_launch(kernel, 2, arguments, ITEMS);
    zepi_event_t filled;
    zepi_event_t launched;
    TEST_OK(zepi.queue_fill(worker->queue, worker->in, &worker->number, 4, ITEMS * 4, TEST_NO_WAIT,
                            &filled));
    TEST_OK(zepi.queue_launch(worker->queue, &launch, (zepi_wait_list_t){&filled, 1}, &launched));
    TEST_OK(zepi.release(filled));
    TEST_OK(zepi.event_wait(1, &launched, UINT64_MAX));
    TEST_OK(zepi.release(launched));
    TEST_EXPECT(worker->out[0] == worker->number * factor &&
                    worker->out[ITEMS - 1] == worker->number * factor,
                "a wrong number");
}

// One module with a value that some threads share.
static void build_and_run(struct worker *worker, int round)
{
    const int32_t factor = 2 + (round + worker->number / 2) % 5;
    zepi_module_t input = test_input(gear.context, "scaled_copy");
    zepi_module_t executable;
    zepi_kernel_t kernel;
    TEST_OK(zepi.spec_constant_set(input, 7, sizeof(factor), &factor));
    TEST_OK(zepi.module_build(input, NULL, &executable));
    TEST_OK(zepi.release(input));
    TEST_OK(zepi.module_get_kernel(executable, "scaled_copy_int", &kernel));
    TEST_OK(zepi.release(executable));
    run(worker, kernel, factor);
    TEST_OK(zepi.release(kernel));
}

// One input that all threads set and build: whole values, old or new.
static void race_for_values(void)
{
    const int32_t values[2] = {3, 4};
    zepi_module_t executable;
    int32_t value;
    TEST_OK(zepi.spec_constant_set(shared_input, 7, 4, &values[rand() % 2]));
    TEST_OK(zepi.module_build(shared_input, NULL, &executable));
    TEST_OK(zepi.spec_constant_get(executable, NULL, 7, 4, &value));
    TEST_EXPECT(value == 3 || value == 4, "a value that was never set");
    TEST_OK(zepi.release(executable));
}

static void *work(void *user)
{
    struct worker *worker = user;
    TEST_OK(zepi.queue_create(gear.context, gear.device,
                              worker->number % 2 ? ZEPI_QUEUE_IN_ORDER : 0, &worker->queue));
    for (int i = 0; i < ROUNDS; i++) {
        TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, ITEMS * 4, 0,
                                  (void **)&worker->in));
        TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, ITEMS * 4, 0,
                                  (void **)&worker->out));
        run(worker, shared_kernel, 1);
        build_and_run(worker, i);
        race_for_values();
        if (i % 10 == worker->number)
            TEST_OK(zepi.cache_trim(gear.context, 0));
        TEST_OK(zepi.queue_barrier(gear.queue, TEST_NO_WAIT, NULL));
        TEST_OK(zepi.usm_free(gear.context, worker->in));
        TEST_OK(zepi.usm_free(gear.context, worker->out));
    }
    TEST_OK(zepi.release(worker->queue));
    return NULL;
}

int main(void)
{
    static struct worker workers[THREADS];
    const struct test_ze_cpu ze_cpu = test_ze_cpu_use();
    test_plugin_load();
    gear = test_gear_create(0);
    shared_input = test_input(gear.context, "scaled_copy");
    zepi_module_t executable = test_executable(gear.context, "scaled_copy");
    TEST_OK(zepi.module_get_kernel(executable, "scaled_copy_int", &shared_kernel));
    for (int i = 0; i < THREADS; i++)
        workers[i].number = i + 1;
    test_threads_run(THREADS, work, workers, sizeof(workers[0]));
    TEST_OK(zepi.release(shared_kernel));
    TEST_OK(zepi.release(executable));
    TEST_OK(zepi.release(shared_input));
    test_gear_destroy(&gear);
    TEST_EXPECT(ze_cpu.get_live_objects() == 0, "objects are left in the driver");
    return 0;
}
