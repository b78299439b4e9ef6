// SPDX-License-Identifier: MIT
// Launches after launches: the state of the last one must not hide a mistake or a change in the
// next. With newer functions of Level Zero, and without.
#include "gear_fixture.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 3

static zepi_module_t modules[2];

static void set_up(void)
{
    gear_set_up();
    modules[0] = test_executable(gear.context, "arguments");
    modules[1] = test_executable(gear.context, "launches");
}

static void set_up_without_newer_functions(void)
{
    setenv("ZEPI_NEWER_FUNCTIONS", "off", 1);
    set_up();
}

static void tear_down(void)
{
    TEST_OK(zepi.release(modules[0]));
    TEST_OK(zepi.release(modules[1]));
    gear_tear_down();
}

TestSuite(relaunch, .init = set_up, .fini = tear_down);
TestSuite(relaunch_without_newer_functions, .init = set_up_without_newer_functions,
          .fini = tear_down);

// One story, both ways.
#define EACH_WAY(name, story)                                                                      \
    Test(relaunch, name)                                                                           \
    {                                                                                              \
        story();                                                                                   \
    }                                                                                              \
    Test(relaunch_without_newer_functions, name)                                                   \
    {                                                                                              \
        story();                                                                                   \
    }

static zepi_kernel_t kernel_of(int module, const char *name)
{
    zepi_kernel_t kernel;
    TEST_OK(zepi.module_get_kernel(modules[module], name, &kernel));
    return kernel;
}

static void run(const zepi_launch_desc_t *launch)
{
    TEST_OK(zepi.queue_launch(gear.queue, launch, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
}

// ---- Arguments ----

struct pair {
    char first;
    int64_t second;
};

// Arguments of store_values.
struct values {
    int8_t a;
    int16_t b;
    int32_t c;
    int64_t d;
    float e;
    int32_t f[4];
    struct pair g;
    zepi_argument_t arguments[8];
};

static zepi_launch_desc_t launch_of_values(struct values *values, zepi_kernel_t kernel,
                                           int64_t *out)
{
    const zepi_argument_t arguments[8] = {
        TEST_VALUE(values->a), TEST_VALUE(values->b), TEST_VALUE(values->c), TEST_VALUE(values->d),
        TEST_VALUE(values->e), TEST_VALUE(values->f), TEST_VALUE(values->g), TEST_POINTER(out)};
    memcpy(values->arguments, arguments, sizeof(arguments));
    return test_launch(kernel, 8, values->arguments, 1);
}

static void check_kinds(void)
{
    struct values values = {.a = 1, .b = 2, .c = 3};
    zepi_kernel_t kernel = kernel_of(0, "store_values");
    int64_t *out = gear_allocate(8 * sizeof(*out));
    const zepi_launch_desc_t launch = launch_of_values(&values, kernel, out);
    for (int64_t i = 0; i < 4 * ROUNDS; i++) {
        // The same argument as eight bytes of a value, and as a pointer with that value.
        values.d = INT64_C(100000000000) + i;
        values.arguments[3] =
            i % 2 ? TEST_VALUE(values.d) : TEST_POINTER((void *)(uintptr_t)values.d);
        // The pointer as such, with its size, and as eight bytes.
        values.arguments[7] = i % 3 ? TEST_POINTER(out) : TEST_VALUE(out);
        values.arguments[7].size_bytes = i % 3 == 0 || i % 2 ? sizeof(void *) : 0;
        values.g.second = -i;
        run(&launch);
        cr_assert_eq(out[3], values.d, "round %d: %lld", (int)i, (long long)out[3]);
        cr_assert_eq(out[7], -i);
    }
    TEST_OK(zepi.usm_free(gear.context, out));
    TEST_OK(zepi.release(kernel));
}

EACH_WAY(takes_every_argument_in_every_guise, check_kinds)

static void check_refusals(void)
{
    struct values values = {.a = 1};
    zepi_kernel_t kernel = kernel_of(0, "store_values");
    int64_t *out = gear_allocate(8 * sizeof(*out));
    zepi_launch_desc_t launch = launch_of_values(&values, kernel, out);
    for (int i = 0; i < ROUNDS; i++) {
        values.c = 77 + i;
        run(&launch);
        run(&launch);
        cr_assert_eq(out[2], 77 + i);

        zepi_argument_t *argument = &values.arguments[2];
        const zepi_argument_t right = *argument;
        argument->value = NULL;
        TEST_FAILS_SAYING(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL),
                          ZEPI_ERROR_INVALID_VALUE, "argument 2");
        *argument = right;
        argument->size_bytes = 8;
        TEST_FAILS_SAYING(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL),
                          ZEPI_ERROR_INVALID_SIZE, "argument 2");
        *argument = right;
        argument->reserved = 1;
        TEST_FAILS_SAYING(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL),
                          ZEPI_ERROR_INVALID_VALUE, "reserved");
        *argument = right;
        argument->kind = ZEPI_ARGUMENT_LOCAL;
        TEST_FAILS(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL),
                   ZEPI_ERROR_INVALID_VALUE);
        *argument = right;
        launch.arguments = NULL;
        TEST_FAILS(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL),
                   ZEPI_ERROR_INVALID_VALUE);
        launch.arguments = values.arguments;
        launch.argument_count = 7;
        TEST_FAILS_SAYING(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL),
                          ZEPI_ERROR_INVALID_SIZE, "8 arguments, got 7");
        launch.argument_count = 8;
    }
    TEST_OK(zepi.usm_free(gear.context, out));
    TEST_OK(zepi.release(kernel));
}

EACH_WAY(refuses_what_is_wrong_after_what_was_right, check_refusals)

static void check_local_memory(void)
{
    enum { ITEMS = 64 };
    zepi_kernel_t kernel = kernel_of(0, "sum_groups");
    int32_t *in = gear_allocate(ITEMS * sizeof(*in));
    int32_t *sums = gear_allocate(ITEMS * sizeof(*sums));
    zepi_argument_t arguments[] = {
        TEST_POINTER(in), {.kind = ZEPI_ARGUMENT_LOCAL}, TEST_POINTER(sums)};
    zepi_launch_desc_t launch = test_launch(kernel, 3, arguments, ITEMS);
    for (int i = 0; i < ITEMS; i++)
        in[i] = i;
    for (int i = 0; i < 4 * ROUNDS; i++) {
        const int32_t group = i % 2 ? 16 : 32;
        arguments[1].size_bytes = (size_t)group * sizeof(int32_t);
        arguments[1].value = NULL;
        launch.group_size[0] = (size_t)group;
        run(&launch);
        cr_assert_eq(sums[1], group * group + group * (group - 1) / 2);
        arguments[1].value = in;
        TEST_FAILS_SAYING(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL),
                          ZEPI_ERROR_INVALID_VALUE, "expected NULL");
    }
    TEST_OK(zepi.usm_free(gear.context, in));
    TEST_OK(zepi.usm_free(gear.context, sums));
    TEST_OK(zepi.release(kernel));
}

EACH_WAY(takes_local_memory_of_another_size_and_no_value_with_it, check_local_memory)

// ---- What is set ----

// How many arguments a launch sets.
static uint64_t count_sets(const zepi_launch_desc_t *launch)
{
    ze_cpu.reset_counts();
    run(launch);
    return ze_cpu.get_count("zeKernelSetArgumentValue");
}

Test(relaunch, sets_the_arguments_that_differ_alone)
{
    struct values values = {.a = 1, .b = 2, .c = 3};
    zepi_kernel_t kernel = kernel_of(0, "store_values");
    int64_t *out = gear_allocate(8 * sizeof(*out));
    zepi_launch_desc_t launch = launch_of_values(&values, kernel, out);
    cr_assert_eq(count_sets(&launch), 8);
    // Two are longer than 8 bytes, which are not compared.
    cr_assert_eq(count_sets(&launch), 2);
    values.a = 5;
    values.d = 6;
    cr_assert_eq(count_sets(&launch), 4);
    cr_assert_eq(out[0], 5);
    cr_assert_eq(out[3], 6);
    launch.global_size[0] = 2;
    cr_assert_eq(count_sets(&launch), 2);
    cr_assert_eq(ze_cpu.get_count("zeKernelSetGroupSize"), 1);
    cr_assert_eq(count_sets(&launch), 2);
    cr_assert_eq(ze_cpu.get_count("zeKernelSetGroupSize"), 0);
    TEST_OK(zepi.usm_free(gear.context, out));
    TEST_OK(zepi.release(kernel));
}

// A driver keeps what it found at an address; the next memory there may be other memory.
Test(relaunch, sets_addresses_again_once_memory_was_freed)
{
    enum { BYTES = 4 << 20 };
    zepi_kernel_t kernel = kernel_of(1, "count_items");
    int32_t *counts = gear_allocate(sizeof(*counts));
    int32_t *other = gear_allocate(BYTES);
    const zepi_argument_t argument = TEST_POINTER(counts);
    const zepi_launch_desc_t launch = test_launch(kernel, 1, &argument, 1);
    run(&launch);
    cr_assert_eq(count_sets(&launch), 0);
    TEST_OK(zepi.usm_free(gear.context, other));
    cr_assert_eq(count_sets(&launch), 1);
    cr_assert_eq(count_sets(&launch), 0);
    cr_assert_eq(counts[0], 4);
    TEST_OK(zepi.usm_free(gear.context, counts));
    TEST_OK(zepi.release(kernel));
}

Test(relaunch, sets_addresses_of_memory_that_zepi_did_not_make_each_time)
{
    zepi_kernel_t kernel = kernel_of(1, "count_items");
    static int32_t counts[64];
    const zepi_argument_t argument = TEST_POINTER(counts);
    const zepi_launch_desc_t launch = test_launch(kernel, 1, &argument, 1);
    for (int i = 0; i < ROUNDS; i++)
        cr_assert_eq(count_sets(&launch), 1);
    TEST_OK(zepi.release(kernel));
}

// Arguments set for a launch that failed do not count as checked: local memory of one launch with
// that of another.
Test(relaunch, checks_everything_again_after_a_launch_that_failed)
{
    struct values values = {.a = 1};
    zepi_kernel_t kernel = kernel_of(0, "store_values");
    int64_t *out = gear_allocate(8 * sizeof(*out));
    const zepi_launch_desc_t launch = launch_of_values(&values, kernel, out);
    run(&launch);
    values.a = 2;
    values.arguments[7] = (zepi_argument_t){.kind = ZEPI_ARGUMENT_LOCAL, .size_bytes = 8};
    TEST_FAILS(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL),
               ZEPI_ERROR_INVALID_VALUE);
    values.arguments[7] = TEST_POINTER(out);
    cr_assert_eq(count_sets(&launch), 8);
    cr_assert_eq(out[0], 2);
    // A mistake that is found before the kernel is looked at changes nothing.
    values.arguments[7].size_bytes = 3;
    TEST_FAILS(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL), ZEPI_ERROR_INVALID_SIZE);
    values.arguments[7] = TEST_POINTER(out);
    cr_assert_lt(count_sets(&launch), 8);
    cr_assert_eq(ze_cpu.set_fail("zeKernelSetArgumentValue:2:ZE_RESULT_ERROR_DEVICE_LOST"), 0);
    values.a = 3;
    values.b = 4;
    TEST_FAILS_SAYING(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL),
                      ZEPI_ERROR_DEVICE_LOST, "for argument 1");
    cr_assert_eq(ze_cpu.set_fail(""), 0);
    cr_assert_eq(count_sets(&launch), 8);
    cr_assert_eq(out[0], 3);
    cr_assert_eq(out[1], 4);
    TEST_OK(zepi.usm_free(gear.context, out));
    TEST_OK(zepi.release(kernel));
}

// ---- Sizes ----

struct ends {
    int32_t first[3];
    int32_t last[3];
    int32_t group[3];
};

// More sizes in turns than are remembered, which differ in each of the numbers.
static void check_sizes(void)
{
    static const struct {
        uint32_t work_dim;
        size_t global[3];
        size_t group[3];
        size_t offset[3];
    } shapes[] = {
        {1, {64, 99, 99}, {8, 5, 5}, {0, 7, 7}}, {1, {128, 1, 1}, {8, 1, 1}, {0, 0, 0}},
        {1, {64, 1, 1}, {16, 1, 1}, {0, 0, 0}},  {1, {64, 1, 1}, {8, 1, 1}, {5, 0, 0}},
        {2, {64, 4, 99}, {8, 1, 7}, {0, 0, 7}},  {2, {64, 4, 1}, {8, 2, 1}, {0, 0, 0}},
        {2, {64, 4, 1}, {8, 1, 1}, {0, 3, 0}},   {3, {8, 4, 2}, {4, 2, 1}, {0, 0, 0}},
        {3, {8, 4, 4}, {4, 2, 1}, {0, 0, 0}},    {3, {8, 4, 2}, {4, 2, 2}, {0, 0, 0}},
        {3, {8, 4, 2}, {4, 2, 1}, {0, 0, 6}},
    };
    enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };
    zepi_kernel_t kernel = kernel_of(1, "note_ends");
    struct ends *ends = gear_allocate(sizeof(*ends));
    const zepi_argument_t argument = TEST_POINTER(ends);
    zepi_launch_desc_t launch = test_launch(kernel, 1, &argument, 1);
    for (int i = 0; i < 4 * SHAPES; i++) {
        // Each one after each distance.
        const int at = (i * (1 + i / SHAPES)) % SHAPES;
        launch.work_dim = shapes[at].work_dim;
        memcpy(launch.global_size, shapes[at].global, sizeof(launch.global_size));
        memcpy(launch.group_size, shapes[at].group, sizeof(launch.group_size));
        memcpy(launch.global_offset, shapes[at].offset, sizeof(launch.global_offset));
        run(&launch);
        run(&launch);
        for (uint32_t d = 0; d < 3; d++) {
            const bool is_there = d < shapes[at].work_dim;
            const int32_t offset = is_there ? (int32_t)shapes[at].offset[d] : 0;
            const int32_t size = is_there ? (int32_t)shapes[at].global[d] : 1;
            cr_assert_eq(ends->first[d], offset, "shape %d, dimension %u", at, d);
            cr_assert_eq(ends->last[d], offset + size - 1, "shape %d, dimension %u", at, d);
            cr_assert_eq(ends->group[d], is_there ? (int32_t)shapes[at].group[d] : 1,
                         "shape %d, dimension %u", at, d);
        }
    }
    TEST_OK(zepi.usm_free(gear.context, ends));
    TEST_OK(zepi.release(kernel));
}

EACH_WAY(sees_every_size_that_changes, check_sizes)

static void check_wrong_sizes(void)
{
    zepi_kernel_t kernel = kernel_of(1, "note_ends");
    struct ends *ends = gear_allocate(sizeof(*ends));
    const zepi_argument_t argument = TEST_POINTER(ends);
    zepi_launch_desc_t launch = test_launch(kernel, 1, &argument, 64);
    launch.group_size[0] = 8;
    for (int i = 0; i < ROUNDS; i++) {
        run(&launch);
        run(&launch);
        cr_assert_eq(ends->last[0], 63);
        launch.group_size[0] = 7;
        TEST_FAILS(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL),
                   ZEPI_ERROR_INVALID_SIZE);
        TEST_FAILS(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL),
                   ZEPI_ERROR_INVALID_SIZE);
        launch.group_size[0] = 8;
        launch.global_offset[0] = SIZE_MAX;
        TEST_FAILS(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL),
                   ZEPI_ERROR_INVALID_SIZE);
        TEST_FAILS(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL),
                   ZEPI_ERROR_INVALID_SIZE);
        launch.global_offset[0] = 0;
        launch.work_dim = 4;
        TEST_FAILS(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL),
                   ZEPI_ERROR_INVALID_VALUE);
        launch.work_dim = 0;
        TEST_FAILS(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL),
                   ZEPI_ERROR_INVALID_VALUE);
        launch.work_dim = 1;
        launch.flags = 0x80;
        TEST_FAILS(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL),
                   ZEPI_ERROR_INVALID_VALUE);
        launch.flags = 0;
        // Nothing to do is no mistake.
        memset(ends, 0xff, sizeof(*ends));
        launch.global_size[0] = 0;
        run(&launch);
        cr_assert_eq(ends->last[0], -1);
        launch.global_size[0] = 64;
    }
    TEST_OK(zepi.usm_free(gear.context, ends));
    TEST_OK(zepi.release(kernel));
}

EACH_WAY(refuses_wrong_sizes_however_often_they_come, check_wrong_sizes)

// Numbers that no launch has, before, after and between right ones, and after wrong ones: of a
// kernel with arguments, and of one without.
static void check_impossible_counts(void)
{
    const zepi_module_t executable = test_executable(gear.context, "empty");
    int32_t *counts = gear_allocate(sizeof(*counts));
    const zepi_argument_t argument = TEST_POINTER(counts);
    zepi_kernel_t kernels[2] = {kernel_of(1, "count_items")};
    TEST_OK(zepi.module_get_kernel(executable, "empty", &kernels[1]));
    for (int i = 0; i < 2; i++) {
        const zepi_launch_desc_t right = test_launch(kernels[i], i == 0, &argument, 1);
        zepi_launch_desc_t impossible = right;
        impossible.argument_count = impossible.work_dim = UINT32_MAX;
        memset(impossible.global_size, 0, sizeof(impossible.global_size));
        for (int round = 0; round < ROUNDS; round++) {
            zepi_launch_desc_t wrong = right;
            wrong.argument_count = 7;
            TEST_FAILS(zepi.queue_launch(gear.queue, &impossible, TEST_NO_WAIT, NULL),
                       ZEPI_ERROR_INVALID_VALUE);
            TEST_FAILS(zepi.queue_launch(gear.queue, &wrong, TEST_NO_WAIT, NULL),
                       ZEPI_ERROR_INVALID_SIZE);
            TEST_FAILS(zepi.queue_launch(gear.queue, &impossible, TEST_NO_WAIT, NULL),
                       ZEPI_ERROR_INVALID_VALUE);
            impossible.global_size[0] = 1;
            TEST_FAILS(zepi.queue_launch(gear.queue, &impossible, TEST_NO_WAIT, NULL),
                       ZEPI_ERROR_INVALID_VALUE);
            run(&right);
            run(&right);
        }
        TEST_OK(zepi.release(kernels[i]));
    }
    cr_assert_eq(counts[0], 2 * ROUNDS);
    TEST_OK(zepi.usm_free(gear.context, counts));
    TEST_OK(zepi.release(executable));
}

EACH_WAY(refuses_counts_that_no_launch_has, check_impossible_counts)

// ---- Queues ----

// More queues than a kernel keeps handles for, twice, of either order.
static void check_many_queues(void)
{
    enum { QUEUES = 40 };
    static zepi_queue_t queues[QUEUES];
    zepi_kernel_t kernel = kernel_of(1, "count_items");
    int32_t *counts = gear_allocate(QUEUES * sizeof(*counts));
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < QUEUES; i++)
            TEST_OK(zepi.queue_create(gear.context, gear.device, i % 2 ? ZEPI_QUEUE_IN_ORDER : 0,
                                      &queues[i]));
        for (int i = 0; i < 3 * QUEUES; i++) {
            const zepi_argument_t argument = TEST_POINTER(&counts[i % QUEUES]);
            const zepi_launch_desc_t launch = test_launch(kernel, 1, &argument, 1);
            zepi_event_t event;
            TEST_OK(zepi.queue_launch(queues[i % QUEUES], &launch, TEST_NO_WAIT, &event));
            TEST_OK(zepi.queue_launch(queues[i % QUEUES], &launch, (zepi_wait_list_t){&event, 1},
                                      NULL));
            TEST_OK(zepi.release(event));
            TEST_OK(zepi.queue_finish(queues[i % QUEUES]));
        }
        for (int i = 0; i < QUEUES; i++)
            TEST_OK(zepi.release(queues[i]));
    }
    for (int i = 0; i < QUEUES; i++)
        cr_assert_eq(counts[i], 12, "queue %d: %d", i, counts[i]);
    TEST_OK(zepi.usm_free(gear.context, counts));
    TEST_OK(zepi.release(kernel));
}

EACH_WAY(serves_more_queues_than_it_keeps_handles_for, check_many_queues)
