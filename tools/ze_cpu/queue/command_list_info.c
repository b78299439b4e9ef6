// SPDX-License-Identifier: MIT
#include "command/command_list.h"
#include "entry.h"

ze_result_t ZE_APICALL cpu_zeCommandListGetDeviceHandle(ze_command_list_handle_t hCommandList,
                                                        ze_device_handle_t *phDevice)
{
    if (phDevice == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    *phDevice = ((struct cpu_list *)hCommandList)->device;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeCommandListGetContextHandle(ze_command_list_handle_t hCommandList,
                                                         ze_context_handle_t *phContext)
{
    if (phContext == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    *phContext = ((struct cpu_list *)hCommandList)->context;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeCommandListGetOrdinal(ze_command_list_handle_t hCommandList,
                                                   uint32_t *pOrdinal)
{
    if (pOrdinal == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    *pOrdinal = ((struct cpu_list *)hCommandList)->ordinal;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL
cpu_zeCommandListImmediateGetIndex(ze_command_list_handle_t hCommandListImmediate, uint32_t *pIndex)
{
    const struct cpu_list *list = (const struct cpu_list *)hCommandListImmediate;
    if (pIndex == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (!list->is_immediate)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    *pIndex = list->index;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeCommandListIsImmediate(ze_command_list_handle_t hCommandList,
                                                    ze_bool_t *pIsImmediate)
{
    if (pIsImmediate == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    *pIsImmediate = ((struct cpu_list *)hCommandList)->is_immediate;
    return ZE_RESULT_SUCCESS;
}
