// SPDX-License-Identifier: MIT
// One kernel object from eight threads: half of them share a queue, the others have their own, of
// either order. Each launch is told from the others by its value; events go to other threads, which
// release them.
#include "test_env.h"
#include "test_plugin.h"
#include "test_threads.h"
#include "test_ze_cpu.h"

#include <stdatomic.h>

#define THREADS 8
#define ROUNDS 400

static struct test_gear gear;
static zepi_kernel_t kernel;
// Where threads leave events for others.
static _Atomic(zepi_event_t) left[THREADS];

struct worker {
    int number;
    zepi_queue_t queue;
    int32_t *counts;
};

// Exchanges an event with the next thread, and releases what was there.
static void pass_on(int number, zepi_event_t event)
{
    const zepi_event_t other = atomic_exchange(&left[(number + 1) % THREADS], event);
    if (other)
        TEST_OK(zepi.release(other));
}

static void *work(void *user)
{
    struct worker *worker = user;
    zepi_event_t last = NULL;
    for (int i = 0; i < ROUNDS; i++) {
        const zepi_argument_t argument = TEST_POINTER(&worker->counts[i % 4]);
        zepi_launch_desc_t launch = test_launch(kernel, 1, &argument, 1);
        zepi_event_t event;
        launch.global_offset[0] = (size_t)(i / 100 % 2);
        TEST_OK(zepi.queue_launch(worker->queue, &launch, (zepi_wait_list_t){&last, last != NULL},
                                  &event));
        if (last)
            pass_on(worker->number, last);
        last = event;
        if (i % 50 == 49)
            TEST_OK(zepi.event_wait(1, &last, UINT64_MAX));
        if (i % 64 == 63) {
            pass_on(worker->number, last);
            last = NULL;
            TEST_OK(zepi.queue_finish(worker->queue));
        }
    }
    if (last)
        TEST_OK(zepi.release(last));
    TEST_OK(zepi.queue_finish(worker->queue));
    int32_t count = 0;
    for (int i = 0; i < 4; i++)
        count += worker->counts[i];
    TEST_EXPECT(count == ROUNDS, "a launch was lost, or ran with another's arguments");
    return NULL;
}

int main(void)
{
    static struct worker workers[THREADS];
    const struct test_ze_cpu ze_cpu = test_ze_cpu_use();
    zepi_queue_t shared;
    test_plugin_load();
    gear = test_gear_create(0);
    zepi_module_t executable = test_executable(gear.context, "launches");
    TEST_OK(zepi.module_get_kernel(executable, "count_items", &kernel));
    TEST_OK(zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_IN_ORDER, &shared));
    for (int i = 0; i < THREADS; i++) {
        struct worker *worker = &workers[i];
        worker->number = i;
        worker->queue = shared;
        if (i % 2)
            TEST_OK(zepi.queue_create(gear.context, gear.device,
                                      i % 4 == 1 ? ZEPI_QUEUE_IN_ORDER : 0, &worker->queue));
        TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, 64, 0,
                                  (void **)&worker->counts));
        for (int at = 0; at < 4; at++)
            worker->counts[at] = 0;
    }
    test_threads_run(THREADS, work, workers, sizeof(workers[0]));
    for (int i = 0; i < THREADS; i++) {
        if (left[i])
            TEST_OK(zepi.release(left[i]));
        if (i % 2)
            TEST_OK(zepi.release(workers[i].queue));
        TEST_OK(zepi.usm_free(gear.context, workers[i].counts));
    }
    TEST_OK(zepi.release(shared));
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.release(executable));
    test_gear_destroy(&gear);
    TEST_EXPECT(ze_cpu.get_live_objects() == 0, "objects are left in the driver");
    return 0;
}
