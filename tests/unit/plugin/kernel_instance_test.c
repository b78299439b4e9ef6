// SPDX-License-Identifier: MIT
// The calls of a launch on its ze_kernel: the driver here only counts.
#include "launch/kernel_instance.h"

#include "device/device.h"
#include "device/platform.h"
#include "memory/usm_table.h"
#include "ze/ze.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct {
    int arguments; // calls
    uint32_t last_index;
    int group_sizes;
    int fails_after; // argument calls until one fails; negative: none does
} driver;

static ze_result_t ZE_APICALL create(ze_module_handle_t module, const ze_kernel_desc_t *desc,
                                     ze_kernel_handle_t *out)
{
    (void)module;
    (void)desc;
    *out = (ze_kernel_handle_t)&driver;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL destroy(ze_kernel_handle_t kernel)
{
    (void)kernel;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL set_access(ze_kernel_handle_t kernel,
                                         ze_kernel_indirect_access_flags_t flags)
{
    (void)kernel;
    (void)flags;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL set_argument(ze_kernel_handle_t kernel, uint32_t index, size_t size,
                                           const void *value)
{
    (void)kernel;
    (void)size;
    (void)value;
    if (driver.fails_after >= 0 && driver.fails_after-- == 0)
        return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    driver.arguments++;
    driver.last_index = index;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL set_group_size(ze_kernel_handle_t kernel, uint32_t x, uint32_t y,
                                             uint32_t z)
{
    (void)kernel;
    (void)x;
    (void)y;
    (void)z;
    driver.group_sizes++;
    return ZE_RESULT_SUCCESS;
}

enum { COUNT = 3 };
static char memory[64];

// A kernel with a pointer, a value of four bytes and one of sixteen.
static struct {
    struct zepi_device_kernel *kernel;
    struct zepi_build_result result; // whose payload that is
    struct zepi_platform platform;
    struct zepi_device device;
    struct zepi_kernel_argument declared[COUNT];
    struct zepi_kernel_instance *instance;
    void *pointer;
    uint32_t number;
    uint64_t wide[2];
    size_t global_size[1];
    size_t group_size[1];
} gear;

static void set_up(void)
{
    zepi_ze.zeKernelCreate = create;
    zepi_ze.zeKernelDestroy = destroy;
    zepi_ze.zeKernelSetIndirectAccess = set_access;
    zepi_ze.zeKernelSetArgumentValue = set_argument;
    zepi_ze.zeKernelSetGroupSize = set_group_size;
    driver.fails_after = -1;
    gear.kernel = calloc(1, sizeof(*gear.kernel));
    gear.result.output.payload = gear.kernel;
    gear.kernel->name = "kernel";
    gear.kernel->is_described = true;
    gear.kernel->argument_count = COUNT;
    gear.kernel->arguments = gear.declared;
    gear.declared[0] = (struct zepi_kernel_argument){ZEPI_SPIRV_ARGUMENT_GLOBAL, 0};
    gear.declared[1] = (struct zepi_kernel_argument){ZEPI_SPIRV_ARGUMENT_VALUE, 4};
    gear.declared[2] = (struct zepi_kernel_argument){ZEPI_SPIRV_ARGUMENT_VALUE, 16};
    gear.device.platform = &gear.platform;
    gear.device.compute = (ze_device_compute_properties_t){.maxTotalGroupSize = 64,
                                                           .maxGroupSizeX = 64,
                                                           .maxGroupSizeY = 64,
                                                           .maxGroupSizeZ = 64,
                                                           .maxGroupCountX = 1000,
                                                           .maxGroupCountY = 1000,
                                                           .maxGroupCountZ = 1000};
    gear.pointer = memory;
    gear.global_size[0] = 32;
    gear.group_size[0] = 8;
    cr_assert_eq(zepi_kernel_instance_create(gear.kernel, &gear.instance), ZEPI_SUCCESS);
}

static void tear_down(void)
{
    zepi_kernel_instance_free(gear.instance);
    free(gear.kernel);
}

static zepi_result_t prepare(void)
{
    struct zepi_arg args[COUNT];
    zepi_arg_set_address(&args[0], gear.pointer);
    zepi_arg_set_bytes(&args[1], &gear.number, sizeof(gear.number));
    zepi_arg_set_bytes(&args[2], gear.wide, sizeof(gear.wide));
    struct zepi_launch launch = {
        .target = {.device_kernel = &gear.result}, .arg_count = COUNT, .args = args};
    zepi_launch_set_sizes(&launch, 1, gear.global_size, gear.group_size, NULL);
    driver.arguments = 0;
    driver.group_sizes = 0;
    return zepi_kernel_instance_prepare(gear.instance, &gear.device, &launch);
}

// Memory that zepi made, as far as the table of allocations knows.
static void use_known_memory(uintptr_t number)
{
    gear.pointer = (void *)(number * ZEPI_USM_GRANULE_BYTES);
    cr_assert_eq(zepi_usm_table_add((uintptr_t)gear.pointer, 1, (void *)memory), ZEPI_USM_ENTERED);
}

TestSuite(kernel_instance, .init = set_up, .fini = tear_down);

// Values of more than eight bytes are not compared.
#define WIDE 1

Test(kernel_instance, sets_what_differs_from_the_last_launch)
{
    use_known_memory(20);
    cr_assert_eq(prepare(), ZEPI_SUCCESS);
    cr_assert(driver.arguments == COUNT && driver.group_sizes == 1);
    cr_assert_eq(prepare(), ZEPI_SUCCESS);
    cr_assert(driver.arguments == WIDE && driver.group_sizes == 0);
    gear.number++;
    cr_assert_eq(prepare(), ZEPI_SUCCESS);
    cr_assert_eq(driver.arguments, 1 + WIDE);
    // Addresses with the same low half, too.
    for (uintptr_t high = 0; high < 2; high++) {
        use_known_memory(21 + (high << 32) / ZEPI_USM_GRANULE_BYTES);
        cr_assert_eq(prepare(), ZEPI_SUCCESS);
        cr_assert_eq(driver.arguments, 1 + WIDE);
    }
}

Test(kernel_instance, sets_a_pointer_again_once_memory_was_freed)
{
    use_known_memory(22);
    cr_assert_eq(prepare(), ZEPI_SUCCESS);
    zepi_usm_table_remove((uintptr_t)gear.pointer);
    use_known_memory(22);
    cr_assert_eq(prepare(), ZEPI_SUCCESS);
    cr_assert_eq(driver.arguments, COUNT);
}

Test(kernel_instance, sets_a_pointer_to_memory_of_others_each_time)
{
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(prepare(), ZEPI_SUCCESS);
        cr_assert_eq(driver.arguments, i == 0 ? COUNT : 1 + WIDE);
    }
}

Test(kernel_instance, trusts_nothing_after_a_launch_that_failed)
{
    use_known_memory(23);
    cr_assert_eq(prepare(), ZEPI_SUCCESS);
    gear.number++;
    driver.fails_after = 0;
    cr_assert_eq(prepare(), ZEPI_ERROR_OUT_OF_DEVICE_MEMORY);
    cr_assert(strstr(zepi_last_error(NULL), "argument 1 of 4 bytes"));
    driver.fails_after = -1;
    cr_assert_eq(prepare(), ZEPI_SUCCESS);
    cr_assert_eq(driver.arguments, COUNT);
}

Test(kernel_instance, checks_sizes_again_when_they_differ_and_only_then)
{
    cr_assert_eq(prepare(), ZEPI_SUCCESS);
    gear.group_size[0] = 16;
    cr_assert_eq(prepare(), ZEPI_SUCCESS);
    cr_assert_eq(driver.group_sizes, 1);
    cr_assert_eq(gear.instance->group_count.groupCountX, 2);
    gear.global_size[0] = 64;
    cr_assert_eq(prepare(), ZEPI_SUCCESS);
    cr_assert_eq(driver.group_sizes, 0, "the group size is the same");
    cr_assert_eq(gear.instance->group_count.groupCountX, 4);
    gear.group_size[0] = 128;
    cr_assert_eq(prepare(), ZEPI_ERROR_INVALID_SIZE);
    gear.group_size[0] = 16;
    cr_assert_eq(prepare(), ZEPI_SUCCESS);
    cr_assert_eq(gear.instance->group_count.groupCountX, 4);
}

Test(kernel_instance, of_no_work_items_has_nothing_to_launch)
{
    gear.global_size[0] = 0;
    cr_assert_eq(prepare(), ZEPI_NOTHING_TO_LAUNCH);
    gear.global_size[0] = 8;
    cr_assert_eq(prepare(), ZEPI_SUCCESS);
}

Test(kernel_instance, refuses_an_argument_of_another_size_than_the_kernel_takes)
{
    gear.declared[1].size_bytes = 8;
    cr_assert_eq(prepare(), ZEPI_ERROR_INVALID_SIZE);
    gear.declared[1].size_bytes = 4;
    cr_assert_eq(prepare(), ZEPI_SUCCESS);
}

Test(kernel_instance, checks_each_global_size_against_the_group_size)
{
    cr_assert_eq(prepare(), ZEPI_SUCCESS);
    gear.global_size[0] = 72;
    cr_assert_eq(prepare(), ZEPI_SUCCESS);
    cr_assert_eq(gear.instance->group_count.groupCountX, 9);
    gear.global_size[0] = 73;
    cr_assert_eq(prepare(), ZEPI_ERROR_INVALID_SIZE);
    gear.global_size[0] = (size_t)UINT32_MAX + 1;
    cr_assert_eq(prepare(), ZEPI_SUCCESS);
    cr_assert_eq(gear.instance->group_count.groupCountX, 1u << 29);
    gear.global_size[0] *= 8;
    cr_assert_eq(prepare(), ZEPI_ERROR_INVALID_SIZE);
    gear.global_size[0] = 32;
    cr_assert_eq(prepare(), ZEPI_SUCCESS);
    cr_assert_eq(gear.instance->group_count.groupCountX, 4);
}
