// SPDX-License-Identifier: MIT
#include "device/device_details.h"

#include "core/unload.h"
#include "device/device.h"
#include "device/platform.h"
#include "device/sysman.h"
#include "ze/ze.h"

#include <stdio.h>

static const struct zepi_ze_optional *device_optional(const struct zepi_device *device)
{
    return &device->platform->optional;
}

zepi_result_t zepi_device_get_cache_line(const struct zepi_device *device, uint32_t *out_bytes)
{
    struct zepi_ze_cache_line line = {.stype =
                                          (ze_structure_type_t)ZEPI_ZE_STRUCTURE_TYPE_CACHE_LINE};
    ze_device_cache_properties_t cache = {.stype = ZE_STRUCTURE_TYPE_DEVICE_CACHE_PROPERTIES,
                                          .pNext = &line};
    uint32_t count = 1;
    *out_bytes = 0;
    if (!device_optional(device)->has_cache_line)
        return ZEPI_SUCCESS;
    const zepi_result_t result = ZEPI_ZE(zeDeviceGetCacheProperties, device->ze, &count, &cache);
    if (result == ZEPI_SUCCESS && count > 0)
        *out_bytes = (uint32_t)line.size_bytes;
    return result;
}

zepi_result_t zepi_device_get_free_memory(const struct zepi_device *device, uint64_t *out_bytes)
{
    struct zepi_ze_usable_memory usable = {
        .stype = (ze_structure_type_t)ZEPI_ZE_STRUCTURE_TYPE_USABLE_MEMORY};
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2,
                                         .pNext = &usable};
    *out_bytes = 0;
    // The loader may be gone before its users at the end of the process.
    if (zepi_process_is_ending())
        return ZEPI_SUCCESS;
    if (!device_optional(device)->has_usable_memory)
        return zepi_sysman_get_free_memory(device, out_bytes);
    const zepi_result_t result = ZEPI_ZE(zeDeviceGetProperties, device->ze, &properties);
    if (result == ZEPI_SUCCESS)
        *out_bytes = usable.size_bytes;
    return result;
}

zepi_result_t zepi_device_get_block_array(const struct zepi_device *device, uint32_t *out_flags)
{
    struct zepi_ze_block_array array = {
        .stype = (ze_structure_type_t)ZEPI_ZE_STRUCTURE_TYPE_BLOCK_ARRAY};
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2,
                                         .pNext = &array};
    *out_flags = 0;
    if (!device_optional(device)->has_block_array)
        return ZEPI_SUCCESS;
    const zepi_result_t result = ZEPI_ZE(zeDeviceGetProperties, device->ze, &properties);
    if (result == ZEPI_SUCCESS)
        *out_flags = array.flags;
    return result;
}

zepi_result_t zepi_device_get_vector_widths(const struct zepi_device *device,
                                            struct zepi_ze_vector_widths *out_widths)
{
    const struct zepi_ze_optional *optional = device_optional(device);
    struct zepi_ze_vector_widths widths = {
        .stype = (ze_structure_type_t)ZEPI_ZE_STRUCTURE_TYPE_VECTOR_WIDTHS};
    uint32_t count = 1;
    *out_widths = (struct zepi_ze_vector_widths){0};
    if (!optional->device_get_vector_widths)
        return ZEPI_SUCCESS;
    const ze_device_handle_t ze = optional->is_vector_widths_drivers
                                      ? zepi_ze_driver_handle(ZEL_HANDLE_DEVICE, device->ze)
                                      : device->ze;
    const zepi_result_t result =
        zepi_check_ze(optional->device_get_vector_widths(ze, &count, &widths),
                      "zeDeviceGetVectorWidthPropertiesExt");
    if (result == ZEPI_SUCCESS && count > 0)
        *out_widths = widths;
    return result;
}

zepi_result_t zepi_device_get_pci_address(const struct zepi_device *device,
                                          char out_address[ZEPI_PCI_ADDRESS_BYTES])
{
    ze_pci_ext_properties_t pci = {.stype = ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES};
    out_address[0] = 0;
    if (!device_optional(device)->has_pci)
        return ZEPI_SUCCESS;
    const zepi_result_t result = ZEPI_ZE(zeDevicePciGetPropertiesExt, device->ze, &pci);
    if (result == ZEPI_SUCCESS)
        snprintf(out_address, ZEPI_PCI_ADDRESS_BYTES, "%04x:%02x:%02x.%x", pci.address.domain,
                 pci.address.bus, pci.address.device, pci.address.function);
    return result;
}
