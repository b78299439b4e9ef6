// SPDX-License-Identifier: MIT
// One compile for everyone: threads, contexts, devices, sub-devices, launches, kernels.
#include "gear_fixture.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 16

static void set_up_two_devices(void)
{
    setenv("ZE_CPU_DEVICES", "2", 1);
    setenv("CreateMultipleRootDevices", "2", 1); // of Intel's driver
    gear_set_up();
}

static void set_up_sub_devices(void)
{
    setenv("ZE_CPU_SUB_DEVICES", "2", 1);
    gear_set_up();
}

TestSuite(cache_sharing, .init = gear_set_up, .fini = gear_tear_down, .timeout = 60);
TestSuite(cache_two_devices, .init = set_up_two_devices, .fini = gear_tear_down, .timeout = 60);
TestSuite(cache_sub_devices, .init = set_up_sub_devices, .fini = gear_tear_down, .timeout = 60);

static uint64_t compiles(void)
{
    return ze_cpu.get_count("compile:spirv");
}

static uint64_t loads(void)
{
    return ze_cpu.get_count("compile:native");
}

// ---- Threads ----

struct builder {
    pthread_t thread;
    zepi_context_t context;
    int32_t value;
    zepi_module_t executable;
};

static pthread_barrier_t all_are_ready;

static void *build_at_once(void *user)
{
    struct builder *builder = user;
    zepi_module_t input = test_input(builder->context, "scaled_copy");
    TEST_OK(zepi.spec_constant_set(input, 7, sizeof(builder->value), &builder->value));
    pthread_barrier_wait(&all_are_ready);
    TEST_OK(zepi.module_build(input, NULL, &builder->executable));
    TEST_OK(zepi.release(input));
    return NULL;
}

static void build_in_threads(struct builder *builders, unsigned context_count,
                             const zepi_context_t *contexts, unsigned value_count)
{
    pthread_barrier_init(&all_are_ready, NULL, THREADS);
    for (unsigned i = 0; i < THREADS; i++) {
        builders[i] = (struct builder){.context = contexts[i % context_count],
                                       .value = 5 + (int32_t)(i / context_count % value_count)};
        cr_assert_eq(pthread_create(&builders[i].thread, NULL, build_at_once, &builders[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(builders[i].thread, NULL);
    pthread_barrier_destroy(&all_are_ready);
}

static bool have_same_code(zepi_module_t a, zepi_module_t b)
{
    zepi_device_image_desc_t left = test_native_image(a, gear.device, ZEPI_MODULE_EXECUTABLE);
    zepi_device_image_desc_t right = test_native_image(b, gear.device, ZEPI_MODULE_EXECUTABLE);
    const bool is_same = left.size_bytes == right.size_bytes &&
                         memcmp(left.bytes, right.bytes, left.size_bytes) == 0;
    test_native_image_finish(&left);
    test_native_image_finish(&right);
    return is_same;
}

Test(cache_sharing, sixteen_threads_that_ask_for_one_key_compile_once)
{
    struct builder builders[THREADS];
    const char *logs[2];
    build_in_threads(builders, 1, &gear.context, 1);
    cr_assert_eq(compiles(), 1);
    cr_assert_eq(loads(), 0);
    for (int i = 0; i < THREADS; i++) {
        cr_assert(have_same_code(builders[0].executable, builders[i].executable));
        TEST_OK(zepi.module_get_build_log(builders[0].executable, gear.device, &logs[0]));
        TEST_OK(zepi.module_get_build_log(builders[i].executable, gear.device, &logs[1]));
        cr_assert_str_eq(logs[0], logs[1]);
    }
    zepi_cache_counters_t counters = {.size = sizeof(counters)};
    TEST_OK(zepi.cache_get_counters(gear.context, ZEPI_CACHE_MODULES, &counters));
    cr_assert_eq(counters.builds, 1);
    cr_assert_eq(counters.misses, 1);
    cr_assert_eq(counters.hits + counters.misses, THREADS);
    cr_assert_leq(counters.waits, counters.hits);
    for (int i = 0; i < THREADS; i++)
        TEST_OK(zepi.release(builders[i].executable));
}

Test(cache_sharing, each_of_several_keys_is_compiled_once_in_two_contexts)
{
    struct builder builders[THREADS];
    zepi_context_t contexts[2] = {gear.context};
    TEST_OK(zepi.context_create(1, &gear.device, &contexts[1]));
    build_in_threads(builders, 2, contexts, 4);
    cr_assert_eq(compiles(), 4);
    // The context that did not compile loads what the other one made.
    cr_assert_eq(loads(), 4);
    for (int i = 0; i < THREADS; i++)
        TEST_OK(zepi.release(builders[i].executable));
    TEST_OK(zepi.release(contexts[1]));
}

Test(cache_sharing, a_context_takes_the_code_of_one_that_is_gone)
{
    for (int i = 0; i < 3; i++) {
        zepi_context_t context;
        TEST_OK(zepi.context_create(1, &gear.device, &context));
        TEST_OK(zepi.release(test_executable(context, "scaled_copy")));
        TEST_OK(zepi.release(context));
        cr_assert_eq(compiles(), 1);
        cr_assert_eq(loads(), (uint64_t)i);
    }
}

// ---- Devices ----

// scaled_copy_int with factor 3 on a device.
static void run_on(zepi_context_t context, zepi_device_t device, zepi_module_t executable)
{
    int32_t *memory;
    zepi_queue_t queue;
    zepi_kernel_t kernel;
    TEST_OK(zepi.queue_create(context, device, ZEPI_QUEUE_IN_ORDER, &queue));
    TEST_OK(zepi.usm_allocate(context, device, ZEPI_USM_SHARED, 64, 0, (void **)&memory));
    TEST_OK(zepi.module_get_kernel(executable, "scaled_copy_int", &kernel));
    memory[0] = 14;
    const zepi_argument_t arguments[] = {TEST_POINTER(memory), TEST_POINTER(memory + 1)};
    const zepi_launch_desc_t launch = test_launch(kernel, 2, arguments, 1);
    TEST_OK(zepi.queue_launch(queue, &launch, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(queue));
    cr_assert_eq(memory[1], 42);
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.usm_free(context, memory));
    TEST_OK(zepi.release(queue));
}

static zepi_module_t build_times_three(zepi_context_t context)
{
    const int32_t three = 3;
    zepi_module_t executable;
    zepi_module_t input = test_input(context, "scaled_copy");
    TEST_OK(zepi.spec_constant_set(input, 7, sizeof(three), &three));
    TEST_OK(zepi.module_build(input, NULL, &executable));
    TEST_OK(zepi.release(input));
    return executable;
}

// One context of all of them, then one of each.
static void build_for(uint32_t count, const zepi_device_t *devices)
{
    zepi_context_t context;
    TEST_OK(zepi.context_create(count, devices, &context));
    zepi_module_t executable = build_times_three(context);
    for (uint32_t i = 0; i < count; i++)
        run_on(context, devices[i], executable);
    cr_assert_eq(compiles(), 1);
    cr_assert_eq(loads(), count - 1);
    TEST_OK(zepi.release(executable));
    TEST_OK(zepi.release(context));
    for (uint32_t i = 0; i < count; i++) {
        TEST_OK(zepi.context_create(1, &devices[i], &context));
        executable = build_times_three(context);
        run_on(context, devices[i], executable);
        TEST_OK(zepi.release(executable));
        TEST_OK(zepi.release(context));
    }
    cr_assert_eq(compiles(), 1);
    cr_assert_eq(loads(), 2 * count - 1);
}

Test(cache_two_devices, of_one_identity_share_one_compile)
{
    zepi_device_t devices[2];
    uint32_t count;
    TEST_OK(zepi.device_get(gear.platform, 2, devices, &count));
    cr_assert_eq(count, 2);
    build_for(2, devices);
    for (int i = 0; i < 2; i++)
        TEST_OK(zepi.release(devices[i]));
}

Test(cache_sub_devices, share_one_compile_with_their_root)
{
    zepi_device_t devices[3] = {gear.device};
    uint32_t count;
    TEST_OK(zepi.device_get_sub_devices(gear.device, 2, devices + 1, &count));
    cr_assert_eq(count, 2);
    build_for(3, devices);
    for (int i = 1; i < 3; i++)
        TEST_OK(zepi.release(devices[i]));
}

// A context of the whole device is its parts' context, too.
Test(cache_sub_devices, run_what_was_built_for_the_whole)
{
    zepi_device_t parts[2];
    uint32_t count;
    int32_t *memory;
    zepi_queue_t queue;
    zepi_kernel_t kernel;
    zepi_usm_info_t info = {.size = sizeof(info)};
    TEST_OK(zepi.device_get_sub_devices(gear.device, 2, parts, &count));
    zepi_module_t executable = build_times_three(gear.context);
    TEST_OK(zepi.module_get_kernel(executable, "scaled_copy_int", &kernel));
    TEST_OK(zepi.queue_create(gear.context, parts[1], 0, &queue));
    TEST_OK(zepi.usm_allocate(gear.context, parts[1], ZEPI_USM_SHARED, 8, 0, (void **)&memory));
    TEST_OK(zepi.usm_get_info(gear.context, memory, &info));
    cr_assert_eq(info.device, parts[1]);
    memory[0] = 14;
    const zepi_argument_t arguments[] = {TEST_POINTER(memory), TEST_POINTER(memory + 1)};
    const zepi_launch_desc_t launch = test_launch(kernel, 2, arguments, 1);
    TEST_OK(zepi.queue_launch(queue, &launch, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(queue));
    cr_assert_eq(memory[1], 42);
    cr_assert_eq(compiles(), 1);
    cr_assert_eq(loads(), 0);
    TEST_OK(zepi.usm_free(gear.context, memory));
    TEST_OK(zepi.release(queue));
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.release(executable));
    for (int i = 0; i < 2; i++)
        TEST_OK(zepi.release(parts[i]));
}

Test(cache_sub_devices, launch_by_name_with_an_input)
{
    zepi_device_t parts[2];
    uint32_t count;
    int32_t *memory;
    zepi_queue_t queue;
    const zepi_device_image_desc_t image = test_spirv_image("empty");
    TEST_OK(zepi.device_get_sub_devices(gear.device, 2, parts, &count));
    TEST_OK(zepi.queue_create(gear.context, parts[1], 0, &queue));
    TEST_OK(zepi.usm_allocate(gear.context, NULL, ZEPI_USM_HOST, 4, 0, (void **)&memory));
    TEST_OK(zepi.unit_register("unit", 1, &image));
    const zepi_argument_t argument = TEST_POINTER(memory);
    zepi_launch_desc_t launch = test_launch(NULL, 1, &argument, 1);
    launch.kernel_name = "touch";
    launch.unit = "unit";
    TEST_OK(zepi.queue_launch(queue, &launch, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(queue));
    TEST_OK(zepi.unit_unregister("unit"));
    TEST_OK(zepi.usm_free(gear.context, memory));
    TEST_OK(zepi.release(queue));
    for (int i = 0; i < 2; i++)
        TEST_OK(zepi.release(parts[i]));
}

// ---- The two use cases ----

Test(cache_sharing, a_thousand_launches_of_one_kernel_over_different_buffers_compile_once)
{
    int32_t *memory;
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, 2000 * sizeof(*memory), 0,
                              (void **)&memory));
    for (int i = 0; i < 1000; i++) {
        zepi_kernel_t kernel;
        zepi_module_t executable = build_times_three(gear.context);
        TEST_OK(zepi.module_get_kernel(executable, "scaled_copy_int", &kernel));
        memory[2 * i] = i;
        const zepi_argument_t arguments[] = {TEST_POINTER(memory + 2 * i),
                                             TEST_POINTER(memory + 2 * i + 1)};
        const zepi_launch_desc_t launch = test_launch(kernel, 2, arguments, 1);
        TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL));
        TEST_OK(zepi.release(kernel));
        TEST_OK(zepi.release(executable));
    }
    TEST_OK(zepi.queue_finish(gear.queue));
    for (int i = 0; i < 1000; i++)
        cr_assert_eq(memory[2 * i + 1], 3 * i);
    cr_assert_eq(compiles(), 1);
    cr_assert_eq(ze_cpu.get_count("zeModuleCreate"), 1);
    // One handle serves them all: it is free when the next launch begins.
    cr_assert_eq(ze_cpu.get_count("zeKernelCreate"), 1);
    TEST_OK(zepi.usm_free(gear.context, memory));
}

Test(cache_sharing, twenty_kernels_of_one_program_compile_once)
{
    int32_t *data;
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, 4, 0, (void **)&data));
    *data = 0;
    for (int round = 0; round < 2; round++) {
        for (int i = 1; i <= 20; i++) {
            char name[16];
            zepi_kernel_t kernel;
            zepi_module_t executable = test_executable(gear.context, "twenty_kernels");
            snprintf(name, sizeof(name), "add_%d", i);
            TEST_OK(zepi.module_get_kernel(executable, name, &kernel));
            const zepi_argument_t argument = TEST_POINTER(data);
            const zepi_launch_desc_t launch = test_launch(kernel, 1, &argument, 1);
            TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL));
            TEST_OK(zepi.release(kernel));
            TEST_OK(zepi.release(executable));
        }
    }
    TEST_OK(zepi.queue_finish(gear.queue));
    cr_assert_eq(*data, 2 * 210);
    cr_assert_eq(compiles(), 1);
    cr_assert_eq(ze_cpu.get_count("zeModuleCreate"), 1);
    cr_assert_eq(ze_cpu.get_count("zeKernelCreate"), 20);
    TEST_OK(zepi.usm_free(gear.context, data));
}
