// SPDX-License-Identifier: MIT
#include "memory/interop/ipc.h"
#include "api/api.h"
#include "api/check.h"

zepi_result_t zepi_api_ipc_get_handle(zepi_context_t context, const void *memory,
                                      const void **out_handle, size_t *out_size_bytes)
{
    const struct zepi_ipc_handle *handle;
    zepi_result_t result = zepi_api_check_context_pointer(context, memory, "memory");
    if (result == ZEPI_SUCCESS && (!out_handle || !out_size_bytes))
        result = zepi_fail(ZEPI_ERROR_INVALID_VALUE, "an output for the handle is NULL");
    if (result == ZEPI_SUCCESS)
        result = zepi_ipc_get(context, memory, &handle);
    if (result != ZEPI_SUCCESS)
        return result;
    *out_handle = handle;
    *out_size_bytes = sizeof(*handle);
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_api_ipc_put_handle(zepi_context_t context, const void *handle)
{
    const zepi_result_t result = zepi_api_check_context_pointer(context, handle, "handle");
    return result == ZEPI_SUCCESS ? zepi_ipc_put(context, ZEPI_IPC_USM, handle) : result;
}

zepi_result_t zepi_api_ipc_open_handle(zepi_context_t context, zepi_device_t device,
                                       const void *handle, size_t size_bytes, void **out_memory)
{
    uint32_t index;
    zepi_result_t result = zepi_api_check_context_pointer(context, handle, "handle");
    if (result == ZEPI_SUCCESS)
        result = zepi_api_check_context_pointer(context, out_memory, "output for the memory");
    if (result == ZEPI_SUCCESS)
        result = zepi_context_check_device(context, device, &index);
    return result == ZEPI_SUCCESS ? zepi_ipc_open(context, device, handle, size_bytes, out_memory)
                                  : result;
}

zepi_result_t zepi_api_ipc_close_memory(zepi_context_t context, void *memory)
{
    const zepi_result_t result = zepi_api_check_context_pointer(context, memory, "memory");
    return result == ZEPI_SUCCESS ? zepi_ipc_close(context, memory) : result;
}
