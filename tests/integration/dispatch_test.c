// SPDX-License-Identifier: MIT
// Joining, this-module, and launches that find their module by name, unit and values.
#include "test_env.h"
#include "test_plugin.h"
#include "test_ze_cpu.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct test_gear gear;
static struct test_ze_cpu ze_cpu;
static const int unit_token;
static const int other_token;
#define UNIT ((zepi_unit_t)&unit_token)

static void set_up(void)
{
    ze_cpu = test_ze_cpu_use();
    test_plugin_load();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
}

static void tear_down(void)
{
    test_gear_destroy(&gear);
    cr_assert_eq(ze_cpu.get_live_objects(), 0);
}

TestSuite(join, .init = set_up, .fini = tear_down);
TestSuite(this_module, .init = set_up, .fini = tear_down);
TestSuite(dispatch, .init = set_up, .fini = tear_down);

static zepi_module_t build_with(zepi_module_t input, int32_t value)
{
    zepi_module_t executable;
    TEST_OK(zepi.spec_constant_set(input, 7, sizeof(value), &value));
    TEST_OK(zepi.module_build(input, NULL, &executable));
    return executable;
}

static zepi_image_desc_t native_image(zepi_module_t executable, zepi_spec_value_t *baked)
{
    zepi_image_desc_t image = {.size = sizeof(image),
                               .format = ZEPI_IMAGE_NATIVE,
                               .state = ZEPI_MODULE_EXECUTABLE,
                               .baked_values = baked,
                               .baked_value_count = baked != NULL};
    TEST_OK(zepi.module_get_native_binary(executable, gear.device, &image.size_bytes, NULL));
    void *bytes = malloc(image.size_bytes);
    TEST_OK(zepi.module_get_native_binary(executable, gear.device, &image.size_bytes, bytes));
    image.bytes = bytes;
    return image;
}

// ---- Joining ----

static bool are_equal(zepi_module_t a, zepi_module_t b)
{
    bool is_equal;
    uint64_t hashes[2];
    TEST_OK(zepi.module_is_equal(a, b, &is_equal));
    TEST_OK(zepi.module_get_hash(a, &hashes[0]));
    TEST_OK(zepi.module_get_hash(b, &hashes[1]));
    cr_assert(!is_equal || hashes[0] == hashes[1]);
    return is_equal;
}

Test(join, modules_are_equal_by_context_state_and_images)
{
    zepi_module_t a = test_input(gear.context, "scaled_copy");
    zepi_module_t b = test_input(gear.context, "scaled_copy");
    zepi_module_t other = test_input(gear.context, "negate");
    const int32_t value = 9;
    cr_assert(are_equal(a, b));
    cr_assert(!are_equal(a, other));
    // The values of inputs do not count, those of what was built do.
    TEST_OK(zepi.spec_constant_set(b, 7, sizeof(value), &value));
    cr_assert(are_equal(a, b));
    zepi_module_t built[] = {build_with(a, 2), build_with(b, 2), build_with(b, 3)};
    cr_assert(are_equal(built[0], built[1]));
    cr_assert(!are_equal(built[0], built[2]));
    cr_assert(!are_equal(a, built[0]));
    for (int i = 0; i < 3; i++)
        TEST_OK(zepi.release(built[i]));
    TEST_OK(zepi.release(a));
    TEST_OK(zepi.release(b));
    TEST_OK(zepi.release(other));
}

Test(join, unites_images_once_and_values)
{
    zepi_module_t modules[2] = {test_input(gear.context, "scaled_copy"),
                                test_input(gear.context, "scaled_copy")};
    zepi_module_t joined;
    zepi_module_info_t info = {.size = sizeof(info)};
    const int32_t number = 6;
    const float real = 2;
    int32_t read;
    TEST_OK(zepi.spec_constant_set(modules[0], 7, 4, &number));
    TEST_OK(zepi.spec_constant_set(modules[1], 3, 4, &real));
    TEST_OK(zepi.module_join(2, modules, &joined));
    TEST_OK(zepi.module_get_info(joined, &info));
    cr_assert_eq(info.image_count, 1);
    cr_assert_eq(info.state, ZEPI_MODULE_INPUT);
    TEST_OK(zepi.spec_constant_get(joined, NULL, 7, 4, &read));
    cr_assert_eq(read, 6);
    TEST_OK(zepi.spec_constant_get(joined, NULL, 3, 4, &read));
    cr_assert_eq(memcmp(&read, &real, 4), 0);
    TEST_OK(zepi.release(joined));
    const int32_t conflict = 7;
    TEST_OK(zepi.spec_constant_set(modules[1], 7, 4, &conflict));
    TEST_FAILS_SAYING(zepi.module_join(2, modules, &joined), ZEPI_ERROR_INVALID_OBJECT,
                      "constant 7");
    TEST_OK(zepi.release(modules[0]));
    TEST_OK(zepi.release(modules[1]));
}

Test(join, refuses_modules_that_do_not_belong_together)
{
    zepi_module_t modules[2] = {test_input(gear.context, "scaled_copy"),
                                test_input(gear.context, "negate")};
    zepi_module_t joined;
    TEST_FAILS_SAYING(zepi.module_join(0, NULL, &joined), ZEPI_ERROR_INVALID_OBJECT, "no module");
    TEST_FAILS_SAYING(zepi.module_join(2, modules, &joined), ZEPI_ERROR_INVALID_OBJECT,
                      "only one has kernel");
    TEST_OK(zepi.release(modules[1]));
    modules[1] = build_with(modules[0], 3);
    TEST_FAILS_SAYING(zepi.module_join(2, modules, &joined), ZEPI_ERROR_INVALID_OBJECT,
                      "one is input, the other executable");
    TEST_OK(zepi.release(modules[0]));
    TEST_OK(zepi.release(modules[1]));
}

Test(join, executables_of_different_values_stand_beside_each_other)
{
    zepi_module_t input = test_input(gear.context, "scaled_copy");
    zepi_module_t modules[3] = {build_with(input, 2), build_with(input, 3), NULL};
    zepi_module_t joined;
    zepi_module_t listed[8];
    uint32_t count;
    modules[2] = modules[0];
    TEST_OK(zepi.module_join(3, modules, &joined));
    TEST_OK(zepi.context_get_modules(gear.context, ZEPI_MODULE_EXECUTABLE, 8, listed, &count));
    cr_assert_eq(count, 3);
    for (uint32_t i = 0; i < count; i++)
        TEST_OK(zepi.release(listed[i]));
    TEST_OK(zepi.context_get_modules(gear.context, ZEPI_MODULE_OBJECT, 8, listed, &count));
    cr_assert_eq(count, 0);
    TEST_OK(zepi.release(joined));
    TEST_OK(zepi.release(modules[0]));
    TEST_OK(zepi.release(modules[1]));
    TEST_OK(zepi.release(input));
}

// ---- This module ----

Test(this_module, is_the_same_as_long_as_somebody_holds_it)
{
    const zepi_image_desc_t image = test_spirv_image("scaled_copy");
    zepi_module_t first;
    zepi_module_t second;
    bool has;
    TEST_FAILS_SAYING(zepi.unit_get_module(UNIT, gear.context, ZEPI_MODULE_INPUT, &first),
                      ZEPI_ERROR_INVALID_VALUE, "no translation unit");
    TEST_OK(zepi.unit_register(UNIT, 1, &image));
    TEST_FAILS(zepi.unit_register(UNIT, 1, &image), ZEPI_ERROR_INVALID_VALUE);
    TEST_OK(zepi.unit_has_module(UNIT, gear.context, ZEPI_MODULE_INPUT, &has));
    cr_assert(has);
    TEST_OK(zepi.unit_has_module(UNIT, gear.context, ZEPI_MODULE_EXECUTABLE, &has));
    cr_assert(!has);
    TEST_OK(zepi.unit_has_any_module(UNIT, gear.context, &has));
    cr_assert(has);
    TEST_OK(zepi.unit_get_module(UNIT, gear.context, ZEPI_MODULE_INPUT, &first));
    TEST_OK(zepi.unit_get_module(UNIT, gear.context, ZEPI_MODULE_INPUT, &second));
    cr_assert_eq(first, second);
    TEST_OK(zepi.release(second));
    TEST_OK(zepi.unit_get_module(UNIT, gear.context, ZEPI_MODULE_EXECUTABLE, &second));
    zepi_module_info_t info = {.size = sizeof(info)};
    TEST_OK(zepi.module_get_info(second, &info));
    cr_assert_eq(info.image_count, 0);
    TEST_OK(zepi.release(second));
    // In use while it is unregistered.
    TEST_OK(zepi.unit_unregister(UNIT));
    second = build_with(first, 4);
    TEST_OK(zepi.release(second));
    TEST_OK(zepi.release(first));
    TEST_FAILS(zepi.unit_unregister(UNIT), ZEPI_ERROR_INVALID_VALUE);
}

Test(this_module, of_no_images_has_none)
{
    bool has;
    TEST_OK(zepi.unit_register(&other_token, 0, NULL));
    TEST_OK(zepi.unit_has_any_module(&other_token, gear.context, &has));
    cr_assert(!has);
    TEST_OK(zepi.unit_unregister(&other_token));
    TEST_FAILS(zepi.unit_register(NULL, 0, NULL), ZEPI_ERROR_INVALID_VALUE);
}

// ---- Dispatch ----

struct launch {
    int32_t *in;
    int32_t *out;
    zepi_argument_t arguments[2];
    zepi_spec_value_t value;
    int32_t number;
    zepi_launch_desc_t desc;
};

static void launch_init(struct launch *launch)
{
    memset(launch, 0, sizeof(*launch));
    TEST_OK(
        zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, 16, 0, (void **)&launch->in));
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, 16, 0,
                              (void **)&launch->out));
    memcpy(launch->in, (int32_t[]){1, 2, 3, 4}, 16);
    launch->arguments[0] = TEST_POINTER(launch->in);
    launch->arguments[1] = TEST_POINTER(launch->out);
    launch->value = (zepi_spec_value_t){7, 4, &launch->number};
    launch->desc = test_launch(NULL, 2, launch->arguments, 4);
    launch->desc.kernel_name = "scaled_copy_int";
    launch->desc.unit = UNIT;
}

static void launch_finish(struct launch *launch)
{
    TEST_OK(zepi.usm_free(gear.context, launch->in));
    TEST_OK(zepi.usm_free(gear.context, launch->out));
}

// With a value, or (0) without; expects elements multiplied by `factor`.
static void expect(struct launch *launch, int32_t value, int32_t factor)
{
    launch->number = value;
    launch->desc.spec_values = value ? &launch->value : NULL;
    launch->desc.spec_value_count = value != 0;
    TEST_OK(zepi.queue_launch(gear.queue, &launch->desc, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    for (int i = 0; i < 4; i++)
        cr_assert_eq(launch->out[i], launch->in[i] * factor, "value %d: %d", value, launch->out[i]);
}

Test(dispatch, launches_with_values_of_the_launch_alone)
{
    const zepi_image_desc_t image = test_spirv_image("scaled_copy");
    struct launch launch;
    TEST_OK(zepi.unit_register(UNIT, 1, &image));
    launch_init(&launch);
    expect(&launch, 0, 1);
    expect(&launch, 5, 5);
    expect(&launch, 0, 1);
    for (int round = 0; round < 2; round++) {
        const uint64_t before = ze_cpu.get_count("compile:spirv");
        for (int32_t value = 2; value < 66; value++)
            expect(&launch, value, value);
        // All but 5 are new in the first round, none in the second.
        cr_assert_eq(ze_cpu.get_count("compile:spirv") - before, round == 0 ? 63 : 0);
    }
    launch_finish(&launch);
    TEST_OK(zepi.unit_unregister(UNIT));
}

Test(dispatch, sees_what_is_set_on_this_module)
{
    const zepi_image_desc_t image = test_spirv_image("scaled_copy");
    const int32_t bound = 11;
    struct launch launch;
    zepi_module_t input;
    int32_t seen;
    TEST_OK(zepi.unit_register(UNIT, 1, &image));
    launch_init(&launch);
    TEST_OK(zepi.unit_get_module(UNIT, gear.context, ZEPI_MODULE_INPUT, &input));
    expect(&launch, 0, 1);
    TEST_OK(zepi.spec_constant_set(input, 7, 4, &bound));
    expect(&launch, 0, 11);
    expect(&launch, 3, 3);
    expect(&launch, 0, 11);
    TEST_OK(zepi.spec_constant_get_for_launch(gear.queue, &launch.desc, 7, 4, &seen));
    cr_assert_eq(seen, 11);
    launch.number = 4;
    launch.desc.spec_values = &launch.value;
    launch.desc.spec_value_count = 1;
    TEST_OK(zepi.spec_constant_get_for_launch(gear.queue, &launch.desc, 7, 4, &seen));
    cr_assert_eq(seen, 4);
    TEST_OK(zepi.release(input));
    launch_finish(&launch);
    TEST_OK(zepi.unit_unregister(UNIT));
}

Test(dispatch, prefers_an_executable_whose_values_are_those_of_the_launch)
{
    const int32_t baked = 21;
    zepi_spec_value_t value = {7, 4, &baked};
    zepi_module_t input = test_input(gear.context, "scaled_copy");
    zepi_module_t built = build_with(input, baked);
    zepi_image_desc_t images[2] = {test_spirv_image("scaled_copy"), native_image(built, &value)};
    struct launch launch;
    TEST_OK(zepi.release(built));
    TEST_OK(zepi.release(input));
    TEST_OK(zepi.unit_register(UNIT, 2, images));
    launch_init(&launch);
    const uint64_t before = ze_cpu.get_count("compile:spirv");
    expect(&launch, 21, 21);
    cr_assert_eq(ze_cpu.get_count("compile:spirv"), before);
    expect(&launch, 22, 22);
    cr_assert_eq(ze_cpu.get_count("compile:spirv"), before + 1);
    expect(&launch, 0, 1);
    launch_finish(&launch);
    TEST_OK(zepi.unit_unregister(UNIT));
    free((void *)images[1].bytes);
}

Test(dispatch, uses_the_module_that_the_launch_names)
{
    zepi_module_t input = test_input(gear.context, "scaled_copy");
    zepi_module_t built = build_with(input, 6);
    zepi_module_t other = build_with(input, 8);
    zepi_kernel_t kernel;
    struct launch launch;
    launch_init(&launch);
    launch.desc.unit = NULL;
    launch.desc.module = built;
    expect(&launch, 0, 6);
    expect(&launch, 6, 6);
    launch.number = 9;
    TEST_FAILS_SAYING(zepi.queue_launch(gear.queue, &launch.desc, TEST_NO_WAIT, NULL),
                      ZEPI_ERROR_SPEC_CONSTANT_MISMATCH, "constant 7 = 0x9");
    launch.desc.spec_value_count = 0;
    launch.desc.kernel_name = "nothing";
    TEST_FAILS_SAYING(zepi.queue_launch(gear.queue, &launch.desc, TEST_NO_WAIT, NULL),
                      ZEPI_ERROR_KERNEL_NOT_FOUND, "'scaled_copy_int'");
    TEST_OK(zepi.module_get_kernel(other, "scaled_copy_int", &kernel));
    launch.desc.kernel = kernel;
    TEST_FAILS_SAYING(zepi.queue_launch(gear.queue, &launch.desc, TEST_NO_WAIT, NULL),
                      ZEPI_ERROR_INVALID_KERNEL, "another module");
    launch.desc.module = other;
    expect(&launch, 8, 8);
    launch.desc.module = input;
    launch.desc.kernel = NULL;
    TEST_FAILS_SAYING(zepi.queue_launch(gear.queue, &launch.desc, TEST_NO_WAIT, NULL),
                      ZEPI_ERROR_WRONG_STATE, "input");
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.release(built));
    TEST_OK(zepi.release(other));
    TEST_OK(zepi.release(input));
    launch_finish(&launch);
}

Test(dispatch, refuses_values_that_are_wrong)
{
    const zepi_image_desc_t image = test_spirv_image("scaled_copy");
    const int32_t number = 1;
    struct launch launch;
    TEST_OK(zepi.unit_register(UNIT, 1, &image));
    launch_init(&launch);
    zepi_spec_value_t values[2] = {{7, 4, &number}, {7, 4, &number}};
    launch.desc.spec_values = values;
    launch.desc.spec_value_count = 2;
    TEST_FAILS_SAYING(zepi.queue_launch(gear.queue, &launch.desc, TEST_NO_WAIT, NULL),
                      ZEPI_ERROR_INVALID_VALUE, "constant 7 twice");
    values[1].id = 1234;
    TEST_FAILS_SAYING(zepi.queue_launch(gear.queue, &launch.desc, TEST_NO_WAIT, NULL),
                      ZEPI_ERROR_SPEC_CONSTANT_UNKNOWN, "1234");
    launch.desc.spec_value_count = 1;
    values[0].size_bytes = 2;
    TEST_FAILS(zepi.queue_launch(gear.queue, &launch.desc, TEST_NO_WAIT, NULL),
               ZEPI_ERROR_SPEC_CONSTANT_SIZE);
    launch.desc.spec_value_count = 0;
    launch.desc.kernel_name = "nothing";
    TEST_FAILS_SAYING(zepi.queue_launch(gear.queue, &launch.desc, TEST_NO_WAIT, NULL),
                      ZEPI_ERROR_KERNEL_NOT_FOUND, "'nothing'");
    launch.desc.kernel_name = NULL;
    TEST_FAILS(zepi.queue_launch(gear.queue, &launch.desc, TEST_NO_WAIT, NULL),
               ZEPI_ERROR_INVALID_VALUE);
    launch_finish(&launch);
    TEST_OK(zepi.unit_unregister(UNIT));
}

static zepi_image_t choose(void *data, const zepi_image_t *images, uint32_t count)
{
    uint32_t *index = data;
    zepi_image_info_t info = {.size = sizeof(info)};
    cr_assert_eq(count, 2);
    TEST_OK(zepi.image_get_info(images[0], &info));
    return *index < count ? images[*index] : NULL;
}

Test(dispatch, lets_a_selector_choose_among_the_usable_images)
{
    const int32_t baked = 31;
    zepi_spec_value_t value = {7, 4, &baked};
    zepi_module_t input = test_input(gear.context, "scaled_copy");
    zepi_module_t built = build_with(input, baked);
    zepi_image_desc_t images[2] = {test_spirv_image("scaled_copy"), native_image(built, &value)};
    uint32_t index = 0;
    struct launch launch;
    TEST_OK(zepi.release(built));
    TEST_OK(zepi.release(input));
    TEST_OK(zepi.unit_register(UNIT, 2, images));
    launch_init(&launch);
    launch.desc.selector = choose;
    launch.desc.selector_data = &index;
    expect(&launch, 0, 1);
    index = 1;
    expect(&launch, 31, 31);
    index = 7;
    TEST_FAILS_SAYING(zepi.queue_launch(gear.queue, &launch.desc, TEST_NO_WAIT, NULL),
                      ZEPI_ERROR_INVALID_VALUE, "NULL");
    launch_finish(&launch);
    TEST_OK(zepi.unit_unregister(UNIT));
    free((void *)images[1].bytes);
}

static void *launch_often(void *user)
{
    const int32_t value = *(int32_t *)user;
    struct launch launch;
    zepi_queue_t queue;
    launch_init(&launch);
    TEST_OK(zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_IN_ORDER, &queue));
    launch.number = value;
    launch.desc.spec_values = &launch.value;
    for (int i = 0; i < 100; i++) {
        launch.desc.spec_value_count = i % 2;
        TEST_OK(zepi.queue_launch(queue, &launch.desc, TEST_NO_WAIT, NULL));
        TEST_OK(zepi.queue_finish(queue));
        cr_assert_eq(launch.out[3], 4 * (i % 2 ? value : 1));
    }
    TEST_OK(zepi.release(queue));
    launch_finish(&launch);
    return NULL;
}

Test(dispatch, of_two_threads_with_and_without_values_mixes_nothing_up)
{
    const zepi_image_desc_t image = test_spirv_image("scaled_copy");
    int32_t values[2] = {3, 4};
    pthread_t threads[2];
    TEST_OK(zepi.unit_register(UNIT, 1, &image));
    for (int i = 0; i < 2; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, launch_often, &values[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    TEST_OK(zepi.unit_unregister(UNIT));
}

Test(dispatch, links_the_unit_s_objects_before_it_builds_its_input)
{
    const int32_t baked = 41;
    const zepi_build_desc_t no_options = {.size = sizeof(no_options)};
    zepi_spec_value_t value = {7, 4, &baked};
    zepi_module_t input = test_input(gear.context, "scaled_copy");
    zepi_module_t object;
    TEST_OK(zepi.spec_constant_set(input, 7, 4, &baked));
    TEST_OK(zepi.module_compile(input, &no_options, &object));
    zepi_image_desc_t images[2] = {test_spirv_image("scaled_copy"), native_image(object, &value)};
    struct launch launch;
    images[1].state = ZEPI_MODULE_OBJECT;
    TEST_OK(zepi.release(object));
    TEST_OK(zepi.release(input));
    TEST_OK(zepi.unit_register(UNIT, 2, images));
    launch_init(&launch);
    const uint64_t before = ze_cpu.get_count("compile:spirv");
    expect(&launch, 41, 41);
    cr_assert_eq(ze_cpu.get_count("compile:spirv"), before);
    expect(&launch, 42, 42);
    cr_assert_eq(ze_cpu.get_count("compile:spirv"), before + 1);
    launch_finish(&launch);
    TEST_OK(zepi.unit_unregister(UNIT));
    free((void *)images[1].bytes);
}
