// SPDX-License-Identifier: MIT
#include "row_plain.h"

#include "tools/zepi/kernels.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

// Newer than Level Zero 1.4, where an unknown flag of queues is ignored.
#define LAUNCH_FUNCTION "zeCommandListAppendLaunchKernelWithArguments"
#define IN_ORDER ((ze_command_queue_flags_t)0x2)

// ---- Bringing it up ----

static bool find_list(zepi_queue_t queue, ze_command_list_handle_t *out_list)
{
    void *native;
    if (zepi.queue_get_native(queue, &native) != ZEPI_SUCCESS)
        return false;
    *out_list = native;
    return true;
}

static bool borrow(struct plain_row *row, const struct zepi_row *zepi_row)
{
    zepi_platform_info_t platform = {.size = sizeof(platform)};
    void *native;
    void *address = NULL;
    if (zepi.platform_get_info(zepi_row->host.platform, &platform) != ZEPI_SUCCESS ||
        zepi.context_get_native(zepi_row->host.context, &native) != ZEPI_SUCCESS ||
        !find_list(zepi_row->host.queue, &row->list) || !find_list(zepi_row->second, &row->second))
        return false;
    row->context = native;
    row->device = zepi_row->host.info.native_handle;
    memcpy(row->memory, zepi_row->memory, sizeof(row->memory));
    if (zeDriverGetExtensionFunctionAddress(platform.native_handle, LAUNCH_FUNCTION, &address) ==
        ZE_RESULT_SUCCESS)
        memcpy(&row->launch, &address, sizeof(address));
    // A newer loader has it by name.
    void *symbol = row->launch ? NULL : dlsym(RTLD_DEFAULT, LAUNCH_FUNCTION);
    if (symbol)
        memcpy(&row->launch, &symbol, sizeof(symbol));
    return true;
}

static bool make_kernel(const struct plain_row *row, const char *name,
                        ze_kernel_handle_t *out_kernel)
{
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    return zeKernelCreate(row->module, &desc, out_kernel) == ZE_RESULT_SUCCESS &&
           zeKernelSetIndirectAccess(*out_kernel, ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED) ==
               ZE_RESULT_SUCCESS &&
           zeKernelSetGroupSize(*out_kernel, 64, 1, 1) == ZE_RESULT_SUCCESS;
}

static bool make_kernels(struct plain_row *row)
{
    bool is_good = make_kernel(row, bench_kernels[BENCH_THREE].name, &row->other);
    for (int i = 0; i < BENCH_KERNEL_COUNT && is_good; i++)
        is_good = make_kernel(row, bench_kernels[i].name, &row->kernels[i]);
    return is_good;
}

static bool make_module(const struct plain_row *row, ze_module_format_t format, const void *code,
                        size_t size_bytes, ze_module_handle_t *out_module)
{
    static const uint32_t id = 0;
    static const int value = 5;
    const void *values[] = {&value};
    const ze_module_constants_t constants = {1, &id, values};
    const ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                   .format = format,
                                   .inputSize = size_bytes,
                                   .pInputModule = code,
                                   .pConstants =
                                       format == ZE_MODULE_FORMAT_IL_SPIRV ? &constants : NULL};
    return zeModuleCreate(row->context, row->device, &desc, out_module, NULL) == ZE_RESULT_SUCCESS;
}

// From the native code of zepi's, so that bringing up compiles nothing.
static bool make_code(struct plain_row *row, const struct zepi_row *zepi_row)
{
    const zepi_module_t executable = zepi_row->executable;
    const zepi_device_t device = zepi_row->host.device;
    size_t size_bytes = 0;
    zepi.module_get_native_binary(executable, device, &size_bytes, NULL);
    row->native = malloc(size_bytes);
    row->native_bytes = size_bytes;
    return row->native &&
           zepi.module_get_native_binary(executable, device, &row->native_bytes, row->native) ==
               ZEPI_SUCCESS &&
           make_module(row, ZE_MODULE_FORMAT_NATIVE, row->native, row->native_bytes, &row->module);
}

static bool make_events(struct plain_row *row)
{
    const ze_event_pool_desc_t pool = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                       .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                       .count = 2};
    bool is_good =
        zeEventPoolCreate(row->context, &pool, 1, &row->device, &row->pool) == ZE_RESULT_SUCCESS;
    for (uint32_t i = 0; i < 2 && is_good; i++) {
        const ze_event_desc_t event = {
            .stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = i, .signal = ZE_EVENT_SCOPE_FLAG_HOST};
        is_good = zeEventCreate(row->pool, &event, &row->events[i]) == ZE_RESULT_SUCCESS;
    }
    return is_good;
}

bool plain_row_open(struct plain_row *row, const struct zepi_row *zepi_row)
{
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    return borrow(row, zepi_row) && make_code(row, zepi_row) && make_kernels(row) &&
           make_events(row) &&
           zeCommandListCreateImmediate(row->context, row->device, &desc, &row->out_of_order) ==
               ZE_RESULT_SUCCESS;
}

void plain_row_close(struct plain_row *row)
{
    if (row->out_of_order)
        zeCommandListDestroy(row->out_of_order);
    for (int i = 0; i < 2; i++) {
        if (row->events[i])
            zeEventDestroy(row->events[i]);
    }
    if (row->pool)
        zeEventPoolDestroy(row->pool);
    for (int i = 0; i < BENCH_KERNEL_COUNT; i++) {
        if (row->kernels[i])
            zeKernelDestroy(row->kernels[i]);
    }
    if (row->other)
        zeKernelDestroy(row->other);
    if (row->module)
        zeModuleDestroy(row->module);
    free(row->native);
}

bool plain_row_settle(void *state)
{
    (void)state;
    return true;
}

// ---- Operations ----

static bool copy_small(void *state, unsigned count)
{
    const struct plain_row *row = state;
    bool is_good = true;
    for (unsigned i = 0; i < count && is_good; i++)
        is_good = zeCommandListAppendMemoryCopy(row->list, row->memory[BENCH_COPY_TO],
                                                row->memory[BENCH_COPY_FROM], 64, NULL, 0,
                                                NULL) == ZE_RESULT_SUCCESS;
    return is_good;
}

static bool allocate_and_free(void *state, unsigned count)
{
    const struct plain_row *row = state;
    const ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    bool is_good = true;
    for (unsigned i = 0; i < count && is_good; i++) {
        void *memory;
        is_good = zeMemAllocDevice(row->context, &desc, 4096, 0, row->device, &memory) ==
                      ZE_RESULT_SUCCESS &&
                  zeMemFree(row->context, memory) == ZE_RESULT_SUCCESS;
    }
    return is_good;
}

static bool create_queue(void *state, unsigned count)
{
    const struct plain_row *row = state;
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .flags = IN_ORDER,
                                          .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    bool is_good = true;
    for (unsigned i = 0; i < count && is_good; i++) {
        ze_command_list_handle_t list;
        is_good = zeCommandListCreateImmediate(row->context, row->device, &desc, &list) ==
                      ZE_RESULT_SUCCESS &&
                  zeCommandListDestroy(list) == ZE_RESULT_SUCCESS;
    }
    return is_good;
}

static bool create_kernel(void *state, unsigned count)
{
    const struct plain_row *row = state;
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "three"};
    bool is_good = true;
    for (unsigned i = 0; i < count && is_good; i++) {
        ze_kernel_handle_t kernel;
        is_good = zeKernelCreate(row->module, &desc, &kernel) == ZE_RESULT_SUCCESS &&
                  zeKernelDestroy(kernel) == ZE_RESULT_SUCCESS;
    }
    return is_good;
}

static bool make_program(const struct plain_row *row, const struct kernel_image *image)
{
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "three"};
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
    if (!make_module(row, ZE_MODULE_FORMAT_IL_SPIRV, image->bytes, image->size_bytes, &module))
        return false;
    const bool is_good = zeKernelCreate(module, &desc, &kernel) == ZE_RESULT_SUCCESS &&
                         zeKernelDestroy(kernel) == ZE_RESULT_SUCCESS;
    return zeModuleDestroy(module) == ZE_RESULT_SUCCESS && is_good;
}

// A driver compiles each time, here always with one value.
static bool build(void *state, const char *name, unsigned count, int value)
{
    const struct kernel_image image = kernel_image(name);
    bool is_good = true;
    (void)value;
    for (unsigned i = 0; i < count && is_good; i++)
        is_good = make_program(state, &image);
    return is_good;
}

bench_crew_fn *const plain_row_crews[BENCH_CREW_COUNT] = {
    [BENCH_CREW_LAUNCH] = plain_row_launch_together,
    [BENCH_CREW_COLD_DIFFERENT] = bench_build_cold_different,
};

bench_crew_fn *const plain_row_one_call_crews[BENCH_CREW_COUNT] = {
    [BENCH_CREW_LAUNCH] = plain_row_launch_together_in_one_call,
};

const struct bench_step plain_row_steps[BENCH_OPERATION_COUNT] = {
    [BENCH_LAUNCH_3... BENCH_LAUNCH_TURNS] = {.launch = plain_row_launch},
    [BENCH_COPY] = {.run = copy_small},
    [BENCH_QUEUE] = {.run = create_queue},
    [BENCH_ALLOCATE] = {.run = allocate_and_free},
    [BENCH_KERNEL] = {.run = create_kernel},
    [BENCH_PROGRAM] = {.build = build, .is_slow = true},
    [BENCH_PROGRAM_LARGE] = {.build = build, .is_slow = true},
    [BENCH_COLD] = {.build = build, .is_slow = true},
};

const struct bench_step plain_row_one_call_steps[BENCH_OPERATION_COUNT] = {
    [BENCH_LAUNCH_3... BENCH_LAUNCH_TURNS] = {.launch = plain_row_launch_in_one_call},
};
