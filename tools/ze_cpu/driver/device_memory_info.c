// SPDX-License-Identifier: MIT
#include "chain.h"
#include "device/device.h"
#include "entry.h"
#include "opencl.h"
#include "options.h"

#include <stdio.h>

ze_result_t ZE_APICALL cpu_zeDeviceGetCommandQueueGroupProperties(
    ze_device_handle_t hDevice, uint32_t *pCount,
    ze_command_queue_group_properties_t *pCommandQueueGroupProperties)
{
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
        // As on Intel's GPUs; no pattern is too large here.
        group->maxMemoryFillPatternSize = i == CPU_GROUP_COMPUTE ? SIZE_MAX : 1;
        group->numQueues = CPU_GROUP_QUEUES;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeDeviceGetMemoryProperties(
    ze_device_handle_t hDevice, uint32_t *pCount, ze_device_memory_properties_t *pMemProperties)
{
    if (pMemProperties == NULL || *pCount == 0) {
        *pCount = 1;
        return ZE_RESULT_SUCCESS;
    }
    *pCount = 1;
    pMemProperties->flags = 0;
    pMemProperties->maxClockRate = 0;
    pMemProperties->maxBusWidth = 64;
    pMemProperties->totalSize = cpu_opencl()->global_memory_bytes;
    snprintf(pMemProperties->name, sizeof(pMemProperties->name), "%s",
             cpu_options()->is_integrated ? "host memory" : "device memory");
    // Its exact type and bandwidth cannot be told without privileges; zeros mean unknown.
    ze_device_memory_ext_properties_t *extension =
        cpu_chain_find(pMemProperties->pNext, ZE_STRUCTURE_TYPE_DEVICE_MEMORY_EXT_PROPERTIES);
    if (extension != NULL) {
        extension->type = ZE_DEVICE_MEMORY_EXT_TYPE_DDR;
        extension->physicalSize = 0;
        extension->readBandwidth = 0;
        extension->writeBandwidth = 0;
        extension->bandwidthUnit = ZE_BANDWIDTH_UNIT_UNKNOWN;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeDeviceGetMemoryAccessProperties(
    ze_device_handle_t hDevice, ze_device_memory_access_properties_t *pMemAccessProperties)
{
    const bool is_integrated = cpu_options()->is_integrated;
    ze_memory_access_cap_flags_t own =
        ZE_MEMORY_ACCESS_CAP_FLAG_RW | ZE_MEMORY_ACCESS_CAP_FLAG_ATOMIC;
    // Intel's discrete devices do not migrate shared memory under a running kernel, and do not
    // reach memory that the driver did not allocate.
    if (is_integrated)
        own |= ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT | ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT_ATOMIC;
    pMemAccessProperties->hostAllocCapabilities = own;
    pMemAccessProperties->deviceAllocCapabilities = own;
    pMemAccessProperties->sharedSingleDeviceAllocCapabilities = own;
    pMemAccessProperties->sharedCrossDeviceAllocCapabilities = own;
    pMemAccessProperties->sharedSystemAllocCapabilities = is_integrated ? own : 0;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeDeviceGetCacheProperties(
    ze_device_handle_t hDevice, uint32_t *pCount, ze_device_cache_properties_t *pCacheProperties)
{
    if (pCacheProperties == NULL || *pCount == 0) {
        *pCount = 1;
        return ZE_RESULT_SUCCESS;
    }
    *pCount = 1;
    pCacheProperties->flags = 0;
    pCacheProperties->cacheSize = cpu_opencl_number(CL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
    ze_device_cache_line_size_ext_t *line =
        cpu_chain_find(pCacheProperties->pNext, CPU_STRUCTURE_TYPE_DEVICE_CACHELINE_SIZE_EXT);
    if (line != NULL)
        line->cacheLineSize = cpu_opencl_number(CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeDeviceGetImageProperties(
    ze_device_handle_t hDevice, ze_device_image_properties_t *pImageProperties)
{
    *pImageProperties = (ze_device_image_properties_t){
        .stype = pImageProperties->stype,
        .pNext = pImageProperties->pNext,
        .maxImageDims1D = (uint32_t)cpu_opencl_number(CL_DEVICE_IMAGE2D_MAX_WIDTH),
        .maxImageDims2D = (uint32_t)cpu_opencl_number(CL_DEVICE_IMAGE2D_MAX_WIDTH),
        .maxImageDims3D = (uint32_t)cpu_opencl_number(CL_DEVICE_IMAGE3D_MAX_WIDTH),
        .maxImageBufferSize = cpu_opencl_number(CL_DEVICE_IMAGE_MAX_BUFFER_SIZE),
        .maxImageArraySlices = (uint32_t)cpu_opencl_number(CL_DEVICE_IMAGE_MAX_ARRAY_SIZE),
        .maxSamplers = (uint32_t)cpu_opencl_number(CL_DEVICE_MAX_SAMPLERS),
        .maxReadImageArgs = (uint32_t)cpu_opencl_number(CL_DEVICE_MAX_READ_IMAGE_ARGS),
        .maxWriteImageArgs = (uint32_t)cpu_opencl_number(CL_DEVICE_MAX_WRITE_IMAGE_ARGS),
    };
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeDeviceGetExternalMemoryProperties(
    ze_device_handle_t hDevice, ze_device_external_memory_properties_t *pExternalMemoryProperties)
{
    const uint32_t files =
        ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD | ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF;
    pExternalMemoryProperties->memoryAllocationImportTypes = files;
    pExternalMemoryProperties->memoryAllocationExportTypes = files;
    pExternalMemoryProperties->imageImportTypes = 0;
    pExternalMemoryProperties->imageExportTypes = 0;
    return ZE_RESULT_SUCCESS;
}
