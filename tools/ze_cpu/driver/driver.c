// SPDX-License-Identifier: MIT
#include "driver.h"

#include "chain.h"
#include "device/device.h"
#include "entry.h"
#include "module/native_binary.h"
#include "object.h"
#include "opencl.h"
#include "options.h"
#include "queue/engine.h"
#include "ze_cpu.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct cpu_object driver;
static pthread_once_t start_once = PTHREAD_ONCE_INIT;

#define SETTLE_NS UINT64_C(1700000000)
#define FLUSH_NS 100000000

static pid_t process;

static void *end_process(void *status)
{
    const struct timespec pause = {.tv_nsec = FLUSH_NS};
    nanosleep(&pause, NULL);
    _exit((int)(intptr_t)status);
}

// The runtime's handlers would wait for kernels that run, and in a child of fork for threads that
// are not there. So the process ends here. Written output is kept, and a stream that another thread
// has locked does not hold up the end.
static void settle(int status, void *unused)
{
    if (getpid() == process ? cpu_engines_settle(SETTLE_NS) : cpu_engines_were_settled())
        return;
    pthread_t thread;
    if (pthread_create(&thread, NULL, end_process, (void *)(intptr_t)status) == 0)
        fflush(NULL);
    _exit(status);
}

static void make_driver(void)
{
    cpu_object_init(&driver, CPU_DRIVER);
    cpu_devices_init();
    process = getpid();
    // Registered after the runtime's own handlers, so that it runs before them.
    on_exit(settle, NULL);
}

static ze_result_t start(void)
{
    const char *message;
    if (cpu_opencl_open(&message) == NULL) {
        if (cpu_options()->traces)
            fprintf(stderr, "ze_cpu: %s\n", message);
        return ZE_RESULT_ERROR_UNINITIALIZED;
    }
    pthread_once(&start_once, make_driver);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeInit(ze_init_flags_t flags)
{
    if ((flags & ~(uint32_t)(ZE_INIT_FLAG_GPU_ONLY | ZE_INIT_FLAG_VPU_ONLY)) != 0)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (flags == ZE_INIT_FLAG_VPU_ONLY ||
        (flags == ZE_INIT_FLAG_GPU_ONLY && !cpu_options()->reports_gpu))
        return ZE_RESULT_ERROR_UNINITIALIZED;
    return start();
}

static ze_result_t give_driver(uint32_t *pCount, ze_driver_handle_t *phDrivers)
{
    if (phDrivers != NULL && *pCount >= 1)
        phDrivers[0] = (ze_driver_handle_t)&driver;
    *pCount = 1;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeInitDrivers(uint32_t *pCount, ze_driver_handle_t *phDrivers,
                                         ze_init_driver_type_desc_t *desc)
{
    if (desc->flags == 0)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    ze_result_t result = start();
    if (result != ZE_RESULT_SUCCESS || !(desc->flags & CPU_INIT_DRIVER_TYPE_FLAG_GPU)) {
        *pCount = 0;
        return result;
    }
    return give_driver(pCount, phDrivers);
}

ze_result_t ZE_APICALL cpu_zeDriverGet(uint32_t *pCount, ze_driver_handle_t *phDrivers)
{
    ze_result_t result = start();
    if (result != ZE_RESULT_SUCCESS)
        return result;
    return give_driver(pCount, phDrivers);
}

ze_result_t ZE_APICALL cpu_zeDriverGetApiVersion(ze_driver_handle_t hDriver,
                                                 ze_api_version_t *version)
{
    *version = (ze_api_version_t)CPU_API_VERSION;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeDriverGetProperties(ze_driver_handle_t hDriver,
                                                 ze_driver_properties_t *pDriverProperties)
{
    memcpy(pDriverProperties->uuid.id, CPU_DRIVER_UUID, sizeof(CPU_DRIVER_UUID));
    // Programs that keep native binaries, as SYCL's persistent cache does, find them by the
    // version.
    pDriverProperties->driverVersion = cpu_native_version();
    ze_driver_memory_free_ext_properties_t *freeing = cpu_chain_find(
        pDriverProperties->pNext, ZE_STRUCTURE_TYPE_DRIVER_MEMORY_FREE_EXT_PROPERTIES);
    if (freeing != NULL)
        freeing->freePolicies = ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE |
                                ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeDriverGetIpcProperties(ze_driver_handle_t hDriver,
                                                    ze_driver_ipc_properties_t *pIpcProperties)
{
    pIpcProperties->flags = cpu_options()->shares_memory ? ZE_IPC_PROPERTY_FLAG_MEMORY : 0;
    return ZE_RESULT_SUCCESS;
}

// Whether a switch takes the extension or function away.
static bool lacks(const char *name)
{
    return cpu_options_lack(name) ||
           (!cpu_options()->has_pci && strcmp(name, ZE_PCI_PROPERTIES_EXT_NAME) == 0) ||
           (!cpu_options()->appends_lists &&
            (strcmp(name, "ZE_experimental_immediate_command_list_append") == 0 ||
             strcmp(name, "zeCommandListImmediateAppendCommandListsExp") == 0 ||
             strcmp(name, "zeCommandListImmediateAppendCommandListsWithParameters") == 0));
}

ze_result_t ZE_APICALL
cpu_zeDriverGetExtensionProperties(ze_driver_handle_t hDriver, uint32_t *pCount,
                                   ze_driver_extension_properties_t *pExtensionProperties)
{
    static const ze_driver_extension_properties_t extensions[] = {
        {ZE_GLOBAL_OFFSET_EXP_NAME, ZE_GLOBAL_OFFSET_EXP_VERSION_CURRENT},
        {ZE_MODULE_PROGRAM_EXP_NAME, ZE_MODULE_PROGRAM_EXP_VERSION_CURRENT},
        {ZE_RELAXED_ALLOCATION_LIMITS_EXP_NAME, ZE_RELAXED_ALLOCATION_LIMITS_EXP_VERSION_CURRENT},
        {ZE_FLOAT_ATOMICS_EXT_NAME, ZE_FLOAT_ATOMICS_EXT_VERSION_CURRENT},
        {ZE_EVENT_QUERY_TIMESTAMPS_EXP_NAME, ZE_EVENT_QUERY_TIMESTAMPS_EXP_VERSION_CURRENT},
        {ZE_LINKAGE_INSPECTION_EXT_NAME, ZE_LINKAGE_INSPECTION_EXT_VERSION_CURRENT},
        {ZE_MEMORY_FREE_POLICIES_EXT_NAME, ZE_MEMORY_FREE_POLICIES_EXT_VERSION_CURRENT},
        {ZE_EU_COUNT_EXT_NAME, ZE_EU_COUNT_EXT_VERSION_CURRENT},
        {ZE_DEVICE_MEMORY_PROPERTIES_EXT_NAME, ZE_DEVICE_MEMORY_PROPERTIES_EXT_VERSION_CURRENT},
        {ZE_SUBGROUPS_EXT_NAME, ZE_SUBGROUP_EXT_VERSION_CURRENT},
        {ZE_LINKONCE_ODR_EXT_NAME, ZE_LINKONCE_ODR_EXT_VERSION_CURRENT},
        {ZE_IMAGE_COPY_EXT_NAME, ZE_IMAGE_COPY_EXT_VERSION_CURRENT},
        {ZE_IMAGE_QUERY_ALLOC_PROPERTIES_EXT_NAME,
         ZE_IMAGE_QUERY_ALLOC_PROPERTIES_EXT_VERSION_CURRENT},
        {ZE_IMAGE_MEMORY_PROPERTIES_EXP_NAME, ZE_IMAGE_MEMORY_PROPERTIES_EXP_VERSION_CURRENT},
        {ZE_SRGB_EXT_NAME, ZE_SRGB_EXT_VERSION_CURRENT},
        {ZE_PCI_PROPERTIES_EXT_NAME, ZE_PCI_PROPERTIES_EXT_VERSION_CURRENT},
        {ZE_KERNEL_SCHEDULING_HINTS_EXP_NAME, ZE_SCHEDULING_HINTS_EXP_VERSION_CURRENT},
        {"ZE_extension_event_query_kernel_timestamps", ZE_MAKE_VERSION(1, 0)},
        {"ZE_extension_device_ip_version", ZE_MAKE_VERSION(1, 0)},
        {"ZE_extension_bfloat16_conversions", ZE_MAKE_VERSION(1, 0)},
        {"ZE_experimental_sub_allocations", ZE_MAKE_VERSION(1, 0)},
        {"ZE_extension_device_cache_line_size", ZE_MAKE_VERSION(1, 0)},
        {"ZE_extension_device_vector_sizes", ZE_MAKE_VERSION(1, 0)},
        {"ZE_extension_device_usablemem_size_properties", ZE_MAKE_VERSION(1, 0)},
        {"ZE_extension_external_memmap_sysmem", ZE_MAKE_VERSION(1, 0)},
        {"ZE_experimental_event_pool_counter_based", ZE_MAKE_VERSION(1, 0)},
        {"ZE_extension_kernel_max_group_size_properties", ZE_MAKE_VERSION(1, 0)},
        {"ZE_experimental_mutable_command_list", ZE_MAKE_VERSION(1, 1)},
        {"ZE_experimental_immediate_command_list_append", ZE_MAKE_VERSION(1, 0)},
    };
    uint32_t count = 0;
    const bool is_unlimited = pExtensionProperties == NULL || *pCount == 0;
    for (size_t i = 0; i < sizeof(extensions) / sizeof(extensions[0]); i++) {
        if (lacks(extensions[i].name) || (!is_unlimited && count == *pCount))
            continue;
        if (!is_unlimited)
            pExtensionProperties[count] = extensions[i];
        count++;
    }
    *pCount = count;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeDriverGetExtensionFunctionAddress(ze_driver_handle_t hDriver,
                                                               const char *name,
                                                               void **ppFunctionAddress)
{
    void *function = lacks(name) ? NULL : cpu_tables_find(name);
    if (function == NULL)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    *ppFunctionAddress = function;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeDriverGetLastErrorDescription(ze_driver_handle_t hDriver,
                                                           const char **ppString)
{
    *ppString = "";
    return ZE_RESULT_SUCCESS;
}
