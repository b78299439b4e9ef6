// SPDX-License-Identifier: MIT
//
// Functions of ze_cpu that the plugin does not need, while each call of the driver fails in turn:
// virtual memory, images, a mutable list that is executed, changed and executed again. After every
// round the driver holds what it held before, and then the same story works.
#include "test_env.h"
#include "test_ze_cpu.h"
#include "tools/ze_cpu/ze_newer.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 64, ROUNDS_MAXIMUM = 500 };

static struct {
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_module_handle_t module;
} shared;

#define MUST(condition) TEST_EXPECT(condition, #condition)

// Leaves for the label `out` on failure.
#define STEP(call)                                                                                 \
    do {                                                                                           \
        if ((call) != ZE_RESULT_SUCCESS)                                                           \
            goto out;                                                                              \
    } while (false)

static bool map_and_unmap(void)
{
    bool is_good = false;
    void *address = NULL;
    size_t page_bytes = 0;
    size_t same;
    ze_memory_access_attribute_t access;
    ze_physical_mem_handle_t memory = NULL;
    STEP(zeVirtualMemQueryPageSize(shared.context, shared.device, 1, &page_bytes));
    ze_physical_mem_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC,
                                   .size = page_bytes};
    STEP(zeVirtualMemReserve(shared.context, NULL, page_bytes, &address));
    STEP(zePhysicalMemCreate(shared.context, shared.device, &desc, &memory));
    STEP(zeVirtualMemMap(shared.context, address, page_bytes, memory, 0,
                         ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    *(int *)address = 1;
    STEP(zeVirtualMemSetAccessAttribute(shared.context, address, page_bytes,
                                        ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY));
    STEP(zeVirtualMemGetAccessAttribute(shared.context, address, page_bytes, &access, &same));
    MUST(access == ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY && *(int *)address == 1);
    STEP(zeVirtualMemUnmap(shared.context, address, page_bytes));
    is_good = true;
out:
    if (address != NULL && zeVirtualMemFree(shared.context, address, page_bytes) != 0)
        is_good = false;
    if (memory != NULL && zePhysicalMemDestroy(shared.context, memory) != 0)
        is_good = false;
    return is_good;
}

static bool copy_through_image(void)
{
    bool is_good = false;
    const ze_image_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
                                  .type = ZE_IMAGE_TYPE_2D,
                                  .format = {.layout = ZE_IMAGE_FORMAT_LAYOUT_32,
                                             .type = ZE_IMAGE_FORMAT_TYPE_UINT,
                                             .y = ZE_IMAGE_FORMAT_SWIZZLE_0,
                                             .z = ZE_IMAGE_FORMAT_SWIZZLE_0,
                                             .w = ZE_IMAGE_FORMAT_SWIZZLE_1},
                                  .width = 8,
                                  .height = 8};
    const ze_sampler_desc_t sampler_desc = {.stype = ZE_STRUCTURE_TYPE_SAMPLER_DESC};
    const ze_command_queue_desc_t list_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                               .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    ze_image_handle_t first = NULL;
    ze_image_handle_t second = NULL;
    ze_sampler_handle_t sampler = NULL;
    ze_command_list_handle_t list = NULL;
    uint32_t in[64] = {[63] = 5}, out_numbers[64] = {0};
    STEP(zeImageCreate(shared.context, shared.device, &desc, &first));
    STEP(zeImageCreate(shared.context, shared.device, &desc, &second));
    STEP(zeSamplerCreate(shared.context, shared.device, &sampler_desc, &sampler));
    STEP(zeCommandListCreateImmediate(shared.context, shared.device, &list_desc, &list));
    STEP(zeCommandListAppendImageCopyFromMemory(list, first, in, NULL, NULL, 0, NULL));
    STEP(zeCommandListAppendImageCopy(list, second, first, NULL, 0, NULL));
    STEP(zeCommandListAppendImageCopyToMemory(list, out_numbers, second, NULL, NULL, 0, NULL));
    MUST(memcmp(in, out_numbers, sizeof(in)) == 0);
    is_good = true;
out:
    if (list != NULL && zeCommandListDestroy(list) != 0)
        is_good = false;
    if (sampler != NULL && zeSamplerDestroy(sampler) != 0)
        is_good = false;
    if (first != NULL && zeImageDestroy(first) != 0)
        is_good = false;
    if (second != NULL && zeImageDestroy(second) != 0)
        is_good = false;
    return is_good;
}

static bool execute(ze_command_queue_handle_t queue, ze_command_list_handle_t list)
{
    if (zeCommandListClose(list) != ZE_RESULT_SUCCESS ||
        zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL) != ZE_RESULT_SUCCESS)
        return false;
    if (zeCommandQueueSynchronize(queue, UINT64_MAX) == ZE_RESULT_SUCCESS)
        return true;
    // The wait failed; the submitted commands must be complete before their list is destroyed.
    MUST(zeCommandQueueSynchronize(queue, UINT64_MAX) == ZE_RESULT_SUCCESS);
    return false;
}

static bool find(const char *name, void *out_function)
{
    void *function;
    if (zeDriverGetExtensionFunctionAddress(shared.driver, name, &function) != ZE_RESULT_SUCCESS)
        return false;
    memcpy(out_function, &function, sizeof(function));
    return true;
}

// Negates the data, then with a changed argument other data.
static bool record(ze_command_queue_handle_t queue, ze_command_list_handle_t list,
                   ze_kernel_handle_t kernel, int *data)
{
    ze_result_t (*next_id)(ze_command_list_handle_t, const ze_mutable_command_id_exp_desc_t *,
                           uint64_t *);
    ze_result_t (*update)(ze_command_list_handle_t, const ze_mutable_commands_exp_desc_t *);
    const ze_mutable_command_id_exp_desc_t id_desc = {
        .stype = (ze_structure_type_t)CPU_STRUCTURE_TYPE_MUTABLE_COMMAND_ID_EXP_DESC};
    const ze_group_count_t groups = {ITEMS, 1, 1};
    int *other = data + ITEMS;
    uint64_t id;
    if (!find("zeCommandListGetNextCommandIdExp", &next_id) ||
        !find("zeCommandListUpdateMutableCommandsExp", &update) ||
        next_id(list, &id_desc, &id) != ZE_RESULT_SUCCESS ||
        zeKernelSetArgumentValue(kernel, 0, sizeof(data), &data) != ZE_RESULT_SUCCESS ||
        zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL) !=
            ZE_RESULT_SUCCESS ||
        !execute(queue, list))
        return false;
    const ze_mutable_kernel_argument_exp_desc_t argument = {
        .stype = (ze_structure_type_t)CPU_STRUCTURE_TYPE_MUTABLE_KERNEL_ARGUMENT_EXP_DESC,
        .commandId = id,
        .argSize = sizeof(other),
        .pArgValue = &other};
    const ze_mutable_commands_exp_desc_t change = {
        .stype = (ze_structure_type_t)CPU_STRUCTURE_TYPE_MUTABLE_COMMANDS_EXP_DESC,
        .pNext = &argument};
    return update(list, &change) == ZE_RESULT_SUCCESS && execute(queue, list);
}

static bool execute_and_change(void)
{
    bool is_good = false;
    const ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    const ze_mutable_command_list_exp_desc_t mutable_desc = {
        .stype = (ze_structure_type_t)CPU_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_DESC};
    const ze_command_list_desc_t list_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
                                              .pNext = &mutable_desc};
    const ze_kernel_desc_t kernel_desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                          .pKernelName = "negate"};
    const ze_host_mem_alloc_desc_t host_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    ze_command_queue_handle_t queue = NULL;
    ze_command_list_handle_t list = NULL;
    ze_kernel_handle_t kernel = NULL;
    void *memory = NULL;
    int *data;
    STEP(zeMemAllocHost(shared.context, &host_desc, 2 * ITEMS * sizeof(int), 0, &memory));
    data = memory;
    for (int i = 0; i < 2 * ITEMS; i++)
        data[i] = i;
    STEP(zeCommandQueueCreate(shared.context, shared.device, &queue_desc, &queue));
    STEP(zeCommandListCreate(shared.context, shared.device, &list_desc, &list));
    STEP(zeKernelCreate(shared.module, &kernel_desc, &kernel));
    is_good = record(queue, list, kernel, data);
    for (int i = 0; is_good && i < 2 * ITEMS; i++)
        MUST(data[i] == -i);
out:
    if (kernel != NULL && zeKernelDestroy(kernel) != 0)
        is_good = false;
    if (list != NULL && zeCommandListDestroy(list) != 0)
        is_good = false;
    if (queue != NULL && zeCommandQueueDestroy(queue) != 0)
        is_good = false;
    if (memory != NULL && zeMemFree(shared.context, memory) != 0)
        is_good = false;
    return is_good;
}

static void bring_up(void)
{
    uint32_t count = 1;
    MUST(zeInit(0) == ZE_RESULT_SUCCESS);
    MUST(zeDriverGet(&count, &shared.driver) == ZE_RESULT_SUCCESS);
    MUST(zeDeviceGet(shared.driver, &count, &shared.device) == ZE_RESULT_SUCCESS);
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    MUST(zeContextCreate(shared.driver, &desc, &shared.context) == ZE_RESULT_SUCCESS);
    struct test_bytes spirv = test_env_read_spirv("negate");
    const ze_module_desc_t module_desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                          .format = ZE_MODULE_FORMAT_IL_SPIRV,
                                          .inputSize = spirv.size_bytes,
                                          .pInputModule = spirv.data};
    MUST(zeModuleCreate(shared.context, shared.device, &module_desc, &shared.module, NULL) ==
         ZE_RESULT_SUCCESS);
    free(spirv.data);
}

static void walk(const char *name, bool (*story)(void), const struct test_ze_cpu *control)
{
    const uint64_t live = control->get_live_objects();
    bool is_good = false;
    int rounds = 0;
    MUST(story());
    for (; !is_good; rounds++) {
        char failure[64];
        MUST(rounds < ROUNDS_MAXIMUM);
        snprintf(failure, sizeof(failure), "*:%d:ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY", rounds + 1);
        MUST(control->set_fail(failure) == 0);
        is_good = story();
        MUST(control->set_fail(NULL) == 0);
        MUST(control->get_live_objects() == live);
        MUST(story());
    }
    // The last round met no failure.
    printf("%s: %d calls failed in turn\n", name, rounds - 1);
    MUST(rounds > 5);
}

int main(void)
{
    const struct test_ze_cpu control = test_ze_cpu_use();
    bring_up();
    walk("virtual memory", map_and_unmap, &control);
    walk("images", copy_through_image, &control);
    walk("mutable list", execute_and_change, &control);
    MUST(zeModuleDestroy(shared.module) == ZE_RESULT_SUCCESS);
    MUST(zeContextDestroy(shared.context) == ZE_RESULT_SUCCESS);
    return 0;
}
