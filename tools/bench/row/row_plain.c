// SPDX-License-Identifier: MIT
#include "row_plain.h"

#include "tools/zepi/kernels.h"

#include <stdlib.h>
#include <string.h>

// Newer than Level Zero 1.4, where an unknown flag of queues is ignored.
#define IN_ORDER ((ze_command_queue_flags_t)0x2)

// ---- Bringing it up ----

static bool borrow(struct plain_row *row, const struct zepi_row *zepi_row)
{
    void *context;
    void *list;
    if (zepi.context_get_native(zepi_row->host.context, &context) != ZEPI_SUCCESS ||
        zepi.queue_get_native(zepi_row->host.queue, &list) != ZEPI_SUCCESS)
        return false;
    row->context = context;
    row->list = list;
    row->device = zepi_row->host.info.native_handle;
    memcpy(row->memory, zepi_row->memory, sizeof(row->memory));
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
    bool is_good = true;
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

// The cheapest way to events: the same two in turns.
static bool launch_once(void *state, const struct bench_launch *launch, unsigned i)
{
    struct plain_row *row = state;
    struct bench_values values = {.same = 7};
    const unsigned turn = bench_change(launch, &values, i);
    const ze_kernel_handle_t kernel = row->kernels[bench_kernel_of(launch, i)];
    const ze_group_count_t groups = {(uint32_t)bench_global_size(launch, i) / 64, 1, 1};
    const ze_command_list_handle_t list = launch->is_after ? row->out_of_order : row->list;
    const ze_event_handle_t signal = launch->has_event ? row->events[i & 1] : NULL;
    ze_event_handle_t wait = launch->is_after && i > 0 ? row->events[~i & 1] : NULL;
    const ze_event_handle_t done = launch->is_after ? wait : signal;
    for (uint32_t at = 0; at < bench_kernels[launch->kernel].argument_count; at++) {
        const struct bench_argument *from = &bench_arguments[at % BENCH_ARGUMENT_CYCLE];
        const bool is_local = launch->kernel == BENCH_WITH_LOCAL && at == BENCH_LOCAL_INDEX;
        const size_t size = is_local               ? BENCH_LOCAL_BYTES
                            : from->size_bytes > 0 ? from->size_bytes
                                                   : sizeof(void *);
        const void *value = is_local               ? NULL
                            : from->size_bytes > 0 ? bench_value(&values, from)
                                                   : &row->memory[bench_memory(from, turn)];
        if (zeKernelSetArgumentValue(kernel, at, size, value) != ZE_RESULT_SUCCESS)
            return false;
    }
    return zeCommandListAppendLaunchKernel(list, kernel, &groups, signal, wait != NULL,
                                           wait ? &wait : NULL) == ZE_RESULT_SUCCESS &&
           (!done || zeEventHostReset(done) == ZE_RESULT_SUCCESS);
}

static bool copy_small(void *state)
{
    const struct plain_row *row = state;
    return zeCommandListAppendMemoryCopy(row->list, row->memory[BENCH_COPY_TO],
                                         row->memory[BENCH_COPY_FROM], 64, NULL, 0,
                                         NULL) == ZE_RESULT_SUCCESS;
}

static bool allocate_and_free(void *state)
{
    static const ze_device_mem_alloc_desc_t desc = {.stype =
                                                        ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const struct plain_row *row = state;
    void *memory;
    return zeMemAllocDevice(row->context, &desc, 4096, 0, row->device, &memory) ==
               ZE_RESULT_SUCCESS &&
           zeMemFree(row->context, memory) == ZE_RESULT_SUCCESS;
}

static bool create_queue(void *state)
{
    static const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                                 .flags = IN_ORDER,
                                                 .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    const struct plain_row *row = state;
    ze_command_list_handle_t list;
    return zeCommandListCreateImmediate(row->context, row->device, &desc, &list) ==
               ZE_RESULT_SUCCESS &&
           zeCommandListDestroy(list) == ZE_RESULT_SUCCESS;
}

static bool create_and_destroy_kernel(ze_module_handle_t module)
{
    static const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                          .pKernelName = "three"};
    ze_kernel_handle_t kernel;
    return zeKernelCreate(module, &desc, &kernel) == ZE_RESULT_SUCCESS &&
           zeKernelDestroy(kernel) == ZE_RESULT_SUCCESS;
}

static bool create_kernel(void *state)
{
    const struct plain_row *row = state;
    return create_and_destroy_kernel(row->module);
}

// A driver compiles each time, here always with one value.
static bool build(void *state, const char *name, int value)
{
    const struct kernel_image image = kernel_image(name);
    ze_module_handle_t module;
    (void)value;
    if (!make_module(state, ZE_MODULE_FORMAT_IL_SPIRV, image.bytes, image.size_bytes, &module))
        return false;
    const bool is_good = create_and_destroy_kernel(module);
    return zeModuleDestroy(module) == ZE_RESULT_SUCCESS && is_good;
}

const struct bench_step plain_row_steps[BENCH_OPERATION_COUNT] = {
    [BENCH_LAUNCH_3... BENCH_LAUNCH_TURNS] = {.launch = launch_once},
    [BENCH_COPY] = {.run = copy_small},
    [BENCH_QUEUE] = {.run = create_queue},
    [BENCH_ALLOCATE] = {.run = allocate_and_free},
    [BENCH_KERNEL] = {.run = create_kernel},
    [BENCH_PROGRAM] = {.build = build, .is_slow = true},
    [BENCH_PROGRAM_LARGE] = {.build = build, .is_slow = true},
    [BENCH_COLD] = {.build = build, .is_slow = true},
};
