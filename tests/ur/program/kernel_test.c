// SPDX-License-Identifier: MIT
// Kernels: arguments of every kind, sizes, properties, native handles.
#include "ur_fixture.h"

#include <level_zero/ze_api.h>

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(kernel, .init = ur_set_up, .fini = ur_tear_down);

struct pair {
    char first;
    int64_t second;
};

static const char a_char = -1;
static const int16_t a_short = 2;
static const int32_t an_int = -3;
static const int64_t a_long = INT64_C(4) << 40;
static const float a_float = 5.5f;
static const int32_t a_vector[4] = {1, 2, 3, 4};
static const struct pair a_pair = {6, -7};

// Where arguments.cl's store_values puts what it gets.
static void check_values(const int64_t *out)
{
    int32_t bits;
    memcpy(&bits, &a_float, sizeof(bits));
    const int64_t expected[] = {a_char, a_short, an_int,       a_long,
                                bits,   4321,    a_pair.first, a_pair.second};
    for (int i = 0; i < 8; i++)
        cr_assert_eq(out[i], expected[i], "value %d", i);
}

Test(kernel, takes_values_of_all_sizes_in_any_order)
{
    ur_kernel_handle_t kernel = ur_kernel("arguments", "store_values");
    int64_t *out = ur_shared(8 * sizeof(int64_t));
    const ur_exp_kernel_arg_properties_t in_order[] = {
        UR_VALUE(0, a_char),  UR_VALUE(1, a_short),  UR_VALUE(2, an_int), UR_VALUE(3, a_long),
        UR_VALUE(4, a_float), UR_VALUE(5, a_vector), UR_VALUE(6, a_pair), UR_POINTER(7, out)};
    static const uint32_t orders[][8] = {
        {0, 1, 2, 3, 4, 5, 6, 7}, {7, 6, 5, 4, 3, 2, 1, 0}, {3, 1, 4, 0, 5, 2, 7, 6}};
    for (size_t i = 0; i < 3; i++) {
        ur_exp_kernel_arg_properties_t arguments[8];
        for (int k = 0; k < 8; k++)
            arguments[k] = in_order[orders[i][k]];
        memset(out, 0x7e, 8 * sizeof(int64_t));
        UR_OK(ur_launch(gear.queue, kernel, 1, 8, arguments, 0, NULL, NULL));
        // They were copied: the caller's memory may change before the kernel runs.
        memset(arguments, 0, sizeof(arguments));
        UR_OK(urQueueFinish(gear.queue));
        check_values(out);
    }
    ur_free(out);
    UR_OK(urKernelRelease(kernel));
}

// Values of a wrong size, and memory in place of values.
Test(kernel, refuses_arguments_that_are_not_its_own)
{
    ur_kernel_handle_t kernel = ur_kernel("arguments", "store_values");
    int64_t *out = ur_shared(8 * sizeof(int64_t));
    ur_exp_kernel_arg_properties_t arguments[] = {
        UR_VALUE(0, a_char),  UR_VALUE(1, a_short),  UR_VALUE(2, an_int), UR_VALUE(3, a_long),
        UR_VALUE(4, a_float), UR_VALUE(5, a_vector), UR_VALUE(6, a_pair), UR_POINTER(7, out)};
    arguments[2].size = 8;
    UR_FAILS_SAYING(ur_launch(gear.queue, kernel, 1, 8, arguments, 0, NULL, NULL),
                    UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE, "argument 2");
    arguments[2] = UR_VALUE(2, an_int);
    arguments[3] = UR_LOCAL(3, 64);
    UR_FAILS_SAYING(ur_launch(gear.queue, kernel, 1, 8, arguments, 0, NULL, NULL),
                    UR_RESULT_ERROR_INVALID_VALUE, "argument 3");
    arguments[3] = UR_VALUE(3, a_long);
    arguments[0].value.value = NULL;
    UR_FAILS_SAYING(ur_launch(gear.queue, kernel, 1, 8, arguments, 0, NULL, NULL),
                    UR_RESULT_ERROR_INVALID_VALUE, "argument 0");
    arguments[0] = UR_VALUE(0, a_char);
    UR_OK(ur_launch(gear.queue, kernel, 1, 8, arguments, 0, NULL, NULL));
    UR_OK(urQueueFinish(gear.queue));
    check_values(out);
    ur_free(out);
    UR_OK(urKernelRelease(kernel));
}

Test(kernel, shares_local_memory_within_a_group)
{
    enum { ITEMS = 256, GROUP = 32 };
    ur_kernel_handle_t kernel = ur_kernel("arguments", "sum_groups");
    int32_t *in = ur_shared(ITEMS * sizeof(int32_t));
    int32_t *sums = ur_shared(ITEMS / GROUP * sizeof(int32_t));
    const size_t global = ITEMS;
    const size_t group = GROUP;
    for (int32_t i = 0; i < ITEMS; i++)
        in[i] = i;
    const ur_exp_kernel_arg_properties_t arguments[] = {
        UR_POINTER(0, in), UR_LOCAL(1, GROUP * sizeof(int32_t)), UR_POINTER(2, sums)};
    UR_OK(urEnqueueKernelLaunchWithArgsExp(gear.queue, kernel, 1, NULL, &global, &group, 3,
                                           arguments, NULL, 0, NULL, NULL));
    UR_OK(urQueueFinish(gear.queue));
    for (int32_t i = 0; i < ITEMS / GROUP; i++)
        cr_assert_eq(sums[i], GROUP * GROUP * i + GROUP * (GROUP - 1) / 2);
    ur_free(in);
    ur_free(sums);
    UR_OK(urKernelRelease(kernel));
}

Test(kernel, takes_null_and_follows_pointers_in_memory)
{
    ur_kernel_handle_t find_null = ur_kernel("launches", "find_null");
    ur_kernel_handle_t follow = ur_kernel("launches", "follow_pointers");
    int32_t *out = ur_shared(2 * sizeof(int32_t));
    uint64_t *addresses = ur_shared(sizeof(uint64_t));
    // As a pointer, and as a memory object that is none.
    const ur_exp_kernel_arg_properties_t nulls[] = {UR_POINTER(0, NULL), UR_MEM(1, NULL),
                                                    UR_POINTER(2, out)};
    UR_OK(ur_launch(gear.queue, find_null, 1, 3, nulls, 0, NULL, NULL));
    UR_OK(urQueueFinish(gear.queue));
    cr_assert_eq(out[0], 1);
    cr_assert_eq(out[1], 1);
    const ur_bool_t yes = true;
    const uint64_t address = (uint64_t)(uintptr_t)out;
    addresses[0] = address;
    UR_OK(urKernelSetExecInfo(follow, UR_KERNEL_EXEC_INFO_USM_INDIRECT_ACCESS, sizeof(yes), NULL,
                              &yes));
    const void *pointers[] = {out};
    UR_OK(urKernelSetExecInfo(follow, UR_KERNEL_EXEC_INFO_USM_PTRS, sizeof(pointers), NULL,
                              pointers));
    const ur_kernel_cache_config_t config = UR_KERNEL_CACHE_CONFIG_LARGE_SLM;
    UR_OK(urKernelSetExecInfo(follow, UR_KERNEL_EXEC_INFO_CACHE_CONFIG, sizeof(config), NULL,
                              &config));
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_POINTER(0, addresses),
                                                        UR_VALUE(1, address)};
    UR_OK(ur_launch(gear.queue, follow, 1, 2, arguments, 0, NULL, NULL));
    UR_OK(urQueueFinish(gear.queue));
    cr_assert_eq(out[0], 2);
    cr_assert_eq(out[1], 2);
    ur_free(out);
    ur_free(addresses);
    UR_OK(urKernelRelease(find_null));
    UR_OK(urKernelRelease(follow));
}

Test(kernel, stands_where_offset_and_sizes_say)
{
    enum { X = 12, Y = 6, Z = 4 };
    ur_kernel_handle_t count = ur_kernel("launches", "count_items");
    ur_kernel_handle_t ids = ur_kernel("arguments", "store_ids");
    int32_t *counts = ur_shared(X * Y * Z * sizeof(int32_t));
    int32_t *out = ur_shared(3 * X * Y * Z * sizeof(int32_t));
    const size_t offset[] = {5, 3, 100};
    const size_t global[] = {X, Y, Z};
    const size_t local[] = {4, 3, 2};
    const ur_exp_kernel_arg_properties_t where = UR_POINTER(0, counts);
    const ur_exp_kernel_arg_properties_t to = UR_POINTER(0, out);
    for (int i = 0; i < 2; i++)
        UR_OK(urEnqueueKernelLaunchWithArgsExp(gear.queue, count, 3, offset, global,
                                               i ? local : NULL, 1, &where, NULL, 0, NULL, NULL));
    UR_OK(urEnqueueKernelLaunchWithArgsExp(gear.queue, ids, 3, NULL, global, local, 1, &to, NULL, 0,
                                           NULL, NULL));
    UR_OK(urQueueFinish(gear.queue));
    for (int z = 0; z < Z; z++) {
        for (int y = 0; y < Y; y++) {
            for (int x = 0; x < X; x++) {
                const int32_t *at = &out[3 * (x + X * (y + Y * z))];
                cr_assert_eq(counts[x + X * (y + Y * z)], 2);
                cr_assert_eq(at[0], x + 100 * y + 10000 * z);
                cr_assert_eq(at[1], x % 4 + 100 * (y % 3) + 10000 * (z % 2));
                cr_assert_eq(at[2], x / 4 + 100 * (y / 3) + 10000 * (z / 2));
            }
        }
    }
    ur_free(counts);
    ur_free(out);
    UR_OK(urKernelRelease(count));
    UR_OK(urKernelRelease(ids));
}

// A suggested size can be launched with, and a launch without a size uses it.
Test(kernel, suggests_group_sizes_that_divide)
{
    ur_kernel_handle_t kernel = ur_kernel("launches", "note_ends");
    int32_t *out = ur_shared(9 * sizeof(int32_t));
    static const size_t sizes[][3] = {{1, 1, 1}, {1000, 1, 1}, {97, 3, 1}, {64, 64, 2}, {7, 5, 3}};
    const size_t offset[3] = {0, 0, 0};
    const ur_exp_kernel_arg_properties_t argument = UR_POINTER(0, out);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        size_t suggested[3] = {0};
        size_t again[3] = {0};
        UR_OK(
            urKernelGetSuggestedLocalWorkSize(kernel, gear.queue, 3, offset, sizes[i], suggested));
        UR_OK(urKernelGetSuggestedLocalWorkSizeWithArgs(kernel, gear.queue, 3, offset, sizes[i], 1,
                                                        &argument, again));
        UR_OK(urEnqueueKernelLaunchWithArgsExp(gear.queue, kernel, 3, NULL, sizes[i], NULL, 1,
                                               &argument, NULL, 0, NULL, NULL));
        UR_OK(urQueueFinish(gear.queue));
        for (int k = 0; k < 3; k++) {
            cr_assert_eq(sizes[i][k] % suggested[k], 0);
            cr_assert_eq(again[k], suggested[k]);
            cr_assert_eq((size_t)out[6 + k], suggested[k]);
            cr_assert_eq((size_t)out[3 + k], sizes[i][k] - 1);
        }
    }
    ur_free(out);
    UR_OK(urKernelRelease(kernel));
}

Test(kernel, tells_its_attributes)
{
    ur_kernel_handle_t kernel = ur_kernel("launches", "needs_8_by_4");
    char text[256];
    size_t required[3];
    uint32_t arguments;
    UR_OK(urKernelGetInfo(kernel, UR_KERNEL_INFO_FUNCTION_NAME, sizeof(text), text, NULL));
    cr_assert_str_eq(text, "needs_8_by_4");
    UR_OK(urKernelGetInfo(kernel, UR_KERNEL_INFO_ATTRIBUTES, sizeof(text), text, NULL));
    cr_assert(strstr(text, "reqd_work_group_size(8,4,1)"), "%s", text);
    UR_OK(urKernelGetInfo(kernel, UR_KERNEL_INFO_NUM_ARGS, sizeof(arguments), &arguments, NULL));
    cr_assert_eq(arguments, 1);
    UR_OK(urKernelGetGroupInfo(kernel, gear.device, UR_KERNEL_GROUP_INFO_COMPILE_WORK_GROUP_SIZE,
                               sizeof(required), required, NULL));
    cr_assert(required[0] == 8 && required[1] == 4 && required[2] == 1);
    UR_OK(urKernelRelease(kernel));
}

Test(kernel, prefers_the_multiple_that_its_driver_says)
{
    ur_kernel_handle_t kernel = ur_kernel("launches", "count_items");
    ze_kernel_preferred_group_size_properties_t preferred = {
        .stype = ZE_STRUCTURE_TYPE_KERNEL_PREFERRED_GROUP_SIZE_PROPERTIES};
    ze_kernel_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES,
                                         .pNext = &preferred};
    ur_native_handle_t native;
    size_t multiple;
    UR_OK(urKernelGetGroupInfo(kernel, gear.device,
                               UR_KERNEL_GROUP_INFO_PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
                               sizeof(multiple), &multiple, NULL));
    UR_OK(urKernelGetNativeHandle(kernel, &native));
    cr_assert_eq(zeKernelGetProperties((ze_kernel_handle_t)native, &properties), 0);
    cr_assert(preferred.preferredMultiple > 0);
    cr_assert_eq(multiple, preferred.preferredMultiple, "%zu, %u", multiple,
                 preferred.preferredMultiple);
    UR_OK(urKernelRelease(kernel));
}

Test(kernel, is_launched_cooperatively_as_far_as_the_device_says)
{
    ur_kernel_handle_t kernel = ur_kernel("launches", "count_items");
    const ur_kernel_launch_ext_properties_t properties = {
        .stype = UR_STRUCTURE_TYPE_KERNEL_LAUNCH_EXT_PROPERTIES,
        .flags = UR_KERNEL_LAUNCH_FLAG_COOPERATIVE};
    const size_t local = 16;
    uint32_t groups;
    UR_OK(urKernelSuggestMaxCooperativeGroupCount(kernel, gear.device, 1, &local, 0, &groups));
    cr_assert(groups > 0);
    // Local memory that launches bring is the groups', too.
    uint32_t fewer;
    uint64_t local_bytes;
    UR_OK(urDeviceGetInfo(gear.device, UR_DEVICE_INFO_LOCAL_MEM_SIZE, sizeof(local_bytes),
                          &local_bytes, NULL));
    UR_OK(urKernelSuggestMaxCooperativeGroupCount(kernel, gear.device, 1, &local, local_bytes,
                                                  &fewer));
    cr_assert(fewer > 0 && fewer <= groups);
    UR_OK(urKernelSuggestMaxCooperativeGroupCount(kernel, gear.device, 1, &local, local_bytes + 1,
                                                  &fewer));
    cr_assert_eq(fewer, 0);
    const size_t global = local * (groups < 4 ? groups : 4);
    int32_t *counts = ur_shared(global * sizeof(int32_t));
    const ur_exp_kernel_arg_properties_t argument = UR_POINTER(0, counts);
    UR_OK(urEnqueueKernelLaunchWithArgsExp(gear.queue, kernel, 1, NULL, &global, &local, 1,
                                           &argument, &properties, 0, NULL, NULL));
    UR_OK(urQueueFinish(gear.queue));
    for (size_t i = 0; i < global; i++)
        cr_assert_eq(counts[i], 1);
    ur_free(counts);
    UR_OK(urKernelRelease(kernel));
}

// A recording of a launch in groups of four: recordings share free instances of the kernel with
// queries.
static void expect_groups_of_four(ur_kernel_handle_t kernel, int32_t *ends)
{
    const size_t offset = 0, global = 64, local = 4;
    const ur_exp_kernel_arg_properties_t argument = UR_POINTER(0, ends);
    const ur_exp_command_buffer_desc_t desc = {.stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_DESC};
    ur_exp_command_buffer_handle_t buffer;
    UR_OK(urCommandBufferCreateExp(gear.context, gear.device, &desc, &buffer));
    UR_OK(urCommandBufferAppendKernelLaunchWithArgsExp(buffer, kernel, 1, &offset, &global, &local,
                                                       1, &argument, 0, NULL, 0, NULL, 0, NULL,
                                                       NULL, NULL, NULL));
    UR_OK(urCommandBufferFinalizeExp(buffer));
    UR_OK(urEnqueueCommandBufferExp(gear.queue, buffer, 0, NULL, NULL));
    UR_OK(urQueueFinish(gear.queue));
    UR_OK(urCommandBufferReleaseExp(buffer));
    cr_assert_eq(ends[6], 4, "groups of %d", ends[6]);
    cr_assert_eq(ends[3], 63, "the last item is %d", ends[3]);
    memset(ends, 0, 9 * sizeof(*ends));
}

Test(kernel, has_the_group_size_of_each_launch_whatever_is_asked_between)
{
    ur_kernel_handle_t kernel = ur_kernel("launches", "note_ends");
    int32_t *ends = ur_shared(9 * sizeof(*ends));
    expect_groups_of_four(kernel, ends);
    for (size_t size = 1; size <= 64; size *= 2) {
        const size_t offset = 0;
        size_t suggested;
        uint32_t groups;
        UR_OK(urKernelSuggestMaxCooperativeGroupCount(kernel, gear.device, 1, &size, 0, &groups));
        expect_groups_of_four(kernel, ends);
        UR_OK(urKernelGetSuggestedLocalWorkSize(kernel, gear.queue, 1, &offset, &size, &suggested));
        expect_groups_of_four(kernel, ends);
    }
    ur_free(ends);
    UR_OK(urKernelRelease(kernel));
}

// The header calls it an error, but programs do it: a kernel over an empty array.
Test(kernel, of_no_work_items_launches_nothing)
{
    ur_kernel_handle_t kernel = ur_kernel("launches", "count_items");
    int32_t *counts = ur_shared(64 * sizeof(int32_t));
    const ur_exp_kernel_arg_properties_t argument = UR_POINTER(0, counts);
    for (size_t i = 0; i < 3; i++) {
        ur_event_handle_t event;
        size_t global[] = {4, 4, 4};
        global[i] = 0;
        UR_OK(urEnqueueKernelLaunchWithArgsExp(gear.queue, kernel, 3, NULL, global, NULL, 1,
                                               &argument, NULL, 0, NULL, &event));
        UR_OK(urEventWait(1, &event));
        UR_OK(urEventRelease(event));
    }
    for (int i = 0; i < 64; i++)
        cr_assert_eq(counts[i], 0);
    ur_free(counts);
    UR_OK(urKernelRelease(kernel));
}

// Thirty-three arguments: one more than fit into the launch's own list.
Test(kernel, takes_no_more_arguments_than_it_has)
{
    ur_kernel_handle_t kernel = ur_kernel("vector_add", "vector_add");
    float *memory = ur_shared(64);
    ur_exp_kernel_arg_properties_t arguments[33];
    for (uint32_t i = 0; i < 33; i++)
        arguments[i] = UR_POINTER(i, memory);
    UR_FAILS(ur_launch(gear.queue, kernel, 1, 33, arguments, 0, NULL, NULL),
             UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX);
    UR_OK(ur_launch(gear.queue, kernel, 1, 3, arguments, 0, NULL, NULL));
    UR_OK(urQueueFinish(gear.queue));
    ur_free(memory);
    UR_OK(urKernelRelease(kernel));
}

Test(kernel, native_handles_go_both_ways)
{
    ur_program_handle_t program = ur_executable("twenty_kernels");
    ur_kernel_handle_t kernel;
    ur_kernel_handle_t around;
    ur_native_handle_t native;
    char name[64];
    UR_OK(urKernelCreate(program, "add_8", &kernel));
    UR_OK(urKernelGetNativeHandle(kernel, &native));
    const ur_kernel_native_properties_t keep = {.stype = UR_STRUCTURE_TYPE_KERNEL_NATIVE_PROPERTIES,
                                                .isNativeHandleOwned = false};
    UR_OK(urKernelCreateWithNativeHandle(native, gear.context, program, &keep, &around));
    UR_OK(urKernelGetInfo(around, UR_KERNEL_INFO_FUNCTION_NAME, sizeof(name), name, NULL));
    cr_assert_str_eq(name, "add_8");
    int32_t *data = ur_shared(sizeof(int32_t));
    const ur_exp_kernel_arg_properties_t argument = UR_POINTER(0, data);
    UR_OK(ur_launch(gear.queue, around, 1, 1, &argument, 0, NULL, NULL));
    UR_OK(ur_launch(gear.queue, kernel, 1, 1, &argument, 0, NULL, NULL));
    UR_OK(urQueueFinish(gear.queue));
    cr_assert_eq(*data, 16);
    ur_free(data);
    UR_OK(urKernelRelease(around));
    UR_OK(urKernelRelease(kernel));
    UR_OK(urProgramRelease(program));
}

// A kernel keeps its code: the program may be released, or built anew.
Test(kernel, outlives_the_hold_on_its_program)
{
    ur_kernel_handle_t kernel = ur_kernel("twenty_kernels", "add_1"); // releases the program
    ur_program_handle_t program;
    uint32_t references;
    int32_t *data = ur_shared(sizeof(int32_t));
    const ur_exp_kernel_arg_properties_t argument = UR_POINTER(0, data);
    UR_OK(urKernelGetInfo(kernel, UR_KERNEL_INFO_PROGRAM, sizeof(program), (void *)&program, NULL));
    UR_OK(urProgramGetInfo(program, UR_PROGRAM_INFO_REFERENCE_COUNT, sizeof(references),
                           &references, NULL));
    cr_assert_eq(references, 1);
    UR_OK(ur_launch(gear.queue, kernel, 1, 1, &argument, 0, NULL, NULL));
    UR_OK(urKernelRelease(kernel)); // while it may run
    UR_OK(urQueueFinish(gear.queue));
    cr_assert_eq(*data, 1);
    ur_free(data);
}
