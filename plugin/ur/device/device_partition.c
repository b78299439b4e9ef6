// SPDX-License-Identifier: MIT
// Sub-devices: Level Zero divides devices into tiles, once.
#include "ur/device/device_info.h"
#include "ur/handles.h"

#define AFFINITY_DOMAINS                                                                           \
    (UR_DEVICE_AFFINITY_DOMAIN_FLAG_NUMA | UR_DEVICE_AFFINITY_DOMAIN_FLAG_NEXT_PARTITIONABLE)

static ur_result_t check_partition(const struct zepi_device *device,
                                   const ur_device_partition_properties_t *properties)
{
    if (properties->PropCount != 1)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE,
                              "%zu ways to divide a device, expected one", properties->PropCount);
    const ur_device_partition_property_t *property = properties->pProperties;
    if (property->type != UR_DEVICE_PARTITION_BY_AFFINITY_DOMAIN)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE,
                              "partition type 0x%x is none that Level Zero has",
                              (unsigned)property->type);
    if (device->sub_device_count == 0)
        return zepi_ur_refuse(UR_RESULT_ERROR_DEVICE_PARTITION_FAILED,
                              "device '%s' has no sub-devices", device->properties.name);
    const ur_device_affinity_domain_flags_t domain = property->value.affinity_domain;
    return domain != 0 && !(domain & ~(ur_device_affinity_domain_flags_t)AFFINITY_DOMAINS)
               ? UR_RESULT_SUCCESS
               : zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE,
                                "affinity domain 0x%x, expected NUMA or next partitionable",
                                domain);
}

ur_result_t zepi_urDevicePartition(ur_device_handle_t hDevice,
                                   const ur_device_partition_properties_t *pProperties,
                                   uint32_t NumDevices, ur_device_handle_t *phSubDevices,
                                   uint32_t *pNumDevicesRet)
{
    const struct zepi_device *device = zepi_ur_device(hDevice);
    ur_result_t result = zepi_ur_check_device(hDevice);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_pointer(pProperties, "pProperties");
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_pointer(pProperties->pProperties, "pProperties->pProperties");
    if (result == UR_RESULT_SUCCESS)
        result = check_partition(device, pProperties);
    if (result != UR_RESULT_SUCCESS)
        return result;
    const uint32_t count = device->sub_device_count;
    for (uint32_t i = 0; i < count && i < NumDevices && phSubDevices; i++)
        phSubDevices[i] = (ur_device_handle_t)zepi_retain(device->sub_devices[i]);
    if (pNumDevicesRet)
        *pNumDevicesRet = count;
    return UR_RESULT_SUCCESS;
}

ur_result_t zepi_ur_device_partition_info(const struct zepi_device *device, ur_device_info_t query,
                                          const struct zepi_ur_info *info)
{
    static const ur_device_partition_t way = UR_DEVICE_PARTITION_BY_AFFINITY_DOMAIN;
    static const ur_device_partition_property_t property = {
        .type = UR_DEVICE_PARTITION_BY_AFFINITY_DOMAIN,
        .value.affinity_domain = UR_DEVICE_AFFINITY_DOMAIN_FLAG_NEXT_PARTITIONABLE};
    const bool has_parts = device->sub_device_count > 0;
    switch ((int)query) {
    case UR_DEVICE_INFO_REFERENCE_COUNT:
        // A part has one more than the host's references: its parent's.
        return zepi_ur_info_return_u32(
            info, atomic_load_explicit(&device->object.references, memory_order_relaxed) -
                      (device->parent ? 1 : 0));
    case UR_DEVICE_INFO_PARENT_DEVICE:
        return zepi_ur_info_return_handle(info, device->parent);
    case UR_DEVICE_INFO_SUPPORTED_PARTITIONS:
        return zepi_ur_info_return(info, &way, has_parts ? sizeof(way) : 0);
    case UR_DEVICE_INFO_PARTITION_MAX_SUB_DEVICES:
        return zepi_ur_info_return_u32(info, device->sub_device_count);
    case UR_DEVICE_INFO_PARTITION_AFFINITY_DOMAIN:
        return zepi_ur_info_return_u32(info, has_parts ? AFFINITY_DOMAINS : 0);
    case UR_DEVICE_INFO_PARTITION_TYPE:
        return zepi_ur_info_return(info, &property, device->parent ? sizeof(property) : 0);
    default:
        return UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
    }
}
