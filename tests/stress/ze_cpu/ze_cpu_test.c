// SPDX-License-Identifier: MIT
//
// The uses of one device that Level Zero allows to several threads: each has its own lists, events
// and kernels, they share driver, context, module and memory. A plain program, for ThreadSanitizer.
#include "test_env.h"
#include "test_threads.h"
#include "test_ze_cpu.h"

#include <level_zero/ze_api.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, ROUNDS = 20, ELEMENTS = 64 };

// No use going on, and the threads need no clean-up then.
#define MUST(call) TEST_ZE_OK(call)

static struct {
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_module_handle_t module;
} shared;

static ze_module_handle_t build(void)
{
    struct test_bytes spirv = test_env_read_spirv("negate");
    const ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                   .format = ZE_MODULE_FORMAT_IL_SPIRV,
                                   .inputSize = spirv.size_bytes,
                                   .pInputModule = spirv.data};
    ze_module_handle_t module;
    MUST(zeModuleCreate(shared.context, shared.device, &desc, &module, NULL));
    free(spirv.data);
    return module;
}

static void bring_up(void)
{
    uint32_t count = 1;
    test_env_use_ze_cpu();
    MUST(zeInit(0));
    MUST(zeDriverGet(&count, &shared.driver));
    MUST(zeDeviceGet(shared.driver, &count, &shared.device));
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    MUST(zeContextCreate(shared.driver, &desc, &shared.context));
    shared.module = build();
}

static void negate_in_rounds(ze_kernel_handle_t kernel, int *data)
{
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    ze_command_list_handle_t list;
    MUST(zeCommandListCreateImmediate(shared.context, shared.device, &desc, &list));
    const ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                            .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                            .count = 1};
    ze_event_pool_handle_t pool;
    MUST(zeEventPoolCreate(shared.context, &pool_desc, 1, &shared.device, &pool));
    const ze_event_desc_t event_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
                                        .signal = ZE_EVENT_SCOPE_FLAG_HOST};
    ze_event_handle_t done;
    MUST(zeEventCreate(pool, &event_desc, &done));

    const ze_group_count_t groups = {ELEMENTS / 16, 1, 1};
    MUST(zeKernelSetGroupSize(kernel, 16, 1, 1));
    MUST(zeKernelSetArgumentValue(kernel, 0, sizeof(data), &data));
    for (int round = 0; round < ROUNDS; round++) {
        MUST(zeCommandListAppendLaunchKernel(list, kernel, &groups, done, 0, NULL));
        MUST(zeEventHostSynchronize(done, UINT64_MAX));
        MUST(zeEventHostReset(done));
    }
    MUST(zeEventDestroy(done));
    MUST(zeEventPoolDestroy(pool));
    MUST(zeCommandListDestroy(list));
}

// Each thread has reservations and physical memory of its own, in tables that all share; its list
// fills the memory that it maps.
static bool map_in_rounds(void)
{
    const ze_command_queue_desc_t list_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                               .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    ze_physical_mem_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, .size = 4096};
    ze_memory_allocation_properties_t properties = {
        .stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
    ze_command_list_handle_t list;
    bool is_good = true;
    MUST(zeCommandListCreateImmediate(shared.context, shared.device, &list_desc, &list));
    for (int round = 0; round < ROUNDS; round++) {
        ze_physical_mem_handle_t memory;
        ze_device_handle_t device;
        void *address;
        MUST(zeVirtualMemReserve(shared.context, NULL, 8192, &address));
        MUST(zePhysicalMemCreate(shared.context, shared.device, &desc, &memory));
        MUST(zeVirtualMemMap(shared.context, address, 4096, memory, 0,
                             ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
        MUST(zeCommandListAppendMemoryFill(list, address, &round, sizeof(round), 4096, NULL, 0,
                                           NULL));
        MUST(zeMemGetAllocProperties(shared.context, address, &properties, &device));
        is_good = is_good && ((int *)address)[1023] == round && device == shared.device;
        MUST(zeVirtualMemUnmap(shared.context, address, 4096));
        MUST(zePhysicalMemDestroy(shared.context, memory));
        MUST(zeVirtualMemFree(shared.context, address, 8192));
    }
    MUST(zeCommandListDestroy(list));
    return is_good;
}

// Sets its flag if a number was wrong.
static void *work(void *out_wrong)
{
    const ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    const ze_device_mem_alloc_desc_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "negate"};
    void *memory;
    ze_kernel_handle_t kernel;
    MUST(zeMemAllocShared(shared.context, &device, &host, ELEMENTS * sizeof(int), 64, shared.device,
                          &memory));
    int *data = memory;
    for (int i = 0; i < ELEMENTS; i++)
        data[i] = i;

    MUST(zeKernelCreate(shared.module, &desc, &kernel));
    negate_in_rounds(kernel, data);
    MUST(zeKernelDestroy(kernel));

    if (!map_in_rounds())
        *(bool *)out_wrong = true;

    // A build beside the launches of the others. Rounds are even: the data is as it was.
    ze_module_handle_t own = build();
    MUST(zeModuleDestroy(own));
    for (int i = 0; i < ELEMENTS; i++)
        if (data[i] != i)
            *(bool *)out_wrong = true;
    MUST(zeMemFree(shared.context, memory));
    return NULL;
}

int main(void)
{
    bool wrong[THREADS] = {false};
    int status = 0;
    bring_up();
    test_threads_run(THREADS, work, wrong, sizeof(wrong[0]));
    for (int i = 0; i < THREADS; i++) {
        if (wrong[i]) {
            fprintf(stderr, "thread %d: wrong numbers\n", i);
            status = 1;
        }
    }
    MUST(zeModuleDestroy(shared.module));
    MUST(zeContextDestroy(shared.context));
    return status;
}
