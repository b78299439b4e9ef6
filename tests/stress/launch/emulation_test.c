// SPDX-License-Identifier: MIT
// Eight threads with 64 launches in flight each: every launch sees its own value of an emulated
// constant, from a unit, beside a module, and chosen by a selector.
#include "test_env.h"
#include "test_plugin.h"
#include "test_threads.h"
#include "test_ze_cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 8
#define ROUNDS 4
#define LAUNCHES 64
#define WORDS 5 // that use_all writes

static struct test_gear gear;
static zepi_module_t executable;
static const char unit;

static const int8_t small_default = -3;
static const zepi_emulated_constant_t constants[] = {{10, ZEPI_SCALAR_INT8, &small_default},
                                                     {11, ZEPI_SCALAR_INT32, NULL},
                                                     {12, ZEPI_SCALAR_FLOAT32, NULL},
                                                     {13, ZEPI_SCALAR_INT64, NULL},
                                                     {14, ZEPI_SCALAR_INT16, NULL}};
static const char *const kernel_names[] = {"use_all"};

struct worker {
    int32_t number;
    zepi_queue_t queue;
    int64_t *out;
};

static zepi_device_image_t take_first(void *data, const zepi_device_image_t *images,
                                      uint32_t image_count)
{
    (void)data;
    return image_count > 0 ? images[0] : NULL;
}

static int32_t number_of(const struct worker *worker, int round, int32_t at)
{
    return 1000000 * worker->number + 1000 * round + at;
}

static void enqueue(struct worker *worker, int round, int32_t at, zepi_wait_list_t wait)
{
    const int32_t number = number_of(worker, round, at);
    const int64_t large = -(int64_t)number * 1000;
    const zepi_spec_value_t values[] = {{13, 8, &large}, {11, 4, &number}};
    const zepi_argument_t argument = TEST_POINTER(worker->out + at * WORDS);
    zepi_launch_desc_t desc = test_launch(NULL, 1, &argument, 1);
    desc.kernel_name = "use_all";
    desc.unit = at % 3 == 0 ? NULL : &unit;
    desc.module = at % 3 == 0 ? executable : NULL;
    desc.selector = at % 3 == 1 ? take_first : NULL;
    desc.spec_values = values;
    desc.spec_value_count = at % 8 == 7 ? 0 : 2; // some with the defaults
    TEST_OK(zepi.queue_launch(worker->queue, &desc, wait, NULL));
}

static void check(const struct worker *worker, int round)
{
    for (int32_t at = 0; at < LAUNCHES; at++) {
        const int64_t *out = worker->out + at * WORDS;
        const int64_t number = at % 8 == 7 ? 0 : number_of(worker, round, at);
        if (out[0] == -3 && out[1] == number && out[3] == -number * 1000)
            continue;
        fprintf(stderr, "emulation stress: thread %d, launch %d: %lld %lld, expected %lld\n",
                worker->number, at, (long long)out[1], (long long)out[3], (long long)number);
        exit(1);
    }
}

static void *work(void *data)
{
    struct worker *worker = data;
    TEST_OK(zepi.queue_create(gear.context, gear.device,
                              worker->number % 2 ? ZEPI_QUEUE_IN_ORDER : 0, &worker->queue));
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED,
                              sizeof(int64_t) * WORDS * LAUNCHES, 0, (void **)&worker->out));
    for (int round = 0; round < ROUNDS; round++) {
        zepi_event_t gate;
        memset(worker->out, 0, sizeof(int64_t) * WORDS * LAUNCHES);
        TEST_OK(zepi.event_create(gear.context, &gate));
        // None begins before all are enqueued.
        for (int32_t at = 0; at < LAUNCHES; at++)
            enqueue(worker, round, at, (zepi_wait_list_t){&gate, 1});
        TEST_OK(zepi.event_signal(gate));
        TEST_OK(zepi.queue_finish(worker->queue));
        TEST_OK(zepi.release(gate));
        check(worker, round);
    }
    TEST_OK(zepi.usm_free(gear.context, worker->out));
    TEST_OK(zepi.release(worker->queue));
    return NULL;
}

// The native code of emulated.cl as an executable, in the unit and as a module.
static void make_executables(void)
{
    zepi_module_t built = test_executable(gear.context, "emulated");
    zepi_device_image_desc_t image = test_native_image(built, gear.device, ZEPI_MODULE_EXECUTABLE);
    image.emulated_constants = constants;
    image.emulated_constant_count = 5;
    image.emulated_kernels = kernel_names;
    image.emulated_kernel_count = 1;
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_EXECUTABLE, 1, &image, &executable));
    TEST_OK(zepi.unit_register(&unit, 1, &image));
    TEST_OK(zepi.release(built));
    test_native_image_finish(&image);
}

int main(void)
{
    static struct worker workers[THREADS];
    const struct test_ze_cpu ze_cpu = test_ze_cpu_use();
    test_plugin_load();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    make_executables();
    for (int i = 0; i < THREADS; i++)
        workers[i].number = i;
    test_threads_run(THREADS, work, workers, sizeof(workers[0]));
    TEST_OK(zepi.unit_unregister(&unit));
    TEST_OK(zepi.release(executable));
    test_gear_destroy(&gear);
    TEST_EXPECT(ze_cpu.get_live_objects() == 0, "objects are left in the driver");
    return 0;
}
