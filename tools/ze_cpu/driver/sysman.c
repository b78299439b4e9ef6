// SPDX-License-Identifier: MIT
// System management, as far as it tells of memory and sensors: each device without parts, and each
// part, has one of each. Handles of devices and of their components are those of ze.
#include "chain.h"
#include "device/device.h"
#include "driver.h"
#include "entry.h"
#include "opencl.h"
#include "options.h"
#include "tables.h"

#include <string.h>

ze_result_t ZE_APICALL cpu_zesInit(uint32_t flags)
{
    return flags == 0 ? cpu_zeInit(0) : ZE_RESULT_ERROR_INVALID_ENUMERATION;
}

ze_result_t ZE_APICALL cpu_zesDriverGet(uint32_t *pCount, zes_driver_handle_t *phDrivers)
{
    return cpu_zeDriverGet(pCount, (ze_driver_handle_t *)phDrivers);
}

ze_result_t ZE_APICALL cpu_zesDriverGetDeviceByUuidExp(zes_driver_handle_t hDriver, zes_uuid_t uuid,
                                                       zes_device_handle_t *phDevice,
                                                       ze_bool_t *onSubdevice,
                                                       uint32_t *subdeviceId)
{
    (void)hDriver;
    if (phDevice == NULL || onSubdevice == NULL || subdeviceId == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    const struct cpu_device *device = cpu_device_of_uuid(uuid.id);
    if (device == NULL)
        return ZE_RESULT_ERROR_UNINITIALIZED;
    *phDevice = (zes_device_handle_t)cpu_device_root((ze_device_handle_t)device);
    *onSubdevice = device->parent != NULL;
    *subdeviceId = device->parent != NULL ? device->index : 0;
    return ZE_RESULT_SUCCESS;
}

// The device, or its parts.
static ze_result_t list_components(zes_device_handle_t device, const char *function,
                                   uint32_t *count, void *out_components)
{
    const ze_result_t result = cpu_object_check(device, CPU_DEVICE, function);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (count == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (cpu_options()->sub_devices > 0)
        return cpu_zeDeviceGetSubDevices((ze_device_handle_t)device, count, out_components);
    if (out_components != NULL && *count > 0)
        memcpy(out_components, &device, sizeof(device));
    *count = 1;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t list_sensors(zes_device_handle_t device, const char *function, uint32_t *count,
                                void *out_components)
{
    if (cpu_options()->has_sensors)
        return list_components(device, function, count, out_components);
    if (count == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    *count = 0;
    return cpu_object_check(device, CPU_DEVICE, function);
}

ze_result_t ZE_APICALL cpu_zesDeviceEnumMemoryModules(zes_device_handle_t hDevice, uint32_t *pCount,
                                                      zes_mem_handle_t *phMemory)
{
    return list_components(hDevice, "zesDeviceEnumMemoryModules", pCount, phMemory);
}

ze_result_t ZE_APICALL cpu_zesMemoryGetProperties(zes_mem_handle_t hMemory,
                                                  zes_mem_properties_t *pProperties)
{
    const ze_result_t result = cpu_object_check(hMemory, CPU_DEVICE, "zesMemoryGetProperties");
    const struct cpu_device *device = (const struct cpu_device *)hMemory;
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (pProperties == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    *pProperties = (zes_mem_properties_t){
        .stype = pProperties->stype,
        .pNext = pProperties->pNext,
        .type = ZES_MEM_TYPE_DDR,
        .onSubdevice = device->parent != NULL,
        .subdeviceId = device->parent != NULL ? device->index : 0,
        .location = cpu_options()->is_integrated ? ZES_MEM_LOC_SYSTEM : ZES_MEM_LOC_DEVICE,
        .physicalSize = cpu_opencl()->global_memory_bytes,
        .busWidth = -1,
        .numChannels = -1,
    };
    return ZE_RESULT_SUCCESS;
}

// The free memory of the whole is the sum of its parts'.
ze_result_t ZE_APICALL cpu_zesMemoryGetState(zes_mem_handle_t hMemory, zes_mem_state_t *pState)
{
    const ze_result_t result = cpu_object_check(hMemory, CPU_DEVICE, "zesMemoryGetState");
    const uint32_t parts = cpu_options()->sub_devices > 0 ? cpu_options()->sub_devices : 1;
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (pState == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    pState->health = ZES_MEM_HEALTH_OK;
    pState->size = cpu_opencl()->global_memory_bytes / parts;
    pState->free = cpu_device_usable_bytes() / parts;
    return ZE_RESULT_SUCCESS;
}

// ---- Sensors ----

static bool is_on_part(const void *component)
{
    return ((const struct cpu_device *)component)->parent != NULL;
}

static uint32_t part_of(const void *component)
{
    return is_on_part(component) ? ((const struct cpu_device *)component)->index : 0;
}

static ze_result_t check_component(void *component, const void *out, const char *function)
{
    const ze_result_t result = cpu_object_check(component, CPU_DEVICE, function);
    return result == ZE_RESULT_SUCCESS && out == NULL ? ZE_RESULT_ERROR_INVALID_NULL_POINTER
                                                      : result;
}

ze_result_t ZE_APICALL cpu_zesDeviceEnumFans(zes_device_handle_t hDevice, uint32_t *pCount,
                                             zes_fan_handle_t *phFan)
{
    return list_sensors(hDevice, "zesDeviceEnumFans", pCount, phFan);
}

ze_result_t ZE_APICALL cpu_zesFanGetProperties(zes_fan_handle_t hFan,
                                               zes_fan_properties_t *pProperties)
{
    const ze_result_t result = check_component(hFan, pProperties, "zesFanGetProperties");
    if (result == ZE_RESULT_SUCCESS)
        *pProperties = (zes_fan_properties_t){.stype = pProperties->stype,
                                              .pNext = pProperties->pNext,
                                              .onSubdevice = is_on_part(hFan),
                                              .subdeviceId = part_of(hFan),
                                              .supportedUnits = 1u << ZES_FAN_SPEED_UNITS_PERCENT,
                                              .maxRPM = -1,
                                              .maxPoints = -1};
    return result;
}

ze_result_t ZE_APICALL cpu_zesFanGetState(zes_fan_handle_t hFan, zes_fan_speed_units_t units,
                                          int32_t *pSpeed)
{
    const ze_result_t result = check_component(hFan, pSpeed, "zesFanGetState");
    if (result == ZE_RESULT_SUCCESS && units != ZES_FAN_SPEED_UNITS_PERCENT)
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    if (result == ZE_RESULT_SUCCESS)
        *pSpeed = 40;
    return result;
}

ze_result_t ZE_APICALL cpu_zesDeviceEnumPowerDomains(zes_device_handle_t hDevice, uint32_t *pCount,
                                                     zes_pwr_handle_t *phPower)
{
    return list_sensors(hDevice, "zesDeviceEnumPowerDomains", pCount, phPower);
}

// The first part knows the least limit alone.
ze_result_t ZE_APICALL cpu_zesPowerGetProperties(zes_pwr_handle_t hPower,
                                                 zes_power_properties_t *pProperties)
{
    const ze_result_t result = check_component(hPower, pProperties, "zesPowerGetProperties");
    const int32_t part_limit = part_of(hPower) == 0 ? -1 : 20000;
    if (result == ZE_RESULT_SUCCESS)
        *pProperties =
            (zes_power_properties_t){.stype = pProperties->stype,
                                     .pNext = pProperties->pNext,
                                     .onSubdevice = is_on_part(hPower),
                                     .subdeviceId = part_of(hPower),
                                     .defaultLimit = -1,
                                     .minLimit = 15000,
                                     .maxLimit = is_on_part(hPower) ? part_limit : 30000};
    return result;
}

ze_result_t ZE_APICALL cpu_zesDeviceEnumFrequencyDomains(zes_device_handle_t hDevice,
                                                         uint32_t *pCount,
                                                         zes_freq_handle_t *phFrequency)
{
    return list_sensors(hDevice, "zesDeviceEnumFrequencyDomains", pCount, phFrequency);
}

ze_result_t ZE_APICALL cpu_zesFrequencyGetProperties(zes_freq_handle_t hFrequency,
                                                     zes_freq_properties_t *pProperties)
{
    const ze_result_t result =
        check_component(hFrequency, pProperties, "zesFrequencyGetProperties");
    if (result == ZE_RESULT_SUCCESS)
        *pProperties = (zes_freq_properties_t){.stype = pProperties->stype,
                                               .pNext = pProperties->pNext,
                                               .type = ZES_FREQ_DOMAIN_GPU,
                                               .onSubdevice = is_on_part(hFrequency),
                                               .subdeviceId = part_of(hFrequency),
                                               .min = 0,
                                               .max = cpu_opencl()->clock_mhz};
    return result;
}

ze_result_t ZE_APICALL cpu_zesFrequencyGetState(zes_freq_handle_t hFrequency,
                                                zes_freq_state_t *pState)
{
    const ze_result_t result = check_component(hFrequency, pState, "zesFrequencyGetState");
    if (result == ZE_RESULT_SUCCESS)
        *pState = (zes_freq_state_t){.stype = pState->stype,
                                     .pNext = pState->pNext,
                                     .currentVoltage = -1,
                                     .request = -1,
                                     .tdp = -1,
                                     .efficient = -1,
                                     .actual = -1,
                                     .throttleReasons =
                                         part_of(hFrequency) == 0
                                             ? ZES_FREQ_THROTTLE_REASON_FLAG_BURST_PWR_CAP
                                             : ZES_FREQ_THROTTLE_REASON_FLAG_THERMAL_LIMIT};
    return result;
}
