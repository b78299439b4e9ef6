// SPDX-License-Identifier: MIT
#include "device/sysman.h"

#include "core/alloc.h"
#include "core/options.h"
#include "device/device.h"
#include "ze/ze.h"

#include <level_zero/zes_api.h>

#include <string.h>

// zes_uuid_t, which older headers lack.
struct uuid {
    uint8_t id[ZE_MAX_DEVICE_UUID_SIZE];
};

// The functions are looked up for each query: queries are rare, and nothing is kept.
struct sysman {
    ze_result_t(ZE_APICALL *init)(uint32_t flags);
    ze_result_t(ZE_APICALL *driver_get)(uint32_t *count, zes_driver_handle_t *drivers);
    ze_result_t(ZE_APICALL *device_by_uuid)(zes_driver_handle_t driver, struct uuid uuid,
                                            zes_device_handle_t *out_device,
                                            ze_bool_t *out_is_sub_device, uint32_t *out_part);
    ze_result_t(ZE_APICALL *enum_memories)(zes_device_handle_t device, uint32_t *count,
                                           zes_mem_handle_t *memories);
    ze_result_t(ZE_APICALL *memory_properties)(zes_mem_handle_t memory,
                                               zes_mem_properties_t *properties);
    ze_result_t(ZE_APICALL *memory_state)(zes_mem_handle_t memory, zes_mem_state_t *state);
};

// A device of the system management, and the part of it that was asked for.
struct managed_device {
    zes_device_handle_t zes; // NULL: not found
    bool is_part;
    uint32_t part;
};

static void find_functions(struct sysman *sysman)
{
    const struct {
        const char *name;
        void *member;
    } functions[] = {
        {"zesInit", &sysman->init},
        {"zesDriverGet", &sysman->driver_get},
        {"zesDriverGetDeviceByUuidExp", &sysman->device_by_uuid},
        {"zesDeviceEnumMemoryModules", &sysman->enum_memories},
        {"zesMemoryGetProperties", &sysman->memory_properties},
        {"zesMemoryGetState", &sysman->memory_state},
    };
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        void *symbol = zepi_ze_symbol(functions[i].name);
        memcpy(functions[i].member, &symbol, sizeof(symbol));
    }
}

static zepi_result_t find_by_uuid(const struct sysman *sysman, const struct zepi_device *device,
                                  struct managed_device *out_managed)
{
    struct uuid uuid;
    uint32_t count = 0;
    ze_result_t ze = sysman->init(0);
    if (ze == ZE_RESULT_SUCCESS)
        ze = sysman->driver_get(&count, NULL);
    if (ze != ZE_RESULT_SUCCESS || count == 0)
        return zepi_check_ze_answer(ze, "zesInit");
    zes_driver_handle_t *drivers = zepi_allocate(count, sizeof(*drivers));
    if (!drivers)
        return zepi_fail_no_memory();
    ze = sysman->driver_get(&count, drivers);
    if (ze != ZE_RESULT_SUCCESS)
        count = 0;
    memcpy(uuid.id, device->properties.uuid.id, sizeof(uuid.id));
    for (uint32_t i = 0; i < count && !out_managed->zes; i++) {
        struct managed_device found = {0};
        ze_bool_t is_part = false;
        ze = sysman->device_by_uuid(drivers[i], uuid, &found.zes, &is_part, &found.part);
        found.is_part = is_part;
        if (ze == ZE_RESULT_SUCCESS)
            *out_managed = found;
    }
    zepi_free(drivers);
    return zepi_check_ze_answer(out_managed->zes ? ZE_RESULT_SUCCESS : ze,
                                "zesDriverGetDeviceByUuidExp");
}

static zepi_result_t find_device(const struct sysman *sysman, const struct zepi_device *device,
                                 struct managed_device *out_managed)
{
    *out_managed = (struct managed_device){0};
    // Then devices are devices of the system management, too, and zesInit fails.
    if (zepi_options()->has_sysman_devices) {
        out_managed->zes = (zes_device_handle_t)zepi_device_root(device)->ze;
        out_managed->is_part = device->parent != NULL;
        out_managed->part = device->properties.subdeviceId;
        return ZEPI_SUCCESS;
    }
    return sysman->init && sysman->driver_get && sysman->device_by_uuid
               ? find_by_uuid(sysman, device, out_managed)
               : ZEPI_SUCCESS;
}

static ze_result_t add_free_bytes(const struct sysman *sysman, const struct managed_device *managed,
                                  zes_mem_handle_t memory, uint64_t *bytes)
{
    zes_mem_properties_t properties = {.stype = ZES_STRUCTURE_TYPE_MEM_PROPERTIES};
    zes_mem_state_t state = {.stype = ZES_STRUCTURE_TYPE_MEM_STATE};
    ze_result_t ze = sysman->memory_properties(memory, &properties);
    if (ze != ZE_RESULT_SUCCESS ||
        (managed->is_part && (!properties.onSubdevice || properties.subdeviceId != managed->part)))
        return ze;
    ze = sysman->memory_state(memory, &state);
    if (ze == ZE_RESULT_SUCCESS)
        *bytes += state.free;
    return ze;
}

zepi_result_t zepi_sysman_get_free_memory(const struct zepi_device *device, uint64_t *out_bytes)
{
    struct sysman sysman;
    struct managed_device managed;
    uint32_t count = 0;
    uint64_t bytes = 0;
    *out_bytes = 0;
    find_functions(&sysman);
    if (!sysman.enum_memories || !sysman.memory_properties || !sysman.memory_state)
        return ZEPI_SUCCESS;
    const zepi_result_t result = find_device(&sysman, device, &managed);
    if (result != ZEPI_SUCCESS || !managed.zes)
        return result;
    ze_result_t ze = sysman.enum_memories(managed.zes, &count, NULL);
    if (ze != ZE_RESULT_SUCCESS || count == 0)
        return zepi_check_ze_answer(ze, "zesDeviceEnumMemoryModules");
    zes_mem_handle_t *memories = zepi_allocate(count, sizeof(*memories));
    if (!memories)
        return zepi_fail_no_memory();
    ze = sysman.enum_memories(managed.zes, &count, memories);
    for (uint32_t i = 0; i < count && ze == ZE_RESULT_SUCCESS; i++)
        ze = add_free_bytes(&sysman, &managed, memories[i], &bytes);
    zepi_free(memories);
    // A part of the sum would be no answer.
    if (ze == ZE_RESULT_SUCCESS)
        *out_bytes = bytes;
    return zepi_check_ze_answer(ze, "zesMemoryGetState");
}
