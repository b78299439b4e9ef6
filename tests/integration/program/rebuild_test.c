// SPDX-License-Identifier: MIT
// Programs that a host releases and makes again: the build is found in the cache, nothing is
// compiled again, and the new objects work like the first ones.
#include "gear_fixture.h"

#include <criterion/criterion.h>
#include <string.h>

#define CONSTANT 7 // of tests/data/scaled_copy.cl, an int that is 1 by default

static int32_t *memory;

static void set_up(void)
{
    gear_set_up();
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, 64, 0, (void **)&memory));
}

static void tear_down(void)
{
    TEST_OK(zepi.usm_free(gear.context, memory));
    gear_tear_down();
}

TestSuite(rebuild, .init = set_up, .fini = tear_down, .timeout = 60);

struct program {
    zepi_module_t input;
    zepi_module_t executable;
    zepi_kernel_t kernel;
};

static struct program make(zepi_context_t context, int32_t value, const zepi_build_desc_t *desc)
{
    struct program program;
    program.input = test_input(context, "scaled_copy");
    TEST_OK(zepi.spec_constant_set(program.input, CONSTANT, sizeof(value), &value));
    TEST_OK(zepi.module_build(program.input, desc, &program.executable));
    TEST_OK(zepi.module_get_kernel(program.executable, "scaled_copy_int", &program.kernel));
    return program;
}

static void drop(const struct program *program)
{
    TEST_OK(zepi.release(program->kernel));
    TEST_OK(zepi.release(program->executable));
    TEST_OK(zepi.release(program->input));
}

static int32_t scale(const struct program *program, int32_t number)
{
    const zepi_argument_t arguments[] = {TEST_POINTER(memory), TEST_POINTER(memory + 1)};
    const zepi_launch_desc_t desc = test_launch(program->kernel, 2, arguments, 1);
    memory[0] = number;
    TEST_OK(zepi.queue_launch(gear.queue, &desc, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    return memory[1];
}

// Made and released before.
static struct program make_known(int32_t value)
{
    const struct program program = make(gear.context, value, NULL);
    drop(&program);
    return make(gear.context, value, NULL);
}

static zepi_cache_counters_t counters(void)
{
    zepi_cache_counters_t found = {.size = sizeof(found)};
    TEST_OK(zepi.cache_get_counters(gear.context, ZEPI_CACHE_MODULES, &found));
    return found;
}

Test(rebuild, the_same_program_is_not_compiled_again)
{
    const struct program before = make(gear.context, 5, NULL);
    cr_assert_eq(scale(&before, 3), 15);
    drop(&before);
    const uint64_t modules = ze_cpu.get_count("zeModuleCreate");
    const uint64_t kernels = ze_cpu.get_count("zeKernelCreate");
    for (int i = 0; i < 10; i++) {
        const struct program after = make(gear.context, 5, NULL);
        cr_assert_eq(scale(&after, i), 5 * i);
        drop(&after);
    }
    cr_assert_eq(ze_cpu.get_count("zeModuleCreate"), modules);
    cr_assert_eq(ze_cpu.get_count("zeKernelCreate"), kernels);
}

Test(rebuild, other_values_make_another)
{
    struct program program = make_known(5);
    drop(&program);
    for (int32_t value = 2; value < 8; value++) {
        program = make(gear.context, value, NULL);
        cr_assert_eq(scale(&program, 10), 10 * value);
        int32_t built;
        TEST_OK(zepi.spec_constant_get(program.executable, NULL, CONSTANT, sizeof(built), &built));
        cr_assert_eq(built, value);
        drop(&program);
    }
}

Test(rebuild, an_input_has_no_values_of_before)
{
    struct program program = make_known(5);
    drop(&program);
    program.input = test_input(gear.context, "scaled_copy");
    int32_t value;
    TEST_OK(zepi.spec_constant_get(program.input, NULL, CONSTANT, sizeof(value), &value));
    cr_assert_eq(value, 1);
    TEST_OK(zepi.module_build(program.input, NULL, &program.executable));
    TEST_OK(zepi.module_get_kernel(program.executable, "scaled_copy_int", &program.kernel));
    cr_assert_eq(scale(&program, 9), 9);
    drop(&program);
}

Test(rebuild, what_was_released_is_no_handle)
{
    const struct program program = make_known(5);
    zepi_module_info_t info = {.size = sizeof(info)};
    zepi_kernel_t kernel;
    drop(&program);
    TEST_FAILS(zepi.module_get_info(program.input, &info), ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(zepi.module_get_info(program.executable, &info), ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(zepi.module_get_kernel(program.executable, "scaled_copy_int", &kernel),
               ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(zepi.release(program.executable), ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(zepi.retain(program.input), ZEPI_ERROR_INVALID_OBJECT);
}

Test(rebuild, every_build_is_a_lookup)
{
    struct program program = make_known(5);
    drop(&program);
    const zepi_cache_counters_t before = counters();
    for (int i = 0; i < 10; i++) {
        program = make(gear.context, 5, NULL);
        drop(&program);
    }
    const zepi_cache_counters_t after = counters();
    cr_assert_eq(after.hits, before.hits + 10);
    cr_assert_eq(after.misses, before.misses);
    cr_assert_eq(after.builds, 1);
}

Test(rebuild, two_at_once_are_two)
{
    const struct program first = make_known(5);
    const struct program second = make(gear.context, 5, NULL);
    cr_assert_neq(first.input, second.input);
    cr_assert_neq(first.executable, second.executable);
    // Of the first one's input, not of another with the same bytes.
    for (int i = 0; i < 4; i++) {
        zepi_module_t executable;
        zepi_device_image_t inputs, executables;
        uint32_t count;
        int32_t value;
        const zepi_module_t input = i % 2 == 0 ? first.input : second.input;
        TEST_OK(zepi.module_build(input, NULL, &executable));
        TEST_OK(zepi.module_get_device_images(input, 1, &inputs, &count));
        TEST_OK(zepi.module_get_device_images(executable, 1, &executables, &count));
        cr_assert_neq(inputs, executables);
        TEST_OK(zepi.spec_constant_get(executable, inputs, CONSTANT, sizeof(value), &value));
        cr_assert_eq(value, 5);
        TEST_OK(zepi.release(inputs));
        TEST_OK(zepi.release(executables));
        TEST_OK(zepi.release(executable));
    }
    drop(&first);
    drop(&second);
}

Test(rebuild, contexts_keep_their_own)
{
    struct program program = make_known(5);
    zepi_context_t other;
    zepi_module_info_t info = {.size = sizeof(info)};
    drop(&program);
    TEST_OK(zepi.context_create(1, &gear.device, &other));
    for (int i = 0; i < 6; i++) {
        const zepi_context_t context = i % 2 == 0 ? other : gear.context;
        program = make(context, 5, NULL);
        TEST_OK(zepi.module_get_info(program.input, &info));
        cr_assert_eq(info.context, context);
        TEST_OK(zepi.module_get_info(program.executable, &info));
        cr_assert_eq(info.context, context);
        drop(&program);
    }
    TEST_OK(zepi.release(other));
}

Test(rebuild, trimming_gives_everything_up)
{
    const uint64_t live = ze_cpu.get_live_objects();
    struct program program = make_known(5);
    drop(&program);
    cr_assert_gt(ze_cpu.get_live_objects(), live);
    TEST_OK(zepi.cache_trim(gear.context, 0));
    cr_assert_eq(ze_cpu.get_live_objects(), live);
    program = make_known(5);
    drop(&program);
    TEST_OK(zepi.cache_clear(gear.context));
    cr_assert_eq(ze_cpu.get_live_objects(), live);
    program = make_known(5);
    cr_assert_eq(scale(&program, 2), 10);
    drop(&program);
}

Test(rebuild, what_the_cache_forgot_is_built_again)
{
    const struct program held = make_known(5);
    const zepi_cache_counters_t before = counters();
    TEST_OK(zepi.cache_clear(gear.context));
    drop(&held);
    const struct program program = make(gear.context, 5, NULL);
    cr_assert_eq(counters().misses, before.misses + 1);
    cr_assert_eq(counters().hits, before.hits);
    cr_assert_eq(scale(&program, 7), 35);
    drop(&program);
}

Test(rebuild, what_is_too_large_for_the_cache_is_destroyed)
{
    zepi_cache_limits_t limits = {.size = sizeof(limits)};
    TEST_OK(zepi.cache_get_limits(gear.context, &limits));
    limits.memory_bytes = 1;
    TEST_OK(zepi.cache_set_limits(gear.context, &limits));
    const uint64_t live = ze_cpu.get_live_objects();
    const struct program program = make_known(5);
    drop(&program);
    cr_assert_eq(ze_cpu.get_live_objects(), live);
}

static uint32_t count_inputs(void)
{
    uint32_t count;
    TEST_OK(zepi.context_get_modules(gear.context, ZEPI_MODULE_INPUT, 0, NULL, &count));
    return count;
}

Test(rebuild, modules_are_listed_until_their_release)
{
    static const char unit;
    const zepi_device_image_desc_t images[] = {test_spirv_image("scaled_copy"),
                                               test_spirv_image("vector_add")};
    const zepi_argument_t arguments[] = {TEST_POINTER(memory), TEST_POINTER(memory + 1)};
    zepi_launch_desc_t desc = test_launch(NULL, 2, arguments, 1);
    struct program program = make_known(5);
    cr_assert_eq(count_inputs(), 1);
    drop(&program);
    cr_assert_eq(count_inputs(), 0);
    // Launches by name make modules for themselves.
    TEST_OK(zepi.unit_register(&unit, 2, images));
    desc.unit = &unit;
    desc.kernel_name = "scaled_copy_int";
    for (int i = 0; i < 3; i++) {
        TEST_OK(zepi.queue_launch(gear.queue, &desc, TEST_NO_WAIT, NULL));
        const uint32_t before = count_inputs();
        program = make(gear.context, 5, NULL);
        cr_assert_eq(count_inputs(), before + 1);
        drop(&program);
        cr_assert_eq(count_inputs(), before);
    }
    TEST_OK(zepi.queue_finish(gear.queue));
    TEST_OK(zepi.unit_unregister(&unit));
}

Test(rebuild, the_bytes_of_a_program_count_in_the_limits)
{
    const zepi_device_image_desc_t image = test_spirv_image("scaled_copy");
    const uint64_t before = counters().bytes;
    size_t native_bytes = 0;
    const struct program program = make(gear.context, 5, NULL);
    TEST_OK(zepi.module_get_native_binary(program.executable, gear.device, &native_bytes, NULL));
    cr_assert_gt(native_bytes, 0);
    cr_assert_geq(counters().bytes - before, native_bytes + image.size_bytes);
    drop(&program);
}

Test(rebuild, limits_hold_while_programs_come_and_go)
{
    zepi_cache_limits_t limits = {.size = sizeof(limits)};
    struct program program = make_known(5);
    drop(&program);
    TEST_OK(zepi.cache_get_limits(gear.context, &limits));
    // A module and its kernel.
    limits.memory_entries = 2;
    TEST_OK(zepi.cache_set_limits(gear.context, &limits));
    for (int32_t value = 5; value < 9; value++) {
        program = make_known(value);
        drop(&program);
        program = make(gear.context, value + 10, NULL);
        drop(&program);
        cr_assert_leq(counters().entries, 2);
    }
    limits.memory_entries = 0;
    TEST_OK(zepi.cache_set_limits(gear.context, &limits));
    uint64_t live = 0;
    // The first launch brings what the queue keeps.
    for (int round = 0; round < 2; round++) {
        live = ze_cpu.get_live_objects();
        program = make_known(5);
        cr_assert_eq(scale(&program, 2), 10);
        drop(&program);
    }
    cr_assert_eq(ze_cpu.get_live_objects(), live);
}

Test(rebuild, native_handles_may_be_asked_for_each_time)
{
    const struct program program = make_known(5);
    void *native;
    TEST_OK(zepi.module_get_native(program.executable, gear.device, &native));
    drop(&program);
    const struct program after = make(gear.context, 5, NULL);
    cr_assert_eq(scale(&after, 6), 30);
    void *another;
    TEST_OK(zepi.module_get_native(after.executable, gear.device, &another));
    drop(&after);
}

// ---- Logs ----

struct log {
    int calls;
    char text[4096];
};

static void take_log(void *data, zepi_device_t device, const char *text, size_t size_bytes)
{
    struct log *log = data;
    cr_assert_eq(device, gear.device);
    cr_assert_lt(size_bytes, sizeof(log->text));
    memcpy(log->text, text, size_bytes);
    log->text[size_bytes] = '\0';
    log->calls++;
}

Test(rebuild, logs_come_with_every_build)
{
    struct log log = {0};
    zepi_build_desc_t desc = {.size = sizeof(desc), .log = take_log, .log_data = &log};
    char first[sizeof(log.text)];
    struct program program = make(gear.context, 5, &desc);
    drop(&program);
    cr_assert_eq(log.calls, 1);
    cr_assert_gt(strlen(log.text), 0);
    memcpy(first, log.text, sizeof(first));
    for (int i = 0; i < 6; i++) {
        log.text[0] = '\0';
        // Another one in between, whose log the thread has then.
        const struct program other = make(gear.context, 6 + i % 2, NULL);
        drop(&other);
        program = make(gear.context, 5, &desc);
        cr_assert_eq(log.calls, i + 2);
        cr_assert_str_eq(log.text, first);
        cr_assert_str_eq(zepi.last_build_log(), first);
        const char *kept;
        TEST_OK(zepi.module_get_build_log(program.executable, gear.device, &kept));
        cr_assert_str_eq(kept, first);
        drop(&program);
    }
    desc.flags = ZEPI_BUILD_LOG_FAILURES;
    for (int i = 0; i < 4; i++) {
        program = make(gear.context, 5, &desc);
        cr_assert_str_eq(zepi.last_build_log(), first);
        drop(&program);
    }
    program = make(gear.context, 50, &desc);
    drop(&program);
    cr_assert_eq(log.calls, 7);
}

Test(rebuild, logs_of_failures_are_asked_for_alone)
{
    struct log log = {0};
    const zepi_build_desc_t desc = {.size = sizeof(desc),
                                    .options = "-no-such-option",
                                    .flags = ZEPI_BUILD_LOG_FAILURES,
                                    .log = take_log,
                                    .log_data = &log};
    const zepi_module_t input = test_input(gear.context, "scaled_copy");
    zepi_module_t executable;
    for (int i = 0; i < 3; i++) {
        TEST_FAILS(zepi.module_build(input, &desc, &executable), ZEPI_ERROR_COMPILE_FAILURE);
        cr_assert_eq(log.calls, i + 1);
        cr_assert(strstr(log.text, "no-such-option"));
    }
    TEST_OK(zepi.release(input));
}
