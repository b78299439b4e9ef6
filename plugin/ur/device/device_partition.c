// SPDX-License-Identifier: MIT
// Sub-devices: Level Zero divides devices into tiles, once. Every way to divide a device that comes
// to these tiles is served.
#include "ur/device/device_info.h"
#include "ur/handles.h"

#define AFFINITY_DOMAINS                                                                           \
    (UR_DEVICE_AFFINITY_DOMAIN_FLAG_NUMA | UR_DEVICE_AFFINITY_DOMAIN_FLAG_NEXT_PARTITIONABLE)

// The compute units of each tile. 0: there are none, or they differ, or are not all of the device.
static uint32_t compute_units_of_tiles(const struct zepi_device *device)
{
    const uint32_t count = device->sub_device_count;
    const uint32_t units = count > 0 ? zepi_ur_compute_units(device->sub_devices[0]) : 0;
    for (uint32_t i = 1; i < count; i++) {
        if (zepi_ur_compute_units(device->sub_devices[i]) != units)
            return 0;
    }
    return (uint64_t)units * count == zepi_ur_compute_units(device) ? units : 0;
}

static ur_result_t check_affinity_partition(const ur_device_partition_property_t *property)
{
    const ur_device_affinity_domain_flags_t domain = property->value.affinity_domain;
    return domain != 0 && !(domain & ~(ur_device_affinity_domain_flags_t)AFFINITY_DOMAINS)
               ? UR_RESULT_SUCCESS
               : zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE,
                                "affinity domain 0x%x, expected NUMA or next partitionable",
                                domain);
}

static ur_result_t check_equal_partition(const struct zepi_device *device,
                                         const ur_device_partition_property_t *property)
{
    const uint32_t units = compute_units_of_tiles(device);
    return units > 0 && property->value.equally == units
               ? UR_RESULT_SUCCESS
               : zepi_ur_refuse(UR_RESULT_ERROR_DEVICE_PARTITION_FAILED,
                                "device '%s' has %u parts of %u compute units, none of %u",
                                device->properties.name, device->sub_device_count, units,
                                property->value.equally);
}

static ur_result_t check_partition_counts(const struct zepi_device *device,
                                          const ur_device_partition_properties_t *properties)
{
    const uint32_t units = compute_units_of_tiles(device);
    bool fits = units > 0 && properties->PropCount <= device->sub_device_count;
    for (size_t i = 0; i < properties->PropCount && fits; i++)
        fits = properties->pProperties[i].value.count == units;
    return fits ? UR_RESULT_SUCCESS
                : zepi_ur_refuse(UR_RESULT_ERROR_INVALID_DEVICE_PARTITION_COUNT,
                                 "device '%s' has %u parts of %u compute units, expected up to so "
                                 "many counts of that",
                                 device->properties.name, device->sub_device_count, units);
}

// Sets how many parts are meant.
static ur_result_t check_partition(const struct zepi_device *device,
                                   const ur_device_partition_properties_t *properties,
                                   uint32_t *out_count)
{
    const ur_device_partition_property_t *property = properties->pProperties;
    const bool has_counts =
        properties->PropCount > 0 && property->type == UR_DEVICE_PARTITION_BY_COUNTS;
    bool is_one_way = properties->PropCount == 1 || has_counts;
    for (size_t i = 1; i < properties->PropCount && is_one_way; i++)
        is_one_way = property[i].type == property->type;
    if (!is_one_way)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE,
                              "%zu ways to divide a device, expected one", properties->PropCount);
    if (property->type != UR_DEVICE_PARTITION_BY_AFFINITY_DOMAIN && !has_counts &&
        property->type != UR_DEVICE_PARTITION_EQUALLY)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE,
                              "partition type 0x%x is none that Level Zero has",
                              (unsigned)property->type);
    if (device->sub_device_count == 0)
        return zepi_ur_refuse(UR_RESULT_ERROR_DEVICE_PARTITION_FAILED,
                              "device '%s' has no sub-devices", device->properties.name);
    *out_count = has_counts ? (uint32_t)properties->PropCount : device->sub_device_count;
    return has_counts ? check_partition_counts(device, properties)
           : property->type == UR_DEVICE_PARTITION_EQUALLY ? check_equal_partition(device, property)
                                                           : check_affinity_partition(property);
}

ur_result_t zepi_urDevicePartition(ur_device_handle_t hDevice,
                                   const ur_device_partition_properties_t *pProperties,
                                   uint32_t NumDevices, ur_device_handle_t *phSubDevices,
                                   uint32_t *pNumDevicesRet)
{
    const struct zepi_device *device = zepi_ur_device(hDevice);
    uint32_t count = 0;
    ur_result_t result = zepi_ur_check_device(hDevice);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_pointer(pProperties, "pProperties");
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_pointer(pProperties->pProperties, "pProperties->pProperties");
    if (result == UR_RESULT_SUCCESS)
        result = check_partition(device, pProperties, &count);
    if (result != UR_RESULT_SUCCESS)
        return result;
    for (uint32_t i = 0; i < count && i < NumDevices && phSubDevices; i++) {
        struct zepi_device *part = zepi_retain(device->sub_devices[i]);
        atomic_store_explicit(&part->partition, pProperties->pProperties->type,
                              memory_order_relaxed);
        phSubDevices[i] = (ur_device_handle_t)part;
    }
    if (pNumDevicesRet)
        *pNumDevicesRet = count;
    return UR_RESULT_SUCCESS;
}

static ur_result_t get_info_partition_ways(const struct zepi_device *device,
                                           const struct zepi_ur_info *info)
{
    const ur_device_partition_t ways[] = {UR_DEVICE_PARTITION_BY_AFFINITY_DOMAIN,
                                          UR_DEVICE_PARTITION_EQUALLY,
                                          UR_DEVICE_PARTITION_BY_COUNTS};
    const size_t count = device->sub_device_count == 0        ? 0
                         : compute_units_of_tiles(device) > 0 ? 3
                                                              : 1;
    return zepi_ur_info_return(info, ways, count * sizeof(ways[0]));
}

// The properties with which the host last got the part.
static ur_result_t get_info_own_partition(const struct zepi_device *device,
                                          const struct zepi_ur_info *info)
{
    ur_device_partition_property_t property = {
        .type = UR_DEVICE_PARTITION_BY_AFFINITY_DOMAIN,
        .value.affinity_domain = UR_DEVICE_AFFINITY_DOMAIN_FLAG_NEXT_PARTITIONABLE};
    const uint32_t type = atomic_load_explicit(&device->partition, memory_order_relaxed);
    if (type == UR_DEVICE_PARTITION_EQUALLY || type == UR_DEVICE_PARTITION_BY_COUNTS) {
        property.type = (ur_device_partition_t)type;
        property.value.count = zepi_ur_compute_units(device);
    }
    return zepi_ur_info_return(info, &property, device->parent ? sizeof(property) : 0);
}

ur_result_t zepi_ur_device_partition_info(const struct zepi_device *device, ur_device_info_t query,
                                          const struct zepi_ur_info *info)
{
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
        return get_info_partition_ways(device, info);
    case UR_DEVICE_INFO_PARTITION_MAX_SUB_DEVICES:
        return zepi_ur_info_return_u32(info, device->sub_device_count);
    case UR_DEVICE_INFO_PARTITION_AFFINITY_DOMAIN:
        return zepi_ur_info_return_u32(info, has_parts ? AFFINITY_DOMAINS : 0);
    case UR_DEVICE_INFO_PARTITION_TYPE:
        return get_info_own_partition(device, info);
    default:
        return UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
    }
}
