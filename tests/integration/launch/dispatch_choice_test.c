// SPDX-License-Identifier: MIT
// The image of a translation unit that a launch by name uses, and the error if none is usable.
#include "program/modules_fixture.h"

TestSuite(dispatch_choice, .init = gear_set_up, .fini = gear_tear_down);

// Images of scaled_copy: an executable made with 41, an object made with 42, and SPIR-V.
struct three_states {
    zepi_device_image_desc_t images[3];
};

static const int32_t made_with[2] = {41, 42};
static const zepi_spec_value_t baked[2] = {{7, 4, &made_with[0]}, {7, 4, &made_with[1]}};

static void three_states_init(struct three_states *states)
{
    zepi_module_t input = test_input(gear.context, "scaled_copy");
    zepi_module_t executable = build_with(input, made_with[0]);
    zepi_module_t object;
    TEST_OK(zepi.spec_constant_set(input, 7, 4, &made_with[1]));
    TEST_OK(zepi.module_compile(input, NULL, &object));
    states->images[0] = test_spirv_image("scaled_copy");
    states->images[1] = native_image(object, ZEPI_MODULE_OBJECT, &baked[1]);
    states->images[2] = native_image(executable, ZEPI_MODULE_EXECUTABLE, &baked[0]);
    TEST_OK(zepi.release(object));
    TEST_OK(zepi.release(executable));
    TEST_OK(zepi.release(input));
}

static void three_states_finish(struct three_states *states)
{
    test_native_image_finish(&states->images[1]);
    test_native_image_finish(&states->images[2]);
}

// The calls of the driver for a launch with `value`.
static uint64_t count_compiles(struct launch *launch, int32_t value, int32_t factor)
{
    const uint64_t before = ze_cpu.get_count("compile:spirv");
    expect(launch, value, factor);
    return ze_cpu.get_count("compile:spirv") - before;
}

Test(dispatch_choice, goes_from_executables_to_objects_to_the_input)
{
    struct three_states states;
    struct launch launch;
    zepi_module_t input;
    three_states_init(&states);
    TEST_OK(zepi.unit_register(UNIT, 3, states.images));
    launch_init(&launch);
    for (int round = 0; round < 2; round++) {
        cr_assert_eq(count_compiles(&launch, 41, 41), 0);
        cr_assert_eq(count_compiles(&launch, 42, 42), 0);
        cr_assert_eq(count_compiles(&launch, 43, 43), round == 0);
        // The default is that of the SPIR-V, which neither of the others has.
        cr_assert_eq(count_compiles(&launch, 0, 1), round == 0);
    }
    // A value set on this module counts like a launch's own value.
    TEST_OK(zepi.unit_get_module(UNIT, gear.context, ZEPI_MODULE_INPUT, &input));
    for (int i = 0; i < 2; i++) {
        TEST_OK(zepi.spec_constant_set(input, 7, 4, &made_with[i]));
        cr_assert_eq(count_compiles(&launch, 0, made_with[i]), 0);
        cr_assert_eq(count_compiles(&launch, 43, 43), 0);
    }
    TEST_OK(zepi.release(input));
    launch_finish(&launch);
    TEST_OK(zepi.unit_unregister(UNIT));
    three_states_finish(&states);
}

Test(dispatch_choice, is_what_is_there_if_nothing_has_another_default)
{
    struct three_states states;
    struct launch launch;
    three_states_init(&states);
    // Without SPIR-V: no value, and the code made with 41 will do; 43 there is not.
    TEST_OK(zepi.unit_register(UNIT, 2, states.images + 1));
    launch_init(&launch);
    expect(&launch, 0, 41);
    int32_t seen = 0;
    TEST_OK(zepi.spec_constant_get_for_launch(gear.queue, &launch.desc, 7, 4, &seen));
    cr_assert_eq(seen, 41);
    expect(&launch, 42, 42);
    expect(&launch, 0, 41);
    expect_failure(&launch, 43, ZEPI_ERROR_KERNEL_NOT_FOUND, "'scaled_copy_int'");
    expect(&launch, 41, 41);
    launch_finish(&launch);
    TEST_OK(zepi.unit_unregister(UNIT));
    three_states_finish(&states);
}

static zepi_device_image_desc_t native_object(const char *name)
{
    zepi_module_t object = test_object(gear.context, name);
    zepi_device_image_desc_t image = native_image(object, ZEPI_MODULE_OBJECT, NULL);
    TEST_OK(zepi.release(object));
    return image;
}

Test(dispatch_choice, passes_over_objects_that_do_not_link)
{
    zepi_device_image_desc_t images[] = {native_object("scaled_copy"),
                                         native_object("unresolved_import"),
                                         test_spirv_image("scaled_copy")};
    struct launch launch;
    launch_init(&launch);
    TEST_OK(zepi.unit_register(UNIT, 3, images));
    expect(&launch, 0, 1);
    expect(&launch, 5, 5);
    TEST_OK(zepi.unit_unregister(UNIT));
    // Without the input the link's error is told.
    TEST_OK(zepi.unit_register(UNIT, 2, images));
    expect_failure(&launch, 0, ZEPI_ERROR_KERNEL_NOT_FOUND, "'scaled_copy_int'");
    expect_failure(&launch, 0, ZEPI_ERROR_KERNEL_NOT_FOUND,
                   "linking the objects: nothing defines what is imported: function "
                   "'nobody_defines_this'");
    TEST_OK(zepi.unit_unregister(UNIT));
    // An input that fails to build: its own error first, then what failed before.
    images[2] = test_spirv_image("unresolved_import");
    launch.desc.kernel_name = "call_unresolved";
    launch.desc.argument_count = 1;
    TEST_OK(zepi.unit_register(UNIT, 3, images));
    for (int i = 0; i < 2; i++) {
        expect_failure(&launch, 0, ZEPI_ERROR_LINK_FAILURE,
                       "nothing defines what is imported: function 'nobody_defines_this'");
        test_expect_text("; before that, linking the objects: ", "launch", __FILE__, __LINE__);
    }
    launch_finish(&launch);
    TEST_OK(zepi.unit_unregister(UNIT));
    test_native_image_finish(&images[0]);
    test_native_image_finish(&images[1]);
}

Test(dispatch_choice, an_error_of_the_build_comes_from_the_launch_and_makes_no_event)
{
    zepi_device_image_desc_t image = test_spirv_image("unresolved_import");
    struct launch launch;
    zepi_event_t event = (zepi_event_t)&image;
    launch_init(&launch);
    TEST_OK(zepi.unit_register(UNIT, 1, &image));
    launch.desc.kernel_name = "call_unresolved";
    launch.desc.argument_count = 1;
    TEST_FAILS_SAYING(zepi.queue_launch(gear.queue, &launch.desc, TEST_NO_WAIT, &event),
                      ZEPI_ERROR_LINK_FAILURE, "'nobody_defines_this'");
    cr_assert_eq(event, (zepi_event_t)&image);
    cr_assert(strlen(zepi.last_build_log()) > 0);
    launch_finish(&launch);
    TEST_OK(zepi.unit_unregister(UNIT));
}

Test(dispatch_choice, images_that_import_from_each_other_are_linked)
{
    const zepi_device_image_desc_t images[] = {
        test_spirv_image("unresolved_import"), test_spirv_image("link_base"),
        test_spirv_image("link_right"), test_spirv_image("link_left"),
        test_spirv_image("link_top")};
    const int32_t four = 4;
    const zepi_spec_value_t value = {1, 4, &four};
    struct launch launch;
    uint32_t count;
    TEST_OK(zepi.unit_register(UNIT, 5, images));
    launch_init(&launch);
    launch.desc.kernel_name = "diamond";
    launch.desc.argument_count = 1;
    for (int i = 0; i < 4; i++) {
        launch.desc.spec_values = &value;
        launch.desc.spec_value_count = (uint32_t)(i % 2);
        launch.in[0] = 2;
        const uint64_t created = ze_cpu.get_count("zeModuleCreate");
        TEST_OK(zepi.queue_launch(gear.queue, &launch.desc, TEST_NO_WAIT, NULL));
        TEST_OK(zepi.queue_finish(gear.queue));
        // 10 * (2 + 3) + 100 * (2 + 3) + 1, and 4 in place of 3
        cr_assert_eq(launch.in[0], i % 2 ? 661 : 551);
        cr_assert(i < 2 || ze_cpu.get_count("zeModuleCreate") == created);
    }
    TEST_OK(zepi.context_get_modules(gear.context, ZEPI_MODULE_EXECUTABLE, 0, NULL, &count));
    cr_assert_eq(count, 0);
    launch_finish(&launch);
    TEST_OK(zepi.unit_unregister(UNIT));
}

Test(dispatch_choice, takes_no_notice_of_values_that_another_image_declares)
{
    const zepi_device_image_desc_t images[] = {test_spirv_image("scaled_copy"),
                                               test_spirv_image("negate")};
    struct launch launch;
    TEST_OK(zepi.unit_register(UNIT, 2, images));
    launch_init(&launch);
    launch.desc.kernel_name = "negate";
    launch.desc.argument_count = 1;
    launch.desc.spec_values = &launch.value;
    const uint64_t before = ze_cpu.get_count("compile:spirv");
    for (launch.number = 0; launch.number < 8; launch.number++) {
        launch.desc.spec_value_count = launch.number > 0;
        TEST_OK(zepi.queue_launch(gear.queue, &launch.desc, TEST_NO_WAIT, NULL));
        TEST_OK(zepi.queue_finish(gear.queue));
        cr_assert_eq(launch.in[3], launch.number % 2 ? 4 : -4);
    }
    cr_assert_eq(ze_cpu.get_count("compile:spirv"), before + 1);
    launch_finish(&launch);
    TEST_OK(zepi.unit_unregister(UNIT));
}

// ---- Native code whose values are not known ----

// Of scaled_copy with its defaults.
static zepi_device_image_desc_t silent_native(zepi_module_state_t state)
{
    zepi_module_t module = state == ZEPI_MODULE_OBJECT
                               ? test_object(gear.context, "scaled_copy")
                               : test_executable(gear.context, "scaled_copy");
    zepi_device_image_desc_t image = native_image(module, state, NULL);
    TEST_OK(zepi.release(module));
    return image;
}

// The numbers and the compilations of a module's builds with no value, the default and another.
static void expect_builds(zepi_module_t input)
{
    static const int32_t values[] = {1, 5, 1};
    struct launch launch;
    launch_init(&launch);
    launch.desc.unit = NULL;
    for (int i = 0; i < 4; i++) {
        const int32_t value = i == 0 ? 1 : values[i - 1];
        int32_t read = 0;
        if (i > 0)
            TEST_OK(zepi.spec_constant_set(input, 7, 4, &value));
        const uint64_t before = ze_cpu.get_count("compile:spirv");
        TEST_OK(zepi.module_build(input, NULL, &launch.desc.module));
        cr_assert_leq(ze_cpu.get_count("compile:spirv"), before + (value == 5));
        TEST_OK(zepi.spec_constant_get(launch.desc.module, NULL, 7, 4, &read));
        cr_assert_eq(read, value);
        expect(&launch, 0, value);
        expect(&launch, value, value);
        expect_failure(&launch, 9, ZEPI_ERROR_SPEC_CONSTANT_MISMATCH, "constant 7 = 0x9");
        TEST_OK(zepi.release(launch.desc.module));
    }
    launch_finish(&launch);
}

Test(dispatch_choice, silent_native_code_beside_spirv_is_built_only_with_defaults)
{
    for (int order = 0; order < 2; order++) {
        zepi_device_image_desc_t native = silent_native(ZEPI_MODULE_INPUT);
        const zepi_device_image_desc_t spirv = test_spirv_image("scaled_copy");
        const zepi_device_image_desc_t images[2] = {order ? spirv : native, order ? native : spirv};
        zepi_module_t modules[3];
        TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 2, images, &modules[0]));
        expect_builds(modules[0]);
        for (int i = 0; i < 2; i++)
            TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 1, &images[i],
                                       &modules[1 + i]));
        TEST_OK(zepi.release(modules[0]));
        TEST_OK(zepi.module_join(2, &modules[1], &modules[0]));
        expect_builds(modules[0]);
        for (int i = 0; i < 3; i++)
            TEST_OK(zepi.release(modules[i]));
        test_native_image_finish(&native);
    }
}

Test(dispatch_choice, silent_native_code_in_a_unit_serves_only_launches_with_defaults)
{
    for (zepi_module_state_t state = ZEPI_MODULE_INPUT; state <= ZEPI_MODULE_EXECUTABLE; state++) {
        zepi_device_image_desc_t images[2] = {silent_native(state),
                                              test_spirv_image("scaled_copy")};
        zepi_module_t input;
        struct launch launch;
        TEST_OK(zepi.unit_register(UNIT, 2, images));
        launch_init(&launch);
        const uint64_t before = ze_cpu.get_count("compile:spirv");
        expect(&launch, 0, 1);
        expect(&launch, 1, 1);
        cr_assert_eq(ze_cpu.get_count("compile:spirv"), before);
        expect(&launch, 5 + (int32_t)state, 5 + (int32_t)state);
        expect(&launch, 0, 1);
        // The same for a value that is set on this module.
        const int32_t value = 6;
        TEST_OK(zepi.unit_get_module(UNIT, gear.context, ZEPI_MODULE_INPUT, &input));
        TEST_OK(zepi.spec_constant_set(input, 7, 4, &value));
        expect(&launch, 0, 6);
        TEST_OK(zepi.release(input));
        launch_finish(&launch);
        TEST_OK(zepi.unit_unregister(UNIT));
        test_native_image_finish(&images[0]);
    }
}

static zepi_device_image_t choose_native(void *data, const zepi_device_image_t *images,
                                         uint32_t count)
{
    (void)data;
    for (uint32_t i = 0; i < count; i++) {
        zepi_device_image_info_t info = {.size = sizeof(info)};
        TEST_OK(zepi.device_image_get_info(images[i], &info));
        if (info.format == ZEPI_DEVICE_IMAGE_NATIVE)
            return images[i];
    }
    return NULL;
}

Test(dispatch_choice, of_silent_native_code_goes_with_no_other_value)
{
    for (zepi_module_state_t state = ZEPI_MODULE_INPUT; state <= ZEPI_MODULE_EXECUTABLE; state++) {
        zepi_device_image_desc_t images[2] = {test_spirv_image("scaled_copy"),
                                              silent_native(state)};
        struct launch launch;
        TEST_OK(zepi.unit_register(UNIT, 2, images));
        launch_init(&launch);
        launch.desc.selector = choose_native;
        expect(&launch, 0, 1);
        expect(&launch, 1, 1);
        expect_failure(&launch, 5, ZEPI_ERROR_SPEC_CONSTANT_MISMATCH,
                       "constant 7 = 0x5, the code to use does not say what it was made with");
        launch_finish(&launch);
        TEST_OK(zepi.unit_unregister(UNIT));
        test_native_image_finish(&images[1]);
    }
}

Test(dispatch_choice, a_joined_executable_goes_by_the_code_that_has_the_value)
{
    zepi_device_image_desc_t native = silent_native(ZEPI_MODULE_EXECUTABLE);
    zepi_module_t modules[2] = {NULL, scaled_copy_with(5)};
    zepi_kernel_t kernel;
    struct launch launch;
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_EXECUTABLE, 1, &native, &modules[0]));
    launch_init(&launch);
    launch.desc.unit = NULL;
    TEST_OK(zepi.module_join(2, modules, &launch.desc.module));
    expect(&launch, 0, 1);
    expect(&launch, 5, 5);
    expect(&launch, 1, 1);
    expect_failure(&launch, 6, ZEPI_ERROR_SPEC_CONSTANT_MISMATCH, "constant 7 = 0x6");
    // The kernel object is that of the first.
    TEST_OK(zepi.module_get_kernel(launch.desc.module, "scaled_copy_int", &kernel));
    launch.desc.kernel = kernel;
    expect(&launch, 1, 1);
    expect_failure(&launch, 5, ZEPI_ERROR_SPEC_CONSTANT_MISMATCH, "constant 7 = 0x5");
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.release(launch.desc.module));
    launch_finish(&launch);
    TEST_OK(zepi.release(modules[0]));
    TEST_OK(zepi.release(modules[1]));
    test_native_image_finish(&native);
}

Test(dispatch_choice, silent_native_code_beside_code_that_says_is_not_for_its_values)
{
    zepi_module_t with_five = scaled_copy_with(5);
    const int32_t five = 5;
    const zepi_spec_value_t value = {7, 4, &five};
    zepi_device_image_desc_t images[2] = {silent_native(ZEPI_MODULE_INPUT),
                                          native_image(with_five, ZEPI_MODULE_INPUT, &value)};
    zepi_module_t input;
    struct launch launch;
    launch_init(&launch);
    launch.desc.unit = NULL;
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 2, images, &input));
    launch.desc.module = build_with(input, 5);
    expect(&launch, 0, 5);
    expect(&launch, 5, 5);
    TEST_OK(zepi.release(launch.desc.module));
    // Nothing has another value.
    TEST_OK(zepi.spec_constant_set(input, 7, 4, &(int32_t){6}));
    TEST_FAILS_SAYING(zepi.module_build(input, NULL, &launch.desc.module),
                      ZEPI_ERROR_COMPILE_FAILURE, "native made with 7 = 0x5");
    launch_finish(&launch);
    TEST_OK(zepi.release(input));
    TEST_OK(zepi.release(with_five));
    for (int i = 0; i < 2; i++)
        test_native_image_finish(&images[i]);
}

// A constant of another kernel is none of this code's.
Test(dispatch_choice, silent_native_code_serves_whatever_other_kernels_are_made_with)
{
    zepi_module_t negate = test_executable(gear.context, "negate");
    zepi_device_image_desc_t images[2] = {native_image(negate, ZEPI_MODULE_INPUT, NULL),
                                          test_spirv_image("scaled_copy")};
    zepi_module_t input;
    struct launch launch;
    launch_init(&launch);
    launch.desc.unit = NULL;
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 2, images, &input));
    launch.desc.module = build_with(input, 5);
    expect(&launch, 5, 5);
    launch.desc.kernel_name = "negate";
    launch.desc.argument_count = 1;
    TEST_OK(zepi.queue_launch(gear.queue, &launch.desc, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    cr_assert_eq(launch.in[3], -4);
    TEST_OK(zepi.release(launch.desc.module));
    launch_finish(&launch);
    TEST_OK(zepi.release(input));
    TEST_OK(zepi.release(negate));
    test_native_image_finish(&images[0]);
}

// ---- The module and the kernel object that a launch names ----

Test(dispatch_choice, is_no_choice_beside_a_module)
{
    struct three_states states;
    struct launch launch;
    zepi_module_t module = scaled_copy_with(5);
    zepi_kernel_t kernel;
    int32_t seen;
    three_states_init(&states);
    TEST_OK(zepi.unit_register(UNIT, 3, states.images));
    TEST_OK(zepi.module_get_kernel(module, "scaled_copy_int", &kernel));
    launch_init(&launch);
    // The unit has 41, and is not asked.
    launch.desc.module = module;
    expect(&launch, 0, 5);
    expect_failure(&launch, 41, ZEPI_ERROR_SPEC_CONSTANT_MISMATCH, "0x29");
    test_expect_text("0x5", "launch", __FILE__, __LINE__);
    TEST_OK(zepi.spec_constant_get_for_launch(gear.queue, &launch.desc, 7, 4, &seen));
    cr_assert_eq(seen, 41);
    launch.desc.spec_value_count = 0;
    TEST_OK(zepi.spec_constant_get_for_launch(gear.queue, &launch.desc, 7, 4, &seen));
    cr_assert_eq(seen, 5);
    // The same for a kernel object, with its module and without.
    launch.desc.kernel = kernel;
    launch.desc.kernel_name = NULL;
    for (int i = 0; i < 2; i++) {
        expect(&launch, 0, 5);
        expect(&launch, 5, 5);
        expect_failure(&launch, 41, ZEPI_ERROR_SPEC_CONSTANT_MISMATCH, "constant 7 = 0x29");
        launch.desc.module = NULL;
    }
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.release(module));
    launch_finish(&launch);
    TEST_OK(zepi.unit_unregister(UNIT));
    three_states_finish(&states);
}

Test(dispatch_choice, refuses_what_is_of_another_context)
{
    zepi_context_t context;
    zepi_queue_t queue;
    zepi_kernel_t kernel;
    zepi_module_t module = scaled_copy_with(5);
    struct launch launch;
    TEST_OK(zepi.context_create(1, &gear.device, &context));
    TEST_OK(zepi.queue_create(context, gear.device, ZEPI_QUEUE_IN_ORDER, &queue));
    TEST_OK(zepi.module_get_kernel(module, "scaled_copy_int", &kernel));
    launch_init(&launch);
    launch.desc.module = module;
    for (int i = 0; i < 3; i++) {
        launch.desc.kernel = i > 0 ? kernel : NULL;
        launch.desc.module = i < 2 ? module : NULL;
        TEST_FAILS_SAYING(zepi.queue_launch(queue, &launch.desc, TEST_NO_WAIT, NULL),
                          ZEPI_ERROR_INVALID_OBJECT, "another context");
    }
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.release(module));
    launch_finish(&launch);
    TEST_OK(zepi.release(queue));
    TEST_OK(zepi.release(context));
}

Test(dispatch_choice, refuses_handles_of_other_kinds_and_descriptions_that_name_nothing)
{
    struct launch launch;
    int32_t seen;
    launch_init(&launch);
    expect_failure(&launch, 0, ZEPI_ERROR_INVALID_VALUE, "no translation unit");
    launch.desc.unit = NULL;
    expect_failure(&launch, 0, ZEPI_ERROR_INVALID_VALUE, "expected a module or a translation unit");
    launch.desc.module = (zepi_module_t)gear.context;
    expect_failure(&launch, 0, ZEPI_ERROR_INVALID_OBJECT, "module");
    launch.desc.module = NULL;
    launch.desc.kernel = (zepi_kernel_t)gear.context;
    expect_failure(&launch, 3, ZEPI_ERROR_INVALID_OBJECT, "kernel");
    TEST_FAILS(zepi.spec_constant_get_for_launch(gear.queue, &launch.desc, 7, 4, &seen),
               ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(zepi.spec_constant_get_for_launch(NULL, &launch.desc, 7, 4, &seen),
               ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(zepi.spec_constant_get_for_launch(gear.queue, NULL, 7, 4, &seen),
               ZEPI_ERROR_INVALID_VALUE);
    launch_finish(&launch);
}

Test(dispatch_choice, tells_the_value_that_a_launch_would_see)
{
    const zepi_device_image_desc_t image = test_spirv_image("scaled_copy");
    struct launch launch;
    int32_t seen = 77;
    TEST_OK(zepi.unit_register(UNIT, 1, &image));
    launch_init(&launch);
    TEST_OK(zepi.spec_constant_get_for_launch(gear.queue, &launch.desc, 7, 4, &seen));
    cr_assert_eq(seen, 1);
    seen = 77;
    TEST_FAILS_SAYING(zepi.spec_constant_get_for_launch(gear.queue, &launch.desc, 1234, 4, &seen),
                      ZEPI_ERROR_SPEC_CONSTANT_UNKNOWN, "1234");
    TEST_FAILS_SAYING(zepi.spec_constant_get_for_launch(gear.queue, &launch.desc, 7, 8, &seen),
                      ZEPI_ERROR_SPEC_CONSTANT_SIZE, "constant 7 has 4 bytes");
    TEST_FAILS(zepi.spec_constant_get_for_launch(gear.queue, &launch.desc, 7, 4, NULL),
               ZEPI_ERROR_INVALID_VALUE);
    cr_assert_eq(seen, 77);
    launch_finish(&launch);
    TEST_OK(zepi.unit_unregister(UNIT));
}

Test(dispatch_choice, tells_a_newer_host_the_value_if_it_asks_for_nothing_new)
{
    const zepi_device_image_desc_t image = test_spirv_image("scaled_copy");
    struct launch launch;
    int32_t seen = 77;
    TEST_OK(zepi.unit_register(UNIT, 1, &image));
    launch_init(&launch);
    struct {
        zepi_launch_desc_t known;
        uint64_t newer[2];
    } newer = {.known = launch.desc};
    newer.known.size = sizeof(newer);
    TEST_OK(zepi.spec_constant_get_for_launch(gear.queue, &newer.known, 7, 4, &seen));
    cr_assert_eq(seen, 1);
    newer.newer[1] = 1;
    TEST_FAILS_SAYING(zepi.spec_constant_get_for_launch(gear.queue, &newer.known, 7, 4, &seen),
                      ZEPI_ERROR_UNSUPPORTED, "newer than this version of zepi");
    newer.known.size = sizeof(newer.known) - 1;
    TEST_FAILS_SAYING(zepi.spec_constant_get_for_launch(gear.queue, &newer.known, 7, 4, &seen),
                      ZEPI_ERROR_INVALID_SIZE, "launch description");
    launch_finish(&launch);
    TEST_OK(zepi.unit_unregister(UNIT));
}

// ---- The selector ----

struct selection {
    uint32_t expected_count;
    uint32_t index;              // of the image to return
    zepi_device_image_t foreign; // returned in its place, unless NULL
    int calls;
};

static zepi_device_image_t choose(void *data, const zepi_device_image_t *images, uint32_t count)
{
    struct selection *selection = data;
    zepi_device_image_info_t info = {.size = sizeof(info)};
    bool has;
    selection->calls++;
    cr_assert_eq(count, selection->expected_count);
    // It may ask, also about what is being launched.
    for (uint32_t i = 0; i < count; i++)
        TEST_OK(zepi.device_image_get_info(images[i], &info));
    TEST_OK(zepi.unit_has_any_module(UNIT, gear.context, &has));
    return selection->foreign ? selection->foreign : images[selection->index];
}

Test(dispatch_choice, of_a_selector_is_between_the_usable_images_of_all_states)
{
    struct three_states states;
    struct launch launch;
    struct selection selection = {.expected_count = 3};
    static const char noise[] = "this is code for another device";
    three_states_init(&states);
    const zepi_device_image_desc_t images[] = {states.images[0],
                                               {.size = sizeof(images[0]),
                                                .format = ZEPI_DEVICE_IMAGE_NATIVE,
                                                .state = ZEPI_MODULE_EXECUTABLE,
                                                .bytes = noise,
                                                .size_bytes = sizeof(noise)},
                                               states.images[1],
                                               test_spirv_image("negate"),
                                               states.images[2]};
    static const int32_t factors[] = {1, 42, 41};
    TEST_OK(zepi.unit_register(UNIT, 5, images));
    launch_init(&launch);
    launch.desc.selector = choose;
    launch.desc.selector_data = &selection;
    for (selection.index = 0; selection.index < 3; selection.index++)
        expect(&launch, 0, factors[selection.index]);
    cr_assert_eq(selection.calls, 3);
    // Values that were given are those of the choice, or can be built.
    selection.index = 0;
    expect(&launch, 9, 9);
    selection.index = 2;
    expect(&launch, 41, 41);
    expect_failure(&launch, 9, ZEPI_ERROR_SPEC_CONSTANT_MISMATCH, "constant 7 = 0x9");
    // A choice is for one launch.
    launch.desc.selector = NULL;
    expect(&launch, 0, 1);
    launch_finish(&launch);
    TEST_OK(zepi.unit_unregister(UNIT));
    three_states_finish(&states);
}

Test(dispatch_choice, of_a_selector_must_be_one_that_it_was_given)
{
    struct three_states states;
    struct launch launch;
    struct selection selection = {.expected_count = 3};
    zepi_module_t module = scaled_copy_with(5);
    uint32_t count;
    three_states_init(&states);
    TEST_OK(zepi.module_get_device_images(module, 1, &selection.foreign, &count));
    TEST_OK(zepi.unit_register(UNIT, 3, states.images));
    launch_init(&launch);
    launch.desc.selector = choose;
    launch.desc.selector_data = &selection;
    expect_failure(&launch, 0, ZEPI_ERROR_INVALID_VALUE, "another image");
    // Beside a module it is asked about that module's images.
    launch.desc.module = module;
    selection.expected_count = 1;
    expect(&launch, 0, 5);
    cr_assert_eq(selection.calls, 2);
    TEST_OK(zepi.release(selection.foreign));
    TEST_OK(zepi.release(module));
    launch_finish(&launch);
    TEST_OK(zepi.unit_unregister(UNIT));
    three_states_finish(&states);
}
