// SPDX-License-Identifier: MIT
// Modules beside each other: equality, hashes, joining, and the list of a context.
#include "modules_fixture.h"

TestSuite(join, .init = gear_set_up, .fini = gear_tear_down);

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
    // The values of inputs do not count, those of built modules do.
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
                      "module 1 is executable, expected input");
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

// Native code as the driver answers it for the module.
static void expect_native_of(const zepi_device_image_info_t *info, zepi_module_t module)
{
    zepi_device_image_desc_t native = native_image(module, ZEPI_MODULE_INPUT, NULL);
    cr_assert_eq(info->size_bytes, native.size_bytes);
    cr_assert_eq(memcmp(info->bytes, native.bytes, native.size_bytes), 0);
    test_native_image_finish(&native);
}

Test(join, an_image_of_a_built_module_is_its_build)
{
    zepi_module_t input = test_input(gear.context, "scaled_copy");
    zepi_module_t modules[3] = {input};
    zepi_device_image_info_t infos[3];
    zepi_device_image_t images[3];
    uint32_t count;
    TEST_OK(zepi.module_compile(input, NULL, &modules[1]));
    modules[2] = build_with(input, 2);
    for (int i = 0; i < 3; i++) {
        zepi_device_image_t again;
        infos[i].size = sizeof(infos[i]);
        TEST_OK(zepi.module_get_device_images(modules[i], 1, &images[i], &count));
        cr_assert_eq(count, 1);
        TEST_OK(zepi.device_image_get_info(images[i], &infos[i]));
        cr_assert_eq(infos[i].state, (zepi_module_state_t)(ZEPI_MODULE_INPUT + i));
        cr_assert_eq(infos[i].format, i == 0 ? ZEPI_DEVICE_IMAGE_SPIRV : ZEPI_DEVICE_IMAGE_NATIVE);
        cr_assert_eq(infos[i].kernel_count, 3);
        cr_assert(infos[i].has_spec_constants && infos[i].has_native_spec_constants);
        // It is always the same one, and so are its bytes.
        TEST_OK(zepi.module_get_device_images(modules[i], 1, &again, &count));
        cr_assert_eq(again, images[i]);
        TEST_OK(zepi.release(again));
    }
    expect_native_of(&infos[1], modules[1]);
    expect_native_of(&infos[2], modules[2]);
    cr_assert(infos[0].digest[0] != infos[1].digest[0] && infos[1].digest[0] != infos[2].digest[0]);
    // They live on without their modules.
    for (int i = 0; i < 3; i++)
        TEST_OK(zepi.release(modules[i]));
    TEST_OK(zepi.cache_clear(gear.context));
    for (int i = 0; i < 3; i++) {
        zepi_device_image_info_t info = {.size = sizeof(info)};
        TEST_OK(zepi.device_image_get_info(images[i], &info));
        cr_assert_eq(info.bytes, infos[i].bytes);
        TEST_OK(zepi.release(images[i]));
    }
}

static zepi_device_image_t choose_by_value(void *data, const zepi_device_image_t *images,
                                           uint32_t count)
{
    const struct launch *launch = data;
    for (uint32_t i = 0; i < count; i++) {
        int32_t value;
        TEST_OK(zepi.spec_constant_get(launch->desc.module, images[i], 7, 4, &value));
        if (value == 3)
            return images[i];
    }
    return NULL;
}

Test(join, two_builds_with_different_values_are_two_images)
{
    zepi_module_t input = test_input(gear.context, "scaled_copy");
    zepi_module_t modules[3] = {build_with(input, 2), build_with(input, 3), build_with(input, 2)};
    zepi_module_t joined;
    zepi_device_image_t images[2];
    zepi_device_image_t of_input;
    uint32_t count;
    int32_t value;
    zepi_spec_constant_t constants[8];
    struct launch launch;
    TEST_OK(zepi.module_join(3, modules, &joined));
    cr_assert_eq(image_count(joined), 2);
    TEST_OK(zepi.module_get_device_images(joined, 2, images, &count));
    cr_assert(count == 2 && images[0] != images[1]);
    for (int i = 0; i < 2; i++) {
        TEST_OK(zepi.spec_constant_get(joined, images[i], 7, 4, &value));
        cr_assert_eq(value, 2 + i);
        TEST_OK(zepi.spec_constant_list(joined, images[i], 8, constants, &count));
        cr_assert(count == 6 && constants[3].id == 7 && constants[3].value[0] == 2 + i);
        cr_assert(!constants[3].is_ambiguous);
    }
    // Without an image only what they agree about has a value.
    TEST_FAILS_SAYING(zepi.spec_constant_get(joined, NULL, 7, 4, &value),
                      ZEPI_ERROR_SPEC_CONSTANT_AMBIGUOUS, "constant 7; name the image: image 0");
    TEST_OK(zepi.module_get_device_images(input, 1, &of_input, &count));
    TEST_FAILS(zepi.spec_constant_get(joined, of_input, 7, 4, &value),
               ZEPI_ERROR_SPEC_CONSTANT_AMBIGUOUS);
    TEST_OK(zepi.spec_constant_get(joined, NULL, 3, 4, &value));
    TEST_OK(zepi.spec_constant_list(joined, NULL, 8, constants, &count));
    for (uint32_t i = 0; i < count; i++)
        cr_assert_eq(constants[i].is_ambiguous, constants[i].id == 7);
    // A selector may choose either.
    launch_init(&launch);
    launch.desc.unit = NULL;
    launch.desc.module = joined;
    expect(&launch, 0, 2);
    launch.desc.selector = choose_by_value;
    launch.desc.selector_data = &launch;
    expect(&launch, 0, 3);
    expect(&launch, 3, 3);
    expect_failure(&launch, 2, ZEPI_ERROR_SPEC_CONSTANT_MISMATCH, "constant 7 = 0x2");
    launch_finish(&launch);
    TEST_OK(zepi.release(of_input));
    for (int i = 0; i < 2; i++)
        TEST_OK(zepi.release(images[i]));
    for (int i = 0; i < 3; i++)
        TEST_OK(zepi.release(modules[i]));
    TEST_OK(zepi.release(joined));
    TEST_OK(zepi.release(input));
}

Test(join, builds_with_other_options_are_other_images)
{
    const zepi_build_desc_t slow = {.size = sizeof(slow), .options = "-cl-opt-disable"};
    zepi_module_t input = test_input(gear.context, "scaled_copy");
    zepi_module_t modules[2];
    zepi_module_t joined;
    TEST_OK(zepi.module_build(input, NULL, &modules[0]));
    TEST_OK(zepi.module_build(input, &slow, &modules[1]));
    cr_assert(!are_equal(modules[0], modules[1]));
    TEST_OK(zepi.module_join(2, modules, &joined));
    cr_assert_eq(image_count(joined), 2);
    TEST_OK(zepi.release(joined));
    TEST_OK(zepi.release(modules[0]));
    TEST_OK(zepi.release(modules[1]));
    TEST_OK(zepi.release(input));
}

// The native code was made with 41, and is not used for the default.
Test(join, what_a_build_did_not_use_says_nothing_about_it)
{
    const int32_t baked = 41;
    const zepi_spec_value_t value = {7, 4, &baked};
    zepi_module_t built = scaled_copy_with(baked);
    zepi_device_image_desc_t images[2] = {native_image(built, ZEPI_MODULE_INPUT, &value),
                                          test_spirv_image("scaled_copy")};
    zepi_module_t input;
    zepi_module_t modules[2];
    zepi_module_info_t info = {.size = sizeof(info)};
    int32_t read;
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 2, images, &input));
    TEST_OK(zepi.module_build(input, NULL, &modules[0]));
    TEST_OK(zepi.spec_constant_get(modules[0], NULL, 7, 4, &read));
    cr_assert_eq(read, 1);
    TEST_OK(zepi.module_get_info(modules[0], &info));
    cr_assert(info.image_count == 1 && info.has_native_spec_constants);
    modules[1] = test_executable(gear.context, "scaled_copy");
    cr_assert(are_equal(modules[0], modules[1]));
    for (int i = 0; i < 2; i++)
        TEST_OK(zepi.release(modules[i]));
    TEST_OK(zepi.release(input));
    TEST_OK(zepi.release(built));
    test_native_image_finish(&images[0]);
}

// Three images have the constant, of which one is in no code.
Test(join, only_images_with_code_can_be_named)
{
    const int32_t baked = 41;
    const zepi_spec_value_t value = {7, 4, &baked};
    zepi_module_t built = scaled_copy_with(baked);
    zepi_device_image_desc_t images[2] = {native_image(built, ZEPI_MODULE_INPUT, &value),
                                          test_spirv_image("scaled_copy")};
    zepi_module_t inputs[2] = {NULL, test_input(gear.context, "scaled_copy")};
    zepi_module_t modules[2];
    zepi_module_t joined;
    int32_t read;
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 2, images, &inputs[0]));
    TEST_OK(zepi.module_build(inputs[0], NULL, &modules[0]));
    modules[1] = build_with(inputs[1], 2);
    TEST_OK(zepi.module_join(2, modules, &joined));
    cr_assert_eq(image_count(joined), 2);
    TEST_FAILS_SAYING(zepi.spec_constant_get(joined, NULL, 7, 4, &read),
                      ZEPI_ERROR_SPEC_CONSTANT_AMBIGUOUS, "name the image: image 0 image 1");
    cr_assert_not(strstr(zepi.last_error(NULL), "image 2"), "%s", zepi.last_error(NULL));
    TEST_OK(zepi.release(joined));
    for (int i = 0; i < 2; i++) {
        TEST_OK(zepi.release(modules[i]));
        TEST_OK(zepi.release(inputs[i]));
    }
    TEST_OK(zepi.release(built));
    test_native_image_finish(&images[0]);
}

Test(join, native_code_stands_beside_the_spirv_that_it_was_made_from)
{
    const int32_t baked = 3;
    const zepi_spec_value_t value = {7, 4, &baked};
    zepi_module_t built = scaled_copy_with(baked);
    zepi_device_image_desc_t image = native_image(built, ZEPI_MODULE_INPUT, &value);
    zepi_module_t modules[2] = {test_input(gear.context, "scaled_copy"), NULL};
    zepi_module_t joined;
    int32_t read;
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 1, &image, &modules[1]));
    TEST_OK(zepi.module_join(2, modules, &joined));
    cr_assert_eq(image_count(joined), 2);
    // The default is that of the SPIR-V, whichever comes first.
    TEST_OK(zepi.spec_constant_get(joined, NULL, 7, 4, &read));
    cr_assert_eq(read, 1);
    const uint64_t before = ze_cpu.get_count("compile:spirv");
    zepi_module_t executable = build_with(joined, 3);
    cr_assert_eq(ze_cpu.get_count("compile:spirv"), before);
    TEST_OK(zepi.release(executable));
    TEST_OK(zepi.release(joined));
    TEST_OK(zepi.release(modules[0]));
    TEST_OK(zepi.release(modules[1]));
    TEST_OK(zepi.release(built));
    test_native_image_finish(&image);
}

Test(join, empty_modules_change_nothing)
{
    zepi_module_t modules[3] = {NULL, test_input(gear.context, "scaled_copy"), NULL};
    zepi_module_t joined;
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 0, NULL, &modules[0]));
    TEST_OK(zepi.module_join(1, modules, &joined));
    cr_assert_eq(image_count(joined), 0);
    cr_assert(are_equal(joined, modules[0]));
    TEST_OK(zepi.release(joined));
    TEST_OK(zepi.module_join(2, modules, &joined));
    cr_assert(are_equal(joined, modules[1]));
    TEST_OK(zepi.release(joined));
    // Nothing between the two hides that they do not belong together.
    modules[2] = test_input(gear.context, "negate");
    const zepi_module_t around[3] = {modules[1], modules[0], modules[2]};
    TEST_FAILS_SAYING(zepi.module_join(3, around, &joined), ZEPI_ERROR_INVALID_OBJECT,
                      "modules 0 and 2");
    for (int i = 0; i < 3; i++)
        TEST_OK(zepi.release(modules[i]));
}

Test(join, equality_counts_how_often_an_image_is_there)
{
    const zepi_device_image_desc_t first = test_spirv_image("scaled_copy");
    const zepi_device_image_desc_t second = test_spirv_image("negate");
    const zepi_device_image_desc_t lists[3][3] = {
        {first, first, second}, {first, second, second}, {second, first, first}};
    zepi_module_t modules[3];
    for (int i = 0; i < 3; i++)
        TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 3, lists[i], &modules[i]));
    cr_assert(!are_equal(modules[0], modules[1]));
    cr_assert(!are_equal(modules[1], modules[0]));
    cr_assert(are_equal(modules[0], modules[2]));
    for (int i = 0; i < 3; i++)
        TEST_OK(zepi.release(modules[i]));
}

Test(join, contexts_make_a_difference)
{
    zepi_context_t other;
    zepi_module_t modules[2] = {test_input(gear.context, "scaled_copy"), NULL};
    zepi_module_t joined;
    TEST_OK(zepi.context_create(1, &gear.device, &other));
    modules[1] = test_input(other, "scaled_copy");
    cr_assert(!are_equal(modules[0], modules[1]));
    TEST_FAILS_SAYING(zepi.module_join(2, modules, &joined), ZEPI_ERROR_INVALID_OBJECT,
                      "module 1 is of another context");
    TEST_OK(zepi.release(modules[0]));
    TEST_OK(zepi.release(modules[1]));
    TEST_OK(zepi.release(other));
}

Test(join, keeps_what_it_joined_alive)
{
    zepi_module_t modules[2] = {scaled_copy_with(2), scaled_copy_with(3)};
    zepi_module_t joined;
    struct launch launch;
    TEST_OK(zepi.module_join(2, modules, &joined));
    TEST_OK(zepi.release(modules[0]));
    TEST_OK(zepi.release(modules[1]));
    launch_init(&launch);
    launch.desc.unit = NULL;
    launch.desc.module = joined;
    expect(&launch, 3, 3);
    expect(&launch, 2, 2);
    // The first one that has the kernel; earlier launches do not matter.
    expect(&launch, 0, 2);
    expect(&launch, 3, 3);
    expect(&launch, 0, 2);
    expect_failure(&launch, 4, ZEPI_ERROR_SPEC_CONSTANT_MISMATCH, "constant 7 = 0x4");
    launch_finish(&launch);
    TEST_OK(zepi.release(joined));
}

Test(join, a_context_lists_its_modules_by_state_and_keeps_none)
{
    zepi_module_t input = test_input(gear.context, "scaled_copy");
    zepi_module_t executable = build_with(input, 2);
    zepi_module_t object;
    zepi_module_t listed;
    uint32_t count;
    TEST_OK(zepi.module_compile(input, NULL, &object));
    const zepi_module_t made[] = {input, object, executable};
    for (int state = ZEPI_MODULE_INPUT; state <= ZEPI_MODULE_EXECUTABLE; state++) {
        TEST_OK(
            zepi.context_get_modules(gear.context, (zepi_module_state_t)state, 1, &listed, &count));
        cr_assert_eq(count, 1);
        cr_assert_eq(listed, made[state - 1]);
        TEST_OK(zepi.release(listed));
        TEST_OK(zepi.release(listed));
        TEST_OK(
            zepi.context_get_modules(gear.context, (zepi_module_state_t)state, 0, NULL, &count));
        cr_assert_eq(count, 0);
    }
    TEST_FAILS(zepi.context_get_modules(gear.context, (zepi_module_state_t)4, 0, NULL, &count),
               ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.context_get_modules(gear.context, ZEPI_MODULE_INPUT, 1, NULL, &count),
               ZEPI_ERROR_INVALID_VALUE);
}

Test(join, of_wrong_handles_says_so)
{
    zepi_module_t input = test_input(gear.context, "scaled_copy");
    zepi_module_t modules[2] = {input, (zepi_module_t)gear.queue};
    zepi_module_t joined;
    bool is_equal;
    uint64_t hash;
    TEST_FAILS(zepi.module_join(2, modules, &joined), ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(zepi.module_join(1, modules, NULL), ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.module_is_equal(input, NULL, &is_equal), ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(zepi.module_is_equal(input, input, NULL), ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.module_get_hash(modules[1], &hash), ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(zepi.module_get_hash(input, NULL), ZEPI_ERROR_INVALID_VALUE);
    TEST_OK(zepi.release(input));
}
