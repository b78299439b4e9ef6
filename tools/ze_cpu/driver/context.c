// SPDX-License-Identifier: MIT
#include "device/device.h"
#include "driver.h"
#include "entry.h"
#include "object.h"
#include "queue/engine.h"

ze_result_t ZE_APICALL cpu_zeContextCreate(ze_driver_handle_t hDriver,
                                           const ze_context_desc_t *desc,
                                           ze_context_handle_t *phContext)
{
    return cpu_zeContextCreateEx(hDriver, desc, 0, NULL, phContext);
}

ze_result_t ZE_APICALL cpu_zeContextCreateEx(ze_driver_handle_t hDriver,
                                             const ze_context_desc_t *desc, uint32_t numDevices,
                                             ze_device_handle_t *phDevices,
                                             ze_context_handle_t *phContext)
{
    ze_result_t result = cpu_devices_check(numDevices, phDevices, __func__);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct cpu_object *context = cpu_object_create(CPU_CONTEXT, sizeof(*context));
    if (context == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    *phContext = (ze_context_handle_t)context;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeContextDestroy(ze_context_handle_t hContext)
{
    cpu_memory_sweep();
    cpu_object_destroy(hContext);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeContextGetStatus(ze_context_handle_t hContext)
{
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeContextSystemBarrier(ze_context_handle_t hContext,
                                                  ze_device_handle_t hDevice)
{
    cpu_engines_drain();
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeContextMakeMemoryResident(ze_context_handle_t hContext,
                                                       ze_device_handle_t hDevice, void *ptr,
                                                       size_t size)
{
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeContextEvictMemory(ze_context_handle_t hContext,
                                                ze_device_handle_t hDevice, void *ptr, size_t size)
{
    return cpu_zeContextMakeMemoryResident(hContext, hDevice, ptr, size);
}
