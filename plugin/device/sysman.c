// SPDX-License-Identifier: MIT
#include "device/sysman.h"

#include "core/options.h"
#include "device/device.h"
#include "ze/ze.h"

#include <level_zero/zes_api.h>

#include <string.h>

#define MOST 64 // drivers, or memories of a device; further ones are not asked

// A device of the system management.
struct managed_device {
    zes_device_handle_t zes; // NULL: not found
    ze_bool_t is_part;       // the question is about a part of `zes`
    uint32_t part;
};

// Functions are looked up for each query: queries are rare, and nothing is kept.
static bool find_function(const char *name, void *member)
{
    void *symbol = zepi_ze_symbol(name);
    memcpy(member, &symbol, sizeof(symbol));
    return symbol != NULL;
}

static zepi_result_t find_by_uuid(const struct zepi_device *device, struct managed_device *managed)
{
    ze_result_t(ZE_APICALL * init)(uint32_t flags);
    ze_result_t(ZE_APICALL * driver_get)(uint32_t * count, zes_driver_handle_t * drivers);
    ze_result_t(ZE_APICALL * by_uuid)(zes_driver_handle_t driver, ze_device_uuid_t uuid,
                                      zes_device_handle_t * out_device, ze_bool_t * out_is_part,
                                      uint32_t * out_part);
    zes_driver_handle_t drivers[MOST];
    uint32_t count = MOST;
    if (!find_function("zesInit", &init) || !find_function("zesDriverGet", &driver_get) ||
        !find_function("zesDriverGetDeviceByUuidExp", &by_uuid))
        return ZEPI_SUCCESS;
    ze_result_t ze = init(0);
    if (ze == ZE_RESULT_SUCCESS)
        ze = driver_get(&count, drivers);
    if (ze != ZE_RESULT_SUCCESS)
        return zepi_check_ze_severe(ze, "zesInit");
    for (uint32_t i = 0; i < count && !managed->zes; i++) {
        ze = by_uuid(drivers[i], device->properties.uuid, &managed->zes, &managed->is_part,
                     &managed->part);
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
    ze_result_t(ZE_APICALL * get_properties)(zes_mem_handle_t memory, zes_mem_properties_t *);
    ze_result_t(ZE_APICALL * get_state)(zes_mem_handle_t memory, zes_mem_state_t *);
    zes_mem_properties_t properties = {.stype = ZES_STRUCTURE_TYPE_MEM_PROPERTIES};
    zes_mem_state_t state = {.stype = ZES_STRUCTURE_TYPE_MEM_STATE};
    if (!find_function("zesMemoryGetProperties", &get_properties) ||
        !find_function("zesMemoryGetState", &get_state))
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    ze_result_t ze = get_properties(memory, &properties);
    if (ze != ZE_RESULT_SUCCESS ||
        (managed->is_part && !(properties.onSubdevice && properties.subdeviceId == managed->part)))
        return ze;
    ze = get_state(memory, &state);
    if (ze == ZE_RESULT_SUCCESS)
        *free_bytes += state.free;
    return ze;
}

zepi_result_t zepi_sysman_get_free_memory(const struct zepi_device *device, uint64_t *out_bytes)
{
    ze_result_t(ZE_APICALL * list)(zes_device_handle_t device, uint32_t * count,
                                   zes_mem_handle_t * memories);
    struct managed_device managed = {0};
    zes_mem_handle_t memories[MOST];
    uint32_t count = MOST;
    uint64_t free_bytes = 0;
    *out_bytes = 0;
    if (!find_function("zesDeviceEnumMemoryModules", &list))
        return ZEPI_SUCCESS;
    const zepi_result_t result = find_device(device, &managed);
    if (result != ZEPI_SUCCESS || !managed.zes)
        return result;
    ze_result_t ze = list(managed.zes, &count, memories);
    for (uint32_t i = 0; i < count && ze == ZE_RESULT_SUCCESS; i++)
        ze = add_memory(&managed, memories[i], &free_bytes);
    // A part of the memories would be no amount.
    if (ze == ZE_RESULT_SUCCESS)
        *out_bytes = free_bytes;
    return zepi_check_ze_severe(ze, "zesMemoryGetState");
}
