// SPDX-License-Identifier: MIT
#include "chain.h"
#include "device.h"
#include "driver.h"
#include "entry.h"
#include "opencl.h"
#include "options.h"

#include <stdio.h>
#include <string.h>

#define VENDOR_INTEL 0x8086u

static void fill_uuid(const struct cpu_device *device, uint8_t *uuid)
{
    uint32_t parent = device->parent != NULL ? device->parent->index + 1 : 0;
    memset(uuid, 0, ZE_MAX_DEVICE_UUID_SIZE);
    memcpy(uuid, "zepi-cpu-dev", 12);
    uuid[13] = (uint8_t)parent;
    uuid[14] = (uint8_t)device->index;
}

ze_result_t ZE_APICALL cpu_zeDeviceGetProperties(ze_device_handle_t hDevice,
                                                 ze_device_properties_t *pDeviceProperties)
{
    const struct cpu_device *device = (const struct cpu_device *)hDevice;
    const struct cpu_opencl *cl = cpu_opencl();
    if (pDeviceProperties == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    ze_device_properties_t properties = {
        .stype = pDeviceProperties->stype,
        .pNext = pDeviceProperties->pNext,
        .type = cpu_options()->reports_gpu ? ZE_DEVICE_TYPE_GPU : ZE_DEVICE_TYPE_CPU,
        .vendorId = VENDOR_INTEL,
        .flags = ZE_DEVICE_PROPERTY_FLAG_INTEGRATED | ZE_DEVICE_PROPERTY_FLAG_ONDEMANDPAGING,
        .coreClockRate = cl->clock_mhz,
        .maxMemAllocSize = cl->maximum_allocation_bytes,
        .maxHardwareContexts = 64,
        .numThreadsPerEU = 1,
        .physicalEUSimdWidth = 16,
        .numEUsPerSubslice = cl->compute_units,
        .numSubslicesPerSlice = 1,
        .numSlices = 1,
        .timerResolution = 1,
        .timestampValidBits = cpu_options()->timestamp_bits,
        .kernelTimestampValidBits = cpu_options()->timestamp_bits,
    };
    // Since 1.2 a caller may ask for cycles a second in place of nanoseconds a cycle.
    if (properties.stype == ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2)
        properties.timerResolution = CPU_TIMER_HZ;
    if (device->parent != NULL) {
        properties.flags |= ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE;
        properties.subdeviceId = device->index;
    }
    fill_uuid(device, properties.uuid.id);
    snprintf(properties.name, sizeof(properties.name), "zepi CPU driver: %s", cl->device_name);
    *pDeviceProperties = properties;

    ze_eu_count_ext_t *eus = cpu_chain_find(properties.pNext, ZE_STRUCTURE_TYPE_EU_COUNT_EXT);
    if (eus != NULL)
        eus->numTotalEUs = cl->compute_units;
    ze_mutable_command_list_exp_properties_t *mutability =
        cpu_chain_find(properties.pNext, CPU_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_PROPERTIES);
    if (mutability != NULL) {
        mutability->mutableCommandListFlags = 0;
        mutability->mutableCommandFlags = CPU_MUTABLE_COMMAND_FLAGS_OFFERED;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeDeviceGetComputeProperties(
    ze_device_handle_t hDevice, ze_device_compute_properties_t *pComputeProperties)
{
    (void)hDevice;
    const struct cpu_opencl *cl = cpu_opencl();
    if (pComputeProperties == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
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
        .maxSharedLocalMemory = (uint32_t)cl->local_memory_bytes,
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
    (void)hDevice;
    const struct cpu_opencl *cl = cpu_opencl();
    if (pModuleProperties == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    ze_device_module_properties_t properties = {
        .stype = pModuleProperties->stype,
        .pNext = pModuleProperties->pNext,
        .spirvVersionSupported = ZE_MAKE_VERSION(1, 4),
        .flags = ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS,
        .fp16flags = fp_flags(cl->half_config),
        .fp32flags = fp_flags(cl->single_config),
        .fp64flags = fp_flags(cl->double_config),
        .maxArgumentsSize = (uint32_t)cl->maximum_argument_bytes,
        .printfBufferSize = 1 << 20,
    };
    if (cl->half_config != 0)
        properties.flags |= ZE_DEVICE_MODULE_FLAG_FP16;
    if (cl->double_config != 0)
        properties.flags |= ZE_DEVICE_MODULE_FLAG_FP64;
    memcpy(properties.nativeKernelSupported.id, CPU_DRIVER_UUID, sizeof(CPU_DRIVER_UUID));
    *pModuleProperties = properties;

    ze_float_atomic_ext_properties_t *atomics =
        cpu_chain_find(properties.pNext, ZE_STRUCTURE_TYPE_FLOAT_ATOMIC_EXT_PROPERTIES);
    if (atomics != NULL) {
        const ze_device_fp_atomic_ext_flags_t load_store =
            ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_LOAD_STORE |
            ZE_DEVICE_FP_ATOMIC_EXT_FLAG_LOCAL_LOAD_STORE;
        atomics->fp16Flags = 0;
        atomics->fp32Flags = load_store;
        atomics->fp64Flags = load_store;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeDeviceGetCommandQueueGroupProperties(
    ze_device_handle_t hDevice, uint32_t *pCount,
    ze_command_queue_group_properties_t *pCommandQueueGroupProperties)
{
    (void)hDevice;
    if (pCount == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (pCommandQueueGroupProperties == NULL || *pCount == 0) {
        *pCount = CPU_GROUP_COUNT;
        return ZE_RESULT_SUCCESS;
    }
    if (*pCount > CPU_GROUP_COUNT)
        *pCount = CPU_GROUP_COUNT;
    for (uint32_t i = 0; i < *pCount; i++) {
        ze_command_queue_group_properties_t *group = &pCommandQueueGroupProperties[i];
        group->flags = ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY;
        if (i == CPU_GROUP_COMPUTE)
            group->flags |= ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE |
                            ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COOPERATIVE_KERNELS;
        group->maxMemoryFillPatternSize = 1 << 16;
        group->numQueues = CPU_GROUP_QUEUES;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeDeviceGetMemoryProperties(
    ze_device_handle_t hDevice, uint32_t *pCount, ze_device_memory_properties_t *pMemProperties)
{
    (void)hDevice;
    if (pCount == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (pMemProperties == NULL || *pCount == 0) {
        *pCount = 1;
        return ZE_RESULT_SUCCESS;
    }
    *pCount = 1;
    pMemProperties->flags = 0;
    pMemProperties->maxClockRate = 0;
    pMemProperties->maxBusWidth = 64;
    pMemProperties->totalSize = cpu_opencl()->global_memory_bytes;
    snprintf(pMemProperties->name, sizeof(pMemProperties->name), "host memory");
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeDeviceGetMemoryAccessProperties(
    ze_device_handle_t hDevice, ze_device_memory_access_properties_t *pMemAccessProperties)
{
    (void)hDevice;
    const ze_memory_access_cap_flags_t all =
        ZE_MEMORY_ACCESS_CAP_FLAG_RW | ZE_MEMORY_ACCESS_CAP_FLAG_ATOMIC |
        ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT | ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT_ATOMIC;
    if (pMemAccessProperties == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    pMemAccessProperties->hostAllocCapabilities = all;
    pMemAccessProperties->deviceAllocCapabilities = all;
    pMemAccessProperties->sharedSingleDeviceAllocCapabilities = all;
    pMemAccessProperties->sharedCrossDeviceAllocCapabilities = all;
    pMemAccessProperties->sharedSystemAllocCapabilities = all;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeDeviceGetCacheProperties(
    ze_device_handle_t hDevice, uint32_t *pCount, ze_device_cache_properties_t *pCacheProperties)
{
    (void)hDevice;
    if (pCount == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (pCacheProperties == NULL || *pCount == 0) {
        *pCount = 1;
        return ZE_RESULT_SUCCESS;
    }
    *pCount = 1;
    pCacheProperties->flags = 0;
    pCacheProperties->cacheSize = cpu_opencl()->cache_bytes;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeDeviceGetImageProperties(
    ze_device_handle_t hDevice, ze_device_image_properties_t *pImageProperties)
{
    (void)hDevice;
    if (pImageProperties == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    const struct cpu_opencl *cl = cpu_opencl();
    *pImageProperties = (ze_device_image_properties_t){
        .stype = pImageProperties->stype,
        .pNext = pImageProperties->pNext,
        .maxImageDims1D = (uint32_t)cl->image_2d_width,
        .maxImageDims2D = (uint32_t)cl->image_2d_width,
        .maxImageDims3D = (uint32_t)cl->image_3d_width,
        .maxImageArraySlices = (uint32_t)cl->image_array_size,
        .maxSamplers = cl->samplers,
        .maxReadImageArgs = cl->read_images,
        .maxWriteImageArgs = cl->write_images,
    };
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeDeviceGetExternalMemoryProperties(
    ze_device_handle_t hDevice, ze_device_external_memory_properties_t *pExternalMemoryProperties)
{
    (void)hDevice;
    if (pExternalMemoryProperties == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    pExternalMemoryProperties->memoryAllocationImportTypes = 0;
    pExternalMemoryProperties->memoryAllocationExportTypes = 0;
    pExternalMemoryProperties->imageImportTypes = 0;
    pExternalMemoryProperties->imageExportTypes = 0;
    return ZE_RESULT_SUCCESS;
}
