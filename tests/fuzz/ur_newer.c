// SPDX-License-Identifier: MIT
#include "fuzz.h"
#include "ur_chain.h"
#include "ur_gear.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define OK(call) fuzz_require((call) == UR_RESULT_SUCCESS)

enum { PAGE_BYTES = 65536, ITEMS = 64 };

// What a host gives to one call.
struct words {
    uint32_t flags;
    uint32_t size_bytes;
    ur_base_properties_t *chain;
};

// A pool may ask the driver for a gigabyte at once, which takes the address sanitizer long.
static void keep_small(ur_base_properties_t *chain)
{
    for (; chain; chain = chain->pNext) {
        if (chain->stype == UR_STRUCTURE_TYPE_USM_POOL_LIMITS_DESC)
            ((ur_usm_pool_limits_desc_t *)chain)->minDriverAllocSize %= 16 * PAGE_BYTES;
    }
}

static void allocate_in_order(const struct ur_gear *gear, const struct words *words)
{
    static __typeof__(zepi_urEnqueueUSMDeviceAllocExp) *const functions[] = {
        zepi_urEnqueueUSMDeviceAllocExp, zepi_urEnqueueUSMSharedAllocExp,
        zepi_urEnqueueUSMHostAllocExp};
    const ur_exp_async_usm_alloc_properties_t properties = {
        .stype = UR_STRUCTURE_TYPE_EXP_ASYNC_USM_ALLOC_PROPERTIES,
        .pNext = words->chain,
        .flags = words->flags};
    ur_usm_pool_desc_t desc = {
        .stype = UR_STRUCTURE_TYPE_USM_POOL_DESC, .pNext = words->chain, .flags = words->flags};
    ur_usm_pool_handle_t pool = NULL;
    void *memory;
    if (zepi_urUSMPoolCreateExp(gear->context, gear->device, &desc, &pool) != UR_RESULT_SUCCESS)
        pool = NULL;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        if (functions[i](gear->queue, pool, words->size_bytes % PAGE_BYTES, &properties, 0, NULL,
                         &memory, NULL) == UR_RESULT_SUCCESS)
            OK(zepi_urEnqueueUSMFreeExp(gear->queue, pool, memory, 0, NULL, NULL));
    }
    if (pool)
        OK(zepi_urUSMPoolDestroyExp(gear->context, gear->device, pool));
}

static void register_host_memory(const struct ur_gear *gear, const struct words *words)
{
    static _Alignas(PAGE_BYTES) char memory[PAGE_BYTES];
    const ur_exp_usm_host_alloc_register_properties_t properties = {
        .stype = UR_STRUCTURE_TYPE_EXP_USM_HOST_ALLOC_REGISTER_PROPERTIES,
        .pNext = words->chain,
        .flags = words->flags};
    const size_t size_bytes = words->size_bytes % (PAGE_BYTES + 1);
    if (zepi_urUSMHostAllocRegisterExp(gear->context, memory, size_bytes, &properties) ==
        UR_RESULT_SUCCESS)
        OK(zepi_urUSMHostAllocUnregisterExp(gear->context, memory));
}

static void create_event(const struct ur_gear *gear, const struct words *words)
{
    const ur_exp_event_desc_t desc = {
        .stype = UR_STRUCTURE_TYPE_EXP_EVENT_DESC, .pNext = words->chain, .flags = words->flags};
    ur_event_handle_t event;
    if (zepi_urEventCreateExp(gear->context, gear->device, &desc, &event) == UR_RESULT_SUCCESS)
        OK(zepi_urEventRelease(event));
}

static void do_nothing(void *data)
{
    (void)data;
}

static void record_nothing(ur_queue_handle_t queue, void *data)
{
    (void)queue;
    (void)data;
}

static void call_host(const struct ur_gear *gear, const struct words *words)
{
    const ur_exp_host_task_properties_t task = {.stype = UR_STRUCTURE_TYPE_EXP_HOST_TASK_PROPERTIES,
                                                .pNext = words->chain,
                                                .flags = words->flags};
    const ur_exp_enqueue_native_command_properties_t native = {
        .stype = UR_STRUCTURE_TYPE_EXP_ENQUEUE_NATIVE_COMMAND_PROPERTIES,
        .pNext = words->chain,
        .flags = words->flags};
    const ur_exp_enqueue_ext_properties_t barrier = {
        .stype = UR_STRUCTURE_TYPE_EXP_ENQUEUE_EXT_PROPERTIES,
        .pNext = words->chain,
        .flags = words->flags};
    (void)zepi_urEnqueueHostTaskExp(gear->queue, do_nothing, NULL, &task, 0, NULL, NULL);
    (void)zepi_urEnqueueNativeCommandExp(gear->queue, record_nothing, NULL, 0, NULL, &native, 0,
                                         NULL, NULL);
    (void)zepi_urEnqueueEventsWaitWithBarrierExt(gear->queue, &barrier, 0, NULL, NULL);
}

// The sizes of an update are the input's, too.
static void update(ur_exp_command_buffer_handle_t commands,
                   ur_exp_command_buffer_command_handle_t command, const struct words *words)
{
    size_t offsets[3] = {0};
    size_t size = words->size_bytes;
    size_t sizes[3] = {size, 1, 1};
    ur_exp_command_buffer_update_value_arg_desc_t value = {
        .stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_UPDATE_VALUE_ARG_DESC,
        .pNext = words->chain,
        .argIndex = words->flags,
        .argSize = sizeof(size),
        .pNewValueArg = &size};
    ur_exp_command_buffer_update_pointer_arg_desc_t pointer = {
        .stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_UPDATE_POINTER_ARG_DESC,
        .pNext = words->chain,
        .argIndex = words->flags,
        .pNewPointerArg = NULL};
    const ur_exp_command_buffer_update_kernel_launch_desc_t desc = {
        .stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_UPDATE_KERNEL_LAUNCH_DESC,
        .pNext = words->chain,
        .hCommand = command,
        .numNewValueArgs = words->flags & 1,
        .numNewPointerArgs = words->flags >> 1 & 1,
        .newWorkDim = words->flags >> 2 & 7,
        .pNewValueArgList = &value,
        .pNewPointerArgList = &pointer,
        .pNewGlobalWorkOffset = offsets,
        .pNewGlobalWorkSize = sizes};
    (void)zepi_urCommandBufferUpdateKernelLaunchExp(commands, 1, &desc);
}

static void record_commands(const struct ur_gear *gear, const struct words *words)
{
    const ur_exp_command_buffer_desc_t desc = {.stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_DESC,
                                               .pNext = words->chain,
                                               .isUpdatable = words->flags >> 5 & 1,
                                               .isInOrder = words->flags >> 6 & 1,
                                               .enableProfiling = words->flags >> 7 & 1};
    const size_t items = ITEMS;
    ur_exp_command_buffer_handle_t commands;
    ur_exp_command_buffer_command_handle_t command = NULL;
    if (zepi_urCommandBufferCreateExp(gear->context, gear->device, &desc, &commands) !=
        UR_RESULT_SUCCESS)
        return;
    OK(zepi_urCommandBufferAppendKernelLaunchExp(commands, gear->kernel, 1, NULL, &items, NULL, 0,
                                                 NULL, 0, NULL, 0, NULL, NULL, NULL,
                                                 desc.isUpdatable ? &command : NULL));
    OK(zepi_urCommandBufferFinalizeExp(commands));
    if (command)
        update(commands, command, words);
    OK(zepi_urEnqueueCommandBufferExp(gear->queue, commands, 0, NULL, NULL));
    OK(zepi_urQueueFinish(gear->queue));
    OK(zepi_urCommandBufferReleaseExp(commands));
}

// A queue of the input's in a capture, with calls that have properties.
static void capture(const struct ur_gear *gear, const struct words *words)
{
    ur_exp_graph_handle_t graph = NULL;
    ur_exp_executable_graph_handle_t executable = NULL;
    OK(zepi_urGraphCreateExp(gear->context, &graph));
    if (zepi_urQueueBeginCaptureIntoGraphExp(gear->queue, graph) == UR_RESULT_SUCCESS) {
        ur_exp_graph_handle_t ended = NULL;
        call_host(gear, words);
        allocate_in_order(gear, words);
        (void)zepi_urQueueEndGraphCaptureExp(gear->queue, &ended);
    }
    if (zepi_urGraphInstantiateGraphExp(graph, &executable) == UR_RESULT_SUCCESS) {
        (void)zepi_urEnqueueGraphExp(gear->queue, executable, 0, NULL, NULL);
        OK(zepi_urQueueFinish(gear->queue));
        OK(zepi_urGraphExecutableGraphDestroyExp(executable));
    }
    OK(zepi_urGraphDestroyExp(graph));
}

// The driver gets a descriptor: of a file without memory, if the input has one.
static void import_external(const struct ur_gear *gear, const struct words *words)
{
    ur_exp_external_mem_desc_t desc = {.stype = UR_STRUCTURE_TYPE_EXP_EXTERNAL_MEM_DESC,
                                       .pNext = words->chain};
    ur_exp_external_mem_handle_t external;
    ur_exp_file_descriptor_t *file = NULL;
    ur_bool_t is_supported;
    void *memory;
    for (ur_base_properties_t *next = words->chain; next && !file; next = next->pNext) {
        if (next->stype == UR_STRUCTURE_TYPE_EXP_FILE_DESCRIPTOR)
            file = (ur_exp_file_descriptor_t *)next;
    }
    if (file && words->flags & 0x100)
        file->fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    (void)zepi_urBindlessImagesSupportsImportingHandleTypeExp(
        gear->device, (ur_exp_external_mem_type_t)(words->flags & 0xff), &is_supported);
    if (zepi_urBindlessImagesImportExternalMemoryExp(
            gear->context, gear->device, words->size_bytes,
            (ur_exp_external_mem_type_t)(words->flags & 0xff), &desc,
            &external) == UR_RESULT_SUCCESS) {
        if (zepi_urBindlessImagesMapExternalLinearMemoryExp(gear->context, gear->device,
                                                            words->flags, words->size_bytes,
                                                            external, &memory) == UR_RESULT_SUCCESS)
            OK(zepi_urBindlessImagesFreeMappedLinearMemoryExp(gear->context, gear->device, memory));
        OK(zepi_urBindlessImagesReleaseExternalMemoryExp(gear->context, gear->device, external));
    } else if (file && file->fd >= 0) {
        OK(close(file->fd) == 0 ? UR_RESULT_SUCCESS : UR_RESULT_ERROR_UNKNOWN);
    }
}

static void create_physical(const struct ur_gear *gear, const struct words *words)
{
    const ur_physical_mem_properties_t properties = {.stype =
                                                         UR_STRUCTURE_TYPE_PHYSICAL_MEM_PROPERTIES,
                                                     .pNext = words->chain,
                                                     .flags = words->flags};
    ur_physical_mem_handle_t physical;
    if (zepi_urPhysicalMemCreate(gear->context, gear->device, words->size_bytes, &properties,
                                 &physical) == UR_RESULT_SUCCESS)
        OK(zepi_urPhysicalMemRelease(physical));
}

// Properties, descriptions and their chains, of functions that came to Unified Runtime late: a byte
// chooses the function, eight are flags and a size, the rest is the chain.
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
    static void (*const uses[])(const struct ur_gear *gear, const struct words *words) = {
        allocate_in_order, register_host_memory, create_event,   call_host, record_commands,
        capture,           import_external,      create_physical};
    const struct ur_gear *gear = ur_gear_get(UR_GEAR_ON_ZE_CPU);
    struct words words;
    if (size_bytes < 9)
        return 0;
    memcpy(&words.flags, bytes + 1, sizeof(words.flags));
    memcpy(&words.size_bytes, bytes + 5, sizeof(words.size_bytes));
    words.chain = ur_chain_read(bytes + 9, size_bytes - 9);
    keep_small(words.chain);
    uses[bytes[0] % (sizeof(uses) / sizeof(uses[0]))](gear, &words);
    OK(zepi_urQueueFinish(gear->queue));
    ur_chain_free(words.chain);
    return 0;
}
