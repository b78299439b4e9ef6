// SPDX-License-Identifier: MIT
// Native code and native handles from eight threads: every thread takes the code of modules that
// all share, makes modules of it, links objects, and exports and imports handles.
#include "test_env.h"
#include "test_plugin.h"
#include "test_threads.h"
#include "test_ze_cpu.h"

#define THREADS 8
#define ROUNDS 12

static struct test_gear gear;
static zepi_module_t shared_objects[2];
static zepi_module_t shared_executable;

struct worker {
    int number;
    zepi_queue_t queue;
    int32_t *memory;
};

static zepi_module_t copy(zepi_module_t module, zepi_module_state_t state)
{
    zepi_device_image_desc_t image = test_native_image(module, gear.device, state);
    zepi_module_t made;
    TEST_OK(zepi.module_create(gear.context, state, 1, &image, &made));
    test_native_image_finish(&image);
    return made;
}

static int32_t run(struct worker *worker, zepi_module_t module, int32_t value)
{
    zepi_kernel_t kernel;
    const zepi_argument_t argument = TEST_POINTER(worker->memory);
    *worker->memory = value;
    TEST_OK(zepi.module_get_kernel(module, "triple_and_offset", &kernel));
    const zepi_launch_desc_t launch = test_launch(kernel, 1, &argument, 1);
    TEST_OK(zepi.queue_launch(worker->queue, &launch, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(worker->queue));
    TEST_OK(zepi.release(kernel));
    return *worker->memory;
}

static void link_copies(struct worker *worker)
{
    zepi_module_t objects[2];
    zepi_module_t linked;
    for (int i = 0; i < 2; i++)
        objects[i] = copy(shared_objects[i], ZEPI_MODULE_OBJECT);
    // Beside SPIR-V, too.
    const zepi_module_t list[] = {worker->number % 2 ? objects[0] : shared_objects[0], objects[1]};
    TEST_OK(zepi.module_link(2, list, NULL, &linked));
    TEST_EXPECT(run(worker, linked, worker->number) == 3 * worker->number + 100, "a wrong number");
    TEST_OK(zepi.release(linked));
    for (int i = 0; i < 2; i++)
        TEST_OK(zepi.release(objects[i]));
}

static void pass_a_handle(struct worker *worker)
{
    zepi_module_t own = copy(shared_executable, ZEPI_MODULE_EXECUTABLE);
    zepi_module_t imported;
    void *handle;
    TEST_OK(zepi.module_get_native(own, gear.device, &handle));
    TEST_OK(zepi.module_create_from_native(gear.context, gear.device, handle,
                                           ZEPI_MODULE_EXECUTABLE, ZEPI_OWNERSHIP_KEEP, &imported));
    TEST_EXPECT(run(worker, imported, 5) == 115, "a wrong number of a handle");
    TEST_OK(zepi.release(imported));
    TEST_EXPECT(run(worker, own, 6) == 118, "a wrong number of what was exported");
    TEST_OK(zepi.release(own));
    // One handle of the module that all have.
    TEST_OK(zepi.module_get_native(shared_executable, gear.device, &handle));
    TEST_EXPECT(run(worker, shared_executable, 7) == 121, "a wrong number of all");
}

static void *work(void *data)
{
    struct worker *worker = data;
    TEST_OK(zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_IN_ORDER, &worker->queue));
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, 4, 0,
                              (void **)&worker->memory));
    for (int round = 0; round < ROUNDS; round++) {
        link_copies(worker);
        pass_a_handle(worker);
        if (round % 4 == 3 && worker->number == 0)
            TEST_OK(zepi.cache_clear(gear.context));
    }
    TEST_OK(zepi.usm_free(gear.context, worker->memory));
    TEST_OK(zepi.release(worker->queue));
    return NULL;
}

int main(void)
{
    static const char *const names[] = {"importer", "exporter"};
    static struct worker workers[THREADS];
    const struct test_ze_cpu ze_cpu = test_ze_cpu_use();
    const zepi_build_desc_t program = {.size = sizeof(program), .link_method = ZEPI_LINK_PROGRAM};
    test_plugin_load();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    for (int i = 0; i < 2; i++)
        shared_objects[i] = test_object(gear.context, names[i]);
    TEST_OK(zepi.module_link(2, shared_objects, &program, &shared_executable));
    for (int i = 0; i < THREADS; i++)
        workers[i].number = i;
    test_threads_run(THREADS, work, workers, sizeof(workers[0]));
    TEST_OK(zepi.release(shared_executable));
    for (int i = 0; i < 2; i++)
        TEST_OK(zepi.release(shared_objects[i]));
    test_gear_destroy(&gear);
    TEST_EXPECT(ze_cpu.get_live_objects() == 0, "objects are left in the driver");
    return 0;
}
