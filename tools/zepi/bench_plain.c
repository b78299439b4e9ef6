// SPDX-License-Identifier: MIT
// The same through plain Level Zero calls, for scale: what a program would write that does nothing
// but launch. Arguments one by one, and in one call where the driver has it.
#include "bench.h"

#include <level_zero/ze_api.h>

#include <stdlib.h>
#include <string.h>

struct group_size {
    uint32_t x, y, z;
};

typedef ze_result_t(ZE_APICALL *launch_with_arguments_fn)(ze_command_list_handle_t,
                                                          ze_kernel_handle_t, ze_group_count_t,
                                                          struct group_size, void **, const void *,
                                                          ze_event_handle_t, uint32_t,
                                                          ze_event_handle_t *);

// Handles of Level Zero for what the bench made through zepi.
struct plain {
    ze_driver_handle_t driver;
    ze_context_handle_t context;
    ze_device_handle_t device;
    ze_command_list_handle_t list;
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
};

static bool make(const struct bench *bench, struct plain *plain)
{
    size_t size_bytes = 0;
    void *native;
    zepi_platform_info_t platform = {.size = sizeof(platform)};
    ze_kernel_desc_t kernel_desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "three"};
    static uint8_t code[1 << 20];
    if (zepi.platform_get_info(bench->host.platform, &platform) != ZEPI_SUCCESS ||
        zepi.context_get_native(bench->host.context, &native) != ZEPI_SUCCESS)
        return false;
    plain->driver = platform.native_handle;
    plain->context = native;
    plain->device = bench->host.info.native_handle;
    if (zepi.queue_get_native(bench->host.queue, &native) != ZEPI_SUCCESS)
        return false;
    plain->list = native;
    size_bytes = sizeof(code);
    if (zepi.module_get_native_binary(bench->executable, bench->host.device, &size_bytes, code) !=
        ZEPI_SUCCESS)
        return false;
    const ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                   .format = ZE_MODULE_FORMAT_NATIVE,
                                   .inputSize = size_bytes,
                                   .pInputModule = code};
    return zeModuleCreate(plain->context, plain->device, &desc, &plain->module, NULL) ==
               ZE_RESULT_SUCCESS &&
           zeKernelCreate(plain->module, &kernel_desc, &plain->kernel) == ZE_RESULT_SUCCESS &&
           zeKernelSetIndirectAccess(plain->kernel, ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED) ==
               ZE_RESULT_SUCCESS &&
           zeKernelSetGroupSize(plain->kernel, 64, 1, 1) == ZE_RESULT_SUCCESS;
}

void bench_plain_finish(struct bench *bench)
{
    struct plain *plain = bench->plain;
    if (plain && plain->kernel)
        zeKernelDestroy(plain->kernel);
    if (plain && plain->module)
        zeModuleDestroy(plain->module);
    free(plain);
    bench->plain = NULL;
}

// Made by the first case that needs it.
static struct plain *plain_of(struct bench *bench)
{
    if (!bench->plain) {
        bench->plain = calloc(1, sizeof(*bench->plain));
        if (bench->plain && !make(bench, bench->plain))
            bench_plain_finish(bench);
    }
    return bench->plain;
}

static bool launch_one_by_one(struct bench *bench, unsigned count)
{
    const struct plain *plain = plain_of(bench);
    const ze_group_count_t groups = {16, 1, 1};
    bool is_good = plain != NULL;
    for (unsigned i = 0; i < count && is_good; i++) {
        const int value = (int)(i & 1);
        is_good =
            zeKernelSetArgumentValue(plain->kernel, 0, sizeof(void *),
                                     &bench->memory[BENCH_CHANGING(i)]) == ZE_RESULT_SUCCESS &&
            zeKernelSetArgumentValue(plain->kernel, 1, sizeof(void *), &bench->memory[2]) ==
                ZE_RESULT_SUCCESS &&
            zeKernelSetArgumentValue(plain->kernel, 2, sizeof(value), &value) ==
                ZE_RESULT_SUCCESS &&
            zeCommandListAppendLaunchKernel(plain->list, plain->kernel, &groups, NULL, 0, NULL) ==
                ZE_RESULT_SUCCESS;
    }
    return is_good;
}

static bool launch_in_one_call(struct bench *bench, unsigned count)
{
    const struct plain *plain = plain_of(bench);
    launch_with_arguments_fn launch = NULL;
    void *address = NULL;
    const ze_group_count_t groups = {16, 1, 1};
    const struct group_size group = {64, 1, 1};
    bool is_good = plain != NULL;
    if (is_good && zeDriverGetExtensionFunctionAddress(
                       plain->driver, "zeCommandListAppendLaunchKernelWithArguments", &address) ==
                       ZE_RESULT_SUCCESS)
        memcpy(&launch, &address, sizeof(launch));
    is_good = is_good && launch;
    for (unsigned i = 0; i < count && is_good; i++) {
        int value = (int)(i & 1);
        void *arguments[] = {&bench->memory[BENCH_CHANGING(i)], &bench->memory[2], &value};
        is_good = launch(plain->list, plain->kernel, groups, group, arguments, NULL, NULL, 0,
                         NULL) == ZE_RESULT_SUCCESS;
    }
    return is_good;
}

static bool copy_small(struct bench *bench, unsigned count)
{
    const struct plain *plain = plain_of(bench);
    bool is_good = plain != NULL;
    for (unsigned i = 0; i < count && is_good; i++)
        is_good = zeCommandListAppendMemoryCopy(plain->list, bench->memory[0], bench->memory[1], 64,
                                                NULL, 0, NULL) == ZE_RESULT_SUCCESS;
    return is_good;
}

static bool allocate_and_free(struct bench *bench, unsigned count)
{
    const struct plain *plain = plain_of(bench);
    const ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    bool is_good = plain != NULL;
    for (unsigned i = 0; i < count && is_good; i++) {
        void *memory;
        is_good = zeMemAllocDevice(plain->context, &desc, 4096, 0, plain->device, &memory) ==
                      ZE_RESULT_SUCCESS &&
                  zeMemFree(plain->context, memory) == ZE_RESULT_SUCCESS;
    }
    return is_good;
}

static bool prepare_one_by_one(struct bench *bench, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const int value = (int)(i & 1);
        bench_keep(&bench->memory[BENCH_CHANGING(i)]);
        bench_keep(&value);
    }
    return true;
}

static bool prepare_in_one_call(struct bench *bench, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const int value = (int)(i & 1);
        const void *arguments[] = {&bench->memory[BENCH_CHANGING(i)], &bench->memory[2], &value};
        bench_keep(arguments);
    }
    return true;
}

const struct bench_case bench_plain_cases[] = {
    {"Level Zero", "in-order launch, 3 arguments", launch_one_by_one, prepare_one_by_one, false},
    {"Level Zero, one call", "in-order launch, 3 arguments", launch_in_one_call,
     prepare_in_one_call, false},
    {"Level Zero", "copy of 64 bytes", copy_small, bench_empty_loop, false},
    {"Level Zero", "allocate and free 4 KiB", allocate_and_free, bench_empty_loop, false},
    {0},
};
