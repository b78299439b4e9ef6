// SPDX-License-Identifier: MIT
// Limits, trimming and clearing through the table, with launches under way, and the cache off.
#include "gear_fixture.h"
#include "test_env.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static void set_up_off(void)
{
    setenv("ZEPI_CACHE", "off", 1);
    gear_set_up();
}

static void set_up_limited(void)
{
    setenv("ZEPI_CACHE_MEMORY_ENTRIES", "2", 1);
    setenv("ZEPI_CACHE_MEMORY_BYTES", "64M", 1);
    setenv("ZEPI_CACHE_BINARY_BYTES", "1M", 1);
    setenv("ZEPI_CACHE_DISK", "off", 1);
    gear_set_up();
}

TestSuite(cache_limits, .init = gear_set_up, .fini = gear_tear_down, .timeout = 60);
TestSuite(cache_off, .init = set_up_off, .fini = gear_tear_down, .timeout = 60);
TestSuite(cache_limits_of_the_environment, .init = set_up_limited, .fini = gear_tear_down,
          .timeout = 60);

static zepi_module_t build_with(int32_t value)
{
    zepi_module_t executable;
    zepi_module_t input = test_input(gear.context, "scaled_copy");
    TEST_OK(zepi.spec_constant_set(input, 7, sizeof(value), &value));
    TEST_OK(zepi.module_build(input, NULL, &executable));
    TEST_OK(zepi.release(input));
    return executable;
}

static zepi_cache_counters_t counters_of(zepi_cache_level_t level)
{
    zepi_cache_counters_t counters = {.size = sizeof(counters)};
    TEST_OK(zepi.cache_get_counters(gear.context, level, &counters));
    return counters;
}

static zepi_cache_limits_t limits(void)
{
    zepi_cache_limits_t found = {.size = sizeof(found)};
    TEST_OK(zepi.cache_get_limits(gear.context, &found));
    return found;
}

static uint64_t balance(const char *create, const char *destroy)
{
    return ze_cpu.get_count(create) - ze_cpu.get_count(destroy);
}

Test(cache_limits, the_least_recently_used_goes_first)
{
    zepi_cache_limits_t two = limits();
    two.memory_entries = 2;
    TEST_OK(zepi.cache_set_limits(gear.context, &two));
    TEST_OK(zepi.release(build_with(2)));
    TEST_OK(zepi.release(build_with(3)));
    TEST_OK(zepi.release(build_with(2)));
    TEST_OK(zepi.release(build_with(4)));
    cr_assert_eq(counters_of(ZEPI_CACHE_MODULES).entries, 2);
    cr_assert_eq(counters_of(ZEPI_CACHE_MODULES).evictions, 1);
    const uint64_t modules = ze_cpu.get_count("zeModuleCreate");
    // 3 went: 2 was used after it.
    TEST_OK(zepi.release(build_with(2)));
    TEST_OK(zepi.release(build_with(4)));
    cr_assert_eq(ze_cpu.get_count("zeModuleCreate"), modules);
    TEST_OK(zepi.release(build_with(3)));
    cr_assert_eq(ze_cpu.get_count("zeModuleCreate"), modules + 1);
    // Its native code was still there.
    cr_assert_eq(ze_cpu.get_count("compile:spirv"), 3);
}

Test(cache_limits, bytes_count_native_code_and_handles)
{
    zepi_module_t executable = build_with(2);
    size_t size = 0;
    TEST_OK(zepi.module_get_native_binary(executable, gear.device, &size, NULL));
    const uint64_t bytes = counters_of(ZEPI_CACHE_MODULES).bytes;
    cr_assert_gt(bytes, size);
    cr_assert_lt(bytes, size + 8192);
    zepi_kernel_t kernel;
    TEST_OK(zepi.module_get_kernel(executable, "scaled_copy_int", &kernel));
    cr_assert_geq(counters_of(ZEPI_CACHE_KERNELS).bytes, 4096);
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.release(executable));
    // A limit that the module alone exceeds.
    zepi_cache_limits_t small = limits();
    small.memory_bytes = size / 2;
    TEST_OK(zepi.cache_set_limits(gear.context, &small));
    cr_assert_eq(counters_of(ZEPI_CACHE_MODULES).entries, 0);
    cr_assert_eq(counters_of(ZEPI_CACHE_KERNELS).entries, 0);
    TEST_OK(zepi.release(build_with(2)));
    cr_assert_eq(counters_of(ZEPI_CACHE_MODULES).entries, 0);
}

Test(cache_limits, handles_of_an_evicted_module_go_with_it)
{
    zepi_module_t executable = build_with(2);
    static const char *const names[] = {"scaled_copy_int", "scaled_copy_float", "show_constants"};
    for (int i = 0; i < 3; i++) {
        zepi_kernel_t kernel;
        TEST_OK(zepi.module_get_kernel(executable, names[i], &kernel));
        TEST_OK(zepi.release(kernel));
    }
    cr_assert_eq(balance("zeKernelCreate", "zeKernelDestroy"), 3);
    // In use: stays.
    TEST_OK(zepi.cache_trim(gear.context, 0));
    cr_assert_eq(balance("zeModuleCreate", "zeModuleDestroy"), 1);
    cr_assert_eq(balance("zeKernelCreate", "zeKernelDestroy"), 0);
    TEST_OK(zepi.release(executable));
    TEST_OK(zepi.cache_trim(gear.context, 0));
    cr_assert_eq(balance("zeModuleCreate", "zeModuleDestroy"), 0);
    cr_assert_eq(counters_of(ZEPI_CACHE_MODULES).entries, 0);
}

Test(cache_limits, a_module_and_its_kernels_go_in_one_trim)
{
    zepi_kernel_t kernel;
    zepi_module_t executable = build_with(2);
    TEST_OK(zepi.module_get_kernel(executable, "scaled_copy_int", &kernel));
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.release(executable));
    TEST_OK(zepi.cache_trim(gear.context, 1));
    cr_assert_eq(balance("zeKernelCreate", "zeKernelDestroy"), 0);
    cr_assert_eq(balance("zeModuleCreate", "zeModuleDestroy"), 0);
    cr_assert_eq(counters_of(ZEPI_CACHE_KERNELS).evictions, 1);
    cr_assert_eq(counters_of(ZEPI_CACHE_MODULES).evictions, 1);
}

// A launch that waits for the host, of a kernel that is held no more.
static void launch_behind(zepi_event_t gate, int32_t *memory, int32_t value)
{
    zepi_kernel_t kernel;
    zepi_module_t executable = build_with(value);
    TEST_OK(zepi.module_get_kernel(executable, "scaled_copy_int", &kernel));
    const zepi_argument_t arguments[] = {TEST_POINTER(memory), TEST_POINTER(memory + value)};
    const zepi_launch_desc_t launch = test_launch(kernel, 2, arguments, 1);
    TEST_OK(zepi.queue_launch(gear.queue, &launch, (zepi_wait_list_t){&gate, 1}, NULL));
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.release(executable));
}

Test(cache_limits, launches_under_way_survive_whatever_is_evicted)
{
    zepi_event_t gate;
    int32_t *memory;
    zepi_cache_limits_t none = limits();
    none.memory_entries = 0;
    TEST_OK(zepi.event_create(gear.context, &gate));
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, 64, 0, (void **)&memory));
    memory[0] = 7;
    launch_behind(gate, memory, 2);
    TEST_OK(zepi.cache_clear(gear.context));
    launch_behind(gate, memory, 3);
    TEST_OK(zepi.cache_trim(gear.context, 0));
    launch_behind(gate, memory, 4);
    TEST_OK(zepi.cache_set_limits(gear.context, &none));
    launch_behind(gate, memory, 5);
    // Nothing that a command may still use was destroyed.
    if (!test_env_is_on_intel_driver())
        cr_assert_eq(ze_cpu.get_count("zeKernelDestroy"), 0);
    TEST_OK(zepi.event_signal(gate));
    TEST_OK(zepi.queue_finish(gear.queue));
    for (int32_t value = 2; value <= 5; value++)
        cr_assert_eq(memory[value], 7 * value);
    // Now nothing is in use any more.
    TEST_OK(zepi.cache_trim(gear.context, 0));
    cr_assert_eq(counters_of(ZEPI_CACHE_MODULES).entries, 0);
    cr_assert_eq(balance("zeKernelCreate", "zeKernelDestroy"), 0);
    cr_assert_eq(balance("zeModuleCreate", "zeModuleDestroy"), 0);
    TEST_OK(zepi.release(gate));
    TEST_OK(zepi.usm_free(gear.context, memory));
}

Test(cache_limits, counters_add_up)
{
    for (int32_t round = 0; round < 3; round++) {
        for (int32_t value = 2; value < 6; value++) {
            zepi_kernel_t kernel;
            zepi_module_t executable = build_with(value);
            TEST_OK(zepi.module_get_kernel(executable, "scaled_copy_int", &kernel));
            TEST_OK(zepi.release(kernel));
            TEST_OK(zepi.release(executable));
        }
    }
    const zepi_cache_level_t levels[] = {ZEPI_CACHE_MODULES, ZEPI_CACHE_KERNELS};
    for (int i = 0; i < 2; i++) {
        const zepi_cache_counters_t counters = counters_of(levels[i]);
        cr_assert_eq(counters.hits, 8);
        cr_assert_eq(counters.misses, 4);
        cr_assert_eq(counters.builds, 4);
        cr_assert_eq(counters.entries, 4);
        cr_assert_eq(counters.failures + counters.waits + counters.evictions, 0);
        cr_assert_gt(counters.build_ns, 0);
    }
    const zepi_cache_counters_t code = counters_of(ZEPI_CACHE_BINARIES);
    cr_assert_eq(code.misses, 4);
    cr_assert_eq(code.store_misses, 4);
    cr_assert_eq(code.store_hits + code.hits, 0);
}

Test(cache_limits, clearing_forgets_what_is_in_memory_and_leaves_files)
{
    TEST_OK(zepi.release(build_with(2)));
    TEST_OK(zepi.cache_clear(gear.context));
    cr_assert_eq(counters_of(ZEPI_CACHE_MODULES).entries, 0);
    TEST_OK(zepi.cache_clear(NULL));
    cr_assert_eq(counters_of(ZEPI_CACHE_BINARIES).entries, 0);
    TEST_OK(zepi.release(build_with(2)));
    cr_assert_eq(counters_of(ZEPI_CACHE_BINARIES).store_hits, 1);
    cr_assert_eq(ze_cpu.get_count("compile:spirv"), 1);
}

Test(cache_limits, machine_code_is_trimmed_without_a_context)
{
    TEST_OK(zepi.release(build_with(2)));
    TEST_OK(zepi.release(build_with(3)));
    cr_assert_eq(counters_of(ZEPI_CACHE_BINARIES).entries, 2);
    TEST_OK(zepi.cache_trim(NULL, counters_of(ZEPI_CACHE_BINARIES).bytes - 1));
    cr_assert_eq(counters_of(ZEPI_CACHE_BINARIES).entries, 1);
    zepi_cache_limits_t none = limits();
    none.binary_bytes = 0;
    TEST_OK(zepi.cache_set_limits(gear.context, &none));
    cr_assert_eq(counters_of(ZEPI_CACHE_BINARIES).entries, 0);
}

Test(cache_limits_of_the_environment, hold)
{
    zepi_cache_location_t location = {.size = sizeof(location)};
    cr_assert_eq(limits().memory_entries, 2);
    cr_assert_eq(limits().memory_bytes, UINT64_C(64) << 20);
    cr_assert_eq(limits().binary_bytes, UINT64_C(1) << 20);
    cr_assert_eq(limits().disk_bytes, 0);
    TEST_OK(zepi.cache_get_location(&location));
    cr_assert(location.is_on && !location.is_disk_on);
    for (int32_t value = 2; value < 6; value++)
        TEST_OK(zepi.release(build_with(value)));
    cr_assert_eq(counters_of(ZEPI_CACHE_MODULES).entries, 2);
    cr_assert_eq(counters_of(ZEPI_CACHE_MODULES).evictions, 2);
}

Test(cache_off, keeps_nothing_and_computes_right)
{
    int32_t *memory;
    zepi_cache_location_t location = {.size = sizeof(location)};
    TEST_OK(zepi.cache_get_location(&location));
    cr_assert(!location.is_on && !location.is_disk_on);
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, 8, 0, (void **)&memory));
    for (int32_t i = 0; i < 3; i++) {
        zepi_kernel_t kernel;
        zepi_module_t executable = build_with(6);
        TEST_OK(zepi.module_get_kernel(executable, "scaled_copy_int", &kernel));
        memory[0] = i;
        const zepi_argument_t arguments[] = {TEST_POINTER(memory), TEST_POINTER(memory + 1)};
        const zepi_launch_desc_t launch = test_launch(kernel, 2, arguments, 1);
        TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL));
        TEST_OK(zepi.queue_finish(gear.queue));
        cr_assert_eq(memory[1], 6 * i);
        TEST_OK(zepi.release(kernel));
        TEST_OK(zepi.release(executable));
    }
    cr_assert_eq(ze_cpu.get_count("compile:spirv"), 3);
    cr_assert_eq(counters_of(ZEPI_CACHE_MODULES).entries, 0);
    cr_assert_eq(counters_of(ZEPI_CACHE_BINARIES).entries, 0);
    TEST_OK(zepi.usm_free(gear.context, memory));
}
