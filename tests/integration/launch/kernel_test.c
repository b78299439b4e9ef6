// SPDX-License-Identifier: MIT
// Kernel objects that come and go: the cache keeps the driver's kernels, and a released object is
// no handle.
#include "gear_fixture.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNELS 20

static zepi_module_t executable;
static int32_t *data;

static void set_up(void)
{
    gear_set_up();
    executable = test_executable(gear.context, "twenty_kernels");
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, sizeof(*data), 0,
                              (void **)&data));
    *data = 0;
}

static void set_up_off(void)
{
    setenv("ZEPI_CACHE", "off", 1);
    set_up();
}

static void tear_down(void)
{
    TEST_OK(zepi.usm_free(gear.context, data));
    TEST_OK(zepi.release(executable));
    gear_tear_down();
}

TestSuite(kernel, .init = set_up, .fini = tear_down, .timeout = 60);
TestSuite(kernel_off, .init = set_up_off, .fini = tear_down, .timeout = 60);

static zepi_kernel_t get(int number)
{
    char name[16];
    zepi_kernel_t kernel;
    snprintf(name, sizeof(name), "add_%d", number);
    TEST_OK(zepi.module_get_kernel(executable, name, &kernel));
    return kernel;
}

static zepi_result_t launch(zepi_kernel_t kernel)
{
    const zepi_argument_t argument = TEST_POINTER(data);
    const zepi_launch_desc_t desc = test_launch(kernel, 1, &argument, 1);
    const zepi_result_t result = zepi.queue_launch(gear.queue, &desc, TEST_NO_WAIT, NULL);
    TEST_OK(zepi.queue_finish(gear.queue));
    return result;
}

static uint64_t made_kernels(void)
{
    return ze_cpu.get_count("zeKernelCreate") - ze_cpu.get_count("zeKernelDestroy");
}

Test(kernel, made_again_uses_the_kernels_in_the_cache)
{
    for (int round = 0; round < 3; round++) {
        *data = 0;
        for (int i = 1; i <= KERNELS; i++) {
            zepi_kernel_t kernel = get(i);
            zepi_kernel_t second = get(i);
            cr_assert_neq((void *)kernel, (void *)second);
            TEST_OK(launch(kernel));
            TEST_OK(zepi.release(kernel));
            TEST_OK(launch(second));
            TEST_OK(zepi.release(second));
        }
        cr_assert_eq(*data, KERNELS * (KERNELS + 1));
        cr_assert_eq(ze_cpu.get_count("zeKernelCreate"), KERNELS);
    }
}

Test(kernel, is_no_handle_after_its_release)
{
    zepi_kernel_t kernel = get(1);
    TEST_OK(launch(kernel));
    TEST_OK(zepi.release(kernel));
    cr_assert_eq(launch(kernel), ZEPI_ERROR_INVALID_OBJECT);
    cr_assert_eq(zepi.release(kernel), ZEPI_ERROR_INVALID_OBJECT);
    cr_assert_eq(zepi.retain(kernel), ZEPI_ERROR_INVALID_OBJECT);
    zepi_kernel_t again = get(1);
    TEST_OK(launch(again));
    cr_assert_eq(*data, 2);
    TEST_OK(zepi.release(again));
}

Test(kernel, leaves_the_driver_when_the_cache_is_trimmed)
{
    for (int i = 1; i <= KERNELS; i++)
        TEST_OK(zepi.release(get(i)));
    cr_assert_eq(made_kernels(), KERNELS);
    TEST_OK(zepi.cache_trim(gear.context, 0));
    cr_assert_eq(made_kernels(), 0);
    zepi_kernel_t kernel = get(5);
    TEST_OK(zepi.cache_clear(gear.context));
    TEST_OK(launch(kernel));
    cr_assert_eq(*data, 5);
    TEST_OK(zepi.release(kernel));
    zepi_cache_limits_t limits = {.size = sizeof(limits)};
    TEST_OK(zepi.cache_get_limits(gear.context, &limits));
    limits.memory_entries = 0;
    TEST_OK(zepi.cache_set_limits(gear.context, &limits));
    cr_assert_eq(made_kernels(), 0);
    TEST_OK(zepi.release(get(6)));
    cr_assert_eq(made_kernels(), 0);
}

Test(kernel, goes_with_its_module)
{
    zepi_module_t other;
    zepi_kernel_t kernel;
    zepi_module_t input = test_input(gear.context, "twenty_kernels");
    TEST_OK(zepi.module_build(input, NULL, &other));
    TEST_OK(zepi.module_get_kernel(other, "add_7", &kernel));
    TEST_OK(zepi.release(input));
    TEST_OK(zepi.release(other));
    // The kernel was the last that kept the module.
    TEST_OK(launch(kernel));
    TEST_OK(zepi.release(kernel));
    cr_assert_eq(*data, 7);
    TEST_OK(zepi.cache_trim(gear.context, 0));
    cr_assert_eq(made_kernels(), 0);
}

Test(kernel, is_destroyed_with_the_handles_that_the_host_got)
{
    void *native;
    void *other;
    zepi_kernel_t kernel = get(3);
    TEST_OK(zepi.kernel_get_native(kernel, gear.device, &native));
    TEST_OK(zepi.release(kernel));
    kernel = get(3);
    cr_assert_eq(made_kernels(), 1);
    TEST_OK(zepi.kernel_get_native(kernel, gear.device, &other));
    cr_assert_eq(made_kernels(), 2);
    TEST_OK(zepi.release(kernel));
}

// As a layer between zepi and the driver may, in the thread that makes the kernel.
static void ask_for_the_same(const char *function, int is_over)
{
    zepi_kernel_t kernel;
    if (is_over || strcmp(function, "zeKernelCreate") != 0)
        return;
    ze_cpu.set_hook(NULL);
    TEST_FAILS_SAYING(zepi.module_get_kernel(executable, "add_4", &kernel),
                      ZEPI_ERROR_INVALID_VALUE, "asks for it from inside the build");
}

Test(kernel, is_not_waited_for_by_the_thread_that_makes_it)
{
    ze_cpu.set_hook(ask_for_the_same);
    TEST_OK(zepi.release(get(4)));
    ze_cpu.set_hook(NULL);
}

Test(kernel_off, is_destroyed_with_its_last_reference)
{
    zepi_kernel_t kernel = get(2);
    TEST_OK(launch(kernel));
    TEST_OK(zepi.release(kernel));
    cr_assert_eq(*data, 2);
    cr_assert_eq(made_kernels(), 0);
}
