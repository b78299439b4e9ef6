// SPDX-License-Identifier: MIT
#include "ur/device/device_info.h"

#include "core/alloc.h"
#include "device/device_details.h"
#include "device/platform.h"
#include "ze/ze.h"

// The device's memory properties; those of the first memory stand for all.
static ur_result_t get_info_memory_rate(const struct zepi_device *device, ur_device_info_t query,
                                        const struct zepi_ur_info *info)
{
    ze_device_memory_properties_t memory = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES};
    uint32_t count = 1;
    const ur_result_t result =
        zepi_ur_result(ZEPI_ZE(zeDeviceGetMemoryProperties, device->ze, &count, &memory));
    if (result != UR_RESULT_SUCCESS)
        return result;
    if (count == 0)
        return UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
    return zepi_ur_info_return_u32(
        info, query == UR_DEVICE_INFO_MEMORY_CLOCK_RATE ? memory.maxClockRate : memory.maxBusWidth);
}

// The largest cache is the one in front of global memory.
static ur_result_t get_info_cache(const struct zepi_device *device, ur_device_info_t query,
                                  const struct zepi_ur_info *info)
{
    uint32_t count = 0;
    uint64_t size_bytes = 0;
    ur_result_t result =
        zepi_ur_result(ZEPI_ZE(zeDeviceGetCacheProperties, device->ze, &count, NULL));
    if (result != UR_RESULT_SUCCESS)
        return result;
    ze_device_cache_properties_t *caches = zepi_allocate(count, sizeof(*caches));
    if (!caches)
        return zepi_ur_result(zepi_fail_no_memory());
    for (uint32_t i = 0; i < count; i++)
        caches[i].stype = ZE_STRUCTURE_TYPE_DEVICE_CACHE_PROPERTIES;
    result = zepi_ur_result(ZEPI_ZE(zeDeviceGetCacheProperties, device->ze, &count, caches));
    for (uint32_t i = 0; i < count && result == UR_RESULT_SUCCESS; i++) {
        if (caches[i].cacheSize > size_bytes)
            size_bytes = caches[i].cacheSize;
    }
    zepi_free(caches);
    if (result != UR_RESULT_SUCCESS)
        return result;
    return query == UR_DEVICE_INFO_GLOBAL_MEM_CACHE_SIZE
               ? zepi_ur_info_return_u64(info, size_bytes)
               : zepi_ur_info_return_u32(info, size_bytes > 0
                                                   ? UR_DEVICE_MEM_CACHE_TYPE_READ_WRITE_CACHE
                                                   : UR_DEVICE_MEM_CACHE_TYPE_NONE);
}

static ur_result_t get_info_cache_line(const struct zepi_device *device,
                                       const struct zepi_ur_info *info)
{
    uint32_t size_bytes;
    const ur_result_t result = zepi_ur_result(zepi_device_get_cache_line(device, &size_bytes));
    if (result != UR_RESULT_SUCCESS)
        return result;
    return zepi_ur_info_return_u32(info, size_bytes > 0 ? size_bytes : 64);
}

static ur_result_t get_info_known_size(const struct zepi_device *device, ur_device_info_t query,
                                       const struct zepi_ur_info *info)
{
    uint64_t number = device->memory_bandwidth;
    if (query == UR_DEVICE_INFO_GLOBAL_MEM_FREE) {
        const ur_result_t result = zepi_ur_result(zepi_device_get_free_memory(device, &number));
        if (result != UR_RESULT_SUCCESS)
            return result;
    }
    return number > 0 ? zepi_ur_info_return_u64(info, number)
                      : UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
}

// Constants are read as buffers of images are, on devices with images.
static ur_result_t get_info_constant_size(const struct zepi_device *device,
                                          const struct zepi_ur_info *info)
{
    ze_device_image_properties_t images = {.stype = ZE_STRUCTURE_TYPE_DEVICE_IMAGE_PROPERTIES};
    uint64_t size_bytes = device->properties.maxMemAllocSize;
    if (device->has_images) {
        const ur_result_t result =
            zepi_ur_result(ZEPI_ZE(zeDeviceGetImageProperties, device->ze, &images));
        if (result != UR_RESULT_SUCCESS)
            return result;
        if (images.maxImageBufferSize > 0 && images.maxImageBufferSize < size_bytes)
            size_bytes = images.maxImageBufferSize;
    }
    return zepi_ur_info_return_u64(info, size_bytes);
}

static ur_device_local_mem_type_t local_memory_type(const struct zepi_device *device)
{
    if (device->compute.maxSharedLocalMemory == 0)
        return UR_DEVICE_LOCAL_MEM_TYPE_NONE;
    return device->platform->quirks.is_on_cpu || device->properties.type == ZE_DEVICE_TYPE_CPU
               ? UR_DEVICE_LOCAL_MEM_TYPE_GLOBAL
               : UR_DEVICE_LOCAL_MEM_TYPE_LOCAL;
}

static ur_result_t memory_info(const struct zepi_device *device, ur_device_info_t query,
                               const struct zepi_ur_info *info)
{
    switch ((int)query) {
    case UR_DEVICE_INFO_MAX_MEM_ALLOC_SIZE:
        return zepi_ur_info_return_u64(info, device->max_allocation_bytes);
    case UR_DEVICE_INFO_GLOBAL_MEM_SIZE:
        return zepi_ur_info_return_u64(info, device->global_memory_bytes);
    case UR_DEVICE_INFO_LOCAL_MEM_TYPE:
        return zepi_ur_info_return_u32(info, local_memory_type(device));
    case UR_DEVICE_INFO_LOCAL_MEM_SIZE:
        return zepi_ur_info_return_u64(info, device->compute.maxSharedLocalMemory);
    case UR_DEVICE_INFO_GLOBAL_MEM_FREE:
    case UR_DEVICE_INFO_MAX_MEMORY_BANDWIDTH:
        return get_info_known_size(device, query, info);
    case UR_DEVICE_INFO_MAX_CONSTANT_BUFFER_SIZE:
        return get_info_constant_size(device, info);
    case UR_DEVICE_INFO_MAX_CONSTANT_ARGS:
        return zepi_ur_info_return_u32(info, 64);
    case UR_DEVICE_INFO_MEM_BASE_ADDR_ALIGN:
        return zepi_ur_info_return_u32(info, 8); // bits: a sub-buffer may begin at any byte
    case UR_DEVICE_INFO_GLOBAL_MEM_CACHELINE_SIZE:
        return get_info_cache_line(device, info);
    case UR_DEVICE_INFO_GLOBAL_MEM_CACHE_TYPE:
    case UR_DEVICE_INFO_GLOBAL_MEM_CACHE_SIZE:
        return get_info_cache(device, query, info);
    case UR_DEVICE_INFO_MEMORY_CLOCK_RATE:
    case UR_DEVICE_INFO_MEMORY_BUS_WIDTH:
        return get_info_memory_rate(device, query, info);
    case UR_DEVICE_INFO_ERROR_CORRECTION_SUPPORT:
        return zepi_ur_info_return_bool(info,
                                        device->properties.flags & ZE_DEVICE_PROPERTY_FLAG_ECC);
    case UR_DEVICE_INFO_HOST_UNIFIED_MEMORY:
    case UR_DEVICE_INFO_IS_INTEGRATED_GPU:
        return zepi_ur_info_return_bool(info, device->properties.flags &
                                                  ZE_DEVICE_PROPERTY_FLAG_INTEGRATED);
    default:
        return UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
    }
}

// The bits are the same in both interfaces.
static ur_result_t usm_info(const struct zepi_device *device, ur_device_info_t query,
                            const struct zepi_ur_info *info)
{
    ze_device_memory_access_properties_t access = {
        .stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES};
    if (query < UR_DEVICE_INFO_USM_HOST_SUPPORT || query > UR_DEVICE_INFO_USM_SYSTEM_SHARED_SUPPORT)
        return UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
    const ur_result_t result =
        zepi_ur_result(ZEPI_ZE(zeDeviceGetMemoryAccessProperties, device->ze, &access));
    if (result != UR_RESULT_SUCCESS)
        return result;
    switch ((int)query) {
    case UR_DEVICE_INFO_USM_HOST_SUPPORT:
        return zepi_ur_info_return_u32(info, access.hostAllocCapabilities);
    case UR_DEVICE_INFO_USM_DEVICE_SUPPORT:
        return zepi_ur_info_return_u32(info, access.deviceAllocCapabilities);
    case UR_DEVICE_INFO_USM_SINGLE_SHARED_SUPPORT:
        return zepi_ur_info_return_u32(info, access.sharedSingleDeviceAllocCapabilities);
    case UR_DEVICE_INFO_USM_CROSS_SHARED_SUPPORT:
        return zepi_ur_info_return_u32(info, access.sharedCrossDeviceAllocCapabilities);
    default:
        return zepi_ur_info_return_u32(info, access.sharedSystemAllocCapabilities);
    }
}

static ur_result_t get_info_image(const ze_device_image_properties_t *images,
                                  ur_device_info_t query, const struct zepi_ur_info *info)
{
    switch ((int)query) {
    case UR_DEVICE_INFO_MAX_READ_IMAGE_ARGS:
        return zepi_ur_info_return_u32(info, images->maxReadImageArgs);
    case UR_DEVICE_INFO_MAX_WRITE_IMAGE_ARGS:
    case UR_DEVICE_INFO_MAX_READ_WRITE_IMAGE_ARGS:
        return zepi_ur_info_return_u32(info, images->maxWriteImageArgs);
    case UR_DEVICE_INFO_IMAGE2D_MAX_WIDTH:
    case UR_DEVICE_INFO_IMAGE2D_MAX_HEIGHT:
        return zepi_ur_info_return_size(info, images->maxImageDims2D);
    case UR_DEVICE_INFO_IMAGE3D_MAX_WIDTH:
    case UR_DEVICE_INFO_IMAGE3D_MAX_HEIGHT:
    case UR_DEVICE_INFO_IMAGE3D_MAX_DEPTH:
        return zepi_ur_info_return_size(info, images->maxImageDims3D);
    case UR_DEVICE_INFO_IMAGE_MAX_BUFFER_SIZE:
        return zepi_ur_info_return_size(info, images->maxImageBufferSize);
    case UR_DEVICE_INFO_IMAGE_MAX_ARRAY_SIZE:
        return zepi_ur_info_return_size(info, images->maxImageArraySlices);
    default: // UR_DEVICE_INFO_MAX_SAMPLERS
        return zepi_ur_info_return_u32(info, images->maxSamplers);
    }
}

static ur_result_t image_info(const struct zepi_device *device, ur_device_info_t query,
                              const struct zepi_ur_info *info)
{
    ze_device_image_properties_t images = {.stype = ZE_STRUCTURE_TYPE_DEVICE_IMAGE_PROPERTIES};
    if (query == UR_DEVICE_INFO_IMAGE_SUPPORT)
        return zepi_ur_info_return_bool(info, device->has_images);
    if (query < UR_DEVICE_INFO_MAX_READ_IMAGE_ARGS || query > UR_DEVICE_INFO_MAX_SAMPLERS)
        return UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
    // A driver without images may not know the query: all limits are 0 then.
    if (device->has_images) {
        const ur_result_t result =
            zepi_ur_result(ZEPI_ZE(zeDeviceGetImageProperties, device->ze, &images));
        if (result != UR_RESULT_SUCCESS)
            return result;
    }
    return get_info_image(&images, query, info);
}

ur_result_t zepi_ur_device_memory_info(const struct zepi_device *device, ur_device_info_t query,
                                       const struct zepi_ur_info *info)
{
    ur_result_t result = memory_info(device, query, info);
    if (result == UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION)
        result = usm_info(device, query, info);
    return result == UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION ? image_info(device, query, info)
                                                             : result;
}
