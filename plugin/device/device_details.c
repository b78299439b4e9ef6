// SPDX-License-Identifier: MIT
#include "device/device_details.h"

#include "core/options.h"
#include "core/unload.h"
#include "device/device.h"
#include "device/platform.h"
#include "ze/ze.h"

#include <stdio.h>

// Fills a structure of an extension of the device's properties.
static zepi_result_t query_properties_chain(const struct zepi_device *device, void *chain)
{
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2,
                                         .pNext = chain};
    return ZEPI_ZE(zeDeviceGetProperties, device->ze, &properties);
}

static const struct zepi_ze_optional *device_optional(const struct zepi_device *device)
{
    return &device->platform->optional;
}

zepi_result_t zepi_device_get_cache_line(const struct zepi_device *device, uint32_t *out_bytes)
{
    struct zepi_ze_size line = {.stype = (ze_structure_type_t)ZEPI_ZE_STRUCTURE_TYPE_CACHE_LINE};
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

zepi_result_t zepi_device_get_block_array(const struct zepi_device *device, uint32_t *out_flags)
{
    struct zepi_ze_number array = {.stype =
                                       (ze_structure_type_t)ZEPI_ZE_STRUCTURE_TYPE_BLOCK_ARRAY};
    const zepi_result_t result = device_optional(device)->has_block_array
                                     ? query_properties_chain(device, &array)
                                     : ZEPI_SUCCESS;
    *out_flags = array.value;
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
    const ze_device_handle_t ze = optional->device_get_vector_widths_is_drivers
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

zepi_result_t zepi_device_get_external_kinds(const struct zepi_device *device,
                                             struct zepi_external_kinds *out_kinds)
{
    static const uint32_t known =
        ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD | ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF;
    ze_device_external_memory_properties_t properties = {
        .stype = ZE_STRUCTURE_TYPE_DEVICE_EXTERNAL_MEMORY_PROPERTIES};
    const ze_result_t ze = zepi_ze.zeDeviceGetExternalMemoryProperties(device->ze, &properties);
    *out_kinds = (struct zepi_external_kinds){0};
    if (ze == ZE_RESULT_SUCCESS) {
        out_kinds->imported = properties.memoryAllocationImportTypes & known;
        out_kinds->exported = properties.memoryAllocationExportTypes & known;
    }
    return zepi_check_ze_severe(ze, "zeDeviceGetExternalMemoryProperties");
}

// ---- Free memory ----

// As Level Zero's system management (zes) tells it: for drivers that do not tell it themselves. The
// first query brings system management up. Needs a loader with zesInit (1.9 and later), or
// ZES_ENABLE_SYSMAN=1 in the environment.
#define MOST 64 // drivers, or memories of a device; further ones are not asked

// A device of the system management.
struct managed_device {
    zes_device_handle_t zes; // NULL: not found
    ze_bool_t is_part;       // the question is about a part of `zes`
    uint32_t part;
};

static zepi_result_t find_by_uuid(const struct zepi_device *device, struct managed_device *managed)
{
    zes_driver_handle_t drivers[MOST];
    uint32_t count = MOST;
    if (!zepi_ze.zesInit || !zepi_ze.zesDriverGet || !zepi_ze.zesDriverGetDeviceByUuidExp)
        return ZEPI_SUCCESS;
    ze_result_t ze = zepi_ze.zesInit(0);
    if (ze == ZE_RESULT_SUCCESS)
        ze = zepi_ze.zesDriverGet(&count, drivers);
    if (ze != ZE_RESULT_SUCCESS)
        return zepi_check_ze_severe(ze, "zesInit");
    for (uint32_t i = 0; i < count && !managed->zes; i++) {
        ze = zepi_ze.zesDriverGetDeviceByUuidExp(drivers[i], device->properties.uuid, &managed->zes,
                                                 &managed->is_part, &managed->part);
        if (ze != ZE_RESULT_SUCCESS)
            managed->zes = NULL;
    }
    return zepi_check_ze_severe(ze, "zesDriverGetDeviceByUuidExp");
}

static zepi_result_t find_device(const struct zepi_device *device, struct managed_device *managed)
{
    // With that variable, devices are devices of the system management, and zesInit fails.
    if (zepi_options()->has_sysman_devices) {
        managed->zes = (zes_device_handle_t)zepi_device_root(device)->ze;
        managed->is_part = device->parent != NULL;
        managed->part = device->properties.subdeviceId;
        return ZEPI_SUCCESS;
    }
    return find_by_uuid(device, managed);
}

// Adds the free bytes of a memory, unless it is another part's.
static ze_result_t add_memory(const struct managed_device *managed, zes_mem_handle_t memory,
                              uint64_t *free_bytes)
{
    zes_mem_properties_t properties = {.stype = ZES_STRUCTURE_TYPE_MEM_PROPERTIES};
    zes_mem_state_t state = {.stype = ZES_STRUCTURE_TYPE_MEM_STATE};
    ze_result_t ze = zepi_ze.zesMemoryGetProperties(memory, &properties);
    if (ze != ZE_RESULT_SUCCESS ||
        (managed->is_part && !(properties.onSubdevice && properties.subdeviceId == managed->part)))
        return ze;
    ze = zepi_ze.zesMemoryGetState(memory, &state);
    if (ze == ZE_RESULT_SUCCESS)
        *free_bytes += state.free;
    return ze;
}

static zepi_result_t sysman_get_free_memory(const struct zepi_device *device, uint64_t *out_bytes)
{
    struct managed_device managed = {0};
    zes_mem_handle_t memories[MOST];
    uint32_t count = MOST;
    uint64_t free_bytes = 0;
    const zepi_result_t result = find_device(device, &managed);
    if (result != ZEPI_SUCCESS || !managed.zes)
        return result;
    ze_result_t ze = zepi_ze.zesDeviceEnumMemoryModules(managed.zes, &count, memories);
    for (uint32_t i = 0; i < count && ze == ZE_RESULT_SUCCESS; i++)
        ze = add_memory(&managed, memories[i], &free_bytes);
    // A part of the memories would be no amount.
    if (ze == ZE_RESULT_SUCCESS)
        *out_bytes = free_bytes;
    return zepi_check_ze_severe(ze, "zesMemoryGetState");
}

zepi_result_t zepi_device_get_free_memory(const struct zepi_device *device, uint64_t *out_bytes)
{
    struct zepi_ze_size usable = {.stype =
                                      (ze_structure_type_t)ZEPI_ZE_STRUCTURE_TYPE_USABLE_MEMORY};
    *out_bytes = 0;
    // The loader may be gone before its users at the end of the process.
    if (zepi_process_is_ending())
        return ZEPI_SUCCESS;
    if (!device_optional(device)->has_usable_memory)
        return sysman_get_free_memory(device, out_bytes);
    const zepi_result_t result = query_properties_chain(device, &usable);
    *out_bytes = usable.size_bytes;
    return result;
}
