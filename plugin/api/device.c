// SPDX-License-Identifier: MIT
// Platforms, devices and contexts.
#include "api/api.h"
#include "api/check.h"
#include "core/interface.h"
#include "device/free_memory.h"
#include "device/platform.h"
#include "ze/ze.h"

#include <stdio.h>

zepi_result_t zepi_api_platform_get_info(zepi_platform_t platform, zepi_platform_info_t *out_info)
{
    const zepi_result_t result = zepi_check_object(platform, &zepi_platform_type);
    if (result != ZEPI_SUCCESS)
        return result;
    zepi_platform_info_t info = {
        .name = "Level Zero",
        .api_version = platform->api_version,
        .is_ze_cpu = platform->quirks.is_on_cpu,
        .native_handle = platform->ze,
        .quirks = platform->quirks.names,
    };
    memcpy(info.driver_version, platform->version, sizeof(info.driver_version));
    memcpy(info.driver_uuid, platform->properties.uuid.id, sizeof(info.driver_uuid));
    return zepi_copy_info(out_info, &info, sizeof(info));
}

zepi_result_t zepi_api_device_get(zepi_platform_t platform, uint32_t capacity,
                                  zepi_device_t *out_devices, uint32_t *out_count)
{
    const zepi_result_t result =
        zepi_api_check_list(platform, &zepi_platform_type, capacity, out_devices, out_count);
    return result ? result
                  : zepi_list_objects(platform->device_count, (void *const *)platform->devices,
                                      capacity, (void **)out_devices, out_count);
}

zepi_result_t zepi_api_device_get_sub_devices(zepi_device_t device, uint32_t capacity,
                                              zepi_device_t *out_devices, uint32_t *out_count)
{
    const zepi_result_t result =
        zepi_api_check_list(device, &zepi_device_type, capacity, out_devices, out_count);
    return result ? result
                  : zepi_list_objects(device->sub_device_count, (void *const *)device->sub_devices,
                                      capacity, (void **)out_devices, out_count);
}

static zepi_device_type_t device_type_of(ze_device_type_t type)
{
    switch ((int)type) {
    case ZE_DEVICE_TYPE_GPU:
        return ZEPI_DEVICE_TYPE_GPU;
    case ZE_DEVICE_TYPE_CPU:
        return ZEPI_DEVICE_TYPE_CPU;
    case ZE_DEVICE_TYPE_FPGA:
        return ZEPI_DEVICE_TYPE_FPGA;
    case ZE_DEVICE_TYPE_MCA:
        return ZEPI_DEVICE_TYPE_MCA;
    case ZE_DEVICE_TYPE_VPU:
        return ZEPI_DEVICE_TYPE_NPU;
    default:
        return ZEPI_DEVICE_TYPE_OTHER;
    }
}

static void fill_limits(const struct zepi_device *device, zepi_device_info_t *info)
{
    const ze_device_compute_properties_t *compute = &device->compute;
    const ze_device_properties_t *properties = &device->properties;
    info->compute_unit_count =
        properties->numSlices * properties->numSubslicesPerSlice * properties->numEUsPerSubslice;
    info->clock_rate_mhz = properties->coreClockRate;
    info->max_group_size = compute->maxTotalGroupSize;
    info->max_group_size_per_dimension[0] = compute->maxGroupSizeX;
    info->max_group_size_per_dimension[1] = compute->maxGroupSizeY;
    info->max_group_size_per_dimension[2] = compute->maxGroupSizeZ;
    info->max_group_count[0] = compute->maxGroupCountX;
    info->max_group_count[1] = compute->maxGroupCountY;
    info->max_group_count[2] = compute->maxGroupCountZ;
    info->max_local_memory_bytes = compute->maxSharedLocalMemory;
    info->sub_group_size_count = compute->numSubGroupSizes;
    for (uint32_t i = 0; i < compute->numSubGroupSizes && i < ZE_SUBGROUPSIZE_COUNT; i++)
        info->sub_group_sizes[i] = compute->subGroupSizes[i];
    info->global_memory_bytes = device->global_memory_bytes;
    info->max_allocation_bytes = device->max_allocation_bytes;
    info->compute_engine_count = device->compute_count;
    info->timer_resolution_ns = zepi_device_timer_resolution_ns(device);
}

static void fill_abilities(const struct zepi_device *device, zepi_device_info_t *info)
{
    const struct zepi_ze_optional *optional = &device->platform->optional;
    info->has_fp16 = device->module.flags & ZE_DEVICE_MODULE_FLAG_FP16;
    info->has_fp64 = device->module.flags & ZE_DEVICE_MODULE_FLAG_FP64;
    info->has_int64_atomics = device->module.flags & ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS;
    info->has_shared_usm =
        device->access.sharedSingleDeviceAllocCapabilities & ZE_MEMORY_ACCESS_CAP_FLAG_RW;
    info->has_images = device->has_images;
    // Level Zero's 1.2 is 0x00010002, SPIR-V's 0x00010200.
    const uint32_t spirv = device->module.spirvVersionSupported;
    info->spirv_version = ZE_MAJOR_VERSION(spirv) << 16 | ZE_MINOR_VERSION(spirv) << 8;
    info->has_in_order_lists = optional->has_in_order_lists;
    info->has_counter_based_events = optional->has_counter_based_events;
    info->has_module_program = optional->has_module_program;
    info->has_linkage_inspection = optional->has_linkage_inspection;
    info->has_host_functions = optional->append_host_function != NULL;
    static const ze_native_kernel_uuid_t none;
    info->has_native_binaries =
        memcmp(&device->module.nativeKernelSupported, &none, sizeof(none)) != 0 ||
        device->platform->quirks.bits & ZEPI_QUIRK_UNTOLD_NATIVE_FORMAT;
}

zepi_result_t zepi_api_device_get_info(zepi_device_t device, zepi_device_info_t *out_info)
{
    zepi_result_t result = zepi_check_object(device, &zepi_device_type);
    if (result != ZEPI_SUCCESS)
        return result;
    zepi_device_info_t info = {
        .platform = device->platform,
        .parent = device->parent,
        .type = device_type_of(device->properties.type),
        .vendor_id = device->properties.vendorId,
        .device_id = device->properties.deviceId,
        .sub_device_count = device->sub_device_count,
        .native_handle = device->ze,
    };
    snprintf(info.name, sizeof(info.name), "%s", device->properties.name);
    memcpy(info.uuid, device->properties.uuid.id, sizeof(info.uuid));
    fill_limits(device, &info);
    fill_abilities(device, &info);
    // Asked for each time, and only for a host that knows the member.
    if (out_info && out_info->size > offsetof(zepi_device_info_t, free_memory_bytes)) {
        result = zepi_device_get_free_memory(device, &info.free_memory_bytes);
        if (result != ZEPI_SUCCESS)
            return result;
        if (info.free_memory_bytes == ZEPI_FREE_MEMORY_UNKNOWN)
            info.free_memory_bytes = 0;
    }
    return zepi_copy_info(out_info, &info, sizeof(info));
}

zepi_result_t zepi_api_device_get_time(zepi_device_t device, uint64_t *out_host_ns,
                                       uint64_t *out_device_ns)
{
    const void *outputs = out_host_ns ? out_device_ns : NULL;
    const zepi_result_t result =
        zepi_api_check_pointer(device, &zepi_device_type, outputs, "output for a time");
    return result ? result : zepi_device_get_time(device, out_host_ns, out_device_ns);
}

static zepi_result_t check_new_context(uint32_t device_count, const zepi_device_t *devices,
                                       const zepi_context_t *out_context)
{
    if (device_count == 0 || !devices)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "the context's device_count is 0, expected at least 1");
    zepi_result_t result = ZEPI_SUCCESS;
    for (uint32_t i = 0; i < device_count && result == ZEPI_SUCCESS; i++)
        result = zepi_check_object(devices[i], &zepi_device_type);
    return result ? result : zepi_api_check_output(out_context, "output for the context");
}

zepi_result_t zepi_api_context_create(uint32_t device_count, const zepi_device_t *devices,
                                      zepi_context_t *out_context)
{
    const zepi_result_t result = check_new_context(device_count, devices, out_context);
    return result ? result
                  : zepi_context_create(NULL, device_count, devices, ZEPI_OWNERSHIP_TRANSFER,
                                        out_context);
}

zepi_result_t zepi_api_context_create_from_native(void *native_handle, uint32_t device_count,
                                                  const zepi_device_t *devices,
                                                  zepi_ownership_t ownership,
                                                  zepi_context_t *out_context)
{
    zepi_result_t result;
    if ((result = zepi_api_check_native(native_handle, ownership)) ||
        (result = check_new_context(device_count, devices, out_context)))
        return result;
    return zepi_context_create(native_handle, device_count, devices, ownership, out_context);
}

zepi_result_t zepi_api_context_get_devices(zepi_context_t context, uint32_t capacity,
                                           zepi_device_t *out_devices, uint32_t *out_count)
{
    const zepi_result_t result =
        zepi_api_check_list(context, &zepi_context_type, capacity, out_devices, out_count);
    return result ? result
                  : zepi_list_objects(context->device_count, (void *const *)context->devices,
                                      capacity, (void **)out_devices, out_count);
}

zepi_result_t zepi_api_context_get_native(zepi_context_t context, void **out_native_handle)
{
    const zepi_result_t result =
        zepi_api_check_context_pointer(context, out_native_handle, "output for the handle");
    if (result == ZEPI_SUCCESS)
        *out_native_handle = context->ze;
    return result;
}
