// SPDX-License-Identifier: MIT
#include "device/sysman.h"

#include "core/alloc.h"
#include "core/options.h"
#include "core/unload.h"
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
    enum zepi_sysman_query query;
    ze_result_t(ZE_APICALL *init)(uint32_t flags);
    ze_result_t(ZE_APICALL *driver_get)(uint32_t *count, zes_driver_handle_t *drivers);
    ze_result_t(ZE_APICALL *device_by_uuid)(zes_driver_handle_t driver, struct uuid uuid,
                                            zes_device_handle_t *out_device,
                                            ze_bool_t *out_is_sub_device, uint32_t *out_part);
    // Functions of the components that a query is about: memory, fans, ...
    ze_result_t(ZE_APICALL *list)(zes_device_handle_t device, uint32_t *count, void **components);
    ze_result_t(ZE_APICALL *get_properties)(void *component, void *properties);
    ze_result_t(ZE_APICALL *get_state)(void *component, void *state); // NULL: there is none
    ze_result_t(ZE_APICALL *get_fan)(void *component, zes_fan_speed_units_t, int32_t *value);
};

// A device of the system management, and the part of it that was asked for.
struct managed_device {
    zes_device_handle_t zes; // NULL: not found
    bool is_part;
    uint32_t part;
};

static void find_function(const char *name, void *member)
{
    void *symbol = name ? zepi_ze_symbol(name) : NULL;
    memcpy(member, &symbol, sizeof(symbol));
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
        return zepi_check_ze_severe(ze, "zesInit");
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
    return zepi_check_ze_severe(out_managed->zes ? ZE_RESULT_SUCCESS : ze,
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

// ---- Components ----

struct reading {
    uint64_t value;
    bool is_known;
};

// Fills the properties, with members that tell of which part of the device a component is, and the
// state (NULL: none). False: it is of another part, or *out_ze is a failure.
static bool get_component(const struct sysman *sysman, const struct managed_device *managed,
                          void *component, void *properties, const ze_bool_t *is_on_part,
                          const uint32_t *part, void *state, ze_result_t *out_ze)
{
    *out_ze = sysman->get_properties(component, properties);
    if (*out_ze != ZE_RESULT_SUCCESS ||
        (managed->is_part && !(*is_on_part && *part == managed->part)))
        return false;
    if (state)
        *out_ze = sysman->get_state(component, state);
    return *out_ze == ZE_RESULT_SUCCESS;
}

// Free bytes of all memories together.
static ze_result_t read_memory(const struct sysman *sysman, const struct managed_device *managed,
                               void *component, struct reading *reading)
{
    zes_mem_properties_t properties = {.stype = ZES_STRUCTURE_TYPE_MEM_PROPERTIES};
    zes_mem_state_t state = {.stype = ZES_STRUCTURE_TYPE_MEM_STATE};
    ze_result_t ze;
    if (get_component(sysman, managed, component, &properties, &properties.onSubdevice,
                      &properties.subdeviceId, &state, &ze))
        *reading = (struct reading){reading->value + state.free, true};
    return ze;
}

// The fastest fan. -1, here and of power: the driver does not know it.
static ze_result_t read_fan(const struct sysman *sysman, const struct managed_device *managed,
                            void *component, struct reading *reading)
{
    zes_fan_properties_t properties = {.stype = ZES_STRUCTURE_TYPE_FAN_PROPERTIES};
    int32_t percent = -1;
    ze_result_t ze;
    if (get_component(sysman, managed, component, &properties, &properties.onSubdevice,
                      &properties.subdeviceId, NULL, &ze))
        ze = sysman->get_fan(component, ZES_FAN_SPEED_UNITS_PERCENT, &percent);
    if (percent >= 0 && (!reading->is_known || (uint64_t)percent > reading->value))
        *reading = (struct reading){(uint64_t)percent, true};
    return ze;
}

// The least or greatest limit of all power domains.
static ze_result_t read_power(const struct sysman *sysman, const struct managed_device *managed,
                              void *component, struct reading *reading)
{
    zes_power_properties_t properties = {.stype = ZES_STRUCTURE_TYPE_POWER_PROPERTIES};
    const bool is_least = sysman->query == ZEPI_SYSMAN_MIN_POWER_MW;
    ze_result_t ze;
    if (!get_component(sysman, managed, component, &properties, &properties.onSubdevice,
                       &properties.subdeviceId, NULL, &ze))
        return ze;
    const int32_t limit = is_least ? properties.minLimit : properties.maxLimit;
    if (limit >= 0 && (!reading->is_known || ((uint64_t)limit < reading->value) == is_least))
        *reading = (struct reading){(uint64_t)limit, true};
    return ze;
}

// The reasons of all clocks.
static ze_result_t read_throttling(const struct sysman *sysman,
                                   const struct managed_device *managed, void *component,
                                   struct reading *reading)
{
    zes_freq_properties_t properties = {.stype = ZES_STRUCTURE_TYPE_FREQ_PROPERTIES};
    zes_freq_state_t state = {.stype = ZES_STRUCTURE_TYPE_FREQ_STATE};
    ze_result_t ze;
    if (get_component(sysman, managed, component, &properties, &properties.onSubdevice,
                      &properties.subdeviceId, &state, &ze))
        *reading = (struct reading){reading->value | state.throttleReasons, true};
    return ze;
}

static const struct {
    const char *list;
    const char *properties;
    const char *state; // NULL: the properties tell
    ze_result_t (*read)(const struct sysman *sysman, const struct managed_device *managed,
                        void *component, struct reading *reading);
} queries[] = {
    [ZEPI_SYSMAN_FREE_BYTES] = {"zesDeviceEnumMemoryModules", "zesMemoryGetProperties",
                                "zesMemoryGetState", read_memory},
    [ZEPI_SYSMAN_FAN_PERCENT] = {"zesDeviceEnumFans", "zesFanGetProperties", "zesFanGetState",
                                 read_fan},
    [ZEPI_SYSMAN_MIN_POWER_MW] = {"zesDeviceEnumPowerDomains", "zesPowerGetProperties", NULL,
                                  read_power},
    [ZEPI_SYSMAN_MAX_POWER_MW] = {"zesDeviceEnumPowerDomains", "zesPowerGetProperties", NULL,
                                  read_power},
    [ZEPI_SYSMAN_THROTTLE_REASONS] = {"zesDeviceEnumFrequencyDomains", "zesFrequencyGetProperties",
                                      "zesFrequencyGetState", read_throttling},
};

static void find_functions(struct sysman *sysman, enum zepi_sysman_query query)
{
    sysman->query = query;
    find_function("zesInit", &sysman->init);
    find_function("zesDriverGet", &sysman->driver_get);
    find_function("zesDriverGetDeviceByUuidExp", &sysman->device_by_uuid);
    find_function(queries[query].list, &sysman->list);
    find_function(queries[query].properties, &sysman->get_properties);
    find_function(queries[query].state, &sysman->get_state);
    find_function(queries[query].state, &sysman->get_fan);
}

static zepi_result_t read_components(const struct sysman *sysman,
                                     const struct managed_device *managed, struct reading *reading)
{
    uint32_t count = 0;
    ze_result_t ze = sysman->list(managed->zes, &count, NULL);
    if (ze != ZE_RESULT_SUCCESS || count == 0)
        return zepi_check_ze_severe(ze, queries[sysman->query].list);
    void **components = zepi_allocate(count, sizeof(*components));
    if (!components)
        return zepi_fail_no_memory();
    ze = sysman->list(managed->zes, &count, components);
    for (uint32_t i = 0; i < count && ze == ZE_RESULT_SUCCESS; i++)
        ze = queries[sysman->query].read(sysman, managed, components[i], reading);
    zepi_free(components);
    // A part of the components would be no reading.
    if (ze != ZE_RESULT_SUCCESS)
        reading->is_known = false;
    return zepi_check_ze_severe(ze, queries[sysman->query].properties);
}

zepi_result_t zepi_sysman_get(const struct zepi_device *device, enum zepi_sysman_query query,
                              uint64_t *out_value, bool *out_is_known)
{
    struct sysman sysman;
    struct managed_device managed;
    struct reading reading = {0};
    *out_value = 0;
    *out_is_known = false;
    // The loader may be gone before its users at the end of the process.
    if (zepi_process_is_ending())
        return ZEPI_SUCCESS;
    find_functions(&sysman, query);
    if (!sysman.list || !sysman.get_properties || (queries[query].state && !sysman.get_state))
        return ZEPI_SUCCESS;
    zepi_result_t result = find_device(&sysman, device, &managed);
    if (result == ZEPI_SUCCESS && managed.zes)
        result = read_components(&sysman, &managed, &reading);
    if (result == ZEPI_SUCCESS && reading.is_known) {
        *out_value = reading.value;
        *out_is_known = true;
    }
    return result;
}
