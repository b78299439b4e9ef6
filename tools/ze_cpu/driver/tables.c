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
#define NEWER(table, minor, name, parameters, arguments, required)                                 \
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

// The entries that newer specifications appended to the tables of 1.4. Entries were only ever
// appended. `offset` is that of the function in struct cpu_tables.
static const struct later {
    const char *table;
    uint32_t minor;
    size_t offset; // SIZE_MAX: there is no function
} later[] = {
#define IMPLEMENTED(table, member, name, parameters, arguments, required)
#define NEWER(table, minor, name, parameters, arguments, required)                                 \
    {#table, minor, offsetof(struct cpu_tables, newer.name)},
#define REFUSED_NEWER(table, minor) {#table, minor, SIZE_MAX},
#include "functions.def"
};

// Getter, member of struct cpu_tables, last entry in 1.4.
#define CORE_TABLES(TABLE)                                                                         \
    TABLE(Global, global, pfnInit)                                                                 \
    TABLE(Driver, driver, pfnGetExtensionFunctionAddress)                                          \
    TABLE(Device, device, pfnPciGetPropertiesExt)                                                  \
    TABLE(DeviceExp, device_exp, pfnGetFabricVertexExp)                                            \
    TABLE(Context, context, pfnCreateEx)                                                           \
    TABLE(CommandQueue, command_queue, pfnSynchronize)                                             \
    TABLE(CommandList, command_list, pfnAppendImageCopyFromMemoryExt)                              \
    TABLE(Image, image, pfnGetAllocPropertiesExt)                                                  \
    TABLE(ImageExp, image_exp, pfnViewCreateExp)                                                   \
    TABLE(Fence, fence, pfnReset)                                                                  \
    TABLE(EventPool, event_pool, pfnCloseIpcHandle)                                                \
    TABLE(Event, event, pfnQueryKernelTimestamp)                                                   \
    TABLE(EventExp, event_exp, pfnQueryTimestampsExp)                                              \
    TABLE(Module, module, pfnInspectLinkageExt)                                                    \
    TABLE(ModuleBuildLog, module_build_log, pfnGetString)                                          \
    TABLE(Kernel, kernel, pfnGetName)                                                              \
    TABLE(KernelExp, kernel_exp, pfnSchedulingHintExp)                                             \
    TABLE(Sampler, sampler, pfnDestroy)                                                            \
    TABLE(PhysicalMem, physical_mem, pfnDestroy)                                                   \
    TABLE(Mem, mem, pfnFreeExt)                                                                    \
    TABLE(VirtualMem, virtual_mem, pfnGetAccessAttribute)                                          \
    TABLE(FabricVertexExp, fabric_vertex_exp, pfnGetDeviceExp)                                     \
    TABLE(FabricEdgeExp, fabric_edge_exp, pfnGetPropertiesExp)

static ze_result_t check_version(ze_api_version_t version, const void *table)
{
    if (table == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    return ZE_MAJOR_VERSION((uint32_t)version) == 1 ? ZE_RESULT_SUCCESS
                                                    : ZE_RESULT_ERROR_UNSUPPORTED_VERSION;
}

// Appends the later entries behind `end`, only as far as the loader's version goes: its table ends
// there.
static void fill_later(void *end, const char *table, ze_api_version_t version)
{
    unsigned char *at = end;
    for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
        void *function = (void *)cpu_refused;
        if (strcmp(later[i].table, table) != 0 ||
            later[i].minor > ZE_MINOR_VERSION((uint32_t)version))
            continue;
        if (later[i].offset != SIZE_MAX)
            memcpy(&function, (const unsigned char *)outermost() + later[i].offset,
                   sizeof(function));
        memcpy(at, &function, sizeof(function));
        at += sizeof(function);
    }
}

#define CORE_GETTER(Name, member, last)                                                            \
    EXPORTED ze_result_t ZE_APICALL zeGet##Name##ProcAddrTable(ze_api_version_t version,           \
                                                               ze_##member##_dditable_t *table)    \
    {                                                                                              \
        const size_t size_bytes = offsetof(ze_##member##_dditable_t, last) + sizeof(void *);       \
        ze_result_t result = check_version(version, table);                                        \
        if (result != ZE_RESULT_SUCCESS)                                                           \
            return result;                                                                         \
        memcpy(table, &outermost()->member, size_bytes);                                           \
        fill_later((unsigned char *)table + size_bytes, #member, version);                         \
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

// Tables that 1.4 did not have.
#define NEWER_GETTER(function, Name, later_table)                                                  \
    EXPORTED ze_result_t ZE_APICALL function(ze_api_version_t version, void *table) __asm__(Name); \
    ze_result_t ZE_APICALL function(ze_api_version_t version, void *table)                         \
    {                                                                                              \
        ze_result_t result = check_version(version, table);                                        \
        if (result == ZE_RESULT_SUCCESS)                                                           \
            fill_later(table, #later_table, version);                                              \
        return result;                                                                             \
    }
NEWER_GETTER(cpu_get_command_list_exp, "zeGetCommandListExpProcAddrTable", command_list_exp)
NEWER_GETTER(cpu_get_mem_exp, "zeGetMemExpProcAddrTable", mem_exp)
NEWER_GETTER(cpu_get_zes_global, "zesGetGlobalProcAddrTable", zes_global)
NEWER_GETTER(cpu_get_zes_driver_exp, "zesGetDriverExpProcAddrTable", zes_driver_exp)

// System management of memory. Newer headers have larger tables of 1.4; functions that are not
// named here refuse.
EXPORTED ze_result_t ZE_APICALL zesGetDriverProcAddrTable(ze_api_version_t version,
                                                          zes_driver_dditable_t *table)
{
    const size_t size_bytes = offsetof(zes_driver_dditable_t, pfnEventListenEx) + sizeof(void *);
    ze_result_t result = check_version(version, table);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    refuse_all(table, size_bytes);
    fill_later((unsigned char *)table + size_bytes, "zes_driver", version);
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
