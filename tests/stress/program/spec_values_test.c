// SPDX-License-Identifier: MIT
// Specialization values from several threads: eight with inputs of their own, made from one image,
// and four that set and build one input, whose composite no build sees half of.
#include "test_env.h"
#include "test_plugin.h"
#include "test_threads.h"
#include "test_ze_cpu.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#define OWNERS 8
#define SHARERS 4
#define THREADS (OWNERS + SHARERS)
#define ROUNDS 16

// Constants 40 to 42 of tests/data/spec_types.cl.
struct structure {
    char tag;
    int32_t count;
    double scale;
};

static struct test_gear gear;
static zepi_device_image_desc_t own_image;
static zepi_module_t shared_input;
static atomic_int seen[SHARERS + 1]; // how often each thread's values were built

struct worker {
    int32_t number;
    zepi_queue_t queue;
    int64_t *memory;
};

static void run(struct worker *worker, zepi_module_t executable, const char *name)
{
    zepi_kernel_t kernel;
    TEST_OK(zepi.module_get_kernel(executable, name, &kernel));
    const zepi_argument_t argument = TEST_POINTER(worker->memory);
    const zepi_launch_desc_t launch = test_launch(kernel, 1, &argument, 1);
    TEST_OK(zepi.queue_launch(worker->queue, &launch, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(worker->queue));
    TEST_OK(zepi.release(kernel));
}

// An input of one's own: no other thread sets its values.
static void set_own(struct worker *worker, int round)
{
    const int32_t number = 100 * worker->number + round % 4;
    const int16_t small = (int16_t)-number;
    const int64_t large = (int64_t)number << 40;
    const zepi_spec_value_t values[] = {{5, 2, &small}, {2, 8, &large}};
    zepi_module_t input;
    zepi_module_t executable;
    int32_t read;
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 1, &own_image, &input));
    TEST_OK(zepi.spec_constant_get(input, NULL, 7, sizeof(read), &read));
    TEST_EXPECT(read == 1, "a value that another input has");
    TEST_OK(zepi.spec_constant_set(input, 7, sizeof(number), &number));
    TEST_OK(zepi.spec_constant_set_many(input, 2, values));
    TEST_OK(zepi.module_build(input, NULL, &executable));
    TEST_OK(zepi.spec_constant_get(executable, NULL, 7, sizeof(read), &read));
    TEST_EXPECT(read == number, "the executable has another value");
    run(worker, executable, "show_constants");
    TEST_EXPECT(worker->memory[1] == small && worker->memory[2] == number &&
                    worker->memory[3] == large,
                "the kernel has another value");
    TEST_OK(zepi.release(executable));
    TEST_OK(zepi.release(input));
}

// One input for four threads: each build has the values of one of them, whole.
static void set_shared(struct worker *worker)
{
    struct structure value;
    zepi_module_t executable;
    double scale;
    memset(&value, worker->number, sizeof(value));
    value.scale = worker->number;
    TEST_OK(zepi.spec_constant_set_by_name(shared_input, "structure", sizeof(value), &value));
    TEST_OK(zepi.module_build(shared_input, NULL, &executable));
    TEST_OK(zepi.spec_constant_get_by_name(executable, NULL, "structure", sizeof(value), &value));
    const int32_t owner = (unsigned char)value.tag;
    TEST_EXPECT(owner >= 1 && owner <= SHARERS, "a value that was never set");
    TEST_EXPECT(value.count == owner * 0x01010101 && value.scale == owner,
                "half of a value was built");
    run(worker, executable, "show_structure");
    memcpy(&scale, &worker->memory[2], sizeof(scale));
    TEST_EXPECT(worker->memory[0] == owner && worker->memory[1] == value.count && scale == owner,
                "the kernel has other values than the executable says");
    atomic_fetch_add(&seen[owner], 1);
    TEST_OK(zepi.release(executable));
}

static void *work(void *data)
{
    struct worker *worker = data;
    TEST_OK(zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_IN_ORDER, &worker->queue));
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, 64, 0,
                              (void **)&worker->memory));
    for (int round = 0; round < ROUNDS; round++) {
        if (worker->number <= SHARERS)
            set_shared(worker);
        else
            set_own(worker, round);
    }
    TEST_OK(zepi.usm_free(gear.context, worker->memory));
    TEST_OK(zepi.release(worker->queue));
    return NULL;
}

static zepi_module_t make_shared_input(void)
{
    static const zepi_spec_element_t elements[] = {{40, offsetof(struct structure, tag), 1},
                                                   {41, offsetof(struct structure, count), 4},
                                                   {42, offsetof(struct structure, scale), 8}};
    static const zepi_spec_layout_t layout = {.name = "structure",
                                              .size_bytes = sizeof(struct structure),
                                              .elements = elements,
                                              .element_count = 3};
    zepi_device_image_desc_t image = test_spirv_image("spec_types");
    zepi_module_t input;
    image.layouts = &layout;
    image.layout_count = 1;
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 1, &image, &input));
    return input;
}

int main(void)
{
    static struct worker workers[THREADS];
    const struct test_ze_cpu ze_cpu = test_ze_cpu_use();
    int builds = 0;
    test_plugin_load();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    own_image = test_spirv_image("scaled_copy");
    shared_input = make_shared_input();
    for (int i = 0; i < THREADS; i++)
        workers[i].number = i + 1;
    test_threads_run(THREADS, work, workers, sizeof(workers[0]));
    for (int i = 1; i <= SHARERS; i++)
        builds += atomic_load(&seen[i]);
    TEST_EXPECT(builds == SHARERS * ROUNDS, "builds were lost");
    TEST_OK(zepi.release(shared_input));
    test_gear_destroy(&gear);
    TEST_EXPECT(ze_cpu.get_live_objects() == 0, "objects are left in the driver");
    return 0;
}
