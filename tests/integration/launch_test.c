// SPDX-License-Identifier: MIT
// Launches with every kind of argument and size; with the driver's one-call launch and without.
#include "test_env.h"
#include "test_plugin.h"
#include "test_ze_cpu.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct test_gear gear;
static struct test_ze_cpu ze_cpu;
static zepi_module_t module;

static void set_up(void)
{
    ze_cpu = test_ze_cpu_use();
    test_plugin_load();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    module = test_executable(gear.context, "arguments");
}

static void set_up_without_newer_functions(void)
{
    setenv("ZEPI_NEWER_FUNCTIONS", "off", 1);
    set_up();
}

static void tear_down(void)
{
    TEST_OK(zepi.release(module));
    test_gear_destroy(&gear);
    cr_assert_eq(ze_cpu.get_live_objects(), 0);
}

TestSuite(launch, .init = set_up, .fini = tear_down);
TestSuite(launch_without_newer_functions, .init = set_up_without_newer_functions,
          .fini = tear_down);

static void *allocate(size_t size_bytes)
{
    void *memory;
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, size_bytes, 0, &memory));
    memset(memory, 0, size_bytes);
    return memory;
}

static zepi_kernel_t kernel_of(const char *name)
{
    zepi_kernel_t kernel;
    TEST_OK(zepi.module_get_kernel(module, name, &kernel));
    return kernel;
}

struct pair {
    char first;
    int64_t second;
};

static void check_values(void)
{
    zepi_kernel_t kernel = kernel_of("store_values");
    int64_t *out = allocate(8 * sizeof(*out));
    for (int round = 1; round <= 3; round++) {
        const int8_t a = (int8_t)(-1 * round);
        const int16_t b = (int16_t)(200 * round);
        const int32_t c = -300000 * round;
        const int64_t d = INT64_C(40000000000) * round;
        const float e = 1.5f;
        const int32_t f[4] = {1 * round, 2, 3, 4};
        const struct pair g = {(char)round, -7};
        int32_t e_bits;
        memcpy(&e_bits, &e, sizeof(e));
        const zepi_argument_t arguments[] = {TEST_VALUE(a), TEST_VALUE(b),    TEST_VALUE(c),
                                             TEST_VALUE(d), TEST_VALUE(e),    TEST_VALUE(f),
                                             TEST_VALUE(g), TEST_POINTER(out)};
        const zepi_launch_desc_t launch = test_launch(kernel, 8, arguments, 1);
        TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL));
        TEST_OK(zepi.queue_finish(gear.queue));
        const int64_t expected[8] = {a, b, c, d, e_bits, round + 4320, round, -7};
        for (int i = 0; i < 8; i++)
            cr_assert_eq(out[i], expected[i], "round %d, value %d is %lld", round, i,
                         (long long)out[i]);
    }
    TEST_OK(zepi.usm_free(gear.context, out));
    TEST_OK(zepi.release(kernel));
}

Test(launch, passes_values_of_every_size)
{
    check_values();
}

Test(launch_without_newer_functions, passes_values_of_every_size)
{
    check_values();
}

static void check_local_memory(void)
{
    enum { ITEMS = 1024, GROUP = 64 };
    zepi_kernel_t kernel = kernel_of("sum_groups");
    int32_t *in = allocate(ITEMS * sizeof(*in));
    int32_t *sums = allocate(ITEMS * sizeof(*sums));
    for (int i = 0; i < ITEMS; i++)
        in[i] = i;
    for (size_t group = GROUP; group >= 16; group /= 2) {
        const zepi_argument_t arguments[] = {
            TEST_POINTER(in),
            {.kind = ZEPI_ARGUMENT_LOCAL, .size_bytes = group * sizeof(int32_t)},
            TEST_POINTER(sums)};
        zepi_launch_desc_t launch = test_launch(kernel, 3, arguments, ITEMS);
        launch.group_size[0] = group;
        TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL));
        TEST_OK(zepi.queue_finish(gear.queue));
        for (size_t i = 0; i < ITEMS / group; i++) {
            const int32_t first = (int32_t)(i * group);
            const int32_t count = (int32_t)group;
            cr_assert_eq(sums[i], count * first + count * (count - 1) / 2);
        }
    }
    TEST_OK(zepi.usm_free(gear.context, in));
    TEST_OK(zepi.usm_free(gear.context, sums));
    TEST_OK(zepi.release(kernel));
}

Test(launch, passes_local_memory_of_the_launch_s_size)
{
    check_local_memory();
}

Test(launch_without_newer_functions, passes_local_memory_of_the_launch_s_size)
{
    check_local_memory();
}

static void check_ids(void)
{
    enum { X = 12, Y = 6, Z = 4 };
    zepi_kernel_t kernel = kernel_of("store_ids");
    int32_t *out = allocate(3 * X * Y * Z * sizeof(*out));
    const zepi_argument_t argument = TEST_POINTER(out);
    zepi_launch_desc_t launch = test_launch(kernel, 1, &argument, X);
    launch.work_dim = 3;
    launch.global_size[1] = Y;
    launch.global_size[2] = Z;
    memcpy(launch.group_size, (size_t[]){4, 3, 2}, sizeof(launch.group_size));
    TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    for (int z = 0; z < Z; z++) {
        for (int y = 0; y < Y; y++) {
            for (int x = 0; x < X; x++) {
                const int32_t *ids = &out[3 * (x + X * (y + Y * z))];
                cr_assert_eq(ids[0], x + 100 * y + 10000 * z);
                cr_assert_eq(ids[1], x % 4 + 100 * (y % 3) + 10000 * (z % 2));
                cr_assert_eq(ids[2], x / 4 + 100 * (y / 3) + 10000 * (z / 2));
            }
        }
    }
    TEST_OK(zepi.usm_free(gear.context, out));
    TEST_OK(zepi.release(kernel));
}

Test(launch, covers_three_dimensions)
{
    check_ids();
}

Test(launch_without_newer_functions, covers_three_dimensions)
{
    check_ids();
}

Test(launch, of_no_work_items_completes_without_running)
{
    zepi_kernel_t kernel = kernel_of("store_ids");
    int32_t *out = allocate(64);
    zepi_event_t event;
    const zepi_argument_t argument = TEST_POINTER(out);
    const zepi_launch_desc_t launch = test_launch(kernel, 1, &argument, 0);
    TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, &event));
    TEST_OK(zepi.event_wait(1, &event, UINT64_MAX));
    cr_assert_eq(out[0], 0);
    TEST_OK(zepi.release(event));
    TEST_OK(zepi.usm_free(gear.context, out));
    TEST_OK(zepi.release(kernel));
}

Test(launch, suggests_a_group_size_that_divides)
{
    zepi_kernel_t kernel = kernel_of("store_ids");
    const size_t sizes[][3] = {{1000, 1, 1}, {17, 5, 1}, {64, 64, 2}, {1, 1, 1}};
    for (int i = 0; i < 4; i++) {
        size_t group[3];
        TEST_OK(zepi.kernel_suggest_group_size(kernel, gear.device, 3, sizes[i], group));
        for (int at = 0; at < 3; at++)
            cr_assert(group[at] > 0 && sizes[i][at] % group[at] == 0);
    }
    TEST_OK(zepi.release(kernel));
}

Test(launch, kernel_tells_about_itself)
{
    zepi_kernel_t kernel = kernel_of("sum_groups");
    zepi_kernel_info_t info = {.size = sizeof(info)};
    TEST_OK(zepi.kernel_get_info(kernel, gear.device, &info));
    cr_assert_str_eq(info.name, "sum_groups");
    cr_assert_eq(info.module, module);
    cr_assert_eq(info.argument_count, 3);
    cr_assert_gt(info.max_group_size, 0);
    TEST_OK(zepi.release(kernel));
}

// ---- One kernel object in many threads ----

#define THREADS 8
#define LAUNCHES 300

static zepi_kernel_t shared_kernel;

static void *launch_often(void *user)
{
    const int32_t number = *(int *)user;
    zepi_queue_t queue;
    int32_t *in = allocate(64 * sizeof(*in));
    int32_t *sums = allocate(64 * sizeof(*sums));
    TEST_OK(zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_IN_ORDER, &queue));
    const zepi_argument_t arguments[] = {
        TEST_POINTER(in),
        {.kind = ZEPI_ARGUMENT_LOCAL, .size_bytes = 64 * sizeof(int32_t)},
        TEST_POINTER(sums)};
    zepi_launch_desc_t launch = test_launch(shared_kernel, 3, arguments, 64);
    launch.group_size[0] = 64;
    for (int i = 0; i < 64; i++)
        in[i] = number;
    for (int i = 0; i < LAUNCHES; i++) {
        TEST_OK(zepi.queue_launch(queue, &launch, TEST_NO_WAIT, NULL));
        if (i % 50 == 49) {
            TEST_OK(zepi.queue_finish(queue));
            cr_assert_eq(sums[0], 64 * number);
            sums[0] = 0;
        }
    }
    TEST_OK(zepi.release(queue));
    TEST_OK(zepi.usm_free(gear.context, in));
    TEST_OK(zepi.usm_free(gear.context, sums));
    return NULL;
}

static void check_threads(void)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];
    shared_kernel = kernel_of("sum_groups");
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i + 1;
        cr_assert_eq(pthread_create(&threads[i], NULL, launch_often, &numbers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    TEST_OK(zepi.release(shared_kernel));
}

Test(launch, of_one_kernel_object_from_eight_threads_mixes_nothing_up)
{
    check_threads();
}

Test(launch_without_newer_functions, of_one_kernel_object_from_eight_threads_mixes_nothing_up)
{
    check_threads();
}

Test(launch, outlives_kernel_and_module)
{
    zepi_event_t gate;
    int32_t *out = allocate(3 * sizeof(*out));
    TEST_OK(zepi.event_create(gear.context, &gate));
    zepi_module_t own = test_executable(gear.context, "arguments");
    zepi_kernel_t kernel;
    TEST_OK(zepi.module_get_kernel(own, "store_ids", &kernel));
    const zepi_argument_t argument = TEST_POINTER(out);
    zepi_launch_desc_t launch = test_launch(kernel, 1, &argument, 1);
    out[0] = -1;
    TEST_OK(zepi.queue_launch(gear.queue, &launch, (zepi_wait_list_t){&gate, 1}, NULL));
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.release(own));
    TEST_OK(zepi.release(module));
    TEST_OK(zepi.cache_clear(gear.context));
    TEST_OK(zepi.event_signal(gate));
    TEST_OK(zepi.queue_finish(gear.queue));
    cr_assert_eq(out[0], 0);
    module = test_executable(gear.context, "arguments");
    TEST_OK(zepi.release(gate));
    TEST_OK(zepi.usm_free(gear.context, out));
}
