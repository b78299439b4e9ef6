// SPDX-License-Identifier: MIT
//
// Instructions of a module build that the cache answers, from the call through the table to the
// returned module: the difference of two runs of this program under callgrind, counting inside
// counted_ functions alone, that differ in the number of builds. Compiles do not count: their cost
// depends on the disk. The null driver is enough, since a hit calls no driver. Without arguments it
// makes the runs and judges. With "KIND N" it makes N builds: "plain" without values, "values" with
// three, "options" with options, too. "whole" counts all that a host does that keeps nothing: a
// module is made of the image's bytes, a value is set, and the build is released again. "silent N"
// makes builds where the kernel ends a process that makes a system call.
#include "test_cost.h"
#include "test_env.h"
#include "test_plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARM = 4 };

static const struct kind {
    const char *name;
    double limit;
} kinds[] = {
    {"plain", 1250},
    {"values", 2090},
    {"options", 2450},
    {"whole", 5180},
};

static bool is_kind(const char *kind, const char *name)
{
    return strcmp(kind, name) == 0;
}

static void set_values(zepi_module_t input, int32_t number)
{
    const float scale = 2.5f;
    const int16_t small = 3;
    const zepi_spec_value_t values[] = {{7, 4, &number}, {3, 4, &scale}, {5, 2, &small}};
    TEST_OK(zepi.spec_constant_set_many(input, 3, values));
}

static void make_and_release(zepi_context_t context, const zepi_device_image_desc_t *image)
{
    const int32_t number = 5;
    zepi_module_t input;
    zepi_module_t executable;
    zepi_kernel_t kernel;
    TEST_OK(zepi.module_create(context, ZEPI_MODULE_INPUT, 1, image, &input));
    TEST_OK(zepi.spec_constant_set(input, 7, sizeof(number), &number));
    TEST_OK(zepi.module_build(input, NULL, &executable));
    TEST_OK(zepi.module_get_kernel(executable, "scaled_copy_int", &kernel));
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.release(executable));
    TEST_OK(zepi.release(input));
}

__attribute__((noinline)) static void counted_whole(zepi_context_t context,
                                                    const zepi_device_image_desc_t *image)
{
    make_and_release(context, image);
}

__attribute__((noinline)) static zepi_module_t counted_build(zepi_module_t input,
                                                             const zepi_build_desc_t *desc)
{
    zepi_module_t executable;
    TEST_OK(zepi.module_build(input, desc, &executable));
    return executable;
}

static void build_and_release(zepi_module_t input, const zepi_build_desc_t *desc)
{
    zepi_module_t executable;
    TEST_OK(zepi.module_build(input, desc, &executable));
    TEST_OK(zepi.release(executable));
}

static int run(const char *kind, unsigned long count)
{
    const zepi_build_desc_t desc = {.size = sizeof(desc), .options = "-cl-mad-enable"};
    const zepi_build_desc_t *options =
        is_kind(kind, "options") || is_kind(kind, "silent") ? &desc : NULL;
    zepi_cache_counters_t counters = {.size = sizeof(counters)};
    test_env_use_null_driver();
    unsetenv("ZE_ENABLE_TRACING_LAYER");
    unsetenv("ZE_ENABLE_VALIDATION_LAYER");
    test_plugin_load();
    struct test_gear gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    const zepi_device_image_desc_t image = test_spirv_image("scaled_copy");
    zepi_module_t input = test_input(gear.context, "scaled_copy");
    // The first ones build, and make what a thread and an input make once.
    for (int i = 0; i < WARM; i++) {
        make_and_release(gear.context, &image);
        if (!is_kind(kind, "plain"))
            set_values(input, 5);
        build_and_release(input, options);
    }
    TEST_OK(zepi.cache_get_counters(gear.context, ZEPI_CACHE_MODULES, &counters));
    const uint64_t misses = counters.misses;
    if (is_kind(kind, "silent"))
        test_cost_begin_silence();
    for (unsigned long i = 0; i < count; i++) {
        if (is_kind(kind, "whole"))
            counted_whole(gear.context, &image);
        else
            TEST_OK(zepi.release(counted_build(input, options)));
    }
    if (is_kind(kind, "silent"))
        test_cost_end_silence();
    TEST_OK(zepi.cache_get_counters(gear.context, ZEPI_CACHE_MODULES, &counters));
    TEST_OK(zepi.release(input));
    test_gear_destroy(&gear);
    test_plugin_unload();
    return counters.misses == misses ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc == 3)
        return run(argv[1], strtoul(argv[2], NULL, 10));
    if (!test_cost_is_measurable())
        return TEST_SKIPPED;
    test_env_use_null_driver(); // or skips
    bool is_good = test_cost_is_silent("a build that the cache answers");
    if (!test_cost_has_valgrind())
        return is_good ? TEST_SKIPPED : 1;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const double cost = test_cost_instructions(kinds[i].name, "counted_*");
        printf("a build that the cache answers, %s: %.0f instructions\n", kinds[i].name, cost);
        is_good = is_good && cost > 0 && cost < kinds[i].limit;
    }
    return is_good ? 0 : 1;
}
