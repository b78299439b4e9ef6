// SPDX-License-Identifier: MIT
// The plugin on a real device compiler: Debian's Intel driver, which compiles and executes nothing.
#include "test_env.h"
#include "test_plugin.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct test_gear gear;

static void bring_up(const char *family)
{
    test_env_use_intel_capture(family);
    test_plugin_load();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
}

static void bring_up_tgllp(void)
{
    bring_up("tgllp");
}

static void bring_up_skl(void)
{
    bring_up("skl");
}

static void tear_down(void)
{
    test_gear_destroy(&gear);
}

TestSuite(capture, .init = bring_up_tgllp, .fini = tear_down);
TestSuite(capture_skl, .init = bring_up_skl, .fini = tear_down);

static struct test_bytes native_of(zepi_module_t input)
{
    struct test_bytes native = {0};
    zepi_module_t executable;
    TEST_OK(zepi.module_build(input, NULL, &executable));
    TEST_OK(zepi.module_get_native_binary(executable, gear.device, &native.size_bytes, NULL));
    native.data = malloc(native.size_bytes);
    TEST_OK(
        zepi.module_get_native_binary(executable, gear.device, &native.size_bytes, native.data));
    TEST_OK(zepi.release(executable));
    return native;
}

// Chosen by its version, 22.43, which has neither staged copies nor in-order lists.
Test(capture, has_quirks_of_its_version)
{
    zepi_platform_info_t info = {.size = sizeof(info)};
    if (getenv("ZEPI_QUIRKS"))
        cr_skip_test("ZEPI_QUIRKS is set");
    TEST_OK(zepi.platform_get_info(gear.platform, &info));
    if (strcmp(info.driver_version, "1.3.24595") != 0)
        cr_skip_test("the driver is not 22.43");
    cr_assert_str_eq(info.quirks, "times-stay-on-device,untold-native-format");
}

static bool is_same(const struct test_bytes *a, const struct test_bytes *b)
{
    return a->size_bytes == b->size_bytes && memcmp(a->data, b->data, a->size_bytes) == 0;
}

Test(capture, other_values_give_other_code_and_equal_values_the_same)
{
    const int32_t values[3] = {5, 9, 5};
    struct test_bytes native[3];
    for (int i = 0; i < 3; i++) {
        zepi_module_t input = test_input(gear.context, "scaled_copy");
        TEST_OK(zepi.spec_constant_set(input, 7, sizeof(values[i]), &values[i]));
        native[i] = native_of(input);
        TEST_OK(zepi.release(input));
    }
    cr_assert(!is_same(&native[0], &native[1]));
    cr_assert(is_same(&native[0], &native[2]));
    for (int i = 0; i < 3; i++)
        free(native[i].data);
}

Test(capture, unknown_ids_do_not_reach_the_driver)
{
    const int32_t value = 5;
    zepi_module_t input = test_input(gear.context, "scaled_copy");
    TEST_FAILS_SAYING(zepi.spec_constant_set(input, 99, sizeof(value), &value),
                      ZEPI_ERROR_SPEC_CONSTANT_UNKNOWN, "99");
    TEST_OK(zepi.release(input));
}

Test(capture, truncated_modules_do_not_reach_the_driver)
{
    zepi_device_image_desc_t image = test_spirv_image("scaled_copy");
    zepi_module_t input;
    while (--image.size_bytes > 0)
        TEST_FAILS(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 1, &image, &input),
                   ZEPI_ERROR_COMPILE_FAILURE);
}

static void launch_negate(zepi_event_t *out_event)
{
    int32_t *memory;
    zepi_kernel_t kernel;
    zepi_module_t module = test_executable(gear.context, "negate");
    TEST_OK(zepi.module_get_kernel(module, "negate", &kernel));
    TEST_OK(
        zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_DEVICE, 4096, 0, (void **)&memory));
    const zepi_argument_t argument = TEST_POINTER(memory);
    const zepi_launch_desc_t launch = test_launch(kernel, 1, &argument, 256);
    for (int i = 0; i < 10; i++)
        TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, out_event));
    TEST_OK(zepi.queue_finish(gear.queue));
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.release(module));
    TEST_OK(zepi.usm_free(gear.context, memory));
}

Test(capture, launches_complete_through_waits)
{
    zepi_event_t event;
    launch_negate(&event);
    TEST_OK(zepi.event_wait(1, &event, UINT64_MAX));
    TEST_OK(zepi.release(event));
}

Test(capture, out_of_order_queues_work_too)
{
    TEST_OK(zepi.release(gear.queue));
    TEST_OK(zepi.queue_create(gear.context, gear.device, 0, &gear.queue));
    zepi_event_t event;
    launch_negate(&event);
    TEST_OK(zepi.queue_barrier(gear.queue, (zepi_wait_list_t){&event, 1}, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    TEST_OK(zepi.release(event));
}

Test(capture, a_kernel_tells_about_itself)
{
    zepi_kernel_t kernel;
    zepi_kernel_info_t info = {.size = sizeof(info)};
    zepi_module_t module = test_executable(gear.context, "arguments");
    TEST_OK(zepi.module_get_kernel(module, "sum_groups", &kernel));
    TEST_OK(zepi.kernel_get_info(kernel, gear.device, &info));
    cr_assert_eq(info.argument_count, 3);
    cr_assert_gt(info.max_sub_group_size, 0);
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.release(module));
}

Test(capture, an_import_that_nobody_defines_is_a_link_failure_that_names_it)
{
    zepi_module_t executable;
    zepi_module_t input = test_input(gear.context, "unresolved_import");
    TEST_FAILS_SAYING(zepi.module_build(input, NULL, &executable), ZEPI_ERROR_LINK_FAILURE,
                      "'nobody_defines_this'");
    TEST_OK(zepi.release(input));
}

Test(capture, native_code_comes_back_as_an_executable)
{
    zepi_module_t input = test_input(gear.context, "negate");
    struct test_bytes native = native_of(input);
    const zepi_device_image_desc_t image = {.size = sizeof(image),
                                            .format = ZEPI_DEVICE_IMAGE_NATIVE,
                                            .state = ZEPI_MODULE_EXECUTABLE,
                                            .bytes = native.data,
                                            .size_bytes = native.size_bytes};
    zepi_module_t executable;
    bool has;
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_EXECUTABLE, 1, &image, &executable));
    TEST_OK(zepi.module_has_kernel(executable, "negate", &has));
    cr_assert(has);
    TEST_OK(zepi.release(executable));
    TEST_OK(zepi.release(input));
    free(native.data);
}

Test(capture_skl, compiles_double_precision)
{
    const double value = 2.5;
    zepi_module_t input = test_input(gear.context, "scaled_copy_double");
    zepi_module_t executable;
    TEST_OK(zepi.spec_constant_set(input, 1, sizeof(value), &value));
    TEST_OK(zepi.module_build(input, NULL, &executable));
    TEST_OK(zepi.release(executable));
    TEST_OK(zepi.release(input));
}
