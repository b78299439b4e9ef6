// SPDX-License-Identifier: MIT
#include "fixture.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#define SUB_GROUP 16
#define ITEMS 64
#define NUMBERS 6 // of an item, sub_groups.cl

static ze_module_handle_t of_native(const struct fixture *fixture, ze_module_handle_t from)
{
    ze_module_handle_t module;
    size_t size_bytes;
    MUST(zeModuleGetNativeBinary(from, &size_bytes, NULL));
    uint8_t *bytes = malloc(size_bytes);
    cr_assert(bytes != NULL);
    MUST(zeModuleGetNativeBinary(from, &size_bytes, bytes));
    const ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                   .format = ZE_MODULE_FORMAT_NATIVE,
                                   .inputSize = size_bytes,
                                   .pInputModule = bytes};
    MUST(zeModuleCreate(fixture->context, fixture->device, &desc, &module, NULL));
    free(bytes);
    return module;
}

// Groups of 64 items, which lie in this dimension: each item is in the sub-group of its number, and
// knows where it is.
static void expect_sub_groups(const struct fixture *fixture, ze_module_handle_t module,
                              unsigned dimension)
{
    const ze_group_count_t groups = {2, 3, 2};
    const uint32_t group_count = 12;
    uint32_t size[3] = {1, 1, 1};
    size[dimension] = ITEMS;
    ze_kernel_handle_t kernel = fixture_kernel(module, "tell");
    ze_command_list_handle_t list = fixture_immediate(fixture, FIXTURE_SYNCHRONOUS);
    int *out = fixture_shared(fixture, group_count * ITEMS * NUMBERS * sizeof(*out));
    MUST(zeKernelSetGroupSize(kernel, size[0], size[1], size[2]));
    MUST(zeKernelSetArgumentValue(kernel, 0, sizeof(out), &out));
    MUST(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    for (uint32_t group = 0; group < group_count; group++)
        for (int item = 0; item < ITEMS; item++) {
            const int *own = out + NUMBERS * (group * ITEMS + (uint32_t)item);
            const int at[3] = {(int)(group % 2), (int)(group / 2 % 3), (int)(group / 6)};
            cr_assert_eq(own[0], SUB_GROUP, "dimension %u: sub-groups of %d", dimension, own[0]);
            cr_assert_eq(own[1], SUB_GROUP * (item / SUB_GROUP * SUB_GROUP) + 120);
            cr_assert_eq(own[2], at[0] + 10 * at[1] + 100 * at[2]);
            for (unsigned i = 0; i < 3; i++)
                cr_assert_eq(own[3 + i], i == dimension ? at[i] * ITEMS + item : at[i],
                             "dimension %u, group %u, item %d: %d", dimension, group, item,
                             own[3 + i]);
        }
    MUST(zeMemFree(fixture->context, out));
    MUST(zeCommandListDestroy(list));
    MUST(zeKernelDestroy(kernel));
}

Test(ze_cpu_sub_groups, are_as_large_in_each_dimension)
{
    struct fixture fixture;
    fixture_init(&fixture);
    ze_module_handle_t module = fixture_module(&fixture, "sub_groups", NULL);
    for (unsigned dimension = 0; dimension < 3; dimension++)
        expect_sub_groups(&fixture, module, dimension);
    ze_module_handle_t native = of_native(&fixture, module);
    MUST(zeModuleDestroy(module));
    for (unsigned dimension = 0; dimension < 3; dimension++)
        expect_sub_groups(&fixture, native, dimension);
    MUST(zeModuleDestroy(native));
    fixture_finish(&fixture);
}

// XLA's kernels require no size, and exchange values over the largest one of the device.
Test(ze_cpu_sub_groups, of_a_gpu_are_as_large_as_it_says_where_no_size_is_required)
{
    struct fixture fixture;
    fixture_init(&fixture);
    ze_device_compute_properties_t properties = {.stype =
                                                     ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES};
    MUST(zeDeviceGetComputeProperties(fixture.device, &properties));
    cr_assert_neq(properties.numSubGroupSizes, 0);
    const int largest = (int)properties.subGroupSizes[properties.numSubGroupSizes - 1];
    cr_assert(largest <= 32, "%d, and no Intel GPU has more than 32", largest);
    ze_module_handle_t module = fixture_module(&fixture, "sub_groups", NULL);
    ze_kernel_handle_t kernel = fixture_kernel(module, "tell_chosen");
    ze_command_list_handle_t list = fixture_immediate(&fixture, FIXTURE_SYNCHRONOUS);
    int *out = fixture_shared(&fixture, ITEMS * sizeof(*out));
    for (unsigned dimension = 0; dimension < 2; dimension++) {
        MUST(zeKernelSetGroupSize(kernel, dimension ? 1 : ITEMS, dimension ? ITEMS : 1, 1));
        MUST(zeKernelSetArgumentValue(kernel, 0, sizeof(out), &out));
        MUST(zeCommandListAppendLaunchKernel(list, kernel, &(ze_group_count_t){1, 1, 1}, NULL, 0,
                                             NULL));
        cr_assert_eq(out[0], largest, "dimension %u: sub-groups of %d, the device has %d",
                     dimension, out[0], largest);
    }
    MUST(zeMemFree(fixture.context, out));
    MUST(zeCommandListDestroy(list));
    MUST(zeKernelDestroy(kernel));
    MUST(zeModuleDestroy(module));
    fixture_finish(&fixture);
}

Test(ze_cpu_sub_groups, are_as_large_in_a_group_whose_size_is_required)
{
    struct fixture fixture;
    fixture_init(&fixture);
    ze_module_handle_t module = fixture_module(&fixture, "sub_groups", NULL);
    ze_kernel_handle_t kernel = fixture_kernel(module, "tell_of_32");
    ze_command_list_handle_t list = fixture_immediate(&fixture, FIXTURE_SYNCHRONOUS);
    const ze_group_count_t groups = {1, 1, 1};
    int *out = fixture_shared(&fixture, 32 * sizeof(*out));
    MUST(zeKernelSetGroupSize(kernel, 1, 32, 1));
    MUST(zeKernelSetArgumentValue(kernel, 0, sizeof(out), &out));
    MUST(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    cr_assert_eq(out[0], 120);
    cr_assert_eq(out[31], 120 + SUB_GROUP * SUB_GROUP);
    MUST(zeMemFree(fixture.context, out));
    MUST(zeCommandListDestroy(list));
    MUST(zeKernelDestroy(kernel));
    MUST(zeModuleDestroy(module));
    fixture_finish(&fixture);
}

// Launches one group of ITEMS items, which find their numbers behind the output. The caller frees
// the output.
static int *launch(const struct fixture *fixture, const char *name)
{
    ze_module_handle_t module = fixture_module(fixture, "exchanges", NULL);
    ze_kernel_handle_t kernel = fixture_kernel(module, name);
    ze_command_list_handle_t list = fixture_immediate(fixture, FIXTURE_SYNCHRONOUS);
    int *out = fixture_shared(fixture, 2 * ITEMS * sizeof(*out));
    for (int i = 0; i < ITEMS; i++)
        out[ITEMS + i] = i;
    MUST(zeKernelSetGroupSize(kernel, ITEMS, 1, 1));
    MUST(zeKernelSetArgumentValue(kernel, 0, sizeof(out), &out));
    MUST(
        zeCommandListAppendLaunchKernel(list, kernel, &(ze_group_count_t){1, 1, 1}, NULL, 0, NULL));
    MUST(zeCommandListDestroy(list));
    MUST(zeKernelDestroy(kernel));
    MUST(zeModuleDestroy(module));
    return out;
}

// XLA's sums are written by one item.
Test(ze_cpu_sub_groups, shuffle_values_that_one_item_alone_uses)
{
    struct fixture fixture;
    fixture_init(&fixture);
    int *out = launch(&fixture, "shuffle_for_one");
    const int expected[] = {2 * 3, 3 * 5, 4 * 7, 5 * 9};
    for (int i = 0; i < 4; i++)
        cr_assert_eq(out[i], expected[i], "shuffle %d gives %d, expected %d", i, out[i],
                     expected[i]);
    MUST(zeMemFree(fixture.context, out));
    fixture_finish(&fixture);
}
