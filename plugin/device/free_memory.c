// SPDX-License-Identifier: MIT
#include "device/free_memory.h"

#include "core/options.h"
#include "core/unload.h"
#include "device/device.h"
#include "device/platform.h"
#include "ze/ze.h"

// ---- System management ----

// Level Zero's system management (zes) is for drivers that do not tell free memory themselves. The
// first query brings it up. Needs a loader with zesInit (1.9 and later), or ZES_ENABLE_SYSMAN=1 in
// the environment.
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

// ---- The query ----

zepi_result_t zepi_device_get_free_memory(const struct zepi_device *device, uint64_t *out_bytes)
{
    struct zepi_ze_size usable = {.stype =
                                      (ze_structure_type_t)ZEPI_ZE_STRUCTURE_TYPE_USABLE_MEMORY};
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2,
                                         .pNext = &usable};
    *out_bytes = ZEPI_FREE_MEMORY_UNKNOWN;
    // The loader may be gone before its users at the end of the process.
    if (zepi_process_is_ending())
        return ZEPI_SUCCESS;
    if (!device->platform->optional.has_usable_memory)
        return sysman_get_free_memory(device, out_bytes);
    const zepi_result_t result = ZEPI_ZE(zeDeviceGetProperties, device->ze, &properties);
    *out_bytes = usable.size_bytes;
    return result;
}
