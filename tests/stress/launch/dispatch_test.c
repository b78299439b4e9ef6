// SPDX-License-Identifier: MIT
// Eight threads at once: launches by name with values of their own, this-module, joins, lists of
// the context's modules, and units that come and go.
#include "test_env.h"
#include "test_plugin.h"
#include "test_threads.h"
#include "test_ze_cpu.h"

#include <stdio.h>
#include <stdlib.h>

#define THREADS 8
#define ROUNDS 60

static struct test_gear gear;
static zepi_device_image_desc_t image;
static const char shared_unit;

struct worker {
    int32_t number;
    char own_unit; // its address is the token
    zepi_queue_t queue;
    int32_t *memory;
};

static void launch_in(zepi_queue_t queue, struct worker *worker, zepi_unit_t unit, int32_t value)
{
    const zepi_spec_value_t spec = {7, sizeof(value), &value};
    const zepi_argument_t arguments[] = {TEST_POINTER(worker->memory),
                                         TEST_POINTER(worker->memory + 4)};
    zepi_launch_desc_t desc = test_launch(NULL, 2, arguments, 4);
    desc.kernel_name = "scaled_copy_int";
    desc.unit = unit;
    desc.spec_values = &spec;
    desc.spec_value_count = value != 1;
    TEST_OK(zepi.queue_launch(queue, &desc, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(queue));
    if (worker->memory[4] != 3 * value) {
        fprintf(stderr, "a wrong number: %d for %d\n", worker->memory[4], value);
        exit(1);
    }
}

static void launch(struct worker *worker, zepi_unit_t unit, int32_t value)
{
    launch_in(worker->queue, worker, unit, value);
}

static void join_and_list(void)
{
    zepi_module_t modules[2];
    zepi_module_t joined;
    zepi_module_t listed[64];
    uint32_t count;
    TEST_OK(zepi.unit_get_module(&shared_unit, gear.context, ZEPI_MODULE_INPUT, &modules[0]));
    modules[1] = test_input(gear.context, "scaled_copy");
    TEST_OK(zepi.module_join(2, modules, &joined));
    TEST_OK(zepi.context_get_modules(gear.context, ZEPI_MODULE_INPUT, 64, listed, &count));
    for (uint32_t i = 0; i < count && i < 64; i++)
        TEST_OK(zepi.release(listed[i]));
    TEST_OK(zepi.release(joined));
    TEST_OK(zepi.release(modules[0]));
    TEST_OK(zepi.release(modules[1]));
}

static void *work(void *user)
{
    struct worker *worker = user;
    TEST_OK(zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_IN_ORDER, &worker->queue));
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, 32, 0,
                              (void **)&worker->memory));
    worker->memory[0] = 3;
    for (int i = 0; i < ROUNDS; i++) {
        launch(worker, &shared_unit, 1 + (i + worker->number) % 4);
        launch(worker, &shared_unit, 1);
        // One queue for all, which remembers what each of them asks.
        launch_in(gear.queue, worker, &shared_unit, 1 + (i + worker->number) % 3);
        if (i % 4 == 0)
            join_and_list();
        if (i % 4 == 1) {
            TEST_OK(zepi.unit_register(&worker->own_unit, 1, &image));
            launch(worker, &worker->own_unit, 2);
            TEST_OK(zepi.unit_unregister(&worker->own_unit));
        }
    }
    TEST_OK(zepi.usm_free(gear.context, worker->memory));
    TEST_OK(zepi.release(worker->queue));
    return NULL;
}

int main(void)
{
    static struct worker workers[THREADS];
    const struct test_ze_cpu ze_cpu = test_ze_cpu_use();
    test_plugin_load();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    image = test_spirv_image("scaled_copy");
    TEST_OK(zepi.unit_register(&shared_unit, 1, &image));
    for (int i = 0; i < THREADS; i++)
        workers[i].number = i;
    test_threads_run(THREADS, work, workers, sizeof(workers[0]));
    TEST_OK(zepi.unit_unregister(&shared_unit));
    test_gear_destroy(&gear);
    TEST_EXPECT(ze_cpu.get_live_objects() == 0, "objects are left in the driver");
    return 0;
}
