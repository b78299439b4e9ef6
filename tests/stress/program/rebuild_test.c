// SPDX-License-Identifier: MIT
// Programs that are made anew and released again by many threads at once: threads of two contexts
// make a few, some of which another thread releases; one thread makes contexts of its own and
// releases them; one trims the caches, and one lists the modules. Every number is checked.
#include "test_env.h"
#include "test_plugin.h"
#include "test_threads.h"
#include "test_ze_cpu.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#define WORKERS 6
#define ROUNDS 600
#define VALUES 3

static struct test_gear gear;
static zepi_context_t contexts[2];
static zepi_device_image_desc_t image;
static atomic_bool is_over;
// Objects that one thread leaves for another one to release.
static void *_Atomic left[8];

struct worker {
    unsigned number;
    zepi_context_t context;
    zepi_queue_t queue;
    int32_t *memory;
};

// Each of its own place, so that an object is sometimes released at once, sometimes much later.
static void release_somehow(void *object, unsigned choice)
{
    if (choice % 4 == 0)
        object = atomic_exchange(&left[choice / 4 % 8], object);
    if (object)
        TEST_OK(zepi.release(object));
}

static void launch(struct worker *worker, zepi_kernel_t kernel, int32_t value, int32_t number)
{
    const zepi_argument_t arguments[] = {TEST_POINTER(worker->memory),
                                         TEST_POINTER(worker->memory + 1)};
    const zepi_launch_desc_t desc = test_launch(kernel, 2, arguments, 1);
    worker->memory[0] = number;
    TEST_OK(zepi.queue_launch(worker->queue, &desc, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(worker->queue));
    TEST_EXPECT(worker->memory[1] == value * number, "a wrong number");
}

static void make(zepi_context_t context, int32_t value, zepi_module_t *out_input,
                 zepi_module_t *out_executable)
{
    int32_t seen;
    zepi_module_info_t info = {.size = sizeof(info)};
    TEST_OK(zepi.module_create(context, ZEPI_MODULE_INPUT, 1, &image, out_input));
    TEST_OK(zepi.spec_constant_get(*out_input, NULL, 7, sizeof(seen), &seen));
    TEST_EXPECT(seen == 1, "an input has a value that was never set");
    TEST_OK(zepi.spec_constant_set(*out_input, 7, sizeof(value), &value));
    TEST_OK(zepi.module_build(*out_input, NULL, out_executable));
    TEST_OK(zepi.spec_constant_get(*out_executable, NULL, 7, sizeof(seen), &seen));
    TEST_EXPECT(seen == value, "an executable has another value");
    TEST_OK(zepi.module_get_info(*out_executable, &info));
    TEST_EXPECT(info.context == context, "a module of another context");
}

static void *work(void *user)
{
    struct worker *worker = user;
    unsigned random = worker->number + 1;
    TEST_OK(zepi.queue_create(worker->context, gear.device, ZEPI_QUEUE_IN_ORDER, &worker->queue));
    TEST_OK(zepi.usm_allocate(worker->context, gear.device, ZEPI_USM_SHARED, 8, 0,
                              (void **)&worker->memory));
    for (int round = 0; round < ROUNDS; round++) {
        zepi_module_t input;
        zepi_module_t executable;
        zepi_kernel_t kernel;
        const int32_t value = 2 + (round / 16 + (int32_t)worker->number) % VALUES;
        random = random * 1664525 + 1013904223;
        make(worker->context, value, &input, &executable);
        TEST_OK(zepi.module_get_kernel(executable, "scaled_copy_int", &kernel));
        if (round % 8 == 0)
            launch(worker, kernel, value, round);
        release_somehow(input, random >> 8);
        release_somehow(executable, random >> 16);
        TEST_OK(zepi.release(kernel));
    }
    TEST_OK(zepi.usm_free(worker->context, worker->memory));
    TEST_OK(zepi.release(worker->queue));
    return NULL;
}

static void *come_and_go(void *user)
{
    (void)user;
    while (!atomic_load(&is_over)) {
        zepi_context_t context;
        TEST_OK(zepi.context_create(1, &gear.device, &context));
        for (int i = 0; i < 4; i++) {
            zepi_module_t input;
            zepi_module_t executable;
            make(context, 2, &input, &executable);
            TEST_OK(zepi.release(input));
            // The last one keeps its context.
            if (i == 3)
                TEST_OK(zepi.release(context));
            TEST_OK(zepi.release(executable));
        }
    }
    return NULL;
}

static void *disturb(void *user)
{
    const struct timespec pause = {.tv_nsec = 3000000};
    (void)user;
    for (unsigned i = 0; !atomic_load(&is_over); i++) {
        TEST_OK(zepi.cache_trim(contexts[i % 2], 0));
        nanosleep(&pause, NULL);
    }
    return NULL;
}

static void *look(void *user)
{
    (void)user;
    while (!atomic_load(&is_over)) {
        test_look_at_modules(contexts[0], rand() % 2 ? ZEPI_MODULE_INPUT : ZEPI_MODULE_EXECUTABLE);
    }
    return NULL;
}

int main(void)
{
    static test_thread_fn *const others[] = {come_and_go, disturb, look};
    struct worker workers[WORKERS] = {0};
    pthread_t threads[3];
    const struct test_ze_cpu ze_cpu = test_ze_cpu_use();
    test_plugin_load();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    image = test_spirv_image("scaled_copy");
    contexts[0] = gear.context;
    TEST_OK(zepi.context_create(1, &gear.device, &contexts[1]));
    for (unsigned i = 0; i < WORKERS; i++) {
        workers[i].number = i;
        workers[i].context = contexts[i % 2];
    }
    for (int i = 0; i < 3; i++)
        threads[i] = test_thread_start(others[i], NULL);
    test_threads_run(WORKERS, work, workers, sizeof(workers[0]));
    atomic_store(&is_over, true);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < 8; i++)
        release_somehow(atomic_exchange(&left[i], NULL), 1);
    TEST_OK(zepi.release(contexts[1]));
    test_gear_destroy(&gear);
    TEST_EXPECT(ze_cpu.get_live_objects() == 0, "something was not destroyed");
    test_plugin_unload();
    return 0;
}
