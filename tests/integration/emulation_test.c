// SPDX-License-Identifier: MIT
// Specialization constants of native images: baked in, emulated, or rebuilt from SPIR-V.
#include "test_env.h"
#include "test_plugin.h"
#include "test_ze_cpu.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct test_gear gear;
static struct test_ze_cpu ze_cpu;
static const int unit_token;
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

TestSuite(emulation, .init = set_up, .fini = tear_down);

static const int8_t small_default = -3;
static const zepi_emulated_constant_t constants[] = {{10, ZEPI_SCALAR_INT8, &small_default},
                                                     {11, ZEPI_SCALAR_INT32, NULL},
                                                     {12, ZEPI_SCALAR_FLOAT32, NULL},
                                                     {13, ZEPI_SCALAR_INT64, NULL},
                                                     {14, ZEPI_SCALAR_INT16, NULL}};
static const char *const kernels[] = {"use_all", "use_some"};

static void *native_of(zepi_module_t executable, size_t *out_size_bytes)
{
    *out_size_bytes = 0;
    TEST_OK(zepi.module_get_native_binary(executable, gear.device, out_size_bytes, NULL));
    void *bytes = malloc(*out_size_bytes);
    TEST_OK(zepi.module_get_native_binary(executable, gear.device, out_size_bytes, bytes));
    return bytes;
}

// The native image of emulated.cl in a state.
static zepi_image_desc_t emulated_image(zepi_module_state_t state)
{
    zepi_module_t executable = test_executable(gear.context, "emulated");
    zepi_image_desc_t image = {.size = sizeof(image),
                               .format = ZEPI_IMAGE_NATIVE,
                               .state = state,
                               .emulated_constants = constants,
                               .emulated_constant_count = 5,
                               .emulated_kernels = kernels,
                               .emulated_kernel_count = 2};
    image.bytes = native_of(executable, &image.size_bytes);
    TEST_OK(zepi.release(executable));
    return image;
}

static int64_t *allocate(size_t count)
{
    int64_t *memory;
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, count * 8, 0,
                              (void **)&memory));
    memset(memory, 0, count * 8);
    return memory;
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
    zepi_image_desc_t image = emulated_image(ZEPI_MODULE_INPUT);
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
    free((void *)image.bytes);
}

Test(emulation, gives_each_of_many_launches_in_flight_its_own_values)
{
    enum { LAUNCHES = 64 };
    zepi_image_desc_t image = emulated_image(ZEPI_MODULE_EXECUTABLE);
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
    free((void *)image.bytes);
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
    zepi_image_desc_t images[3] = {test_spirv_image("scaled_copy")};
    zepi_module_t source = test_input(gear.context, "scaled_copy");
    for (int i = 0; i < 2; i++) {
        zepi_module_t executable;
        TEST_OK(zepi.spec_constant_set(source, 7, 4, &made_with[i]));
        TEST_OK(zepi.module_build(source, NULL, &executable));
        images[1 + i] = (zepi_image_desc_t){.size = sizeof(images[0]),
                                            .format = ZEPI_IMAGE_NATIVE,
                                            .state = ZEPI_MODULE_INPUT,
                                            .baked_values = &baked[i],
                                            .baked_value_count = 1};
        images[1 + i].bytes = native_of(executable, &images[1 + i].size_bytes);
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
    // Without SPIR-V: what there is, is listed.
    zepi_module_t input;
    zepi_module_t executable;
    const int32_t other = 9;
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 2, images + 1, &input));
    TEST_OK(zepi.spec_constant_set(input, 7, 4, &other));
    TEST_FAILS_SAYING(zepi.module_build(input, NULL, &executable), ZEPI_ERROR_COMPILE_FAILURE,
                      "native made with 7 = 0x2 native made with 7 = 0x3");
    TEST_OK(zepi.release(input));
    free((void *)images[1].bytes);
    free((void *)images[2].bytes);
}

Test(emulation, counts_the_hidden_argument)
{
    zepi_image_desc_t image = emulated_image(ZEPI_MODULE_EXECUTABLE);
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
    free((void *)image.bytes);
}

Test(emulation, is_told_for_each_image_and_for_the_module)
{
    zepi_image_desc_t images[2] = {emulated_image(ZEPI_MODULE_INPUT), test_spirv_image("negate")};
    zepi_module_t input;
    zepi_image_t listed[2];
    uint32_t count;
    zepi_module_info_t module = {.size = sizeof(module)};
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 2, images, &input));
    TEST_OK(zepi.module_get_info(input, &module));
    cr_assert(module.has_spec_constants && !module.has_native_spec_constants);
    TEST_OK(zepi.module_get_images(input, 2, listed, &count));
    cr_assert_eq(count, 2);
    for (uint32_t i = 0; i < 2; i++) {
        zepi_image_info_t info = {.size = sizeof(info)};
        TEST_OK(zepi.image_get_info(listed[i], &info));
        const bool is_native = info.format == ZEPI_IMAGE_NATIVE;
        cr_assert_eq(info.has_spec_constants, is_native);
        cr_assert_eq(info.has_native_spec_constants, !is_native);
        TEST_OK(zepi.release(listed[i]));
    }
    TEST_OK(zepi.release(input));
    free((void *)images[0].bytes);
}
