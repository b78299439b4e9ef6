// SPDX-License-Identifier: MIT
#include "tables.h"

#include "driver.h"
#include "options.h"

#include <level_zero/zes_ddi.h>
#include <level_zero/zet_ddi.h>
#include <stddef.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

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
#define IMPLEMENTED(table, member, name, parameters, arguments)                                    \
    {#name, offsetof(struct cpu_tables, table.member)},
#define REFUSED(table, member, name) {#name, offsetof(struct cpu_tables, table.member)},
#define NEWER(name, parameters, arguments) {#name, offsetof(struct cpu_tables, newer.name)},
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

// The getters of the core. A newer loader's table is longer; its end stays as the loader left it,
// and the newer functions are found by name.
#define CORE_TABLES(TABLE)                                                                         \
    TABLE(Global, global)                                                                          \
    TABLE(Driver, driver)                                                                          \
    TABLE(Device, device)                                                                          \
    TABLE(DeviceExp, device_exp)                                                                   \
    TABLE(Context, context)                                                                        \
    TABLE(CommandQueue, command_queue)                                                             \
    TABLE(CommandList, command_list)                                                               \
    TABLE(Image, image)                                                                            \
    TABLE(ImageExp, image_exp)                                                                     \
    TABLE(Fence, fence)                                                                            \
    TABLE(EventPool, event_pool)                                                                   \
    TABLE(Event, event)                                                                            \
    TABLE(EventExp, event_exp)                                                                     \
    TABLE(Module, module)                                                                          \
    TABLE(ModuleBuildLog, module_build_log)                                                        \
    TABLE(Kernel, kernel)                                                                          \
    TABLE(KernelExp, kernel_exp)                                                                   \
    TABLE(Sampler, sampler)                                                                        \
    TABLE(PhysicalMem, physical_mem)                                                               \
    TABLE(Mem, mem)                                                                                \
    TABLE(VirtualMem, virtual_mem)                                                                 \
    TABLE(FabricVertexExp, fabric_vertex_exp)                                                      \
    TABLE(FabricEdgeExp, fabric_edge_exp)

static ze_result_t check_version(ze_api_version_t version, const void *table)
{
    if (table == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    return ZE_MAJOR_VERSION((uint32_t)version) == 1 ? ZE_RESULT_SUCCESS
                                                    : ZE_RESULT_ERROR_UNSUPPORTED_VERSION;
}

#define CORE_GETTER(Name, member)                                                                  \
    EXPORTED ze_result_t ZE_APICALL zeGet##Name##ProcAddrTable(ze_api_version_t version,           \
                                                               ze_##member##_dditable_t *table)    \
    {                                                                                              \
        ze_result_t result = check_version(version, table);                                        \
        if (result == ZE_RESULT_SUCCESS)                                                           \
            *table = outermost()->member;                                                          \
        return result;                                                                             \
    }
CORE_TABLES(CORE_GETTER)

// System management, tools and metrics: every entry refuses.
#define REFUSED_TABLES(TABLE)                                                                      \
    TABLE(zesGetDriver, zes_driver_dditable_t)                                                     \
    TABLE(zesGetDevice, zes_device_dditable_t)                                                     \
    TABLE(zesGetScheduler, zes_scheduler_dditable_t)                                               \
    TABLE(zesGetPerformanceFactor, zes_performance_factor_dditable_t)                              \
    TABLE(zesGetPower, zes_power_dditable_t)                                                       \
    TABLE(zesGetFrequency, zes_frequency_dditable_t)                                               \
    TABLE(zesGetEngine, zes_engine_dditable_t)                                                     \
    TABLE(zesGetStandby, zes_standby_dditable_t)                                                   \
    TABLE(zesGetFirmware, zes_firmware_dditable_t)                                                 \
    TABLE(zesGetMemory, zes_memory_dditable_t)                                                     \
    TABLE(zesGetFabricPort, zes_fabric_port_dditable_t)                                            \
    TABLE(zesGetTemperature, zes_temperature_dditable_t)                                           \
    TABLE(zesGetPsu, zes_psu_dditable_t)                                                           \
    TABLE(zesGetFan, zes_fan_dditable_t)                                                           \
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
