// SPDX-License-Identifier: MIT
#include "test_env.h"
#include "test_plugin.h"
#include "test_ze_cpu.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define MAX 16

static zepi_platform_t platform;
static zepi_device_t devices[MAX];
static uint32_t device_count;
static struct test_ze_cpu ze_cpu;

static void bring_up(void)
{
    uint32_t count;
    ze_cpu = test_ze_cpu_use();
    test_plugin_load();
    TEST_OK(zepi.platform_get(1, &platform, &count));
    TEST_OK(zepi.device_get(platform, MAX, devices, &device_count));
}

static void tear_down(void)
{
    for (uint32_t i = 0; i < device_count; i++)
        TEST_OK(zepi.release(devices[i]));
    TEST_OK(zepi.release(platform));
}

static void bring_up_two_with_halves(void)
{
    setenv("ZE_CPU_DEVICES", "2", 1);
    setenv("CreateMultipleRootDevices", "2", 1); // of Intel's driver
    setenv("ZE_CPU_SUB_DEVICES", "2", 1);
    bring_up();
}

// No driver that tells of free memory by itself.
static void bring_up_without_usable_memory(void)
{
    setenv("ZE_CPU_WITHOUT", "ZE_extension_device_usablemem_size_properties", 1);
    bring_up();
}

static void bring_up_with_system_management(void)
{
    setenv("ZE_CPU_WITHOUT", "ZE_extension_device_usablemem_size_properties", 1);
    setenv("ZES_ENABLE_SYSMAN", "1", 1);
    bring_up_two_with_halves();
}

TestSuite(bring_up, .init = bring_up, .fini = tear_down);
TestSuite(two_devices, .init = bring_up_two_with_halves, .fini = tear_down);
TestSuite(a_driver_without_free_memory, .init = bring_up_without_usable_memory, .fini = tear_down);
TestSuite(system_management, .init = bring_up_with_system_management, .fini = tear_down);

Test(bring_up, describes_platform_and_device)
{
    zepi_platform_info_t info = {.size = sizeof(info)};
    zepi_device_info_t device = {.size = sizeof(device)};
    TEST_OK(zepi.platform_get_info(platform, &info));
    cr_assert(info.is_ze_cpu);
    cr_assert_not_null(info.native_handle);
    TEST_OK(zepi.device_get_info(devices[0], &device));
    cr_assert_eq(device.platform, platform);
    cr_assert_null(device.parent);
    cr_assert_eq(device.type, ZEPI_DEVICE_TYPE_GPU);
    cr_assert(strstr(device.name, "CPU"));
    cr_assert_gt(device.max_group_size, 0);
    cr_assert_gt(device.global_memory_bytes, 0);
    cr_assert_gt(device.sub_group_size_count, 0);
    cr_assert(device.has_module_program && device.has_linkage_inspection);
}

Test(bring_up, writes_no_more_of_a_structure_than_the_host_knows)
{
    zepi_device_info_t info;
    memset(&info, 0x5a, sizeof(info));
    info.size = offsetof(zepi_device_info_t, name);
    TEST_OK(zepi.device_get_info(devices[0], &info));
    cr_assert_eq(info.size, offsetof(zepi_device_info_t, name));
    cr_assert_eq(info.platform, platform);
    cr_assert_eq((unsigned char)info.name[0], 0x5a);
    info.size = 0;
    TEST_FAILS_SAYING(zepi.device_get_info(devices[0], &info), ZEPI_ERROR_INVALID_SIZE, "size");
}

static zepi_device_info_t info_of(zepi_device_t device)
{
    zepi_device_info_t info = {.size = sizeof(info)};
    TEST_OK(zepi.device_get_info(device, &info));
    return info;
}

Test(bring_up, tells_how_much_memory_is_free)
{
    const zepi_device_info_t info = info_of(devices[0]);
    cr_assert(info.free_memory_bytes > 0 && info.free_memory_bytes <= info.global_memory_bytes);
}

Test(bring_up, asks_for_free_memory_only_if_the_host_knows_the_member)
{
    zepi_device_info_t info = {.size = offsetof(zepi_device_info_t, free_memory_bytes)};
    test_ze_cpu_require();
    ze_cpu.reset_counts();
    TEST_OK(zepi.device_get_info(devices[0], &info));
    cr_assert_eq(ze_cpu.get_count("*"), 0);
}

// With a loader that has it, system management tells.
Test(a_driver_without_free_memory, comes_up_and_says_0)
{
    void *loader = dlopen("libze_loader.so.1", RTLD_NOW);
    test_ze_cpu_require();
    cr_assert_eq(device_count, 1);
    cr_assert_eq(info_of(devices[0]).free_memory_bytes > 0,
                 dlsym(loader, "zesDriverGetDeviceByUuidExp") != NULL);
    dlclose(loader);
}

Test(system_management, tells_the_free_memory_of_a_device_and_of_its_parts)
{
    zepi_device_t halves[MAX];
    uint32_t count;
    test_ze_cpu_require();
    TEST_OK(zepi.device_get_sub_devices(devices[1], MAX, halves, &count));
    const uint64_t of_half = info_of(halves[1]).free_memory_bytes;
    const uint64_t of_whole = info_of(devices[1]).free_memory_bytes;
    cr_assert(of_half > 0 && of_half < of_whole);
    cr_assert(of_whole <= info_of(devices[1]).global_memory_bytes);
    cr_assert_eq(ze_cpu.get_count("zesInit"), 0);
    for (uint32_t i = 0; i < count; i++)
        TEST_OK(zepi.release(halves[i]));
}

// A driver that has none of it: the answer is 0, and no failure.
Test(system_management, that_does_not_tell_is_no_failure)
{
    static const char *const missing[] = {
        "zesDeviceEnumMemoryModules:*:ZE_RESULT_ERROR_UNINITIALIZED",
        "zesDeviceEnumMemoryModules:*:ZE_RESULT_ERROR_UNSUPPORTED_FEATURE",
        "zesMemoryGetState:*:ZE_RESULT_ERROR_NOT_AVAILABLE"};
    test_ze_cpu_require();
    for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++) {
        cr_assert_eq(ze_cpu.set_fail(missing[i]), 0);
        cr_assert_eq(info_of(devices[0]).free_memory_bytes, 0, "%s", missing[i]);
    }
    ze_cpu.set_fail("");
    cr_assert_gt(info_of(devices[0]).free_memory_bytes, 0);
}

Test(bring_up, clocks_run)
{
    uint64_t host[2];
    uint64_t device[2];
    TEST_OK(zepi.device_get_time(devices[0], &host[0], &device[0]));
    TEST_OK(zepi.device_get_time(devices[0], &host[1], &device[1]));
    cr_assert_geq(host[1], host[0]);
    cr_assert_geq(device[1], device[0]);
}

Test(two_devices, are_listed_with_their_sub_devices)
{
    zepi_device_t halves[MAX];
    uint32_t count;
    zepi_device_info_t info = {.size = sizeof(info)};
    cr_assert_eq(device_count, 2);
    TEST_OK(zepi.device_get_sub_devices(devices[1], MAX, halves, &count));
    cr_assert_eq(count, 2);
    TEST_OK(zepi.device_get_info(halves[1], &info));
    cr_assert_eq(info.parent, devices[1]);
    TEST_OK(zepi.release(halves[0]));
    TEST_OK(zepi.release(halves[1]));
    TEST_OK(zepi.device_get_info(devices[1], &info));
    cr_assert_eq(info.sub_device_count, 2);
}

Test(two_devices, lists_are_cut_at_their_capacity)
{
    zepi_device_t some[2] = {NULL, NULL};
    uint32_t count;
    TEST_OK(zepi.device_get(platform, 1, some, &count));
    cr_assert_eq(count, 2);
    cr_assert_eq(some[0], devices[0]);
    cr_assert_null(some[1]);
    TEST_OK(zepi.release(some[0]));
    TEST_FAILS(zepi.device_get(platform, 1, NULL, &count), ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.device_get(platform, 0, NULL, NULL), ZEPI_ERROR_INVALID_VALUE);
}

Test(two_devices, of_one_context_run_one_executable_each)
{
    zepi_context_t context;
    TEST_OK(zepi.context_create(2, devices, &context));
    zepi_module_t module = test_executable(context, "scaled_copy");
    zepi_kernel_t kernel;
    TEST_OK(zepi.module_get_kernel(module, "scaled_copy_int", &kernel));
    // One compile for both, since they are the same device.
    cr_assert_eq(ze_cpu.get_count("compile:spirv"), 1, "%d compiles, %d loads",
                 (int)ze_cpu.get_count("compile:spirv"), (int)ze_cpu.get_count("compile:native"));
    for (int i = 0; i < 2; i++) {
        zepi_queue_t queue;
        int32_t *memory[2];
        TEST_OK(zepi.queue_create(context, devices[i], ZEPI_QUEUE_IN_ORDER, &queue));
        for (int at = 0; at < 2; at++)
            TEST_OK(zepi.usm_allocate(context, devices[i], ZEPI_USM_SHARED, 16, 0,
                                      (void **)&memory[at]));
        memcpy(memory[0], (int32_t[]){1, 2, 3, i}, 16);
        const zepi_argument_t arguments[] = {TEST_POINTER(memory[0]), TEST_POINTER(memory[1])};
        const zepi_launch_desc_t launch = test_launch(kernel, 2, arguments, 4);
        TEST_OK(zepi.queue_launch(queue, &launch, TEST_NO_WAIT, NULL));
        TEST_OK(zepi.queue_finish(queue));
        cr_assert_eq(memcmp(memory[0], memory[1], 16), 0);
        TEST_OK(zepi.usm_free(context, memory[0]));
        TEST_OK(zepi.usm_free(context, memory[1]));
        TEST_OK(zepi.release(queue));
    }
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.release(module));
    TEST_OK(zepi.release(context));
    cr_assert_eq(ze_cpu.get_live_objects(), 0);
}

Test(two_devices, must_be_different_and_of_one_platform_in_a_context)
{
    zepi_context_t context;
    const zepi_device_t twice[2] = {devices[0], devices[0]};
    TEST_FAILS_SAYING(zepi.context_create(2, twice, &context), ZEPI_ERROR_INVALID_VALUE,
                      "the same");
    TEST_FAILS(zepi.context_create(0, devices, &context), ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.context_create(2, NULL, &context), ZEPI_ERROR_INVALID_VALUE);
    TEST_OK(zepi.context_create(1, devices, &context));
    zepi_queue_t queue;
    TEST_FAILS_SAYING(zepi.queue_create(context, devices[1], 0, &queue), ZEPI_ERROR_INVALID_OBJECT,
                      "not one of the context's");
    TEST_OK(zepi.release(context));
}

Test(two_devices, a_native_context_is_used_and_left_alone_unless_given_away)
{
    zepi_context_t owner;
    zepi_context_t guest;
    void *native;
    void *same;
    TEST_OK(zepi.context_create(1, devices, &owner));
    TEST_OK(zepi.context_get_native(owner, &native));
    TEST_OK(zepi.context_create_from_native(native, 1, devices, ZEPI_OWNERSHIP_KEEP, &guest));
    TEST_OK(zepi.context_get_native(guest, &same));
    cr_assert_eq(native, same);
    void *memory;
    TEST_OK(zepi.usm_allocate(guest, NULL, ZEPI_USM_HOST, 64, 0, &memory));
    TEST_OK(zepi.usm_free(guest, memory));
    TEST_OK(zepi.release(guest));
    TEST_OK(zepi.usm_allocate(owner, NULL, ZEPI_USM_HOST, 64, 0, &memory));
    TEST_OK(zepi.usm_free(owner, memory));
    TEST_OK(zepi.release(owner));
    cr_assert_eq(ze_cpu.get_live_objects(), 0);
}
