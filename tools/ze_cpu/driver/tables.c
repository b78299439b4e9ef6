// SPDX-License-Identifier: MIT
#include "tables.h"

#include "driver.h"
#include "options.h"

#include <level_zero/zes_ddi.h>
#include <level_zero/zet_ddi.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

// The functions that are not offered. One stub serves any parameters: the calling convention lets a
// callee ignore arguments.
ze_result_t ZE_APICALL cpu_refused(void)
{
    return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
}

static ze_result_t refuse(const char *name)
{
    if (cpu_options()->traces)
        fprintf(stderr, "ze_cpu: %s = 0x%x (not offered)\n", name,
                (unsigned)ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
}

#define IMPLEMENTED(table, member, name, parameters, arguments, required)
#define REFUSED(table, member, name)                                                               \
    ze_result_t ZE_APICALL cpu_refused_##name(void)                                                \
    {                                                                                              \
        return refuse(#name);                                                                      \
    }
#include "functions.def"

const struct cpu_tables *cpu_tables_inner(void)
{
    return cpu_options()->executes ? &cpu_tables_checked : &cpu_tables_idle;
}

static const struct cpu_tables *outermost(void)
{
    return cpu_options_have_switch() ? &cpu_tables_calls : cpu_tables_inner();
}

struct name {
    const char *name;
    size_t offset;
};

static const struct name names[] = {
#define IMPLEMENTED(table, member, name, parameters, arguments, required)                          \
    {#name, offsetof(struct cpu_tables, table.member)},
#define REFUSED(table, member, name) {#name, offsetof(struct cpu_tables, table.member)},
#define NEWER(name, parameters, arguments, required)                                               \
    {#name, offsetof(struct cpu_tables, newer.name)},
#include "functions.def"
};

void *cpu_tables_find(const char *name)
{
    const unsigned char *tables = (const unsigned char *)outermost();
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(names[i].name, name) != 0)
            continue;
        void *function;
        memcpy(&function, tables + names[i].offset, sizeof(function));
        return function;
    }
    return NULL;
}

// The entries that newer specifications appended to a table of 1.4, with their version, in the
// order of the table. Entries were only ever appended. `offset` is that of the function in struct
// cpu_tables.
struct later {
    uint32_t minor;
    size_t offset;
};

#define LATER(minor, name)                                                                         \
    {                                                                                              \
        minor, offsetof(struct cpu_tables, newer.name)                                             \
    }
#define LATER_REFUSED(minor)                                                                       \
    {                                                                                              \
        minor, SIZE_MAX                                                                            \
    }

static const struct later global_later[] = {LATER(10, zeInitDrivers)};
static const struct later driver_later[] = {LATER(6, zeDriverGetLastErrorDescription)};
static const struct later device_later[] = {
    LATER(7, zeDeviceGetRootDevice),
    LATER_REFUSED(12), // external semaphores
    LATER_REFUSED(12),
    LATER(13, zeDeviceGetVectorWidthPropertiesExt),
    LATER(14, zeDeviceSynchronize),
};
static const struct later command_queue_later[] = {
    LATER(9, zeCommandQueueGetOrdinal),
    LATER(9, zeCommandQueueGetIndex),
};
static const struct later command_list_later[] = {
    LATER(9, zeCommandListHostSynchronize),
    LATER(9, zeCommandListGetDeviceHandle),
    LATER(9, zeCommandListGetContextHandle),
    LATER(9, zeCommandListGetOrdinal),
    LATER(9, zeCommandListImmediateGetIndex),
    LATER(9, zeCommandListIsImmediate),
    LATER_REFUSED(12), // external semaphores
    LATER_REFUSED(12),
    LATER(14, zeCommandListAppendLaunchKernelWithParameters),
    LATER(14, zeCommandListAppendLaunchKernelWithArguments),
};
static const struct later event_pool_later[] = {
    LATER_REFUSED(6), // put IPC handle
    LATER(9, zeEventPoolGetContextHandle),
    LATER(9, zeEventPoolGetFlags),
};
static const struct later event_later[] = {
    LATER(6, zeEventQueryKernelTimestampsExt), LATER(9, zeEventGetEventPool),
    LATER(9, zeEventGetSignalScope),           LATER(9, zeEventGetWaitScope),
    LATER(15, zeEventCounterBasedCreate),
};
static const struct later mem_later[] = {
    LATER(6, zeMemPutIpcHandle),
    LATER_REFUSED(9), // pitch of images
    LATER(15, zeMemGetIpcHandleWithProperties),
};
static const struct later image_later[] = {LATER_REFUSED(5)};     // views
static const struct later image_exp_later[] = {LATER_REFUSED(9)}; // device offset
static const struct later kernel_exp_later[] = {LATER_REFUSED(11), LATER_REFUSED(14)};
static const struct later command_list_exp_later[] = {
    LATER_REFUSED(9), // clones
    LATER(9, zeCommandListImmediateAppendCommandListsExp),
    LATER(9, zeCommandListGetNextCommandIdExp),
    LATER(9, zeCommandListUpdateMutableCommandsExp),
    LATER(9, zeCommandListUpdateMutableCommandSignalEventExp),
    LATER(9, zeCommandListUpdateMutableCommandWaitEventsExp),
    LATER(10, zeCommandListGetNextCommandIdWithKernelsExp),
    LATER(10, zeCommandListUpdateMutableCommandKernelsExp),
    LATER(17, zeCommandListIsMutableExp),
};
static const struct later mem_exp_later[] = {
    LATER(6, zeMemGetIpcHandleFromFileDescriptorExp),
    LATER(6, zeMemGetFileDescriptorFromIpcHandleExp),
    LATER(7, zeMemSetAtomicAccessAttributeExp),
    LATER(7, zeMemGetAtomicAccessAttributeExp),
};
static const struct later none_later[] = {LATER_REFUSED(UINT32_MAX)};

// Getter, member of struct cpu_tables, last entry in 1.4, later entries.
#define CORE_TABLES(TABLE)                                                                         \
    TABLE(Global, global, pfnInit, global_later)                                                   \
    TABLE(Driver, driver, pfnGetExtensionFunctionAddress, driver_later)                            \
    TABLE(Device, device, pfnPciGetPropertiesExt, device_later)                                    \
    TABLE(DeviceExp, device_exp, pfnGetFabricVertexExp, none_later)                                \
    TABLE(Context, context, pfnCreateEx, none_later)                                               \
    TABLE(CommandQueue, command_queue, pfnSynchronize, command_queue_later)                        \
    TABLE(CommandList, command_list, pfnAppendImageCopyFromMemoryExt, command_list_later)          \
    TABLE(Image, image, pfnGetAllocPropertiesExt, image_later)                                     \
    TABLE(ImageExp, image_exp, pfnViewCreateExp, image_exp_later)                                  \
    TABLE(Fence, fence, pfnReset, none_later)                                                      \
    TABLE(EventPool, event_pool, pfnCloseIpcHandle, event_pool_later)                              \
    TABLE(Event, event, pfnQueryKernelTimestamp, event_later)                                      \
    TABLE(EventExp, event_exp, pfnQueryTimestampsExp, none_later)                                  \
    TABLE(Module, module, pfnInspectLinkageExt, none_later)                                        \
    TABLE(ModuleBuildLog, module_build_log, pfnGetString, none_later)                              \
    TABLE(Kernel, kernel, pfnGetName, none_later)                                                  \
    TABLE(KernelExp, kernel_exp, pfnSchedulingHintExp, kernel_exp_later)                           \
    TABLE(Sampler, sampler, pfnDestroy, none_later)                                                \
    TABLE(PhysicalMem, physical_mem, pfnDestroy, none_later)                                       \
    TABLE(Mem, mem, pfnFreeExt, mem_later)                                                         \
    TABLE(VirtualMem, virtual_mem, pfnGetAccessAttribute, none_later)                              \
    TABLE(FabricVertexExp, fabric_vertex_exp, pfnGetDeviceExp, none_later)                         \
    TABLE(FabricEdgeExp, fabric_edge_exp, pfnGetPropertiesExp, none_later)

static ze_result_t check_version(ze_api_version_t version, const void *table)
{
    if (table == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    return ZE_MAJOR_VERSION((uint32_t)version) == 1 ? ZE_RESULT_SUCCESS
                                                    : ZE_RESULT_ERROR_UNSUPPORTED_VERSION;
}

// Only as far as the loader's version goes: its table ends there.
static void fill_later(unsigned char *end, const struct later *later, size_t count,
                       ze_api_version_t version)
{
    for (size_t i = 0; i < count && later[i].minor <= ZE_MINOR_VERSION((uint32_t)version); i++) {
        void *function = (void *)cpu_refused;
        if (later[i].offset != SIZE_MAX)
            memcpy(&function, (const unsigned char *)outermost() + later[i].offset,
                   sizeof(function));
        memcpy(end + i * sizeof(function), &function, sizeof(function));
    }
}

#define CORE_GETTER(Name, member, last, later)                                                     \
    EXPORTED ze_result_t ZE_APICALL zeGet##Name##ProcAddrTable(ze_api_version_t version,           \
                                                               ze_##member##_dditable_t *table)    \
    {                                                                                              \
        const size_t size_bytes = offsetof(ze_##member##_dditable_t, last) + sizeof(void *);       \
        ze_result_t result = check_version(version, table);                                        \
        if (result != ZE_RESULT_SUCCESS)                                                           \
            return result;                                                                         \
        memcpy(table, &outermost()->member, size_bytes);                                           \
        fill_later((unsigned char *)table + size_bytes, later, sizeof(later) / sizeof((later)[0]), \
                   version);                                                                       \
        return ZE_RESULT_SUCCESS;                                                                  \
    }
CORE_TABLES(CORE_GETTER)

// Tools and metrics, and of system management what zepi does not ask for: every entry refuses.
#define REFUSED_TABLES(TABLE)                                                                      \
    TABLE(zesGetScheduler, zes_scheduler_dditable_t)                                               \
    TABLE(zesGetPerformanceFactor, zes_performance_factor_dditable_t)                              \
    TABLE(zesGetEngine, zes_engine_dditable_t)                                                     \
    TABLE(zesGetStandby, zes_standby_dditable_t)                                                   \
    TABLE(zesGetFirmware, zes_firmware_dditable_t)                                                 \
    TABLE(zesGetFabricPort, zes_fabric_port_dditable_t)                                            \
    TABLE(zesGetTemperature, zes_temperature_dditable_t)                                           \
    TABLE(zesGetPsu, zes_psu_dditable_t)                                                           \
    TABLE(zesGetFan, zes_fan_dditable_t)                                                           \
    TABLE(zesGetPower, zes_power_dditable_t)                                                       \
    TABLE(zesGetFrequency, zes_frequency_dditable_t)                                               \
    TABLE(zesGetLed, zes_led_dditable_t)                                                           \
    TABLE(zesGetRas, zes_ras_dditable_t)                                                           \
    TABLE(zesGetDiagnostics, zes_diagnostics_dditable_t)                                           \
    TABLE(zetGetDevice, zet_device_dditable_t)                                                     \
    TABLE(zetGetContext, zet_context_dditable_t)                                                   \
    TABLE(zetGetCommandList, zet_command_list_dditable_t)                                          \
    TABLE(zetGetModule, zet_module_dditable_t)                                                     \
    TABLE(zetGetKernel, zet_kernel_dditable_t)                                                     \
    TABLE(zetGetMetricGroup, zet_metric_group_dditable_t)                                          \
    TABLE(zetGetMetricGroupExp, zet_metric_group_exp_dditable_t)                                   \
    TABLE(zetGetMetric, zet_metric_dditable_t)                                                     \
    TABLE(zetGetMetricStreamer, zet_metric_streamer_dditable_t)                                    \
    TABLE(zetGetMetricQueryPool, zet_metric_query_pool_dditable_t)                                 \
    TABLE(zetGetMetricQuery, zet_metric_query_dditable_t)                                          \
    TABLE(zetGetTracerExp, zet_tracer_exp_dditable_t)                                              \
    TABLE(zetGetDebug, zet_debug_dditable_t)

static void refuse_all(void *table, size_t size_bytes)
{
    void *refused = (void *)cpu_refused;
    for (size_t offset = 0; offset < size_bytes; offset += sizeof(refused))
        memcpy((unsigned char *)table + offset, &refused, sizeof(refused));
}

#define REFUSED_GETTER(name, type)                                                                 \
    EXPORTED ze_result_t ZE_APICALL name##ProcAddrTable(ze_api_version_t version, type *table)     \
    {                                                                                              \
        ze_result_t result = check_version(version, table);                                        \
        if (result == ZE_RESULT_SUCCESS)                                                           \
            refuse_all(table, sizeof(*table));                                                     \
        return result;                                                                             \
    }
REFUSED_TABLES(REFUSED_GETTER)

// System management of memory, fans, power and clocks. Newer headers have larger tables of 1.4;
// functions that are not named here refuse.
static const struct later zes_global_later[] = {LATER(5, zesInit)};
static const struct later zes_driver_later[] = {LATER(5, zesDriverGet)};
static const struct later zes_driver_exp_later[] = {LATER(7, zesDriverGetDeviceByUuidExp)};

// Tables that 1.4 did not have.
#define NEWER_GETTER(function, Name, later)                                                        \
    EXPORTED ze_result_t ZE_APICALL function(ze_api_version_t version, void *table) __asm__(Name); \
    ze_result_t ZE_APICALL function(ze_api_version_t version, void *table)                         \
    {                                                                                              \
        ze_result_t result = check_version(version, table);                                        \
        if (result == ZE_RESULT_SUCCESS)                                                           \
            fill_later(table, later, sizeof(later) / sizeof((later)[0]), version);                 \
        return result;                                                                             \
    }
NEWER_GETTER(cpu_get_command_list_exp, "zeGetCommandListExpProcAddrTable", command_list_exp_later)
NEWER_GETTER(cpu_get_mem_exp, "zeGetMemExpProcAddrTable", mem_exp_later)
NEWER_GETTER(cpu_get_zes_global, "zesGetGlobalProcAddrTable", zes_global_later)
NEWER_GETTER(cpu_get_zes_driver_exp, "zesGetDriverExpProcAddrTable", zes_driver_exp_later)

EXPORTED ze_result_t ZE_APICALL zesGetDriverProcAddrTable(ze_api_version_t version,
                                                          zes_driver_dditable_t *table)
{
    const size_t size_bytes = offsetof(zes_driver_dditable_t, pfnEventListenEx) + sizeof(void *);
    ze_result_t result = check_version(version, table);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    refuse_all(table, size_bytes);
    fill_later((unsigned char *)table + size_bytes, zes_driver_later, 1, version);
    return ZE_RESULT_SUCCESS;
}

EXPORTED ze_result_t ZE_APICALL zesGetDeviceProcAddrTable(ze_api_version_t version,
                                                          zes_device_dditable_t *table)
{
    ze_result_t result = check_version(version, table);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    refuse_all(table, sizeof(*table));
    table->pfnEnumMemoryModules = outermost()->newer.zesDeviceEnumMemoryModules;
    return ZE_RESULT_SUCCESS;
}

EXPORTED ze_result_t ZE_APICALL zesGetMemoryProcAddrTable(ze_api_version_t version,
                                                          zes_memory_dditable_t *table)
{
    ze_result_t result = check_version(version, table);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    refuse_all(table, sizeof(*table));
    table->pfnGetProperties = outermost()->newer.zesMemoryGetProperties;
    table->pfnGetState = outermost()->newer.zesMemoryGetState;
    return ZE_RESULT_SUCCESS;
}
