// SPDX-License-Identifier: MIT
//
// The base of this tier: Debian's Intel driver in capture mode compiles for real and completes
// launches, on a machine without a GPU. A plain Level Zero program, without zepi.
#include "test_env.h"

#include <criterion/criterion.h>
#include <level_zero/ze_api.h>
#include <string.h>

static ze_driver_handle_t driver;
static ze_device_handle_t device;
static ze_context_handle_t context;

static void bring_up(const char *family)
{
    uint32_t count = 1;
    test_env_use_intel_capture(family);
    cr_assert_eq(zeInit(0), ZE_RESULT_SUCCESS);
    cr_assert_eq(zeDriverGet(&count, &driver), ZE_RESULT_SUCCESS);
    cr_assert_eq(zeDeviceGet(driver, &count, &device), ZE_RESULT_SUCCESS);
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    cr_assert_eq(zeContextCreate(driver, &desc, &context), ZE_RESULT_SUCCESS);
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
    cr_expect_eq(zeContextDestroy(context), ZE_RESULT_SUCCESS);
}

// Builds tests/data/NAME.cl with one constant, with none if VALUE is NULL.
static ze_result_t build(const char *name, uint32_t id, const void *value,
                         ze_module_handle_t *out_module)
{
    struct test_bytes spirv = test_env_read_spirv(name);
    const ze_module_constants_t constants = {1, &id, &value};
    const ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                   .format = ZE_MODULE_FORMAT_IL_SPIRV,
                                   .inputSize = spirv.size_bytes,
                                   .pInputModule = spirv.data,
                                   .pConstants = value ? &constants : NULL};
    ze_result_t result = zeModuleCreate(context, device, &desc, out_module, NULL);
    free(spirv.data);
    return result;
}

static struct test_bytes native_binary_with(int32_t value)
{
    struct test_bytes binary = {0};
    ze_module_handle_t module;
    cr_assert_eq(build("scaled_copy", 7, &value, &module), ZE_RESULT_SUCCESS);
    cr_assert_eq(zeModuleGetNativeBinary(module, &binary.size_bytes, NULL), ZE_RESULT_SUCCESS);
    cr_assert_gt(binary.size_bytes, 0);
    binary.data = malloc(binary.size_bytes);
    cr_assert_not_null(binary.data);
    cr_assert_eq(zeModuleGetNativeBinary(module, &binary.size_bytes, binary.data),
                 ZE_RESULT_SUCCESS);
    cr_expect_eq(zeModuleDestroy(module), ZE_RESULT_SUCCESS);
    return binary;
}

TestSuite(intel_capture, .init = bring_up_tgllp, .fini = tear_down);

Test(intel_capture, other_constants_give_another_native_binary)
{
    struct test_bytes five = native_binary_with(5);
    struct test_bytes five_again = native_binary_with(5);
    struct test_bytes nine = native_binary_with(9);
    cr_expect(five.size_bytes == five_again.size_bytes &&
              memcmp(five.data, five_again.data, five.size_bytes) == 0);
    cr_expect(five.size_bytes != nine.size_bytes ||
              memcmp(five.data, nine.data, five.size_bytes) != 0);
    free(five.data);
    free(five_again.data);
    free(nine.data);
}

Test(intel_capture, an_unknown_constant_fails_the_build)
{
    const int32_t value = 5;
    ze_module_handle_t module;
    cr_expect_neq(build("scaled_copy", 99, &value, &module), ZE_RESULT_SUCCESS);
}

Test(intel_capture, a_launch_completes_through_host_synchronize)
{
    ze_module_handle_t module;
    cr_assert_eq(build("negate", 0, NULL, &module), ZE_RESULT_SUCCESS);
    ze_kernel_handle_t kernel;
    const ze_kernel_desc_t kernel_desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                          .pKernelName = "negate"};
    cr_assert_eq(zeKernelCreate(module, &kernel_desc, &kernel), ZE_RESULT_SUCCESS);

    void *data;
    const ze_device_mem_alloc_desc_t memory_desc = {.stype =
                                                        ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    cr_assert_eq(zeMemAllocDevice(context, &memory_desc, 1024, 4, device, &data),
                 ZE_RESULT_SUCCESS);
    cr_assert_eq(zeKernelSetArgumentValue(kernel, 0, sizeof(data), &data), ZE_RESULT_SUCCESS);
    cr_assert_eq(zeKernelSetGroupSize(kernel, 16, 1, 1), ZE_RESULT_SUCCESS);

    ze_command_queue_handle_t queue;
    const ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    cr_assert_eq(zeCommandQueueCreate(context, device, &queue_desc, &queue), ZE_RESULT_SUCCESS);
    ze_command_list_handle_t list;
    const ze_command_list_desc_t list_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    cr_assert_eq(zeCommandListCreate(context, device, &list_desc, &list), ZE_RESULT_SUCCESS);
    const ze_group_count_t groups = {16, 1, 1};
    cr_expect_eq(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL),
                 ZE_RESULT_SUCCESS);
    cr_expect_eq(zeCommandListClose(list), ZE_RESULT_SUCCESS);
    cr_expect_eq(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL), ZE_RESULT_SUCCESS);
    cr_expect_eq(zeCommandQueueSynchronize(queue, UINT64_MAX), ZE_RESULT_SUCCESS);

    cr_expect_eq(zeCommandListDestroy(list), ZE_RESULT_SUCCESS);
    cr_expect_eq(zeCommandQueueDestroy(queue), ZE_RESULT_SUCCESS);
    cr_expect_eq(zeMemFree(context, data), ZE_RESULT_SUCCESS);
    cr_expect_eq(zeKernelDestroy(kernel), ZE_RESULT_SUCCESS);
    cr_expect_eq(zeModuleDestroy(module), ZE_RESULT_SUCCESS);
}

Test(intel_capture_skl, compiles_double_precision, .init = bring_up_skl, .fini = tear_down)
{
    const double value = 2.5;
    ze_module_handle_t module;
    cr_assert_eq(build("scaled_copy_double", 1, &value, &module), ZE_RESULT_SUCCESS);
    cr_expect_eq(zeModuleDestroy(module), ZE_RESULT_SUCCESS);
}
