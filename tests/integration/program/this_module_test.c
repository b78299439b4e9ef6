// SPDX-License-Identifier: MIT
// Translation units: images under a token, as modules.
#include "modules_fixture.h"

TestSuite(this_module, .init = gear_set_up, .fini = gear_tear_down);

Test(this_module, is_the_same_as_long_as_somebody_holds_it)
{
    const zepi_device_image_desc_t image = test_spirv_image("scaled_copy");
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
    TEST_OK(zepi.unit_register(OTHER_UNIT, 0, NULL));
    TEST_OK(zepi.unit_has_any_module(OTHER_UNIT, gear.context, &has));
    cr_assert(!has);
    TEST_OK(zepi.unit_unregister(OTHER_UNIT));
    TEST_FAILS(zepi.unit_register(NULL, 0, NULL), ZEPI_ERROR_INVALID_VALUE);
}

Test(this_module, has_the_images_of_each_state)
{
    const int32_t baked = 4;
    const zepi_spec_value_t value = {7, 4, &baked};
    zepi_module_t input = test_input(gear.context, "scaled_copy");
    zepi_module_t executable = build_with(input, baked);
    zepi_module_t object;
    TEST_OK(zepi.module_compile(input, NULL, &object));
    zepi_device_image_desc_t images[] = {
        native_image(executable, ZEPI_MODULE_EXECUTABLE, &value), test_spirv_image("scaled_copy"),
        test_spirv_image("negate"), native_image(object, ZEPI_MODULE_OBJECT, &value)};
    static const uint32_t counts[] = {2, 1, 1};
    TEST_OK(zepi.release(object));
    TEST_OK(zepi.release(executable));
    TEST_OK(zepi.release(input));
    TEST_OK(zepi.unit_register(UNIT, 4, images));
    const uint64_t before = ze_cpu.get_count("compile:spirv");
    for (int state = ZEPI_MODULE_INPUT; state <= ZEPI_MODULE_EXECUTABLE; state++) {
        zepi_module_t module;
        bool has;
        zepi_module_info_t info = {.size = sizeof(info)};
        TEST_OK(zepi.unit_has_module(UNIT, gear.context, (zepi_module_state_t)state, &has));
        cr_assert(has);
        TEST_OK(zepi.unit_get_module(UNIT, gear.context, (zepi_module_state_t)state, &module));
        TEST_OK(zepi.module_get_info(module, &info));
        cr_assert_eq(info.state, (zepi_module_state_t)state);
        cr_assert_eq(info.image_count, counts[state - 1]);
        TEST_OK(zepi.release(module));
    }
    // Nothing was built.
    cr_assert_eq(ze_cpu.get_count("compile:spirv"), before);
    TEST_OK(zepi.unit_unregister(UNIT));
    test_native_image_finish(&images[0]);
    test_native_image_finish(&images[3]);
}

Test(this_module, leaves_out_what_no_device_takes)
{
    static const char noise[] = "this is code for another device";
    const zepi_device_image_desc_t images[] = {
        {.size = sizeof(images[0]),
         .format = ZEPI_DEVICE_IMAGE_NATIVE,
         .state = ZEPI_MODULE_EXECUTABLE,
         .bytes = noise,
         .size_bytes = sizeof(noise)},
        test_spirv_image("scaled_copy"),
    };
    zepi_module_t module;
    bool has;
    struct launch launch;
    TEST_FAILS(zepi.module_create(gear.context, ZEPI_MODULE_EXECUTABLE, 1, images, &module),
               ZEPI_ERROR_COMPILE_FAILURE);
    TEST_OK(zepi.unit_register(UNIT, 2, images));
    TEST_OK(zepi.unit_register(OTHER_UNIT, 1, images));
    TEST_OK(zepi.unit_has_module(UNIT, gear.context, ZEPI_MODULE_EXECUTABLE, &has));
    cr_assert(!has);
    TEST_OK(zepi.unit_get_module(UNIT, gear.context, ZEPI_MODULE_EXECUTABLE, &module));
    cr_assert_eq(image_count(module), 0);
    TEST_OK(zepi.release(module));
    TEST_OK(zepi.unit_has_any_module(UNIT, gear.context, &has));
    cr_assert(has);
    TEST_OK(zepi.unit_has_any_module(OTHER_UNIT, gear.context, &has));
    cr_assert(!has);
    launch_init(&launch);
    expect(&launch, 2, 2);
    launch_finish(&launch);
    TEST_OK(zepi.unit_unregister(UNIT));
    TEST_OK(zepi.unit_unregister(OTHER_UNIT));
}

Test(this_module, keeps_its_values_while_nobody_holds_it)
{
    const zepi_device_image_desc_t image = test_spirv_image("scaled_copy");
    const int32_t value = 13;
    zepi_context_t other;
    zepi_module_t module;
    int32_t read;
    struct launch launch;
    TEST_OK(zepi.context_create(1, &gear.device, &other));
    TEST_OK(zepi.unit_register(UNIT, 1, &image));
    TEST_OK(zepi.unit_get_module(UNIT, gear.context, ZEPI_MODULE_INPUT, &module));
    TEST_OK(zepi.spec_constant_set(module, 7, 4, &value));
    TEST_OK(zepi.release(module));
    launch_init(&launch);
    expect(&launch, 0, 13);
    expect(&launch, 5, 5);
    expect(&launch, 0, 13);
    TEST_OK(zepi.unit_get_module(UNIT, gear.context, ZEPI_MODULE_INPUT, &module));
    TEST_OK(zepi.spec_constant_get(module, NULL, 7, 4, &read));
    cr_assert_eq(read, 13);
    TEST_OK(zepi.release(module));
    // Each context has a module of its own.
    TEST_OK(zepi.unit_get_module(UNIT, other, ZEPI_MODULE_INPUT, &module));
    TEST_OK(zepi.spec_constant_get(module, NULL, 7, 4, &read));
    cr_assert_eq(read, 1);
    TEST_OK(zepi.release(module));
    TEST_OK(zepi.release(other));
    launch_finish(&launch);
    // And each registration.
    TEST_OK(zepi.unit_unregister(UNIT));
    TEST_OK(zepi.unit_register(UNIT, 1, &image));
    TEST_OK(zepi.unit_get_module(UNIT, gear.context, ZEPI_MODULE_INPUT, &module));
    TEST_OK(zepi.spec_constant_get(module, NULL, 7, 4, &read));
    cr_assert_eq(read, 1);
    TEST_OK(zepi.release(module));
    TEST_OK(zepi.unit_unregister(UNIT));
}

Test(this_module, is_listed_while_it_is_held_and_launches_add_nothing)
{
    const zepi_device_image_desc_t image = test_spirv_image("scaled_copy");
    zepi_module_t module;
    uint32_t count;
    struct launch launch;
    TEST_OK(zepi.unit_register(UNIT, 1, &image));
    launch_init(&launch);
    expect(&launch, 2, 2);
    for (int state = ZEPI_MODULE_INPUT; state <= ZEPI_MODULE_EXECUTABLE; state++) {
        TEST_OK(
            zepi.context_get_modules(gear.context, (zepi_module_state_t)state, 0, NULL, &count));
        cr_assert_eq(count, 0);
    }
    TEST_OK(zepi.unit_get_module(UNIT, gear.context, ZEPI_MODULE_INPUT, &module));
    TEST_OK(zepi.context_get_modules(gear.context, ZEPI_MODULE_INPUT, 0, NULL, &count));
    cr_assert_eq(count, 1);
    TEST_OK(zepi.release(module));
    launch_finish(&launch);
    TEST_OK(zepi.unit_unregister(UNIT));
}

Test(this_module, is_gone_for_launches_once_it_is_unregistered)
{
    const zepi_device_image_desc_t image = test_spirv_image("scaled_copy");
    struct launch launch;
    TEST_OK(zepi.unit_register(UNIT, 1, &image));
    launch_init(&launch);
    expect(&launch, 2, 2);
    TEST_OK(zepi.unit_unregister(UNIT));
    expect_failure(&launch, 2, ZEPI_ERROR_INVALID_VALUE, "no translation unit");
    // The same token with other images.
    const zepi_device_image_desc_t other = test_spirv_image("negate");
    TEST_OK(zepi.unit_register(UNIT, 1, &other));
    expect_failure(&launch, 0, ZEPI_ERROR_KERNEL_NOT_FOUND, "scaled_copy_int");
    launch_finish(&launch);
    TEST_OK(zepi.unit_unregister(UNIT));
}

Test(this_module, of_wrong_arguments_says_so)
{
    zepi_device_image_desc_t image = test_spirv_image("scaled_copy");
    zepi_module_t module;
    bool has;
    TEST_OK(zepi.unit_register(UNIT, 1, &image));
    TEST_FAILS(zepi.unit_get_module(UNIT, NULL, ZEPI_MODULE_INPUT, &module),
               ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS_SAYING(zepi.unit_get_module(UNIT, gear.context, (zepi_module_state_t)0, &module),
                      ZEPI_ERROR_INVALID_VALUE, "state 0");
    TEST_FAILS(zepi.unit_get_module(UNIT, gear.context, ZEPI_MODULE_INPUT, NULL),
               ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.unit_has_module(OTHER_UNIT, gear.context, ZEPI_MODULE_INPUT, &has),
               ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.unit_has_any_module(UNIT, gear.context, NULL), ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.unit_register(OTHER_UNIT, 1, NULL), ZEPI_ERROR_INVALID_VALUE);
    image.size_bytes -= 4;
    TEST_FAILS_SAYING(zepi.unit_register(OTHER_UNIT, 1, &image), ZEPI_ERROR_COMPILE_FAILURE,
                      "image 0");
    TEST_OK(zepi.unit_unregister(UNIT));
}
