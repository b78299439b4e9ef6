// SPDX-License-Identifier: MIT
#include "chain.h"
#include "device/device.h"
#include "driver.h"
#include "entry.h"
#include "memory/memory.h"
#include "opencl.h"
#include "options.h"

#include <stdio.h>
#include <string.h>

#define DEVICE_HALF_FP_CONFIG 0x1033
#define DEVICE_SINGLE_FP_ATOMICS_EXT 0x4231
#define DEVICE_DOUBLE_FP_ATOMICS_EXT 0x4232
#define DEVICE_INTEGER_DOT_PRODUCT_KHR 0x1073
#define DEVICE_IP_VERSION_INTEL 0x4250
#define DEVICE_ID_INTEL 0x4251
#define DOT_PRODUCT_PACKED 1u // 4 x 8 bits

#define FP_ATOMICS                                                                                 \
    (uint32_t)(                                                                                    \
        ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_LOAD_STORE | ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_ADD | \
        ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_MIN_MAX |                                              \
        ZE_DEVICE_FP_ATOMIC_EXT_FLAG_LOCAL_LOAD_STORE | ZE_DEVICE_FP_ATOMIC_EXT_FLAG_LOCAL_ADD |   \
        ZE_DEVICE_FP_ATOMIC_EXT_FLAG_LOCAL_MIN_MAX)

// The bytes that new allocations can have now: those that the system reports as free (all memory if
// it reports none), but no more than are left of ZE_CPU_MEMORY.
uint64_t cpu_device_usable_bytes(void)
{
    char line[256];
    unsigned long long kib = 0;
    FILE *file = fopen("/proc/meminfo", "re");
    while (file != NULL && kib == 0 && fgets(line, sizeof(line), file) != NULL)
        if (sscanf(line, "MemAvailable: %llu kB", &kib) != 1)
            kib = 0;
    if (file != NULL)
        fclose(file);
    const uint64_t bytes = kib != 0 ? (uint64_t)kib * 1024 : cpu_opencl()->global_memory_bytes;
    const uint64_t left = cpu_memory_left();
    return bytes < left ? bytes : left;
}

uint64_t cpu_device_allocation_limit(ze_device_handle_t device)
{
    const bool is_limited =
        device == NULL || cpu_device_root(device)->index < cpu_options()->limited_devices;
    return is_limited ? cpu_opencl()->maximum_allocation_bytes : cpu_opencl()->global_memory_bytes;
}

// A GPU has sub-slices of at least 8 EUs. Programs divide by that, and one that gets 0 launches
// nothing.
static uint32_t sub_slices(void)
{
    return cpu_options()->reports_gpu ? cpu_opencl()->compute_units : 1;
}

static uint32_t sub_slice_eus(void)
{
    return cpu_options()->reports_gpu ? 8 : cpu_opencl()->compute_units;
}

// The processor's clock rate now where a virtual machine's runtime knows no other; 0: unknown.
static uint32_t clock_mhz(void)
{
    char line[256];
    double mhz = (double)cpu_opencl_number(CL_DEVICE_MAX_CLOCK_FREQUENCY);
    FILE *file = mhz == 0 ? fopen("/proc/cpuinfo", "re") : NULL;
    while (file != NULL && mhz == 0 && fgets(line, sizeof(line), file) != NULL)
        if (strncmp(line, "cpu MHz", 7) == 0 && strchr(line, ':') != NULL)
            mhz = strtod(strchr(line, ':') + 1, NULL);
    if (file != NULL)
        fclose(file);
    return mhz > 0 ? (uint32_t)(mhz + 0.5) : 0;
}

static void describe_extensions(void *chain)
{
    ze_eu_count_ext_t *eus = cpu_chain_find(chain, ZE_STRUCTURE_TYPE_EU_COUNT_EXT);
    if (eus != NULL)
        eus->numTotalEUs = sub_slices() * sub_slice_eus();
    // The architecture of the processor as OpenCL tells it; no GPU has such a small number.
    ze_device_ip_version_ext_t *ip =
        cpu_chain_find(chain, CPU_STRUCTURE_TYPE_DEVICE_IP_VERSION_EXT);
    if (ip != NULL)
        ip->ipVersion = (uint32_t)cpu_opencl_number(DEVICE_IP_VERSION_INTEL);
    ze_device_usablemem_size_ext_properties_t *usable =
        cpu_chain_find(chain, CPU_STRUCTURE_TYPE_DEVICE_USABLEMEM_SIZE_EXT_PROPERTIES);
    if (usable != NULL)
        usable->currUsableMemSize = cpu_device_usable_bytes();
    ze_device_readonly_memory_ext_properties_t *read_only =
        cpu_chain_find(chain, CPU_STRUCTURE_TYPE_DEVICE_READONLY_MEMORY_EXT_PROPERTIES);
    if (read_only != NULL)
        read_only->readonlyCapability = CPU_DEVICE_READONLY_MEMORY_CAPABILITY_ENFORCED;
    ze_event_query_kernel_timestamps_ext_properties_t *times =
        cpu_chain_find(chain, CPU_STRUCTURE_TYPE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_PROPERTIES);
    if (times != NULL)
        times->flags = CPU_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_FLAG_KERNEL |
                       CPU_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_FLAG_SYNCHRONIZED;
    ze_mutable_command_list_exp_properties_t *mutability =
        cpu_chain_find(chain, CPU_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_PROPERTIES);
    if (mutability != NULL) {
        mutability->mutableCommandListFlags = 0;
        mutability->mutableCommandFlags = CPU_MUTABLE_COMMAND_FLAGS_OFFERED;
    }
}

ze_result_t ZE_APICALL cpu_zeDeviceGetProperties(ze_device_handle_t hDevice,
                                                 ze_device_properties_t *pDeviceProperties)
{
    const struct cpu_device *device = (const struct cpu_device *)hDevice;
    const struct cpu_opencl *cl = cpu_opencl();
    const bool has_parts = device->parent == NULL && cpu_options()->sub_devices > 0;
    ze_device_properties_t properties = {
        .stype = pDeviceProperties->stype,
        .pNext = pDeviceProperties->pNext,
        .type = cpu_options()->reports_gpu ? ZE_DEVICE_TYPE_GPU : ZE_DEVICE_TYPE_CPU,
        .vendorId = (uint32_t)cpu_opencl_number(CL_DEVICE_VENDOR_ID),
        .deviceId = (uint32_t)cpu_opencl_number(DEVICE_ID_INTEL),
        .flags = cpu_options()->is_integrated
                     ? ZE_DEVICE_PROPERTY_FLAG_INTEGRATED | ZE_DEVICE_PROPERTY_FLAG_ONDEMANDPAGING
                     : 0,
        .coreClockRate = clock_mhz(),
        .maxMemAllocSize = cpu_device_allocation_limit(hDevice),
        .maxHardwareContexts = 64,
        .numThreadsPerEU = 1,
        .physicalEUSimdWidth = (uint32_t)cpu_opencl_number(CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT),
        .numEUsPerSubslice = sub_slice_eus(),
        .numSubslicesPerSlice = sub_slices(),
        // A device with parts has what all of them have.
        .numSlices = has_parts ? cpu_options()->sub_devices : 1,
        .timerResolution = 1,
        .timestampValidBits = 64,
        .kernelTimestampValidBits = cpu_options()->timestamp_bits,
    };
    // Since 1.2 a caller may ask for cycles a second in place of nanoseconds a cycle.
    if (properties.stype == ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2)
        properties.timerResolution = CPU_TIMER_HZ;
    if (device->parent != NULL) {
        properties.flags |= ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE;
        properties.subdeviceId = device->index;
    }
    cpu_device_uuid(device, properties.uuid.id);
    snprintf(properties.name, sizeof(properties.name), "zepi CPU driver: %s", cl->device_name);
    *pDeviceProperties = properties;

    describe_extensions(properties.pNext);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeDeviceGetComputeProperties(
    ze_device_handle_t hDevice, ze_device_compute_properties_t *pComputeProperties)
{
    const struct cpu_opencl *cl = cpu_opencl();
    ze_device_compute_properties_t properties = {
        .stype = pComputeProperties->stype,
        .pNext = pComputeProperties->pNext,
        .maxTotalGroupSize = (uint32_t)cl->maximum_group_size,
        .maxGroupSizeX = (uint32_t)cl->maximum_group_size,
        .maxGroupSizeY = (uint32_t)cl->maximum_group_size,
        .maxGroupSizeZ = (uint32_t)cl->maximum_group_size,
        .maxGroupCountX = UINT32_MAX,
        .maxGroupCountY = UINT32_MAX,
        .maxGroupCountZ = UINT32_MAX,
        .maxSharedLocalMemory = (uint32_t)cpu_opencl_number(CL_DEVICE_LOCAL_MEM_SIZE),
        .numSubGroupSizes = cl->sub_group_size_count,
    };
    memcpy(properties.subGroupSizes, cl->sub_group_sizes, sizeof(cl->sub_group_sizes));
    *pComputeProperties = properties;
    return ZE_RESULT_SUCCESS;
}

static ze_device_fp_flags_t fp_flags(cl_device_fp_config config)
{
    static const struct {
        cl_device_fp_config from;
        ze_device_fp_flags_t to;
    } pairs[] = {
        {CL_FP_DENORM, ZE_DEVICE_FP_FLAG_DENORM},
        {CL_FP_INF_NAN, ZE_DEVICE_FP_FLAG_INF_NAN},
        {CL_FP_ROUND_TO_NEAREST, ZE_DEVICE_FP_FLAG_ROUND_TO_NEAREST},
        {CL_FP_ROUND_TO_ZERO, ZE_DEVICE_FP_FLAG_ROUND_TO_ZERO},
        {CL_FP_ROUND_TO_INF, ZE_DEVICE_FP_FLAG_ROUND_TO_INF},
        {CL_FP_FMA, ZE_DEVICE_FP_FLAG_FMA},
        {CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT, ZE_DEVICE_FP_FLAG_ROUNDED_DIVIDE_SQRT},
        {CL_FP_SOFT_FLOAT, ZE_DEVICE_FP_FLAG_SOFT_FLOAT},
    };
    ze_device_fp_flags_t flags = 0;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        if (config & pairs[i].from)
            flags |= pairs[i].to;
    return flags;
}

ze_result_t ZE_APICALL cpu_zeDeviceGetModuleProperties(
    ze_device_handle_t hDevice, ze_device_module_properties_t *pModuleProperties)
{
    const cl_device_fp_config half = cpu_opencl_number(DEVICE_HALF_FP_CONFIG);
    const cl_device_fp_config doubles = cpu_opencl_number(CL_DEVICE_DOUBLE_FP_CONFIG);
    ze_device_module_properties_t properties = {
        .stype = pModuleProperties->stype,
        .pNext = pModuleProperties->pNext,
        .spirvVersionSupported = ZE_MAKE_VERSION(1, 4),
        .flags = ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS,
        .fp16flags = fp_flags(half),
        .fp32flags = fp_flags(cpu_opencl_number(CL_DEVICE_SINGLE_FP_CONFIG)),
        .fp64flags = fp_flags(doubles),
        .maxArgumentsSize = (uint32_t)cpu_opencl_number(CL_DEVICE_MAX_PARAMETER_SIZE),
        .printfBufferSize = (uint32_t)cpu_opencl_number(CL_DEVICE_PRINTF_BUFFER_SIZE),
    };
    if (half != 0)
        properties.flags |= ZE_DEVICE_MODULE_FLAG_FP16;
    if (doubles != 0)
        properties.flags |= ZE_DEVICE_MODULE_FLAG_FP64;
    if (cpu_opencl_number(DEVICE_INTEGER_DOT_PRODUCT_KHR) & DOT_PRODUCT_PACKED)
        properties.flags |= ZE_DEVICE_MODULE_FLAG_DP4A;
    memcpy(properties.nativeKernelSupported.id, CPU_DRIVER_UUID, sizeof(CPU_DRIVER_UUID));
    *pModuleProperties = properties;

    ze_scheduling_hint_exp_properties_t *hints =
        cpu_chain_find(properties.pNext, ZE_STRUCTURE_TYPE_SCHEDULING_HINT_EXP_PROPERTIES);
    if (hints != NULL)
        hints->schedulingHintFlags = 0; // none has an effect
    ze_float_atomic_ext_properties_t *atomics =
        cpu_chain_find(properties.pNext, ZE_STRUCTURE_TYPE_FLOAT_ATOMIC_EXT_PROPERTIES);
    if (atomics != NULL) {
        // The bits of both specifications agree. For fp16 the runtime promises more than its
        // compiler knows: even a load does not link.
        atomics->fp16Flags = 0;
        atomics->fp32Flags = (uint32_t)cpu_opencl_number(DEVICE_SINGLE_FP_ATOMICS_EXT) & FP_ATOMICS;
        atomics->fp64Flags = (uint32_t)cpu_opencl_number(DEVICE_DOUBLE_FP_ATOMICS_EXT) & FP_ATOMICS;
    }
    return ZE_RESULT_SUCCESS;
}

static uint32_t width(cl_device_info name)
{
    return (uint32_t)cpu_opencl_number(name);
}

ze_result_t ZE_APICALL cpu_zeDeviceGetVectorWidthPropertiesExt(
    ze_device_handle_t hDevice, uint32_t *pCount,
    ze_device_vector_width_properties_ext_t *pVectorWidthProperties)
{
    if (pVectorWidthProperties != NULL && *pCount != 0)
        *pVectorWidthProperties = (ze_device_vector_width_properties_ext_t){
            .stype = pVectorWidthProperties->stype,
            .pNext = pVectorWidthProperties->pNext,
            .vector_width_size = width(CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT),
            .preferred_vector_width_char = width(CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR),
            .preferred_vector_width_short = width(CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT),
            .preferred_vector_width_int = width(CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT),
            .preferred_vector_width_long = width(CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG),
            .preferred_vector_width_float = width(CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT),
            .preferred_vector_width_double = width(CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE),
            .preferred_vector_width_half = width(CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF),
            .native_vector_width_char = width(CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR),
            .native_vector_width_short = width(CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT),
            .native_vector_width_int = width(CL_DEVICE_NATIVE_VECTOR_WIDTH_INT),
            .native_vector_width_long = width(CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG),
            .native_vector_width_float = width(CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT),
            .native_vector_width_double = width(CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE),
            .native_vector_width_half = width(CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF),
        };
    *pCount = 1;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeDevicePciGetPropertiesExt(ze_device_handle_t hDevice,
                                                       ze_pci_ext_properties_t *pPciProperties)
{
    if (!cpu_options()->has_pci)
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    pPciProperties->address =
        (ze_pci_address_ext_t){.bus = 0xa0 + cpu_device_root(hDevice)->index, .function = 1};
    pPciProperties->maxSpeed =
        (ze_pci_speed_ext_t){.genVersion = -1, .width = -1, .maxBandwidth = -1}; // unknown
    return ZE_RESULT_SUCCESS;
}
