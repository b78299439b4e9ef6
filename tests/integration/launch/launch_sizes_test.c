// SPDX-License-Identifier: MIT
// Global sizes, group sizes and offsets of launches; with newer functions of Level Zero and
// without.
#include "gear_fixture.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static zepi_module_t module;

static void set_up(void)
{
    gear_set_up();
    module = test_executable(gear.context, "launches");
}

static void set_up_without_newer_functions(void)
{
    setenv("ZEPI_NEWER_FUNCTIONS", "off", 1);
    set_up();
}

static void tear_down(void)
{
    TEST_OK(zepi.release(module));
    gear_tear_down();
}

TestSuite(sizes, .init = set_up, .fini = tear_down);
TestSuite(sizes_without_newer_functions, .init = set_up_without_newer_functions, .fini = tear_down);

// One story, both ways.
#define BOTH(name)                                                                                 \
    static void check_##name(void);                                                                \
    Test(sizes, name)                                                                              \
    {                                                                                              \
        check_##name();                                                                            \
    }                                                                                              \
    Test(sizes_without_newer_functions, name)                                                      \
    {                                                                                              \
        check_##name();                                                                            \
    }                                                                                              \
    static void check_##name(void)

static int32_t *allocate(size_t count)
{
    return gear_allocate(count * sizeof(int32_t));
}

static zepi_kernel_t kernel_of(const char *name)
{
    zepi_kernel_t kernel;
    TEST_OK(zepi.module_get_kernel(module, name, &kernel));
    return kernel;
}

static void launch_and_finish(const zepi_launch_desc_t *launch)
{
    TEST_OK(zepi.queue_launch(gear.queue, launch, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
}

// Sizes of dimensions beyond the work's are not read: they are nonsense here.
static zepi_launch_desc_t launch_of(zepi_kernel_t kernel, const zepi_argument_t *argument,
                                    uint32_t work_dim)
{
    zepi_launch_desc_t launch = test_launch(kernel, 1, argument, 0);
    launch.work_dim = work_dim;
    for (int i = 0; i < 3; i++) {
        launch.global_size[i] = 12345678901u;
        launch.group_size[i] = (uint32_t)i < work_dim ? 0 : 999;
        launch.global_offset[i] = (uint32_t)i < work_dim ? 0 : SIZE_MAX;
    }
    return launch;
}

BOTH(of_any_shape_run_every_work_item_once)
{
    zepi_kernel_t kernel = kernel_of("count_items");
    int32_t *counts = allocate(1 << 15);
    const zepi_argument_t argument = TEST_POINTER(counts);
    srand(3);
    for (int round = 0; round < 60; round++) {
        zepi_launch_desc_t launch = launch_of(kernel, &argument, 1 + (uint32_t)round % 3);
        size_t total = 1;
        for (uint32_t i = 0; i < launch.work_dim; i++) {
            // Suggested every other time.
            const size_t group = 1 + (size_t)rand() % 6;
            launch.global_size[i] = group * (1 + (size_t)rand() % 5);
            launch.group_size[i] = round % 2 ? group : 0;
            total *= launch.global_size[i];
        }
        memset(counts, 0, (total + 1) * sizeof(*counts));
        launch_and_finish(&launch);
        for (size_t i = 0; i < total; i++)
            cr_assert_eq(counts[i], 1, "round %d, item %zu ran %d times", round, i, counts[i]);
        cr_assert_eq(counts[total], 0);
    }
    TEST_OK(zepi.usm_free(gear.context, counts));
    TEST_OK(zepi.release(kernel));
}

// Offsets come and go: a handle that had one is used again without.
BOTH(with_offsets_begin_there)
{
    zepi_kernel_t kernel = kernel_of("note_ends");
    int32_t *out = allocate(9);
    const zepi_argument_t argument = TEST_POINTER(out);
    static const size_t offsets[][3] = {{5, 0, 0}, {0, 0, 0}, {100000, 7, 3}, {0, 1, 0}, {0, 0, 0}};
    for (int round = 0; round < 5; round++) {
        zepi_launch_desc_t launch = launch_of(kernel, &argument, 3);
        const size_t sizes[3] = {16, 4, 2};
        const size_t groups[3] = {4, 2, 1};
        memset(out, 0xff, 9 * sizeof(*out));
        memcpy(launch.global_size, sizes, sizeof(sizes));
        memcpy(launch.group_size, groups, sizeof(groups));
        memcpy(launch.global_offset, offsets[round], sizeof(offsets[round]));
        launch_and_finish(&launch);
        for (int i = 0; i < 3; i++) {
            cr_assert_eq(out[i], (int32_t)offsets[round][i], "round %d", round);
            cr_assert_eq(out[3 + i], (int32_t)(offsets[round][i] + sizes[i] - 1));
            cr_assert_eq(out[6 + i], (int32_t)groups[i]);
        }
    }
    zepi_launch_desc_t launch = launch_of(kernel, &argument, 1);
    launch.global_size[0] = 1;
    launch.global_offset[0] = (size_t)1 << 32;
    TEST_FAILS_SAYING(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL),
                      ZEPI_ERROR_INVALID_SIZE, "offset 4294967296 is beyond 32 bits");
    TEST_OK(zepi.usm_free(gear.context, out));
    TEST_OK(zepi.release(kernel));
}

// Level Zero limits the number of groups in a dimension, and offsets.
BOTH(may_exceed_32_bits_as_long_as_the_numbers_of_groups_do_not)
{
    zepi_kernel_t kernel = kernel_of("note_last");
    uint64_t *out = gear_allocate(2 * sizeof(*out));
    const zepi_argument_t argument = TEST_POINTER(out);
    zepi_device_info_t device = {.size = sizeof(device)};
    TEST_OK(zepi.device_get_info(gear.device, &device));
    const size_t most = device.max_group_size;
    const size_t sizes[] = {(size_t)1 << 32, 64, ((size_t)1 << 32) + most};
    for (int round = 0; round < 3; round++) {
        zepi_launch_desc_t launch = launch_of(kernel, &argument, 1);
        launch.global_size[0] = sizes[round];
        launch.group_size[0] = round == 1 ? 64 : most;
        launch_and_finish(&launch);
        cr_assert_eq(out[0], sizes[round] - 1, "the last item is %llu", (unsigned long long)out[0]);
        cr_assert_eq(out[1], launch.group_size[0]);
    }
    zepi_launch_desc_t launch = launch_of(kernel, &argument, 1);
    launch.global_size[0] = (size_t)1 << 33;
    launch.group_size[0] = 1;
    TEST_FAILS_SAYING(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL),
                      ZEPI_ERROR_INVALID_SIZE, "8589934592 groups of 1, beyond 32 bits");
    TEST_OK(zepi.usm_free(gear.context, out));
    TEST_OK(zepi.release(kernel));
}

// In two dimensions, of which neither is beyond its own limit.
BOTH(have_groups_of_at_most_the_items_that_the_device_takes)
{
    zepi_kernel_t kernel = kernel_of("count_items");
    int32_t *counts = allocate(64);
    const zepi_argument_t argument = TEST_POINTER(counts);
    zepi_device_info_t device = {.size = sizeof(device)};
    TEST_OK(zepi.device_get_info(gear.device, &device));
    const size_t beyond = device.max_group_size + 1;
    size_t divisor = 2;
    while (beyond % divisor != 0)
        divisor++;
    if (divisor < beyond) { // else no group has so many
        zepi_launch_desc_t launch = launch_of(kernel, &argument, 2);
        launch.global_size[0] = launch.group_size[0] = beyond / divisor;
        launch.global_size[1] = launch.group_size[1] = divisor;
        TEST_FAILS_SAYING(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL),
                          ZEPI_ERROR_INVALID_SIZE, "the device takes at most");
    }
    TEST_OK(zepi.usm_free(gear.context, counts));
    TEST_OK(zepi.release(kernel));
}

BOTH(of_zero_in_any_dimension_run_nothing_and_complete)
{
    zepi_kernel_t kernel = kernel_of("count_items");
    int32_t *counts = allocate(64);
    const zepi_argument_t argument = TEST_POINTER(counts);
    for (uint32_t at = 0; at < 3; at++) {
        zepi_event_t event;
        zepi_launch_desc_t launch = launch_of(kernel, &argument, 3);
        for (uint32_t i = 0; i < 3; i++) {
            launch.global_size[i] = i == at ? 0 : 4;
            launch.group_size[i] = 2;
        }
        TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, &event));
        TEST_OK(zepi.event_wait(1, &event, UINT64_MAX));
        TEST_OK(zepi.release(event));
    }
    for (int i = 0; i < 64; i++)
        cr_assert_eq(counts[i], 0);
    TEST_OK(zepi.usm_free(gear.context, counts));
    TEST_OK(zepi.release(kernel));
}

BOTH(that_a_kernel_requires_are_taken_by_themselves_and_no_others)
{
    zepi_kernel_t kernel = kernel_of("needs_8_by_4");
    int32_t *counts = allocate(128);
    const zepi_argument_t argument = TEST_POINTER(counts);
    zepi_kernel_info_t info = {.size = sizeof(info)};
    TEST_OK(zepi.kernel_get_info(kernel, gear.device, &info));
    cr_assert(info.required_group_size[0] == 8 && info.required_group_size[1] == 4 &&
              info.required_group_size[2] == 1);
    zepi_launch_desc_t launch = launch_of(kernel, &argument, 2);
    launch.global_size[0] = 16;
    launch.global_size[1] = 8;
    launch_and_finish(&launch);
    launch.group_size[0] = 8;
    launch.group_size[1] = 4;
    launch_and_finish(&launch);
    for (int i = 0; i < 128; i++)
        cr_assert_eq(counts[i], 2);
    launch.group_size[0] = 4;
    TEST_FAILS_SAYING(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL),
                      ZEPI_ERROR_INVALID_SIZE, "requires 8 x 4 x 1");
    launch.group_size[0] = launch.group_size[1] = 0;
    launch.global_size[0] = 20;
    TEST_FAILS_SAYING(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL),
                      ZEPI_ERROR_INVALID_SIZE,
                      "global size 20 in dimension 0 is no multiple of the group size 8");
    size_t group[3];
    const size_t global[2] = {32, 4};
    TEST_OK(zepi.kernel_suggest_group_size(kernel, gear.device, 2, global, group));
    cr_assert(group[0] == 8 && group[1] == 4);
    // Four items of a dimension that the launch does not have.
    zepi_launch_desc_t flat = launch_of(kernel, &argument, 1);
    flat.global_size[0] = 8;
    TEST_FAILS_SAYING(zepi.queue_launch(gear.queue, &flat, TEST_NO_WAIT, NULL),
                      ZEPI_ERROR_INVALID_SIZE,
                      "global size 1 in dimension 1 is no multiple of the group size 4");
    TEST_OK(zepi.usm_free(gear.context, counts));
    TEST_OK(zepi.release(kernel));
}

Test(sizes, that_are_suggested_divide_and_are_those_of_the_launch)
{
    zepi_kernel_t kernel = kernel_of("note_ends");
    zepi_device_info_t device = {.size = sizeof(device)};
    int32_t *out = allocate(9);
    const zepi_argument_t argument = TEST_POINTER(out);
    static const size_t sizes[][3] = {{1000, 1, 1}, {17, 5, 1},   {64, 64, 2},
                                      {1, 1, 1},    {7919, 1, 1}, {4096, 3, 5}};
    TEST_OK(zepi.device_get_info(gear.device, &device));
    for (size_t round = 0; round < sizeof(sizes) / sizeof(sizes[0]); round++) {
        size_t group[3];
        zepi_launch_desc_t launch = launch_of(kernel, &argument, 3);
        TEST_OK(zepi.kernel_suggest_group_size(kernel, gear.device, 3, sizes[round], group));
        memcpy(launch.global_size, sizes[round], sizeof(sizes[round]));
        launch_and_finish(&launch);
        for (int i = 0; i < 3; i++) {
            cr_assert(group[i] > 0 && sizes[round][i] % group[i] == 0);
            cr_assert_eq(out[6 + i], (int32_t)group[i]);
        }
        cr_assert_leq(group[0] * group[1] * group[2], device.max_group_size);
    }
    TEST_OK(zepi.usm_free(gear.context, out));
    TEST_OK(zepi.release(kernel));
}

Test(sizes, beyond_32_bits_have_suggestions_that_divide_them)
{
    zepi_kernel_t kernel = kernel_of("note_last");
    static const size_t sizes[][2] = {
        {(size_t)1 << 33, 5}, {10460353203u, 2}, {12, (size_t)1 << 34}, {(size_t)1 << 36, 4}};
    for (size_t round = 0; round < sizeof(sizes) / sizeof(sizes[0]); round++) {
        size_t group[2];
        TEST_OK(zepi.kernel_suggest_group_size(kernel, gear.device, 2, sizes[round], group));
        for (int i = 0; i < 2; i++) {
            cr_assert(group[i] > 0 && sizes[round][i] % group[i] == 0);
            cr_assert(sizes[round][i] / group[i] <= UINT32_MAX);
        }
    }
    // A prime, and so as many groups.
    const size_t prime = 4294967311u;
    size_t group;
    TEST_FAILS_SAYING(zepi.kernel_suggest_group_size(kernel, gear.device, 1, &prime, &group),
                      ZEPI_ERROR_INVALID_SIZE, "beyond 32 bits");
    TEST_OK(zepi.release(kernel));
}

// A host may divide by the result.
Test(sizes, that_are_suggested_for_nothing_are_1)
{
    zepi_kernel_t kernel = kernel_of("count_items");
    size_t group[3] = {9, 9, 9};
    const size_t global[3] = {8, 0, 3};
    TEST_OK(zepi.kernel_suggest_group_size(kernel, gear.device, 3, global, group));
    cr_assert(group[0] == 1 && group[1] == 1 && group[2] == 1);
    TEST_FAILS_SAYING(zepi.kernel_suggest_group_size(kernel, gear.device, 4, global, group),
                      ZEPI_ERROR_INVALID_VALUE, "work_dim is 4");
    TEST_FAILS(zepi.kernel_suggest_group_size(kernel, gear.device, 1, NULL, group),
               ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.kernel_suggest_group_size(kernel, gear.device, 1, global, NULL),
               ZEPI_ERROR_INVALID_VALUE);
    TEST_OK(zepi.release(kernel));
}

Test(sizes, of_a_cooperative_launch_are_what_the_driver_can_run_at_once)
{
    zepi_kernel_t kernel = kernel_of("count_items");
    int32_t *counts = allocate(64);
    const zepi_argument_t argument = TEST_POINTER(counts);
    zepi_launch_desc_t launch = launch_of(kernel, &argument, 1);
    launch.flags = ZEPI_LAUNCH_COOPERATIVE;
    launch.global_size[0] = 16;
    launch.group_size[0] = 16;
    launch_and_finish(&launch);
    // ze_cpu runs one group at a time for sure.
    launch.group_size[0] = 4;
    zepi_event_t event = NULL;
    TEST_FAILS_SAYING(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, &event),
                      ZEPI_ERROR_UNSUPPORTED, "zeCommandListAppendLaunchCooperativeKernel");
    cr_assert_null(event);
    launch.flags = 0;
    launch_and_finish(&launch);
    for (int i = 0; i < 16; i++)
        cr_assert_eq(counts[i], 2);
    TEST_OK(zepi.usm_free(gear.context, counts));
    TEST_OK(zepi.release(kernel));
}
