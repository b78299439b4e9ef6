// SPDX-License-Identifier: MIT
//
// Instructions of a launch by name whose build is in the cache, beyond those of the launch of a
// kernel object: differences of runs of this program under callgrind, counting inside
// counted_launch alone, that differ in the number of launches. Launches that build come before and
// do not count: their cost depends on the disk. The null driver is enough. Without arguments it
// makes the runs and judges. With "KIND N" it makes N launches: "object" of a kernel object,
// "default" from a unit, "values" with three values, "turns" with two sets of values in turns,
// "module" from a module that the launch names, "module_values" with values next to it,
// "object_values" of a kernel object with values, "changed" with the next of 64 values each time.
// "silent N" makes them where the kernel ends a process that makes a system call.
#include "test_cost.h"
#include "test_env.h"
#include "test_plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARM = 128, LIMIT_INSTRUCTIONS = 555 };

static const char COUNTED[] = "counted_launch";
static const char unit;

static bool is_kind(const char *kind, const char *name)
{
    return strcmp(kind, name) == 0;
}

struct story {
    struct test_gear gear;
    zepi_module_t input;
    zepi_module_t executable;
    zepi_kernel_t kernel;
    int32_t number;
    float scale;
    int16_t small;
    zepi_spec_value_t values[3];
    zepi_argument_t arguments[2];
    zepi_launch_desc_t desc;
};

static void set_up(struct story *story, const char *kind)
{
    const zepi_device_image_desc_t image = test_spirv_image("scaled_copy");
    void *memory;
    test_plugin_load();
    story->gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    story->number = 5;
    story->scale = 2.5f;
    story->small = 3;
    story->values[0] = (zepi_spec_value_t){7, 4, &story->number};
    story->values[1] = (zepi_spec_value_t){3, 4, &story->scale};
    story->values[2] = (zepi_spec_value_t){5, 2, &story->small};
    TEST_OK(zepi.unit_register(&unit, 1, &image));
    TEST_OK(zepi.module_create(story->gear.context, ZEPI_MODULE_INPUT, 1, &image, &story->input));
    TEST_OK(zepi.spec_constant_set_many(story->input, 3, story->values));
    TEST_OK(zepi.module_build(story->input, NULL, &story->executable));
    TEST_OK(zepi.module_get_kernel(story->executable, "scaled_copy_int", &story->kernel));
    TEST_OK(zepi.usm_allocate(story->gear.context, story->gear.device, ZEPI_USM_DEVICE, 4096, 0,
                              &memory));
    story->arguments[0] = TEST_POINTER(memory);
    story->arguments[1] = TEST_POINTER(memory);
    story->desc = test_launch(NULL, 2, story->arguments, 64);
    story->desc.group_size[0] = 64;
    story->desc.kernel_name = "scaled_copy_int";
    if (is_kind(kind, "object") || is_kind(kind, "object_values"))
        story->desc.kernel = story->kernel;
    else if (is_kind(kind, "module") || is_kind(kind, "module_values"))
        story->desc.module = story->executable;
    else
        story->desc.unit = &unit;
    if (!is_kind(kind, "object") && !is_kind(kind, "module") && !is_kind(kind, "default")) {
        story->desc.spec_values = story->values;
        story->desc.spec_value_count = 3;
    }
}

// The values of launch number i.
static void turn(struct story *story, const char *kind, unsigned long i)
{
    if (is_kind(kind, "turns"))
        story->number = 5 + (int32_t)(i % 2);
    if (is_kind(kind, "changed"))
        story->number = 5 + (int32_t)(i % 64);
}

__attribute__((noinline)) static void counted_launch(const struct story *story)
{
    TEST_OK(zepi.queue_launch(story->gear.queue, &story->desc, TEST_NO_WAIT, NULL));
}

static int run(const char *kind, unsigned long count)
{
    struct story story;
    test_env_use_null_driver();
    unsetenv("ZE_ENABLE_TRACING_LAYER");
    unsetenv("ZE_ENABLE_VALIDATION_LAYER");
    set_up(&story, kind);
    // The first ones build, and make what a thread and a queue make once.
    for (unsigned long i = 0; i < WARM; i++) {
        turn(&story, kind, i);
        TEST_OK(zepi.queue_launch(story.gear.queue, &story.desc, TEST_NO_WAIT, NULL));
    }
    if (is_kind(kind, "silent"))
        test_cost_begin_silence();
    for (unsigned long i = 0; i < count; i++) {
        turn(&story, kind, i);
        counted_launch(&story);
    }
    if (is_kind(kind, "silent"))
        test_cost_end_silence();
    TEST_OK(zepi.usm_free(story.gear.context, (void *)story.arguments[0].value));
    TEST_OK(zepi.release(story.kernel));
    TEST_OK(zepi.release(story.executable));
    TEST_OK(zepi.release(story.input));
    TEST_OK(zepi.unit_unregister(&unit));
    test_gear_destroy(&story.gear);
    test_plugin_unload();
    return 0;
}

int main(int argc, char **argv)
{
    static const char *const kinds[] = {"default",       "values",        "turns",  "module",
                                        "module_values", "object_values", "changed"};
    if (argc == 3)
        return run(argv[1], strtoul(argv[2], NULL, 10));
    if (!test_cost_is_measurable())
        return TEST_SKIPPED;
    test_env_use_null_driver(); // or skips
    bool is_good = test_cost_is_silent("a launch by name that is repeated");
    if (!test_cost_has_valgrind())
        return is_good ? TEST_SKIPPED : 1;
    const double object = test_cost_instructions("object", COUNTED);
    printf("a launch of a kernel object: %.0f instructions\n", object);
    is_good = is_good && object > 0;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const double cost = test_cost_instructions(kinds[i], COUNTED);
        printf("%s: %.0f instructions more\n", kinds[i], cost - object);
        is_good = is_good && cost > 0 && cost - object < LIMIT_INSTRUCTIONS;
    }
    return is_good ? 0 : 1;
}
