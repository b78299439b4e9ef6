// SPDX-License-Identifier: MIT
// Links from several threads at once: the same objects in the same and in different link sets, both
// ways, with globals that stay those of their own set.
#include "test_env.h"
#include "test_plugin.h"
#include "test_threads.h"
#include "test_ze_cpu.h"

#define THREADS 8
#define ROUNDS 12
#define OBJECTS 4

static struct test_gear gear;
static zepi_module_t objects[OBJECTS];

struct worker {
    int number;
    zepi_queue_t queue;
    int32_t *memory;
};

static int32_t run(struct worker *worker, zepi_module_t module, const char *name, int32_t value)
{
    zepi_kernel_t kernel;
    *worker->memory = value;
    const zepi_argument_t argument = TEST_POINTER(worker->memory);
    TEST_OK(zepi.module_get_kernel(module, name, &kernel));
    const zepi_launch_desc_t launch = test_launch(kernel, 1, &argument, 1);
    TEST_OK(zepi.queue_launch(worker->queue, &launch, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(worker->queue));
    TEST_OK(zepi.release(kernel));
    return *worker->memory;
}

static void write_counter(struct worker *worker, zepi_module_t module, int32_t value)
{
    zepi_kernel_t kernel;
    const zepi_argument_t argument = TEST_VALUE(value);
    TEST_OK(zepi.module_get_kernel(module, "write_counter", &kernel));
    const zepi_launch_desc_t launch = test_launch(kernel, 1, &argument, 1);
    TEST_OK(zepi.queue_launch(worker->queue, &launch, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(worker->queue));
    TEST_OK(zepi.release(kernel));
}

// All objects, the same for everyone.
static void link_all(struct worker *worker, zepi_link_method_t method)
{
    const zepi_build_desc_t desc = {.size = sizeof(desc), .link_method = method};
    zepi_module_t module;
    TEST_OK(zepi.module_link(OBJECTS, objects, &desc, &module));
    TEST_EXPECT(run(worker, module, "diamond", 2) == 551, "a wrong number of the whole");
    TEST_OK(zepi.release(module));
}

// Three of them and one with a constant of this thread's own.
static void link_own(struct worker *worker, zepi_link_method_t method)
{
    const int32_t own = 10 + worker->number;
    const zepi_build_desc_t desc = {.size = sizeof(desc), .link_method = method};
    zepi_module_t input = test_input(gear.context, "link_base");
    zepi_module_t list[OBJECTS] = {objects[0], objects[1], objects[2]};
    zepi_module_t module;
    TEST_OK(zepi.spec_constant_set(input, 1, sizeof(own), &own));
    TEST_OK(zepi.module_compile(input, NULL, &list[3]));
    TEST_OK(zepi.module_link(OBJECTS, list, &desc, &module));
    TEST_EXPECT(run(worker, module, "diamond", 0) == 110 * own + 1, "a wrong number of one's own");
    write_counter(worker, module, own);
    TEST_EXPECT(run(worker, module, "read_counter", 0) == own, "another set's global variable");
    TEST_OK(zepi.release(module));
    TEST_OK(zepi.release(list[3]));
    TEST_OK(zepi.release(input));
}

static void fail_to_link(void)
{
    zepi_module_t module;
    TEST_FAILS_SAYING(zepi.module_link(1, objects, NULL, &module), ZEPI_ERROR_LINK_FAILURE,
                      "'left'");
}

static void *work(void *data)
{
    struct worker *worker = data;
    for (int round = 0; round < ROUNDS; round++) {
        const zepi_link_method_t method = round % 2 ? ZEPI_LINK_PROGRAM : ZEPI_LINK_DYNAMIC;
        link_all(worker, method);
        link_own(worker, method);
        fail_to_link();
        if (round % 4 == 3 && worker->number == 0)
            TEST_OK(zepi.cache_clear(gear.context));
    }
    return NULL;
}

int main(void)
{
    static const char *const names[] = {"link_top", "link_left", "link_right", "link_base"};
    struct worker workers[THREADS];
    struct test_ze_cpu ze_cpu = test_ze_cpu_use();
    test_plugin_load();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    for (int i = 0; i < OBJECTS; i++)
        objects[i] = test_object(gear.context, names[i]);
    for (int i = 0; i < THREADS; i++) {
        workers[i].number = i;
        TEST_OK(
            zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_IN_ORDER, &workers[i].queue));
        TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, 4, 0,
                                  (void **)&workers[i].memory));
    }
    test_threads_run(THREADS, work, workers, sizeof(workers[0]));
    for (int i = 0; i < THREADS; i++) {
        TEST_OK(zepi.usm_free(gear.context, workers[i].memory));
        TEST_OK(zepi.release(workers[i].queue));
    }
    for (int i = 0; i < OBJECTS; i++)
        TEST_OK(zepi.release(objects[i]));
    test_gear_destroy(&gear);
    TEST_EXPECT(ze_cpu.get_live_objects() == 0, "objects of the driver are left");
    return 0;
}
