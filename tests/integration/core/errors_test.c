// SPDX-License-Identifier: MIT
// Mistakes of a host, and their errors.
#include "gear_fixture.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static zepi_module_t module;
static zepi_kernel_t kernel; // sum_groups(in, local, sums)
static int32_t *memory;

static void set_up(void)
{
    gear_set_up();
    module = test_executable(gear.context, "arguments");
    TEST_OK(zepi.module_get_kernel(module, "sum_groups", &kernel));
    TEST_OK(
        zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, 4096, 0, (void **)&memory));
}

static void tear_down(void)
{
    TEST_OK(zepi.usm_free(gear.context, memory));
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.release(module));
    gear_tear_down();
}

TestSuite(errors, .init = set_up, .fini = tear_down);

// Launches with a changed argument or size; the launch must fail so, and a good one work
// afterwards.
struct launch {
    zepi_argument_t arguments[3];
    zepi_launch_desc_t desc;
};

static void make_good(struct launch *launch)
{
    launch->arguments[0] = TEST_POINTER(memory);
    launch->arguments[1] = (zepi_argument_t){.kind = ZEPI_ARGUMENT_LOCAL, .size_bytes = 64};
    launch->arguments[2] = TEST_POINTER(memory + 512);
    launch->desc = test_launch(kernel, 3, launch->arguments, 16);
    launch->desc.group_size[0] = 16;
}

static void expect(struct launch *launch, zepi_result_t result, const char *words)
{
    zepi_event_t event = NULL;
    TEST_FAILS_SAYING(zepi.queue_launch(gear.queue, &launch->desc, TEST_NO_WAIT, &event), result,
                      words);
    cr_assert_null(event);
    make_good(launch);
    TEST_OK(zepi.queue_launch(gear.queue, &launch->desc, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
}

Test(errors, of_arguments_name_the_argument_and_what_was_expected)
{
    struct launch launch;
    int32_t value = 5;
    make_good(&launch);
    launch.desc.argument_count = 2;
    expect(&launch, ZEPI_ERROR_INVALID_SIZE, "'sum_groups' has 3 arguments, got 2");
    launch.desc.arguments = NULL;
    expect(&launch, ZEPI_ERROR_INVALID_VALUE, "NULL");
    launch.arguments[0] = TEST_VALUE(value);
    expect(&launch, ZEPI_ERROR_INVALID_VALUE, "argument 0");
    launch.arguments[1] = TEST_POINTER(memory);
    expect(&launch, ZEPI_ERROR_INVALID_VALUE, "argument 1 of kernel 'sum_groups' is local memory");
    launch.arguments[1].size_bytes = 0;
    expect(&launch, ZEPI_ERROR_INVALID_SIZE, "0 bytes");
    launch.arguments[2].size_bytes = 4;
    expect(&launch, ZEPI_ERROR_INVALID_SIZE, "pointer of 4 bytes");
    launch.arguments[2].kind = (zepi_argument_kind_t)77;
    expect(&launch, ZEPI_ERROR_INVALID_VALUE, "77");
    launch.arguments[2].reserved = 8;
    expect(&launch, ZEPI_ERROR_INVALID_VALUE,
           "argument 2 of kernel 'sum_groups' has 8 in its reserved member, expected 0");
}

Test(errors, of_value_sizes_say_both_sizes)
{
    zepi_kernel_t values;
    int64_t wide = 1;
    zepi_argument_t arguments[8];
    TEST_OK(zepi.module_get_kernel(module, "store_values", &values));
    for (int i = 0; i < 8; i++)
        arguments[i] = TEST_VALUE(wide);
    const zepi_launch_desc_t launch = test_launch(values, 8, arguments, 1);
    TEST_FAILS_SAYING(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL),
                      ZEPI_ERROR_INVALID_SIZE, "has 1 bytes, got 8");
    TEST_OK(zepi.release(values));
}

Test(errors, of_sizes_say_what_does_not_fit)
{
    struct launch launch;
    make_good(&launch);
    launch.desc.group_size[0] = 7;
    expect(&launch, ZEPI_ERROR_INVALID_SIZE, "no multiple of the group size 7");
    launch.desc.group_size[0] = 1u << 20;
    launch.desc.global_size[0] = 1u << 20;
    expect(&launch, ZEPI_ERROR_INVALID_SIZE, "the device takes at most");
    launch.desc.work_dim = 2;
    launch.desc.global_size[1] = 1;
    expect(&launch, ZEPI_ERROR_INVALID_SIZE, "is 0 in 1 of 2 dimensions");
    launch.desc.work_dim = 0;
    expect(&launch, ZEPI_ERROR_INVALID_VALUE, "expected 1 to 3");
    launch.desc.work_dim = 4;
    expect(&launch, ZEPI_ERROR_INVALID_VALUE, "work_dim is 4");
    launch.desc.global_size[0] = (size_t)1 << 37;
    expect(&launch, ZEPI_ERROR_INVALID_SIZE, "makes 8589934592 groups of 16, beyond 32 bits");
    launch.desc.size = 8;
    expect(&launch, ZEPI_ERROR_INVALID_SIZE, "size of the launch description");
    launch.desc.flags = 0x80;
    expect(&launch, ZEPI_ERROR_INVALID_VALUE, "0x80");
}

Test(errors, of_images_say_what_is_wrong_with_them)
{
    zepi_module_t made = NULL;
    zepi_device_image_desc_t good = test_spirv_image("negate");
    const struct {
        zepi_device_image_desc_t image;
        zepi_result_t result;
        const char *words;
    } cases[] = {
        {{.size = sizeof(good),
          .format = ZEPI_DEVICE_IMAGE_SPIRV,
          .state = ZEPI_MODULE_INPUT,
          .bytes = "this is no SPIR-V...",
          .size_bytes = 20},
         ZEPI_ERROR_COMPILE_FAILURE,
         "not valid SPIR-V"},
        {{.size = 8}, ZEPI_ERROR_INVALID_SIZE, "size of the image description"},
        {{.size = sizeof(good),
          .format = 9,
          .state = ZEPI_MODULE_INPUT,
          .bytes = "x",
          .size_bytes = 1},
         ZEPI_ERROR_INVALID_VALUE,
         "format 9"},
        {{.size = sizeof(good),
          .format = ZEPI_DEVICE_IMAGE_SPIRV,
          .state = ZEPI_MODULE_OBJECT,
          .bytes = "x",
          .size_bytes = 1},
         ZEPI_ERROR_INVALID_VALUE,
         "always input"},
        {{.size = sizeof(good), .format = ZEPI_DEVICE_IMAGE_SPIRV, .state = ZEPI_MODULE_INPUT},
         ZEPI_ERROR_INVALID_VALUE,
         "NULL"},
        {{.size = sizeof(good),
          .format = ZEPI_DEVICE_IMAGE_SPIRV,
          .state = ZEPI_MODULE_INPUT,
          .bytes = "x"},
         ZEPI_ERROR_INVALID_SIZE,
         "no bytes"},
        {{.size = sizeof(good),
          .format = ZEPI_DEVICE_IMAGE_NATIVE,
          .state = ZEPI_MODULE_EXECUTABLE,
          .bytes = "x",
          .size_bytes = 1},
         ZEPI_ERROR_WRONG_STATE,
         "declared executable"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        TEST_FAILS_SAYING(
            zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 1, &cases[i].image, &made),
            cases[i].result, cases[i].words);
        cr_assert_null(made);
    }
    TEST_FAILS(zepi.module_create(gear.context, 9, 0, NULL, &made), ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 1, NULL, &made),
               ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 1, &good, NULL),
               ZEPI_ERROR_INVALID_VALUE);
}

// Calls one function of each kind with `handle` in place of every object.
static void use_everywhere(void *handle)
{
    char room[1024];
    size_t size = sizeof(room);
    uint32_t count;
    void *out;
    bool flag;
    memcpy(room, &size, sizeof(size));
#define REFUSED(call) TEST_FAILS(call, ZEPI_ERROR_INVALID_OBJECT)
    REFUSED(zepi.retain(handle));
    REFUSED(zepi.release(handle));
    REFUSED(zepi.platform_get_info(handle, (zepi_platform_info_t *)room));
    REFUSED(zepi.device_get(handle, 0, NULL, &count));
    REFUSED(zepi.device_get_info(handle, (zepi_device_info_t *)room));
    REFUSED(zepi.device_get_sub_devices(handle, 0, NULL, &count));
    REFUSED(zepi.context_create(1, (zepi_device_t *)&handle, (zepi_context_t *)&out));
    REFUSED(zepi.context_get_devices(handle, 0, NULL, &count));
    REFUSED(zepi.context_get_native(handle, &out));
    REFUSED(zepi.usm_allocate(handle, NULL, ZEPI_USM_HOST, 8, 0, &out));
    REFUSED(zepi.usm_free(handle, memory));
    REFUSED(zepi.usm_get_info(handle, memory, (zepi_usm_info_t *)room));
    REFUSED(zepi.queue_create(handle, gear.device, 0, (zepi_queue_t *)&out));
    REFUSED(zepi.queue_create(gear.context, handle, 0, (zepi_queue_t *)&out));
    REFUSED(zepi.queue_finish(handle));
    REFUSED(zepi.queue_get_info(handle, (zepi_queue_info_t *)room));
    REFUSED(zepi.queue_copy(handle, memory, memory, 4, TEST_NO_WAIT, NULL));
    REFUSED(zepi.queue_fill(handle, memory, memory, 4, 4, TEST_NO_WAIT, NULL));
    REFUSED(zepi.queue_barrier(handle, TEST_NO_WAIT, NULL));
    REFUSED(zepi.queue_barrier(gear.queue, (zepi_wait_list_t){(zepi_event_t *)&handle, 1}, NULL));
    REFUSED(zepi.event_create(handle, (zepi_event_t *)&out));
    REFUSED(zepi.event_signal(handle));
    REFUSED(zepi.event_wait(1, (zepi_event_t *)&handle, 0));
    REFUSED(zepi.event_get_status(handle, (zepi_event_status_t *)room));
    REFUSED(zepi.module_create(handle, ZEPI_MODULE_INPUT, 0, NULL, (zepi_module_t *)&out));
    REFUSED(zepi.module_build(handle, NULL, (zepi_module_t *)&out));
    REFUSED(zepi.module_get_info(handle, (zepi_module_info_t *)room));
    REFUSED(zepi.module_has_kernel(handle, "x", &flag));
    REFUSED(zepi.module_get_kernel(handle, "x", (zepi_kernel_t *)&out));
    REFUSED(zepi.device_image_get_info(handle, (zepi_device_image_info_t *)room));
    REFUSED(zepi.spec_constant_set(handle, 1, 4, memory));
    REFUSED(zepi.spec_constant_get(handle, NULL, 1, 4, room));
    REFUSED(zepi.kernel_get_info(handle, gear.device, (zepi_kernel_info_t *)room));
    REFUSED(zepi.cache_set_limits(handle, (zepi_cache_limits_t *)room));
#undef REFUSED
}

Test(errors, of_handles_are_told_for_null_released_and_foreign_ones)
{
    zepi_event_t released;
    _Alignas(16) char foreign[256] = {0};
    use_everywhere(NULL);
    TEST_OK(zepi.event_create(gear.context, &released));
    TEST_OK(zepi.release(released));
    use_everywhere(released);
    use_everywhere(foreign);
    use_everywhere(foreign + 1);
    TEST_FAILS_SAYING(zepi.queue_finish((zepi_queue_t)module), ZEPI_ERROR_INVALID_OBJECT,
                      "not a queue");
}

Test(errors, of_kernels_of_another_context_are_told)
{
    zepi_context_t other;
    zepi_queue_t queue;
    struct launch launch;
    make_good(&launch);
    TEST_OK(zepi.context_create(1, &gear.device, &other));
    TEST_OK(zepi.queue_create(other, gear.device, 0, &queue));
    TEST_FAILS_SAYING(zepi.queue_launch(queue, &launch.desc, TEST_NO_WAIT, NULL),
                      ZEPI_ERROR_INVALID_OBJECT, "another context");
    TEST_OK(zepi.release(queue));
    TEST_OK(zepi.release(other));
}

Test(errors, keep_the_last_text_of_each_thread)
{
    zepi_result_t result;
    TEST_FAILS(zepi.queue_finish(NULL), ZEPI_ERROR_INVALID_OBJECT);
    TEST_OK(zepi.queue_finish(gear.queue));
    cr_assert(strstr(zepi.last_error(&result), "queue"));
    cr_assert_eq(result, ZEPI_ERROR_INVALID_OBJECT);
    cr_assert_str_eq(zepi.result_name(result), "ZEPI_ERROR_INVALID_OBJECT");
}
