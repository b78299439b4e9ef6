// SPDX-License-Identifier: MIT
// Specialization constants of native images: baked in, emulated, or rebuilt from SPIR-V.
#include "program/modules_fixture.h"

TestSuite(emulation, .init = gear_set_up, .fini = gear_tear_down);

static const int8_t small_default = -3;
static const zepi_emulated_constant_t constants[] = {{10, ZEPI_SCALAR_INT8, &small_default},
                                                     {11, ZEPI_SCALAR_INT32, NULL},
                                                     {12, ZEPI_SCALAR_FLOAT32, NULL},
                                                     {13, ZEPI_SCALAR_INT64, NULL},
                                                     {14, ZEPI_SCALAR_INT16, NULL}};
static const char *const kernels[] = {"use_all", "use_some"};

// The native image of emulated.cl in a state.
static zepi_device_image_desc_t emulated_image(zepi_module_state_t state)
{
    zepi_module_t executable = test_executable(gear.context, "emulated");
    zepi_device_image_desc_t image = native_image(executable, state, NULL);
    image.emulated_constants = constants;
    image.emulated_constant_count = 5;
    image.emulated_kernels = kernels;
    image.emulated_kernel_count = 2;
    TEST_OK(zepi.release(executable));
    return image;
}

static int64_t *allocate(size_t count)
{
    return gear_allocate(count * sizeof(int64_t));
}

static void launch(zepi_module_t executable, const char *name, int64_t *out)
{
    zepi_kernel_t kernel;
    TEST_OK(zepi.module_get_kernel(executable, name, &kernel));
    const zepi_argument_t argument = TEST_POINTER(out);
    const zepi_launch_desc_t desc = test_launch(kernel, 1, &argument, 1);
    TEST_OK(zepi.queue_launch(gear.queue, &desc, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    TEST_OK(zepi.release(kernel));
}

Test(emulation, passes_every_constant_at_its_natural_alignment)
{
    zepi_device_image_desc_t image = emulated_image(ZEPI_MODULE_INPUT);
    const zepi_build_desc_t build = {.size = sizeof(build), .native_policy = ZEPI_NATIVE_EMULATE};
    const int32_t number = -70000;
    const float real = 1.5f;
    const int64_t large = INT64_C(1) << 40;
    const int16_t last = -2;
    const zepi_spec_value_t values[] = {
        {11, 4, &number}, {12, 4, &real}, {13, 8, &large}, {14, 2, &last}};
    int64_t *out = allocate(5);
    zepi_module_t input;
    zepi_module_t executable;
    zepi_module_info_t info = {.size = sizeof(info)};
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 1, &image, &input));
    TEST_OK(zepi.module_get_info(input, &info));
    cr_assert(info.has_spec_constants && !info.has_native_spec_constants);
    TEST_OK(zepi.spec_constant_set_many(input, 4, values));
    TEST_OK(zepi.module_build(input, &build, &executable));
    launch(executable, "use_all", out);
    const int64_t expected[5] = {-3, number, 0x3fc00000, large, last};
    cr_assert_eq(memcmp(out, expected, sizeof(expected)), 0);
    launch(executable, "use_some", out);
    cr_assert_eq(out[0], number);
    launch(executable, "use_none", out);
    cr_assert_eq(out[0], 77);
    TEST_OK(zepi.release(executable));
    TEST_OK(zepi.release(input));
    TEST_OK(zepi.usm_free(gear.context, out));
    test_native_image_finish(&image);
}

// As tests/data/emulated.cl has them, in order.
static const struct {
    zepi_scalar_type_t type;
    uint8_t size_bytes;
    uint64_t bits;
    int64_t shown; // sign-extended if the type has a sign
} types[] = {
    {ZEPI_SCALAR_BOOL, 1, 1, 1},
    {ZEPI_SCALAR_FLOAT64, 8, 0xbff8000000000001, (int64_t)0xbff8000000000001},
    {ZEPI_SCALAR_UINT8, 1, 0xfe, 0xfe},
    {ZEPI_SCALAR_FLOAT16, 2, 0xc001, 0xc001},
    {ZEPI_SCALAR_INT8, 1, 0xfd, -3},
    {ZEPI_SCALAR_UINT64, 8, 0xfedcba9876543210, (int64_t)0xfedcba9876543210},
    {ZEPI_SCALAR_INT16, 2, 0x8000, -32768},
    {ZEPI_SCALAR_UINT32, 4, 0x80000001, 0x80000001},
    {ZEPI_SCALAR_UINT16, 2, 0x8001, 0x8001},
    {ZEPI_SCALAR_FLOAT32, 4, 0x40490fdb, 0x40490fdb},
    {ZEPI_SCALAR_INT64, 8, 0x8000000000000001, (int64_t)0x8000000000000001},
    {ZEPI_SCALAR_INT32, 4, 0xfffffffe, -2},
};
enum { TYPES = sizeof(types) / sizeof(types[0]), FIRST_ID = 30 };

Test(emulation, lays_every_type_out_as_a_c_structure_does)
{
    static const char *const kernel_names[] = {"use_types"};
    zepi_emulated_constant_t emulated[TYPES];
    zepi_spec_value_t values[TYPES];
    int64_t *out = allocate(TYPES);
    zepi_device_image_desc_t image = emulated_image(ZEPI_MODULE_INPUT);
    for (uint32_t i = 0; i < TYPES; i++) {
        emulated[i] = (zepi_emulated_constant_t){FIRST_ID + i, types[i].type, NULL};
        values[i] = (zepi_spec_value_t){FIRST_ID + i, types[i].size_bytes, &types[i].bits};
    }
    image.emulated_constants = emulated;
    image.emulated_constant_count = TYPES;
    image.emulated_kernels = kernel_names;
    image.emulated_kernel_count = 1;
    // All defaults first, then each alone, then all.
    for (uint32_t set = 0; set <= TYPES + 1; set++) {
        zepi_module_t input;
        zepi_module_t executable;
        TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 1, &image, &input));
        if (set > 0 && set <= TYPES)
            TEST_OK(zepi.spec_constant_set_many(input, 1, &values[set - 1]));
        else if (set > TYPES)
            TEST_OK(zepi.spec_constant_set_many(input, TYPES, values));
        TEST_OK(zepi.module_build(input, NULL, &executable));
        launch(executable, "use_types", out);
        for (uint32_t i = 0; i < TYPES; i++) {
            const bool is_set = set > TYPES || set == i + 1;
            cr_assert_eq(out[i], is_set ? types[i].shown : 0, "type %u, set %u", i, set);
        }
        TEST_OK(zepi.release(executable));
        TEST_OK(zepi.release(input));
    }
    TEST_OK(zepi.usm_free(gear.context, out));
    test_native_image_finish(&image);
}

Test(emulation, gives_each_of_many_launches_in_flight_its_own_values)
{
    enum { LAUNCHES = 64 };
    zepi_device_image_desc_t image = emulated_image(ZEPI_MODULE_EXECUTABLE);
    zepi_event_t gate;
    int64_t *out = allocate(LAUNCHES * 5);
    TEST_OK(zepi.unit_register(UNIT, 1, &image));
    TEST_OK(zepi.event_create(gear.context, &gate));
    for (int round = 0; round < 2; round++) {
        for (int32_t i = 0; i < LAUNCHES; i++) {
            const int32_t number = 1000 * round + i;
            const zepi_spec_value_t value = {11, 4, &number};
            const zepi_argument_t argument = TEST_POINTER(out + i * 5);
            zepi_launch_desc_t desc = test_launch(NULL, 1, &argument, 1);
            desc.kernel_name = "use_all";
            desc.unit = UNIT;
            desc.spec_values = &value;
            desc.spec_value_count = 1;
            // None begins before all are enqueued.
            TEST_OK(zepi.queue_launch(gear.queue, &desc,
                                      (zepi_wait_list_t){&gate, round == 0 && i == 0}, NULL));
        }
        if (round == 0)
            TEST_OK(zepi.event_signal(gate));
        TEST_OK(zepi.queue_finish(gear.queue));
        for (int i = 0; i < LAUNCHES; i++) {
            cr_assert_eq(out[i * 5], -3);
            cr_assert_eq(out[i * 5 + 1], 1000 * round + i);
        }
    }
    cr_assert_eq(ze_cpu.get_count("compile:spirv"), 1); // of the image itself
    TEST_OK(zepi.release(gate));
    TEST_OK(zepi.unit_unregister(UNIT));
    TEST_OK(zepi.usm_free(gear.context, out));
    test_native_image_finish(&image);
}

// Two native images, made for 2 and 3, and SPIR-V.
static int32_t multiply(zepi_module_t input, int32_t factor, const zepi_build_desc_t *build)
{
    int32_t *memory = (int32_t *)allocate(2);
    zepi_module_t executable;
    zepi_kernel_t kernel;
    TEST_OK(zepi.spec_constant_set(input, 7, 4, &factor));
    TEST_OK(zepi.module_build(input, build, &executable));
    TEST_OK(zepi.module_get_kernel(executable, "scaled_copy_int", &kernel));
    memory[0] = 5;
    const zepi_argument_t arguments[] = {TEST_POINTER(memory), TEST_POINTER(memory + 1)};
    const zepi_launch_desc_t desc = test_launch(kernel, 2, arguments, 1);
    TEST_OK(zepi.queue_launch(gear.queue, &desc, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    const int32_t result = memory[1];
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.release(executable));
    TEST_OK(zepi.usm_free(gear.context, memory));
    return result;
}

Test(emulation, native_code_that_was_made_with_the_values_comes_first)
{
    static const int32_t made_with[2] = {2, 3};
    const zepi_spec_value_t baked[2] = {{7, 4, &made_with[0]}, {7, 4, &made_with[1]}};
    zepi_device_image_desc_t images[3] = {test_spirv_image("scaled_copy")};
    zepi_module_t source = test_input(gear.context, "scaled_copy");
    for (int i = 0; i < 2; i++) {
        zepi_module_t executable = build_with(source, made_with[i]);
        images[1 + i] = native_image(executable, ZEPI_MODULE_INPUT, &baked[i]);
        TEST_OK(zepi.release(executable));
    }
    TEST_OK(zepi.release(source));
    for (int policy = 0; policy < 2; policy++) {
        const zepi_build_desc_t build = {.size = sizeof(build),
                                         .native_policy = (zepi_native_policy_t)policy};
        zepi_module_t input;
        TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 3, images, &input));
        const uint64_t before = ze_cpu.get_count("compile:spirv");
        cr_assert_eq(multiply(input, 2, &build), 10);
        cr_assert_eq(multiply(input, 3, &build), 15);
        cr_assert_eq(ze_cpu.get_count("compile:spirv"), before);
        // Rebuilt: these images emulate nothing.
        cr_assert_eq(multiply(input, 4 + policy, &build), 20 + 5 * policy);
        cr_assert_eq(ze_cpu.get_count("compile:spirv"), before + 1);
        TEST_OK(zepi.release(input));
    }
    // Without SPIR-V: the known constants are listed.
    zepi_module_t input;
    zepi_module_t executable;
    const int32_t other = 9;
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 2, images + 1, &input));
    TEST_OK(zepi.spec_constant_set(input, 7, 4, &other));
    TEST_FAILS_SAYING(zepi.module_build(input, NULL, &executable), ZEPI_ERROR_COMPILE_FAILURE,
                      "native made with 7 = 0x2 native made with 7 = 0x3");
    TEST_OK(zepi.release(input));
    test_native_image_finish(&images[1]);
    test_native_image_finish(&images[2]);
}

// The kernel of scaled_copy.cl made for 2 and for 3, with its constant behind a pointer, and
// SPIR-V.
static zepi_module_t input_of_all_kinds(zepi_device_image_desc_t natives[3])
{
    static const int32_t made_with[2] = {2, 3};
    static const zepi_spec_value_t baked[2] = {{7, 4, &made_with[0]}, {7, 4, &made_with[1]}};
    static const zepi_emulated_constant_t constant = {7, ZEPI_SCALAR_INT32, NULL};
    static const char *const kernel_name = "scaled_copy_int";
    zepi_module_t emulated = test_executable(gear.context, "emulated_copy");
    zepi_module_t input;
    for (int i = 0; i < 2; i++) {
        zepi_module_t executable = scaled_copy_with(made_with[i]);
        natives[i] = native_image(executable, ZEPI_MODULE_INPUT, &baked[i]);
        TEST_OK(zepi.release(executable));
    }
    natives[2] = native_image(emulated, ZEPI_MODULE_INPUT, NULL);
    natives[2].emulated_constants = &constant;
    natives[2].emulated_constant_count = 1;
    natives[2].emulated_kernels = &kernel_name;
    natives[2].emulated_kernel_count = 1;
    const zepi_device_image_desc_t images[] = {natives[2], natives[0], natives[1],
                                               test_spirv_image("scaled_copy")};
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 4, images, &input));
    TEST_OK(zepi.release(emulated));
    return input;
}

Test(emulation, is_what_the_policy_says_where_no_native_code_has_the_values)
{
    zepi_device_image_desc_t natives[3];
    zepi_module_t input = input_of_all_kinds(natives);
    for (int policy = ZEPI_NATIVE_REBUILD; policy <= ZEPI_NATIVE_EMULATE; policy++) {
        const zepi_build_desc_t build = {.size = sizeof(build),
                                         .native_policy = (zepi_native_policy_t)policy};
        const uint64_t before = ze_cpu.get_count("compile:spirv");
        // Made with the value: neither policy is asked.
        cr_assert_eq(multiply(input, 2, &build), 10);
        cr_assert_eq(multiply(input, 3, &build), 15);
        cr_assert_eq(ze_cpu.get_count("compile:spirv"), before);
        cr_assert_eq(multiply(input, 4, &build), 20);
        cr_assert_eq(ze_cpu.get_count("compile:spirv") - before, policy == ZEPI_NATIVE_REBUILD);
        cr_assert_eq(multiply(input, 2, &build), 10);
    }
    TEST_OK(zepi.release(input));
    for (int i = 0; i < 3; i++)
        test_native_image_finish(&natives[i]);
}

static void launch_with(zepi_launch_desc_t *desc, const zepi_spec_value_t *value, int64_t *out,
                        int64_t expected)
{
    desc->spec_values = value;
    desc->spec_value_count = value != NULL;
    out[1] = 0;
    TEST_OK(zepi.queue_launch(gear.queue, desc, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    cr_assert_eq(out[1], expected);
}

Test(emulation, takes_the_values_of_a_launch_beside_a_module_and_a_kernel_object)
{
    zepi_device_image_desc_t image = emulated_image(ZEPI_MODULE_INPUT);
    const int32_t numbers[2] = {40, 50};
    const zepi_spec_value_t value = {11, 4, &numbers[1]};
    const zepi_spec_value_t of_other_size = {11, 8, &numbers[0]};
    int64_t *out = allocate(5);
    const zepi_argument_t argument = TEST_POINTER(out);
    zepi_launch_desc_t desc = test_launch(NULL, 1, &argument, 1);
    zepi_module_t input;
    zepi_module_t executable;
    zepi_kernel_t kernel;
    int32_t seen;
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 1, &image, &input));
    TEST_OK(zepi.spec_constant_set(input, 11, 4, &numbers[0]));
    TEST_OK(zepi.module_build(input, NULL, &executable));
    TEST_OK(zepi.module_get_kernel(executable, "use_all", &kernel));
    for (int i = 0; i < 3; i++) {
        desc.kernel_name = i == 0 ? "use_all" : NULL;
        desc.kernel = i == 0 ? NULL : kernel;
        desc.module = i == 2 ? NULL : executable;
        launch_with(&desc, NULL, out, 40);
        launch_with(&desc, &value, out, 50);
        TEST_OK(zepi.spec_constant_get_for_launch(gear.queue, &desc, 11, 4, &seen));
        cr_assert_eq(seen, 50);
        launch_with(&desc, NULL, out, 40);
        TEST_OK(zepi.spec_constant_get_for_launch(gear.queue, &desc, 11, 4, &seen));
        cr_assert_eq(seen, 40);
        desc.spec_values = &of_other_size;
        desc.spec_value_count = 1;
        TEST_FAILS(zepi.queue_launch(gear.queue, &desc, TEST_NO_WAIT, NULL),
                   ZEPI_ERROR_SPEC_CONSTANT_SIZE);
    }
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.release(executable));
    TEST_OK(zepi.release(input));
    TEST_OK(zepi.usm_free(gear.context, out));
    test_native_image_finish(&image);
}

Test(emulation, of_a_required_constant_needs_its_value_at_the_launch)
{
    static const uint32_t required = 11;
    zepi_device_image_desc_t image = emulated_image(ZEPI_MODULE_EXECUTABLE);
    const int32_t number = 6;
    const zepi_spec_value_t value = {11, 4, &number};
    int64_t *out = allocate(5);
    const zepi_argument_t argument = TEST_POINTER(out);
    zepi_launch_desc_t desc = test_launch(NULL, 1, &argument, 1);
    zepi_module_t executable;
    image.required_ids = &required;
    image.required_id_count = 1;
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_EXECUTABLE, 1, &image, &executable));
    TEST_OK(zepi.unit_register(UNIT, 1, &image));
    desc.kernel_name = "use_all";
    for (int i = 0; i < 2; i++) {
        desc.module = i == 0 ? executable : NULL;
        desc.unit = i == 0 ? NULL : UNIT;
        desc.spec_value_count = 0;
        TEST_FAILS_SAYING(zepi.queue_launch(gear.queue, &desc, TEST_NO_WAIT, NULL),
                          ZEPI_ERROR_SPEC_CONSTANT_REQUIRED, "constant 11 (int32, 4 bytes)");
        launch_with(&desc, &value, out, 6);
    }
    TEST_OK(zepi.unit_unregister(UNIT));
    TEST_OK(zepi.release(executable));
    TEST_OK(zepi.usm_free(gear.context, out));
    test_native_image_finish(&image);
}

Test(emulation, counts_the_hidden_argument)
{
    zepi_device_image_desc_t image = emulated_image(ZEPI_MODULE_EXECUTABLE);
    zepi_module_t executable;
    zepi_kernel_t kernel;
    int64_t *out = allocate(5);
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_EXECUTABLE, 1, &image, &executable));
    TEST_OK(zepi.module_get_kernel(executable, "use_all", &kernel));
    const zepi_argument_t arguments[] = {TEST_POINTER(out), TEST_POINTER(out)};
    const zepi_launch_desc_t desc = test_launch(kernel, 2, arguments, 1);
    TEST_FAILS(zepi.queue_launch(gear.queue, &desc, TEST_NO_WAIT, NULL), ZEPI_ERROR_INVALID_SIZE);
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.release(executable));
    TEST_OK(zepi.usm_free(gear.context, out));
    test_native_image_finish(&image);
}

Test(emulation, is_told_for_each_image_and_for_the_module)
{
    zepi_device_image_desc_t images[2] = {emulated_image(ZEPI_MODULE_INPUT),
                                          test_spirv_image("negate")};
    zepi_module_t input;
    zepi_device_image_t listed[2];
    uint32_t count;
    zepi_module_info_t module = {.size = sizeof(module)};
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 2, images, &input));
    TEST_OK(zepi.module_get_info(input, &module));
    cr_assert(module.has_spec_constants && !module.has_native_spec_constants);
    TEST_OK(zepi.module_get_device_images(input, 2, listed, &count));
    cr_assert_eq(count, 2);
    for (uint32_t i = 0; i < 2; i++) {
        zepi_device_image_info_t info = {.size = sizeof(info)};
        TEST_OK(zepi.device_image_get_info(listed[i], &info));
        const bool is_native = info.format == ZEPI_DEVICE_IMAGE_NATIVE;
        cr_assert_eq(info.has_spec_constants, is_native);
        cr_assert_eq(info.has_native_spec_constants, !is_native);
        TEST_OK(zepi.release(listed[i]));
    }
    TEST_OK(zepi.release(input));
    test_native_image_finish(&images[0]);
}

// ---- Defaults ----

static const zepi_native_policy_t policies[] = {ZEPI_NATIVE_REBUILD, ZEPI_NATIVE_EMULATE};

// The module's value of constant 7, and that of its kernels, under either policy.
static void expect_number(const zepi_device_image_desc_t images[2], int32_t number)
{
    struct launch launch;
    zepi_module_t input;
    int32_t read;
    launch_init(&launch);
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 2, images, &input));
    TEST_OK(zepi.spec_constant_get(input, NULL, 7, 4, &read));
    cr_assert_eq(read, number);
    launch.desc.unit = NULL;
    for (int i = 0; i < 2; i++) {
        const zepi_build_desc_t build = {.size = sizeof(build), .native_policy = policies[i]};
        TEST_OK(zepi.module_build(input, &build, &launch.desc.module));
        TEST_OK(zepi.spec_constant_get(launch.desc.module, NULL, 7, 4, &read));
        cr_assert_eq(read, number);
        expect(&launch, 0, number);
        TEST_OK(zepi.module_get_kernel(launch.desc.module, "scaled_copy_int", &launch.desc.kernel));
        expect(&launch, 0, number);
        TEST_OK(zepi.release(launch.desc.kernel));
        launch.desc.kernel = NULL;
        TEST_OK(zepi.release(launch.desc.module));
    }
    TEST_OK(zepi.release(input));
    launch.desc.module = NULL;
    launch.desc.unit = UNIT;
    TEST_OK(zepi.unit_register(UNIT, 2, images));
    TEST_OK(zepi.spec_constant_get_for_launch(gear.queue, &launch.desc, 7, 4, &read));
    cr_assert_eq(read, number);
    expect(&launch, 0, number);
    TEST_OK(zepi.unit_unregister(UNIT));
    launch_finish(&launch);
}

// In both orders.
static void expect_default_of_spirv(zepi_device_image_desc_t native)
{
    const zepi_device_image_desc_t spirv = test_spirv_image("scaled_copy");
    expect_number((const zepi_device_image_desc_t[]){native, spirv}, 1);
    expect_number((const zepi_device_image_desc_t[]){spirv, native}, 1);
    test_native_image_finish(&native);
}

Test(emulation, takes_the_default_of_the_spirv_beside_it)
{
    static const zepi_emulated_constant_t constant = {7, ZEPI_SCALAR_INT32, NULL};
    static const char *const kernel_name = "scaled_copy_int";
    zepi_module_t executable = test_executable(gear.context, "emulated_copy");
    zepi_device_image_desc_t image = native_image(executable, ZEPI_MODULE_INPUT, NULL);
    image.emulated_constants = &constant;
    image.emulated_constant_count = 1;
    image.emulated_kernels = &kernel_name;
    image.emulated_kernel_count = 1;
    TEST_OK(zepi.release(executable));
    expect_default_of_spirv(image);
}

Test(emulation, of_one_constant_does_not_hide_what_another_was_made_with)
{
    static const zepi_emulated_constant_t constant = {11, ZEPI_SCALAR_UINT8, NULL};
    static const char *const kernel_name = "show_constants";
    const int32_t baked = 41;
    const zepi_spec_value_t value = {7, 4, &baked};
    zepi_module_t executable = scaled_copy_with(baked);
    zepi_device_image_desc_t image = native_image(executable, ZEPI_MODULE_INPUT, &value);
    image.emulated_constants = &constant;
    image.emulated_constant_count = 1;
    image.emulated_kernels = &kernel_name;
    image.emulated_kernel_count = 1;
    TEST_OK(zepi.release(executable));
    expect_default_of_spirv(image);
}

Test(emulation, a_layout_changes_nothing_about_what_code_was_made_with)
{
    static const zepi_spec_element_t element = {7, 0, 4};
    const int32_t baked = 41;
    const int32_t one = 1;
    const zepi_spec_value_t value = {7, 4, &baked};
    const zepi_spec_layout_t layout = {.name = "number",
                                       .size_bytes = 4,
                                       .default_bytes = &one,
                                       .elements = &element,
                                       .element_count = 1};
    zepi_module_t executable = scaled_copy_with(baked);
    zepi_device_image_desc_t image = native_image(executable, ZEPI_MODULE_INPUT, &value);
    zepi_module_t input;
    int32_t read;
    image.layouts = &layout;
    image.layout_count = 1;
    TEST_OK(zepi.release(executable));
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 1, &image, &input));
    TEST_OK(zepi.spec_constant_get(input, NULL, 7, 4, &read));
    cr_assert_eq(read, 41);
    TEST_OK(zepi.spec_constant_get_by_name(input, NULL, "number", 4, &read));
    cr_assert_eq(read, 41);
    TEST_OK(zepi.release(input));
    expect_default_of_spirv(image);
}

// The values come later, and the other arguments are checked without them.
Test(emulation, a_graph_finds_wrong_arguments_as_they_are_added)
{
    zepi_device_image_desc_t image = emulated_image(ZEPI_MODULE_INPUT);
    const zepi_build_desc_t build = {.size = sizeof(build), .native_policy = ZEPI_NATIVE_EMULATE};
    zepi_module_t input, executable;
    zepi_kernel_t kernel;
    zepi_graph_t graph;
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 1, &image, &input));
    TEST_OK(zepi.module_build(input, &build, &executable));
    TEST_OK(zepi.module_get_kernel(executable, "use_all", &kernel));
    const zepi_argument_t argument = {.kind = (zepi_argument_kind_t)77, .value = (void *)16};
    const zepi_launch_desc_t desc = test_launch(kernel, 1, &argument, 1);
    TEST_FAILS(zepi.queue_launch(gear.queue, &desc, TEST_NO_WAIT, NULL), ZEPI_ERROR_INVALID_VALUE);
    TEST_OK(zepi.graph_create(gear.context, gear.device, 0, &graph));
    TEST_FAILS(zepi.graph_add_launch(graph, &desc, (zepi_graph_wait_list_t){NULL, 0}, NULL),
               ZEPI_ERROR_INVALID_VALUE);
    zepi_launch_desc_t less = desc;
    less.argument_count = 0;
    TEST_FAILS(zepi.graph_add_launch(graph, &less, (zepi_graph_wait_list_t){NULL, 0}, NULL),
               ZEPI_ERROR_INVALID_SIZE);
    TEST_OK(zepi.release(graph));
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.release(executable));
    TEST_OK(zepi.release(input));
}
