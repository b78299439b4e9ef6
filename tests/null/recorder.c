// SPDX-License-Identifier: MIT
#include "recorder.h"

#include <criterion/criterion.h>
#include <level_zero/layers/zel_tracing_api.h>
#include <level_zero/layers/zel_tracing_register_cb.h>
#include <level_zero/ze_api.h>
#include <stdio.h>
#include <string.h>

static struct recorder recorder;

static void note(const char *name)
{
    const size_t length = strlen(recorder.calls);
    snprintf(recorder.calls + length, sizeof(recorder.calls) - length, "%s ", name);
}

// One callback a function: notes the call when it returns, and counts objects.
#define RECORD(table, name, change)                                                                \
    static void record_##name(ze_##table##_params_t *params, ze_result_t result, void *user,       \
                              void **instance)                                                     \
    {                                                                                              \
        (void)params, (void)user, (void)instance;                                                  \
        note("ze" #name);                                                                          \
        if (result == ZE_RESULT_SUCCESS)                                                           \
            recorder.live += change;                                                               \
    }

#define RECORDED(X)                                                                                \
    X(context_create_ex, ContextCreateEx, 1)                                                       \
    X(context_destroy, ContextDestroy, -1)                                                         \
    X(command_list_create_immediate, CommandListCreateImmediate, 1)                                \
    X(command_list_destroy, CommandListDestroy, -1)                                                \
    X(event_pool_create, EventPoolCreate, 1)                                                       \
    X(event_pool_destroy, EventPoolDestroy, -1)                                                    \
    X(event_create, EventCreate, 1)                                                                \
    X(event_destroy, EventDestroy, -1)                                                             \
    X(kernel_create, KernelCreate, 1)                                                              \
    X(kernel_destroy, KernelDestroy, -1)                                                           \
    X(module_destroy, ModuleDestroy, -1)                                                           \
    X(mem_alloc_device, MemAllocDevice, 1)                                                         \
    X(mem_alloc_shared, MemAllocShared, 1)                                                         \
    X(mem_alloc_host, MemAllocHost, 1)                                                             \
    X(mem_free, MemFree, -1)                                                                       \
    X(command_list_append_launch_kernel, CommandListAppendLaunchKernel, 0)                         \
    X(command_list_append_barrier, CommandListAppendBarrier, 0)                                    \
    X(command_list_append_memory_copy, CommandListAppendMemoryCopy, 0)                             \
    X(event_host_synchronize, EventHostSynchronize, 0)                                             \
    X(event_host_reset, EventHostReset, 0)                                                         \
    X(event_query_status, EventQueryStatus, 0)                                                     \
    X(kernel_set_argument_value, KernelSetArgumentValue, 0)                                        \
    X(kernel_set_group_size, KernelSetGroupSize, 0)                                                \
    X(kernel_suggest_group_size, KernelSuggestGroupSize, 0)                                        \
    X(kernel_set_indirect_access, KernelSetIndirectAccess, 0)                                      \
    X(kernel_get_properties, KernelGetProperties, 0)                                               \
    X(device_get_properties, DeviceGetProperties, 0)                                               \
    X(device_get_global_timestamps, DeviceGetGlobalTimestamps, 0)

RECORDED(RECORD)

static void record_module(ze_module_create_params_t *params, ze_result_t result, void *user,
                          void **instance)
{
    const ze_module_desc_t *desc = *params->pdesc;
    struct recorded_module *module = &recorder.module;
    (void)user, (void)instance;
    note("zeModuleCreate");
    if (result == ZE_RESULT_SUCCESS)
        recorder.live++;
    *module = (struct recorded_module){.input_size_bytes = desc->inputSize,
                                       .has_constants = desc->pConstants != NULL};
    snprintf(module->flags, sizeof(module->flags), "%s",
             desc->pBuildFlags ? desc->pBuildFlags : "");
    if (!desc->pConstants)
        return;
    module->constant_count = desc->pConstants->numConstants;
    cr_assert_leq(module->constant_count, RECORDER_MAX_CONSTANTS);
    for (uint32_t i = 0; i < module->constant_count; i++) {
        module->ids[i] = desc->pConstants->pConstantIds[i];
        module->places[i] = desc->pConstants->pConstantValues[i];
        memcpy(&module->values[i], module->places[i], sizeof(module->values[i]));
    }
}

// NOLINTNEXTLINE(readability-function-size): a statement a function of Level Zero
struct recorder *recorder_start(void)
{
    const zel_tracer_desc_t desc = {.stype = ZEL_STRUCTURE_TYPE_TRACER_DESC};
    zel_tracer_handle_t tracer;
    cr_assert_eq(zelTracerCreate(&desc, &tracer), ZE_RESULT_SUCCESS);
#define REGISTER(table, name, change)                                                              \
    cr_assert_eq(zelTracer##name##RegisterCallback(tracer, ZEL_REGISTER_EPILOGUE, record_##name),  \
                 ZE_RESULT_SUCCESS);
    RECORDED(REGISTER)
    cr_assert_eq(
        zelTracerModuleCreateRegisterCallback(tracer, ZEL_REGISTER_EPILOGUE, record_module),
        ZE_RESULT_SUCCESS);
    cr_assert_eq(zelTracerSetEnabled(tracer, true), ZE_RESULT_SUCCESS);
    return &recorder;
}

void recorder_forget(struct recorder *record)
{
    record->calls[0] = '\0';
}

unsigned recorder_count(const struct recorder *record, const char *function)
{
    char word[128];
    unsigned count = 0;
    snprintf(word, sizeof(word), "%s ", function);
    for (const char *at = record->calls; (at = strstr(at, word)); at += strlen(word))
        count += at == record->calls || at[-1] == ' ';
    return count;
}
