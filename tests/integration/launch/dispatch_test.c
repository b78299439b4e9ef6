// SPDX-License-Identifier: MIT
// Launches that find their module by name, unit and values.
#include "program/modules_fixture.h"

#include <pthread.h>

TestSuite(dispatch, .init = gear_set_up, .fini = gear_tear_down);

Test(dispatch, launches_with_values_of_the_launch_alone)
{
    const zepi_device_image_desc_t image = test_spirv_image("scaled_copy");
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

Test(dispatch, tells_values_apart_by_each_byte)
{
    const zepi_device_image_desc_t image = test_spirv_image("scaled_copy");
    struct launch launch;
    TEST_OK(zepi.unit_register(UNIT, 1, &image));
    launch_init(&launch);
    for (int round = 0; round < 2; round++) {
        expect(&launch, 2, 2);
        for (int byte = 0; byte < 4; byte++)
            expect(&launch, 2 + (1 << 8 * byte), 2 + (1 << 8 * byte));
    }
    launch_finish(&launch);
    TEST_OK(zepi.unit_unregister(UNIT));
}

Test(dispatch, sees_what_is_set_on_this_module)
{
    const zepi_device_image_desc_t image = test_spirv_image("scaled_copy");
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
    zepi_device_image_desc_t images[2] = {test_spirv_image("scaled_copy"),
                                          native_image(built, ZEPI_MODULE_EXECUTABLE, &value)};
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
    test_native_image_finish(&images[1]);
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
    const zepi_device_image_desc_t image = test_spirv_image("scaled_copy");
    const int32_t number = 1;
    struct launch launch;
    TEST_OK(zepi.unit_register(UNIT, 1, &image));
    launch_init(&launch);
    zepi_spec_value_t values[2] = {{7, 4, &number}, {7, 4, &number}};
    launch.desc.spec_values = values;
    launch.desc.spec_value_count = 2;
    TEST_FAILS_SAYING(zepi.queue_launch(gear.queue, &launch.desc, TEST_NO_WAIT, NULL),
                      ZEPI_ERROR_INVALID_VALUE, "constant 7 twice");
    // Also of a constant that nothing declares.
    values[0].id = values[1].id = 1234;
    TEST_FAILS_SAYING(zepi.queue_launch(gear.queue, &launch.desc, TEST_NO_WAIT, NULL),
                      ZEPI_ERROR_INVALID_VALUE, "constant 1234 twice");
    launch.desc.spec_value_count = 1;
    values[0].value = NULL;
    TEST_FAILS_SAYING(zepi.queue_launch(gear.queue, &launch.desc, TEST_NO_WAIT, NULL),
                      ZEPI_ERROR_INVALID_VALUE, "constant 1234 is NULL");
    values[0] = (zepi_spec_value_t){7, 2, &number};
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

Test(dispatch, a_value_for_a_constant_that_the_compiler_dropped_has_no_effect)
{
    const zepi_device_image_desc_t image = test_spirv_image("scaled_copy");
    const zepi_spec_value_t dropped = {1234, 8, &(uint64_t){99}};
    zepi_module_t modules[2] = {test_input(gear.context, "scaled_copy"), NULL};
    uint64_t seen = 0;
    struct launch launch;
    modules[1] = build_with(modules[0], 4);
    TEST_OK(zepi.unit_register(UNIT, 1, &image));
    launch_init(&launch);
    for (int i = 0; i < 3; i++) {
        // Of a unit, of a module, and of a kernel object.
        launch.desc.unit = i == 0 ? UNIT : NULL;
        launch.desc.module = i == 1 ? modules[1] : NULL;
        if (i == 2)
            TEST_OK(zepi.module_get_kernel(modules[1], "scaled_copy_int", &launch.desc.kernel));
        const int32_t own = 4;
        const zepi_spec_value_t values[2] = {dropped, {7, 4, &own}};
        const uint64_t compiled = ze_cpu.get_count("compile:spirv");
        for (uint32_t count = 1; count <= 2; count++) {
            launch.desc.spec_values = values;
            launch.desc.spec_value_count = count;
            memset(launch.out, 0, 16);
            TEST_OK(zepi.queue_launch(gear.queue, &launch.desc, TEST_NO_WAIT, NULL));
            TEST_OK(zepi.queue_finish(gear.queue));
            cr_assert_eq(launch.out[3], i == 0 && count == 1 ? 4 : 16);
            TEST_OK(zepi.spec_constant_get_for_launch(gear.queue, &launch.desc, 1234, 8, &seen));
            cr_assert_eq(seen, 99);
        }
        // No other value of it makes another build.
        cr_assert_leq(ze_cpu.get_count("compile:spirv"), compiled + 1);
        launch.desc.spec_value_count = 0;
        TEST_FAILS_SAYING(
            zepi.spec_constant_get_for_launch(gear.queue, &launch.desc, 1234, 8, &seen),
            ZEPI_ERROR_SPEC_CONSTANT_UNKNOWN, "1234");
    }
    // Setting it on a module by its number stays an error.
    TEST_FAILS_SAYING(zepi.spec_constant_set(modules[0], 1234, 8, dropped.value),
                      ZEPI_ERROR_SPEC_CONSTANT_UNKNOWN, "1234");
    TEST_OK(zepi.release(launch.desc.kernel));
    launch_finish(&launch);
    TEST_OK(zepi.unit_unregister(UNIT));
    for (int i = 0; i < 2; i++)
        TEST_OK(zepi.release(modules[i]));
}

static zepi_device_image_t choose(void *data, const zepi_device_image_t *images, uint32_t count)
{
    uint32_t *index = data;
    zepi_device_image_info_t info = {.size = sizeof(info)};
    cr_assert_eq(count, 2);
    TEST_OK(zepi.device_image_get_info(images[0], &info));
    return *index < count ? images[*index] : NULL;
}

Test(dispatch, lets_a_selector_choose_among_the_usable_images)
{
    const int32_t baked = 31;
    zepi_spec_value_t value = {7, 4, &baked};
    zepi_module_t input = test_input(gear.context, "scaled_copy");
    zepi_module_t built = build_with(input, baked);
    zepi_device_image_desc_t images[2] = {test_spirv_image("scaled_copy"),
                                          native_image(built, ZEPI_MODULE_EXECUTABLE, &value)};
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
    test_native_image_finish(&images[1]);
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
    const zepi_device_image_desc_t image = test_spirv_image("scaled_copy");
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
    zepi_device_image_desc_t images[2] = {test_spirv_image("scaled_copy"),
                                          native_image(object, ZEPI_MODULE_OBJECT, &value)};
    struct launch launch;
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
    test_native_image_finish(&images[1]);
}

// The modules and kernels that the context keeps now.
static uint64_t count_entries(void)
{
    uint64_t count = 0;
    for (int level = ZEPI_CACHE_MODULES; level <= ZEPI_CACHE_KERNELS; level++) {
        zepi_cache_counters_t counters = {.size = sizeof(counters)};
        TEST_OK(zepi.cache_get_counters(gear.context, (zepi_cache_level_t)level, &counters));
        count += counters.entries;
    }
    return count;
}

Test(dispatch, keeps_no_more_alive_than_the_cache_may_have)
{
    enum { VALUES = 40, LIMIT = 20 };
    const zepi_device_image_desc_t image = test_spirv_image("scaled_copy");
    zepi_cache_limits_t limits = {.size = sizeof(limits)};
    struct launch launch;
    TEST_OK(zepi.unit_register(UNIT, 1, &image));
    launch_init(&launch);
    TEST_OK(zepi.cache_get_limits(gear.context, &limits));
    for (int32_t value = 2; value < 2 + VALUES; value++)
        expect(&launch, value, value);
    // A module and a kernel each, which the queue remembers.
    cr_assert_eq(count_entries(), 2 * VALUES);
    // Once it was trimmed, the next launch by name lets go of them.
    TEST_OK(zepi.cache_trim(gear.context, 0));
    expect(&launch, 2, 2);
    TEST_OK(zepi.cache_trim(gear.context, 0));
    cr_assert_leq(count_entries(), 2);
    limits.memory_entries = LIMIT;
    TEST_OK(zepi.cache_set_limits(gear.context, &limits));
    for (int round = 0; round < 2; round++) {
        for (int32_t value = 2; value < 2 + VALUES; value++) {
            expect(&launch, value, value);
            cr_assert_leq(count_entries(), LIMIT + 2);
        }
    }
    launch_finish(&launch);
    TEST_OK(zepi.unit_unregister(UNIT));
}

// ---- Captures ----

static zepi_graph_t capture(struct launch *launch, int32_t value)
{
    zepi_graph_t graph;
    launch->number = value;
    launch->desc.spec_values = &launch->value;
    launch->desc.spec_value_count = 1;
    TEST_OK(zepi.graph_create(gear.context, gear.device, 0, &graph));
    TEST_OK(zepi.queue_begin_capture(gear.queue, graph));
    TEST_OK(zepi.queue_launch(gear.queue, &launch->desc, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_end_capture(gear.queue));
    return graph;
}

static void expect_of(zepi_graph_t graph, const struct launch *launch, int32_t factor)
{
    memset(launch->out, 0, 16);
    TEST_OK(zepi.queue_execute(gear.queue, graph, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    for (int i = 0; i < 4; i++)
        cr_assert_eq(launch->out[i], launch->in[i] * factor, "factor %d: got %d", factor,
                     launch->out[i]);
}

// Neither the unit nor the module is there any more as the graphs are executed.
Test(dispatch, is_captured_with_the_kernel_that_it_finds)
{
    const zepi_device_image_desc_t image = test_spirv_image("scaled_copy");
    const int32_t bound = 11;
    struct launch launch;
    zepi_module_t input, executable;
    zepi_graph_t graphs[3];
    TEST_OK(zepi.unit_register(UNIT, 1, &image));
    launch_init(&launch);
    graphs[0] = capture(&launch, 5);
    graphs[1] = capture(&launch, 6);
    TEST_OK(zepi.unit_get_module(UNIT, gear.context, ZEPI_MODULE_INPUT, &input));
    TEST_OK(zepi.spec_constant_set(input, 7, 4, &bound));
    TEST_OK(zepi.module_build(input, NULL, &executable));
    launch.desc.unit = NULL;
    launch.desc.module = executable;
    graphs[2] = capture(&launch, bound);
    TEST_OK(zepi.release(executable));
    TEST_OK(zepi.release(input));
    TEST_OK(zepi.unit_unregister(UNIT));
    for (int i = 0; i < 3; i++)
        TEST_OK(zepi.graph_finalize(graphs[i]));
    for (int round = 0; round < 2; round++) {
        expect_of(graphs[0], &launch, 5);
        expect_of(graphs[1], &launch, 6);
        expect_of(graphs[2], &launch, bound);
    }
    for (int i = 0; i < 3; i++)
        TEST_OK(zepi.release(graphs[i]));
    launch_finish(&launch);
}

// The constant comes through memory, which the graph keeps.
Test(dispatch, is_captured_with_emulated_constants)
{
    static const zepi_emulated_constant_t constant = {7, ZEPI_SCALAR_INT32, NULL};
    static const char *const kernel_name = "scaled_copy_int";
    zepi_module_t native = test_executable(gear.context, "emulated_copy");
    zepi_device_image_desc_t image = test_native_image(native, gear.device, ZEPI_MODULE_EXECUTABLE);
    struct launch launch;
    image.emulated_constants = &constant;
    image.emulated_constant_count = 1;
    image.emulated_kernels = &kernel_name;
    image.emulated_kernel_count = 1;
    TEST_OK(zepi.release(native));
    TEST_OK(zepi.unit_register(UNIT, 1, &image));
    launch_init(&launch);
    zepi_graph_t graphs[] = {capture(&launch, 5), capture(&launch, 6)};
    TEST_OK(zepi.unit_unregister(UNIT));
    for (int i = 0; i < 2; i++)
        TEST_OK(zepi.graph_finalize(graphs[i]));
    expect_of(graphs[0], &launch, 5);
    expect_of(graphs[1], &launch, 6);
    expect_of(graphs[0], &launch, 5);
    for (int i = 0; i < 2; i++)
        TEST_OK(zepi.release(graphs[i]));
    launch_finish(&launch);
    test_native_image_finish(&image);
}
