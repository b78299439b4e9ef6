// SPDX-License-Identifier: MIT
// System management, as far as it tells of memory: each device without parts, and each part, has
// one. Handles of devices and of their memories are those of ze.
#include "chain.h"
#include "device/device.h"
#include "driver.h"
#include "entry.h"
#include "opencl.h"
#include "options.h"
#include "tables.h"

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
    const struct cpu_device *device = cpu_device_of_uuid(uuid.id);
    if (device == NULL)
        return ZE_RESULT_ERROR_UNINITIALIZED;
    *phDevice = (zes_device_handle_t)cpu_device_root((ze_device_handle_t)device);
    *onSubdevice = device->parent != NULL;
    *subdeviceId = device->parent != NULL ? device->index : 0;
    return ZE_RESULT_SUCCESS;
}

// The memory of the device, or of each of its parts.
ze_result_t ZE_APICALL cpu_zesDeviceEnumMemoryModules(zes_device_handle_t hDevice, uint32_t *pCount,
                                                      zes_mem_handle_t *phMemory)
{
    if (cpu_options()->sub_devices > 0)
        return cpu_zeDeviceGetSubDevices(hDevice, pCount, (ze_device_handle_t *)phMemory);
    if (phMemory != NULL && *pCount > 0)
        *phMemory = (zes_mem_handle_t)hDevice;
    *pCount = 1;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zesMemoryGetProperties(zes_mem_handle_t hMemory,
                                                  zes_mem_properties_t *pProperties)
{
    const struct cpu_device *device = (const struct cpu_device *)hMemory;
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
    const uint32_t parts = cpu_options()->sub_devices > 0 ? cpu_options()->sub_devices : 1;
    pState->health = ZES_MEM_HEALTH_OK;
    pState->size = cpu_opencl()->global_memory_bytes / parts;
    pState->free = cpu_device_usable_bytes() / parts;
    return ZE_RESULT_SUCCESS;
}
