// SPDX-License-Identifier: MIT
// Which builds are the same build.
#include "gear_fixture.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Two devices, the first of which takes larger allocations than its driver offers.
static void set_up_large(void)
{
    setenv("ZE_CPU_DEVICES", "2", 1);
    setenv("ZE_CPU_MAX_ALLOCATION", "64", 1);
    setenv("ZE_CPU_LIMITED_DEVICES", "1", 1);
    setenv("ZEPI_LARGE_ALLOCATIONS", "on", 1);
    gear_set_up();
}

TestSuite(cache_keys_large, .init = set_up_large, .fini = gear_tear_down, .timeout = 60);
TestSuite(cache_keys, .init = gear_set_up, .fini = gear_tear_down, .timeout = 60);

static void expect_compiles(uint64_t count)
{
    cr_assert_eq(ze_cpu.get_count("compile:spirv"), count, "%llu compiles, expected %llu",
                 (unsigned long long)ze_cpu.get_count("compile:spirv"), (unsigned long long)count);
}

static void build(zepi_module_t input, const char *options, zepi_build_flags_t flags)
{
    zepi_module_t executable;
    const zepi_build_desc_t desc = {.size = sizeof(desc), .options = options, .flags = flags};
    TEST_OK(zepi.module_build(input, &desc, &executable));
    TEST_OK(zepi.release(executable));
}

Test(cache_keys, options_that_differ_in_spacing_are_the_same)
{
    zepi_module_t input = test_input(gear.context, "scaled_copy");
    build(input, "-cl-mad-enable -cl-no-signed-zeros", 0);
    build(input, "  -cl-mad-enable \t -cl-no-signed-zeros\n", 0);
    build(input, "-cl-mad-enable\r\n-cl-no-signed-zeros ", 0);
    expect_compiles(1);
    build(input, "-cl-mad-enable", 0);
    expect_compiles(2);
    // The order of options may matter to a compiler.
    build(input, "-cl-no-signed-zeros -cl-mad-enable", 0);
    expect_compiles(3);
    TEST_OK(zepi.release(input));
}

Test(cache_keys, options_that_differ_in_the_last_byte_are_others)
{
    zepi_module_t input = test_input(gear.context, "scaled_copy");
    build(input, "-ze-opt-level=1", 0);
    build(input, "-ze-opt-level=2", 0);
    expect_compiles(2);
    TEST_OK(zepi.release(input));
}

Test(cache_keys, no_options_and_empty_options_are_the_same)
{
    zepi_module_t executable;
    zepi_module_t input = test_input(gear.context, "scaled_copy");
    TEST_OK(zepi.module_build(input, NULL, &executable));
    TEST_OK(zepi.release(executable));
    build(input, "", 0);
    build(input, " \t ", 0);
    expect_compiles(1);
    build(input, NULL, ZEPI_BUILD_DEBUG);
    expect_compiles(2);
    build(input, "-g", 0);
    expect_compiles(2);
    TEST_OK(zepi.release(input));
}

Test(cache_keys, setting_the_default_is_the_same_as_setting_nothing)
{
    const int32_t one = 1;
    const int8_t minus_one = -1;
    const int32_t two = 2;
    zepi_module_t input = test_input(gear.context, "scaled_copy");
    build(input, NULL, 0);
    TEST_OK(zepi.spec_constant_set(input, 7, sizeof(one), &one));
    build(input, NULL, 0);
    TEST_OK(zepi.spec_constant_set(input, 11, sizeof(minus_one), &minus_one));
    build(input, NULL, 0);
    expect_compiles(1);
    TEST_OK(zepi.spec_constant_set(input, 7, sizeof(two), &two));
    build(input, NULL, 0);
    expect_compiles(2);
    TEST_OK(zepi.spec_constant_set(input, 7, sizeof(one), &one));
    build(input, NULL, 0);
    expect_compiles(2);
    TEST_OK(zepi.release(input));
}

Test(cache_keys, the_order_of_setting_does_not_matter)
{
    const int32_t number = 9;
    const float scale = 0.5f;
    const int16_t small = 4;
    for (int i = 0; i < 2; i++) {
        zepi_module_t input = test_input(gear.context, "scaled_copy");
        if (i == 0)
            TEST_OK(zepi.spec_constant_set(input, 5, sizeof(small), &small));
        TEST_OK(zepi.spec_constant_set(input, 7, sizeof(number), &number));
        TEST_OK(zepi.spec_constant_set(input, 3, sizeof(scale), &scale));
        if (i == 1)
            TEST_OK(zepi.spec_constant_set(input, 5, sizeof(small), &small));
        build(input, NULL, 0);
        TEST_OK(zepi.release(input));
    }
    expect_compiles(1);
}

Test(cache_keys, the_same_bytes_as_another_constants_value_are_another_build)
{
    const int64_t large = 6;
    const int32_t number = 6;
    zepi_module_t first = test_input(gear.context, "scaled_copy");
    zepi_module_t second = test_input(gear.context, "scaled_copy");
    TEST_OK(zepi.spec_constant_set(first, 2, sizeof(large), &large));
    TEST_OK(zepi.spec_constant_set(second, 7, sizeof(number), &number));
    build(first, NULL, 0);
    build(second, NULL, 0);
    expect_compiles(2);
    TEST_OK(zepi.release(first));
    TEST_OK(zepi.release(second));
}

Test(cache_keys, a_constant_of_another_image_changes_nothing)
{
    const zepi_device_image_desc_t images[] = {test_spirv_image("scaled_copy"),
                                               test_spirv_image("arguments")};
    zepi_module_t input;
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 2, images, &input));
    build(input, NULL, 0);
    expect_compiles(2);
    for (int32_t value = 10; value < 13; value++) {
        TEST_OK(zepi.spec_constant_set(input, 7, sizeof(value), &value));
        build(input, NULL, 0);
    }
    // One each time: the other image has no such constant.
    expect_compiles(5);
    TEST_OK(zepi.release(input));
    // And it is the same code as that of the image alone.
    TEST_OK(zepi.release(test_executable(gear.context, "arguments")));
    expect_compiles(5);
}

Test(cache_keys, objects_and_executables_are_different)
{
    zepi_module_t object;
    zepi_module_t input = test_input(gear.context, "scaled_copy");
    build(input, NULL, 0);
    TEST_OK(zepi.module_compile(input, NULL, &object));
    TEST_OK(zepi.release(object));
    expect_compiles(2);
    TEST_OK(zepi.module_compile(input, NULL, &object));
    TEST_OK(zepi.release(object));
    expect_compiles(2);
    TEST_OK(zepi.release(input));
}

Test(cache_keys, the_log_is_the_same_from_every_level)
{
    const char *logs[4];
    char copies[3][4096];
    zepi_module_t executables[3];
    zepi_cache_counters_t code = {.size = sizeof(code)};
    zepi_module_t input = test_input(gear.context, "scaled_copy");
    for (int i = 0; i < 3; i++) {
        // Built; from the context's cache; from the disk.
        if (i == 2) {
            TEST_OK(zepi.cache_clear(gear.context));
            TEST_OK(zepi.cache_clear(NULL));
        }
        TEST_OK(zepi.module_build(input, NULL, &executables[i]));
        snprintf(copies[i], sizeof(copies[i]), "%s", zepi.last_build_log());
        TEST_OK(zepi.module_get_build_log(executables[i], gear.device, &logs[i]));
        cr_assert_gt(strlen(copies[i]), 0);
        cr_assert_str_eq(copies[i], copies[0]);
        cr_assert_str_eq(logs[i], copies[0]);
    }
    TEST_OK(zepi.cache_get_counters(NULL, ZEPI_CACHE_BINARIES, &code));
    cr_assert_eq(code.store_hits, 1);
    expect_compiles(1);
    for (int i = 0; i < 3; i++)
        TEST_OK(zepi.release(executables[i]));
    TEST_OK(zepi.release(input));
}

// Builds a module that is made for this build alone; NULL: the default of constant 7 stays.
static void build_anew(const zepi_device_image_desc_t *image, const int32_t *number,
                       const char *options, int32_t expected)
{
    const zepi_build_desc_t desc = {.size = sizeof(desc), .options = options};
    zepi_module_t input;
    zepi_module_t executable;
    int32_t built = 0;
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 1, image, &input));
    if (number)
        TEST_OK(zepi.spec_constant_set(input, 7, sizeof(*number), number));
    TEST_OK(zepi.module_build(input, &desc, &executable));
    // Later changes of the input do not change the build.
    const int32_t other = -5;
    TEST_OK(zepi.spec_constant_set(input, 7, sizeof(other), &other));
    TEST_OK(zepi.release(input));
    TEST_OK(zepi.spec_constant_get(executable, NULL, 7, sizeof(built), &built));
    cr_assert_eq(built, expected);
    TEST_OK(zepi.release(executable));
}

Test(cache_keys, modules_made_anew_for_each_build_are_the_same_build_only_with_the_same_values)
{
    const zepi_device_image_desc_t image = test_spirv_image("scaled_copy");
    const int32_t numbers[] = {8, 9};
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 4; i++)
            build_anew(&image, &numbers[0], NULL, 8);
        for (int i = 0; i < 4; i++)
            build_anew(&image, &numbers[1], NULL, 9);
        for (int i = 0; i < 4; i++)
            build_anew(&image, &numbers[1], "-cl-mad-enable", 9);
        for (int i = 0; i < 4; i++)
            build_anew(&image, NULL, NULL, 1);
        for (int i = 0; i < 4; i++)
            build_anew(&image, &numbers[i % 2], NULL, numbers[i % 2]);
        expect_compiles(4);
    }
    TEST_OK(zepi.cache_clear(gear.context));
    TEST_OK(zepi.cache_clear(NULL));
    build_anew(&image, NULL, NULL, 1);
}

Test(cache_keys, what_an_image_requires_holds_for_bytes_that_were_built_without_it)
{
    const uint32_t required = 7;
    zepi_device_image_desc_t image = test_spirv_image("scaled_copy");
    zepi_module_t input;
    zepi_module_t executable;
    for (int i = 0; i < 4; i++)
        build_anew(&image, NULL, NULL, 1);
    image.required_ids = &required;
    image.required_id_count = 1;
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 1, &image, &input));
    TEST_FAILS(zepi.module_build(input, NULL, &executable), ZEPI_ERROR_SPEC_CONSTANT_REQUIRED);
    TEST_OK(zepi.release(input));
}

Test(cache_keys, bytes_that_change_where_they_lie_are_another_image)
{
    static const char name[] = "scaled_copy_int";
    zepi_device_image_desc_t image = test_spirv_image("scaled_copy");
    char *bytes = malloc(image.size_bytes);
    memcpy(bytes, image.bytes, image.size_bytes);
    image.bytes = bytes;
    for (int i = 0; i < 4; i++)
        build_anew(&image, NULL, NULL, 1);
    for (size_t at = 0; at + sizeof(name) <= image.size_bytes; at++) {
        if (memcmp(bytes + at, name, sizeof(name)) == 0)
            bytes[at] = 'S';
    }
    zepi_module_t input;
    zepi_module_t executable;
    bool has = true;
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 1, &image, &input));
    TEST_OK(zepi.module_build(input, NULL, &executable));
    TEST_OK(zepi.module_has_kernel(executable, name, &has));
    cr_assert_not(has);
    TEST_OK(zepi.module_has_kernel(executable, "Scaled_copy_int", &has));
    cr_assert(has);
    TEST_OK(zepi.release(executable));
    TEST_OK(zepi.release(input));
    free(bytes);
    expect_compiles(2);
}

// Once for each device of the context.
static void build_for(uint32_t count, const zepi_device_t *devices)
{
    zepi_context_t context;
    TEST_OK(zepi.context_create(count, devices, &context));
    zepi_module_t input = test_input(context, "scaled_copy");
    build(input, "-cl-mad-enable", 0);
    TEST_OK(zepi.release(input));
    TEST_OK(zepi.release(context));
}

// Devices of one identity, which share code otherwise.
Test(cache_keys_large, code_for_large_allocations_is_of_the_devices_that_have_them)
{
    zepi_device_info_t info[2] = {{.size = sizeof(info[0])}, {.size = sizeof(info[1])}};
    zepi_device_t devices[2];
    uint32_t count;
    test_ze_cpu_require();
    TEST_OK(zepi.device_get(gear.platform, 2, devices, &count));
    for (int i = 0; i < 2; i++)
        TEST_OK(zepi.device_get_info(devices[i], &info[i]));
    cr_assert_eq(info[0].max_allocation_bytes, info[1].max_allocation_bytes);
    build_for(1, &devices[0]);
    expect_compiles(1);
    build_for(1, &devices[1]);
    expect_compiles(2);
    build_for(2, devices);
    build_for(1, &devices[1]);
    build_for(1, &devices[0]);
    expect_compiles(2);
    for (int i = 0; i < 2; i++)
        TEST_OK(zepi.release(devices[i]));
}
