// SPDX-License-Identifier: MIT
// Threads that get, launch and release kernels of one module, while another one trims the cache.
#include "test_env.h"
#include "test_plugin.h"
#include "test_threads.h"
#include "test_ze_cpu.h"

#include <stdatomic.h>
#include <stdio.h>

#define THREADS 4
#define ROUNDS 500
#define KERNELS 6 // more than rest in a module

static struct test_gear gear;
static zepi_module_t executable;
static atomic_bool is_over;

static void *work(void *user)
{
    int32_t *data = *(int32_t **)user;
    int32_t sum = 0;
    zepi_queue_t queue;
    TEST_OK(zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_IN_ORDER, &queue));
    for (int i = 0; i < ROUNDS; i++) {
        char name[16];
        zepi_kernel_t kernel;
        const int number = i % KERNELS + 1;
        snprintf(name, sizeof(name), "add_%d", number);
        TEST_OK(zepi.module_get_kernel(executable, name, &kernel));
        const zepi_argument_t argument = TEST_POINTER(data);
        const zepi_launch_desc_t launch = test_launch(kernel, 1, &argument, 1);
        TEST_OK(zepi.queue_launch(queue, &launch, TEST_NO_WAIT, NULL));
        TEST_OK(zepi.release(kernel));
        sum += number;
        if (i % 16 == 15)
            TEST_OK(zepi.queue_finish(queue));
    }
    TEST_OK(zepi.queue_finish(queue));
    TEST_EXPECT(*data == sum, "a launch was lost, or was another kernel's");
    TEST_OK(zepi.release(queue));
    return NULL;
}

static void *trim(void *user)
{
    (void)user;
    while (!atomic_load(&is_over))
        TEST_OK(zepi.cache_trim(gear.context, 0));
    return NULL;
}

int main(void)
{
    int32_t *data[THREADS];
    const struct test_ze_cpu ze_cpu = test_ze_cpu_use();
    test_plugin_load();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    executable = test_executable(gear.context, "twenty_kernels");
    for (int i = 0; i < THREADS; i++) {
        TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, sizeof(int32_t), 0,
                                  (void **)&data[i]));
        *data[i] = 0;
    }
    const pthread_t trimmer = test_thread_start(trim, NULL);
    test_threads_run(THREADS, work, data, sizeof(data[0]));
    atomic_store(&is_over, true);
    pthread_join(trimmer, NULL);
    for (int i = 0; i < THREADS; i++)
        TEST_OK(zepi.usm_free(gear.context, data[i]));
    TEST_OK(zepi.release(executable));
    test_gear_destroy(&gear);
    TEST_EXPECT(ze_cpu.get_live_objects() == 0, "objects are left in the driver");
    return 0;
}
