// SPDX-License-Identifier: MIT
#include "command/command_list.h"
#include "entry.h"

ze_result_t ZE_APICALL cpu_zeCommandListGetDeviceHandle(ze_command_list_handle_t hCommandList,
                                                        ze_device_handle_t *phDevice)
{
    *phDevice = ((struct cpu_list *)hCommandList)->device;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeCommandListGetContextHandle(ze_command_list_handle_t hCommandList,
                                                         ze_context_handle_t *phContext)
{
    *phContext = ((struct cpu_list *)hCommandList)->context;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeCommandListGetOrdinal(ze_command_list_handle_t hCommandList,
                                                   uint32_t *pOrdinal)
{
    *pOrdinal = ((struct cpu_list *)hCommandList)->ordinal;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL
cpu_zeCommandListImmediateGetIndex(ze_command_list_handle_t hCommandListImmediate, uint32_t *pIndex)
{
    const struct cpu_list *list = (const struct cpu_list *)hCommandListImmediate;
    if (!list->is_immediate)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    *pIndex = list->index;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeCommandListIsImmediate(ze_command_list_handle_t hCommandList,
                                                    ze_bool_t *pIsImmediate)
{
    *pIsImmediate = ((struct cpu_list *)hCommandList)->is_immediate;
    return ZE_RESULT_SUCCESS;
}
