// SPDX-License-Identifier: MIT
// From SPIR-V to numbers: specialization constants, builds, logs, names, native code.
#include "gear_fixture.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(module, .init = gear_set_up, .fini = gear_tear_down);

// Runs show_constants of tests/data/scaled_copy.cl: char 11, short 5, int 7, long 2, bool 13,
// float 3.
static void show(zepi_module_t executable, int64_t out[6])
{
    zepi_kernel_t kernel;
    int64_t *memory;
    TEST_OK(zepi.module_get_kernel(executable, "show_constants", &kernel));
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, 48, 0, (void **)&memory));
    const zepi_argument_t argument = TEST_POINTER(memory);
    const zepi_launch_desc_t launch = test_launch(kernel, 1, &argument, 1);
    TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    memcpy(out, memory, 48);
    TEST_OK(zepi.usm_free(gear.context, memory));
    TEST_OK(zepi.release(kernel));
}

static void build_and_show(zepi_module_t input, int64_t out[6])
{
    zepi_module_t executable;
    TEST_OK(zepi.module_build(input, NULL, &executable));
    show(executable, out);
    TEST_OK(zepi.release(executable));
}

static int64_t bits_of(float value)
{
    int32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

Test(module, has_the_defaults_of_its_spirv)
{
    int64_t found[6];
    zepi_module_t input = test_input(gear.context, "scaled_copy");
    build_and_show(input, found);
    const int64_t expected[6] = {-1, -2, 1, -4, 1, bits_of(1)};
    cr_assert_eq(memcmp(found, expected, sizeof(found)), 0);
    TEST_OK(zepi.release(input));
}

Test(module, builds_with_constants_of_every_type_at_their_real_size)
{
    const int8_t a = 100;
    const int16_t b = -30000;
    const int32_t c = -2000000000;
    const int64_t d = INT64_C(-9000000000000000000);
    const uint8_t e = 0;
    const float f = -0.5f;
    const zepi_spec_value_t values[] = {{11, 1, &a}, {5, 2, &b},  {7, 4, &c},
                                        {2, 8, &d},  {13, 1, &e}, {3, 4, &f}};
    int64_t found[6];
    zepi_module_t input = test_input(gear.context, "scaled_copy");
    TEST_OK(zepi.spec_constant_set_many(input, 6, values));
    build_and_show(input, found);
    const int64_t expected[6] = {a, b, c, d, e, bits_of(f)};
    cr_assert_eq(memcmp(found, expected, sizeof(found)), 0);
    TEST_OK(zepi.release(input));
}

Test(module, takes_the_last_value_and_leaves_what_was_built_alone)
{
    int64_t found[6];
    zepi_module_t first;
    zepi_module_t input = test_input(gear.context, "scaled_copy");
    for (int32_t value = 5; value < 8; value++)
        TEST_OK(zepi.spec_constant_set(input, 7, sizeof(value), &value));
    TEST_OK(zepi.module_build(input, NULL, &first));
    const int32_t later = 100;
    int32_t read;
    TEST_OK(zepi.spec_constant_set(input, 7, sizeof(later), &later));
    show(first, found);
    cr_assert_eq(found[2], 7);
    TEST_OK(zepi.spec_constant_get(first, NULL, 7, sizeof(read), &read));
    cr_assert_eq(read, 7);
    build_and_show(input, found);
    cr_assert_eq(found[2], 100);
    TEST_OK(zepi.spec_constant_get(input, NULL, 7, sizeof(read), &read));
    cr_assert_eq(read, 100);
    TEST_FAILS_SAYING(zepi.spec_constant_set(first, 7, sizeof(later), &later),
                      ZEPI_ERROR_SPEC_CONSTANT_NOT_SETTABLE, "executable");
    TEST_OK(zepi.release(first));
    TEST_OK(zepi.release(input));
}

Test(module, lists_its_constants_by_id)
{
    zepi_spec_constant_t constants[8];
    uint32_t count;
    static const uint32_t ids[] = {2, 3, 5, 7, 11, 13};
    static const size_t sizes[] = {8, 4, 2, 4, 1, 1};
    zepi_module_t input = test_input(gear.context, "scaled_copy");
    zepi_module_info_t info = {.size = sizeof(info)};
    TEST_OK(zepi.spec_constant_list(input, NULL, 8, constants, &count));
    cr_assert_eq(count, 6);
    for (uint32_t i = 0; i < 6; i++) {
        cr_assert_eq(constants[i].id, ids[i]);
        cr_assert_eq(constants[i].size_bytes, sizes[i]);
        cr_assert(constants[i].is_native && !constants[i].is_set);
    }
    cr_assert_eq(constants[1].type, ZEPI_SCALAR_FLOAT32);
    cr_assert_eq(constants[5].type, ZEPI_SCALAR_BOOL);
    TEST_OK(zepi.module_get_info(input, &info));
    cr_assert(info.has_spec_constants && info.has_native_spec_constants);
    cr_assert_eq(info.spec_constant_count, 6);
    TEST_OK(zepi.release(input));
}

Test(module, refuses_constants_that_are_wrong)
{
    const int64_t value = 1;
    zepi_module_t input = test_input(gear.context, "scaled_copy");
    TEST_FAILS_SAYING(zepi.spec_constant_set(input, 99, 4, &value),
                      ZEPI_ERROR_SPEC_CONSTANT_UNKNOWN, "2 (uint64), 3 (float32), 5 (uint16)");
    TEST_FAILS_SAYING(zepi.spec_constant_set(input, 99, 4, &value),
                      ZEPI_ERROR_SPEC_CONSTANT_UNKNOWN, "99");
    TEST_FAILS_SAYING(zepi.spec_constant_set(input, 7, 8, &value), ZEPI_ERROR_SPEC_CONSTANT_SIZE,
                      "expected a value of 4 bytes, got 8");
    TEST_FAILS(zepi.spec_constant_set(input, 7, 4, NULL), ZEPI_ERROR_INVALID_VALUE);
    cr_assert(ZEPI_IS_COMPILE_FAILURE(ZEPI_ERROR_SPEC_CONSTANT_SIZE));
    // All or none.
    const zepi_spec_value_t values[] = {{7, 4, &value}, {5, 4, &value}};
    int32_t read;
    TEST_FAILS(zepi.spec_constant_set_many(input, 2, values), ZEPI_ERROR_SPEC_CONSTANT_SIZE);
    TEST_OK(zepi.spec_constant_get(input, NULL, 7, sizeof(read), &read));
    cr_assert_eq(read, 1);
    TEST_OK(zepi.release(input));
}

Test(module, refuses_to_build_without_a_required_constant)
{
    const uint32_t required[] = {7, 4242}; // the second one was dropped by the compiler
    const int32_t value = 6;
    zepi_device_image_desc_t image = test_spirv_image("scaled_copy");
    image.required_ids = required;
    image.required_id_count = 2;
    zepi_module_t input;
    zepi_module_t executable;
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 1, &image, &input));
    TEST_FAILS_SAYING(zepi.module_build(input, NULL, &executable),
                      ZEPI_ERROR_SPEC_CONSTANT_REQUIRED, "constant 7");
    TEST_OK(zepi.spec_constant_set(input, 7, sizeof(value), &value));
    TEST_OK(zepi.module_build(input, NULL, &executable));
    TEST_OK(zepi.release(executable));
    TEST_OK(zepi.release(input));
}

// A composite over the constants of scaled_copy.cl, as a C structure has them.
struct composite {
    int32_t number;  // id 7
    float scale;     // id 3
    int64_t large;   // id 2
    int16_t small;   // id 5
    int16_t padding; // kept as set
    int32_t dropped; // id 1000, which the compiler dropped
};

static const zepi_spec_element_t elements[] = {{2, offsetof(struct composite, large), 8},
                                               {3, offsetof(struct composite, scale), 4},
                                               {5, offsetof(struct composite, small), 2},
                                               {7, offsetof(struct composite, number), 4},
                                               {1000, offsetof(struct composite, dropped), 4}};

static zepi_result_t create_with_layout(zepi_spec_layout_t layout, zepi_module_t *out_input)
{
    zepi_device_image_desc_t image = test_spirv_image("scaled_copy");
    image.layouts = &layout;
    image.layout_count = 1;
    return zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 1, &image, out_input);
}

Test(module, sets_a_composite_by_its_name_in_one_call)
{
    const struct composite set = {9, 2.25f, -77, 321, 12345, 5};
    struct composite read;
    int64_t found[6];
    zepi_module_t input;
    const char *name;
    uint32_t count;
    TEST_OK(create_with_layout(
        (zepi_spec_layout_t){
            .name = "all", .size_bytes = sizeof(set), .elements = elements, .element_count = 5},
        &input));
    TEST_OK(zepi.spec_constant_list_names(input, 1, &name, &count));
    cr_assert_eq(count, 1);
    cr_assert_str_eq(name, "all");
    TEST_OK(zepi.spec_constant_get_by_name(input, NULL, "all", sizeof(read), &read));
    cr_assert(read.number == 1 && read.scale == 1.0f && read.large == -4 && read.small == -2);
    TEST_OK(zepi.spec_constant_set_by_name(input, "all", sizeof(set), &set));
    TEST_OK(zepi.spec_constant_get_by_name(input, NULL, "all", sizeof(read), &read));
    cr_assert_eq(memcmp(&set, &read, sizeof(set)), 0);
    build_and_show(input, found);
    const int64_t expected[6] = {-1, 321, 9, -77, 1, bits_of(2.25f)};
    cr_assert_eq(memcmp(found, expected, sizeof(found)), 0);
    TEST_FAILS_SAYING(zepi.spec_constant_set_by_name(input, "none", sizeof(set), &set),
                      ZEPI_ERROR_SPEC_CONSTANT_UNKNOWN, "'all'");
    TEST_FAILS_SAYING(zepi.spec_constant_set_by_name(input, "all", 4, &set),
                      ZEPI_ERROR_SPEC_CONSTANT_SIZE, "24 bytes, got 4");
    TEST_OK(zepi.release(input));
}

Test(module, takes_default_bytes_of_a_composite_before_the_literals)
{
    const struct composite defaults = {50, 3.5f, 60, 70, 0, 0};
    int64_t found[6];
    zepi_module_t input;
    TEST_OK(create_with_layout((zepi_spec_layout_t){.name = "all",
                                                    .size_bytes = sizeof(defaults),
                                                    .default_bytes = &defaults,
                                                    .elements = elements,
                                                    .element_count = 5},
                               &input));
    build_and_show(input, found);
    const int64_t expected[6] = {-1, 70, 50, 60, 1, bits_of(3.5f)};
    cr_assert_eq(memcmp(found, expected, sizeof(found)), 0);
    TEST_OK(zepi.release(input));
}

Test(module, refuses_layouts_that_do_not_hold_together)
{
    zepi_module_t input;
    zepi_spec_layout_t layout = {
        .name = "all", .size_bytes = 24, .elements = elements, .element_count = 5};
    zepi_spec_element_t wrong[2] = {{7, 0, 4}, {3, 2, 4}};
    layout.elements = wrong;
    layout.element_count = 2;
    TEST_FAILS_SAYING(create_with_layout(layout, &input), ZEPI_ERROR_INVALID_VALUE, "overlap");
    wrong[1].offset_bytes = 22;
    TEST_FAILS_SAYING(create_with_layout(layout, &input), ZEPI_ERROR_INVALID_SIZE, "outside");
    wrong[1] = (zepi_spec_element_t){3, SIZE_MAX, 4};
    TEST_FAILS(create_with_layout(layout, &input), ZEPI_ERROR_INVALID_SIZE);
    wrong[1] = (zepi_spec_element_t){3, 8, 8};
    TEST_FAILS(create_with_layout(layout, &input), ZEPI_ERROR_SPEC_CONSTANT_SIZE);
    layout.name = NULL;
    TEST_FAILS(create_with_layout(layout, &input), ZEPI_ERROR_INVALID_VALUE);
}

struct log {
    unsigned calls;
    char text[4096];
};

static void take_log(void *data, zepi_device_t device, const char *text, size_t size_bytes)
{
    struct log *log = data;
    cr_assert_eq(device, gear.device);
    log->calls++;
    if (size_bytes >= sizeof(log->text))
        size_bytes = sizeof(log->text) - 1;
    memcpy(log->text, text, size_bytes);
    log->text[size_bytes] = '\0';
}

Test(module, hands_out_the_whole_log_whether_it_was_built_now_or_before)
{
    struct log first = {0};
    struct log again = {0};
    const char *kept;
    zepi_build_desc_t desc = {.size = sizeof(desc), .log = take_log, .log_data = &first};
    zepi_module_t input = test_input(gear.context, "scaled_copy");
    zepi_module_t executable;
    TEST_OK(zepi.module_build(input, &desc, &executable));
    cr_assert_eq(first.calls, 1);
    cr_assert(first.text[0] != '\0');
    TEST_OK(zepi.module_get_build_log(executable, gear.device, &kept));
    cr_assert_eq(strncmp(kept, first.text, strlen(first.text)), 0);
    TEST_OK(zepi.release(executable));
    desc.log_data = &again;
    TEST_OK(zepi.module_build(input, &desc, &executable));
    cr_assert_eq(again.calls, 1);
    cr_assert_str_eq(again.text, first.text);
    cr_assert_str_eq(zepi.last_build_log(), kept);
    TEST_OK(zepi.release(executable));
    TEST_OK(zepi.release(input));
}

Test(module, compile_errors_come_with_the_log)
{
    struct log log = {0};
    const zepi_build_desc_t desc = {
        .size = sizeof(desc), .options = "-cl-no-such-option", .log = take_log, .log_data = &log};
    zepi_module_t input = test_input(gear.context, "scaled_copy");
    zepi_module_t executable = NULL;
    TEST_FAILS(zepi.module_build(input, &desc, &executable), ZEPI_ERROR_COMPILE_FAILURE);
    cr_assert_null(executable);
    cr_assert(strstr(log.text, "no-such-option"));
    cr_assert(strstr(zepi.last_build_log(), "no-such-option"));
    // At compile as well, each time it is asked for.
    for (int i = 0; i < 2; i++) {
        log.text[0] = '\0';
        TEST_FAILS(zepi.module_compile(input, &desc, &executable), ZEPI_ERROR_COMPILE_FAILURE);
        cr_assert_null(executable);
        cr_assert(strstr(log.text, "no-such-option"));
        cr_assert(strstr(zepi.last_build_log(), "no-such-option"));
    }
    const zepi_build_desc_t open = {.size = sizeof(open), .options = "-D \"open"};
    TEST_FAILS_SAYING(zepi.module_build(input, &open, &executable), ZEPI_ERROR_INVALID_VALUE,
                      "quote");
    TEST_OK(zepi.release(input));
}

Test(module, an_import_that_nobody_defines_is_a_link_failure_that_names_it)
{
    zepi_module_t executable;
    zepi_module_t input = test_input(gear.context, "unresolved_import");
    TEST_FAILS_SAYING(zepi.module_build(input, NULL, &executable), ZEPI_ERROR_LINK_FAILURE,
                      "'nobody_defines_this'");
    // The same answer from the cache.
    TEST_FAILS_SAYING(zepi.module_build(input, NULL, &executable), ZEPI_ERROR_LINK_FAILURE,
                      "'nobody_defines_this'");
    TEST_OK(zepi.release(input));
}

Test(module, knows_its_kernels)
{
    const char *names[4];
    uint32_t count;
    bool has;
    zepi_kernel_t kernel;
    zepi_module_t input = test_input(gear.context, "scaled_copy");
    TEST_OK(zepi.module_get_kernel_names(input, 4, names, &count));
    cr_assert_eq(count, 3);
    TEST_FAILS_SAYING(zepi.module_get_kernel(input, "scaled_copy_int", &kernel),
                      ZEPI_ERROR_WRONG_STATE, "input");
    zepi_module_t object;
    TEST_OK(zepi.module_compile(input, NULL, &object));
    for (int i = 0; i < 2; i++) {
        TEST_OK(zepi.module_has_kernel(i == 0 ? input : object, "show_constants", &has));
        cr_assert(has);
        TEST_OK(zepi.module_has_kernel(i == 0 ? input : object, "other", &has));
        cr_assert(!has);
    }
    TEST_FAILS_SAYING(zepi.module_get_kernel(object, "scaled_copy_int", &kernel),
                      ZEPI_ERROR_WRONG_STATE, "object");
    TEST_OK(zepi.release(object));
    zepi_module_t executable = test_executable(gear.context, "scaled_copy");
    TEST_OK(zepi.module_get_kernel_names(executable, 4, names, &count));
    cr_assert_eq(count, 3);
    TEST_OK(zepi.module_has_kernel(executable, "show_constants", &has));
    cr_assert(has);
    TEST_OK(zepi.module_has_kernel(executable, "other", &has));
    cr_assert(!has);
    TEST_FAILS_SAYING(zepi.module_get_kernel(executable, "other", &kernel),
                      ZEPI_ERROR_KERNEL_NOT_FOUND, "'show_constants'");
    TEST_OK(zepi.release(executable));
    TEST_OK(zepi.release(input));
}

Test(module, gives_native_code_that_it_takes_again)
{
    const int32_t value = 44;
    zepi_module_t input = test_input(gear.context, "scaled_copy");
    zepi_module_t executable;
    zepi_module_t again;
    size_t size = 0;
    int64_t found[6];
    TEST_FAILS(zepi.module_get_native_binary(input, gear.device, &size, NULL),
               ZEPI_ERROR_WRONG_STATE);
    TEST_OK(zepi.spec_constant_set(input, 7, sizeof(value), &value));
    TEST_OK(zepi.module_build(input, NULL, &executable));
    TEST_OK(zepi.module_get_native_binary(executable, gear.device, &size, NULL));
    cr_assert_gt(size, 0);
    uint8_t *bytes = malloc(size);
    size_t too_small = size - 1;
    TEST_FAILS(zepi.module_get_native_binary(executable, gear.device, &too_small, bytes),
               ZEPI_ERROR_INVALID_SIZE);
    TEST_OK(zepi.module_get_native_binary(executable, gear.device, &size, bytes));
    const zepi_device_image_desc_t image = {.size = sizeof(image),
                                            .format = ZEPI_DEVICE_IMAGE_NATIVE,
                                            .state = ZEPI_MODULE_EXECUTABLE,
                                            .bytes = bytes,
                                            .size_bytes = size};
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_EXECUTABLE, 1, &image, &again));
    show(again, found);
    cr_assert_eq(found[2], 44);
    TEST_OK(zepi.release(again));
    bytes[size / 2] ^= 1;
    TEST_FAILS_SAYING(zepi.module_create(gear.context, ZEPI_MODULE_EXECUTABLE, 1, &image, &again),
                      ZEPI_ERROR_COMPILE_FAILURE, "all devices of the context refuse image 0");
    free(bytes);
    TEST_OK(zepi.release(executable));
    TEST_OK(zepi.release(input));
}

Test(module, refuses_every_prefix_of_spirv_before_the_driver_sees_it)
{
    static const char *const names[] = {"vector_add", "scaled_copy", "arguments",        "negate",
                                        "exporter",   "importer",    "unresolved_import"};
    for (size_t at = 0; at < sizeof(names) / sizeof(names[0]); at++) {
        zepi_device_image_desc_t image = test_spirv_image(names[at]);
        const size_t whole = image.size_bytes;
        zepi_module_t input;
        for (image.size_bytes = 1; image.size_bytes < whole; image.size_bytes++)
            TEST_FAILS_SAYING(
                zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 1, &image, &input),
                ZEPI_ERROR_COMPILE_FAILURE, "not valid SPIR-V");
        image.size_bytes = whole;
        TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 1, &image, &input));
        TEST_OK(zepi.release(input));
    }
    cr_assert_eq(ze_cpu.get_count("zeModuleCreate"), 0);
}

Test(module, may_be_empty)
{
    zepi_module_t empty;
    zepi_module_t executable;
    zepi_module_info_t info = {.size = sizeof(info)};
    zepi_kernel_t kernel;
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 0, NULL, &empty));
    TEST_OK(zepi.module_build(empty, NULL, &executable));
    TEST_OK(zepi.module_get_info(executable, &info));
    cr_assert_eq(info.state, ZEPI_MODULE_EXECUTABLE);
    cr_assert(info.image_count == 0 && info.kernel_count == 0);
    cr_assert(!info.has_spec_constants && info.has_native_spec_constants);
    TEST_FAILS(zepi.module_get_kernel(executable, "any", &kernel), ZEPI_ERROR_KERNEL_NOT_FOUND);
    TEST_OK(zepi.release(executable));
    TEST_OK(zepi.release(empty));
}

Test(module, builds_with_constants_of_half_precision)
{
    const uint16_t minus_two = 0xc000;
    zepi_spec_constant_t constant;
    uint32_t count;
    uint16_t *out;
    zepi_module_t input = test_input(gear.context, "half_constant");
    zepi_module_t executable;
    zepi_kernel_t kernel;
    TEST_OK(zepi.spec_constant_list(input, NULL, 1, &constant, &count));
    cr_assert_eq(count, 1);
    cr_assert_eq(constant.type, ZEPI_SCALAR_FLOAT16);
    cr_assert_eq(constant.size_bytes, 2);
    TEST_OK(zepi.spec_constant_set(input, 4, 2, &minus_two));
    TEST_OK(zepi.module_build(input, NULL, &executable));
    TEST_OK(zepi.module_get_kernel(executable, "show_half", &kernel));
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, 2, 0, (void **)&out));
    const zepi_argument_t argument = TEST_POINTER(out);
    const zepi_launch_desc_t launch = test_launch(kernel, 1, &argument, 1);
    TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    cr_assert_eq(out[0], minus_two);
    TEST_OK(zepi.usm_free(gear.context, out));
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.release(executable));
    TEST_OK(zepi.release(input));
}

Test(module, once_built_launches_every_kernel_without_another_build)
{
    static const char *const names[] = {"scaled_copy_int", "scaled_copy_float", "show_constants"};
    int64_t *memory;
    zepi_module_t executable = test_executable(gear.context, "scaled_copy");
    const uint64_t modules = ze_cpu.get_count("zeModuleCreate");
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, 96, 0, (void **)&memory));
    for (int i = 0; i < 3; i++) {
        zepi_kernel_t kernel;
        const zepi_argument_t arguments[] = {TEST_POINTER(memory), TEST_POINTER(memory + 6)};
        TEST_OK(zepi.module_get_kernel(executable, names[i], &kernel));
        const zepi_launch_desc_t launch = test_launch(kernel, i < 2 ? 2 : 1, arguments, 1);
        TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL));
        TEST_OK(zepi.queue_finish(gear.queue));
        TEST_OK(zepi.release(kernel));
    }
    cr_assert_eq(ze_cpu.get_count("zeModuleCreate"), modules);
    cr_assert_eq(ze_cpu.get_count("zeModuleDynamicLink"), 0);
    TEST_OK(zepi.usm_free(gear.context, memory));
    TEST_OK(zepi.release(executable));
}
