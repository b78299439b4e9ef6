// SPDX-License-Identifier: MIT
#include "memory/ipc.h"

#include "ur/handles.h"

ur_result_t zepi_urIPCGetMemHandleExp(ur_context_handle_t hContext, void *pMem,
                                      void **ppIPCMemHandleData, size_t *pIPCMemHandleDataSizeRet)
{
    const struct zepi_ipc_handle *handle = NULL;
    ur_result_t result = zepi_ur_check_context(hContext);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_pointer(pMem, "pMem");
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_pointer(ppIPCMemHandleData, "ppIPCMemHandleData");
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_pointer(pIPCMemHandleDataSizeRet, "pIPCMemHandleDataSizeRet");
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_result(zepi_ipc_get(zepi_ur_context(hContext), pMem, &handle));
    if (result != UR_RESULT_SUCCESS)
        return result;
    *ppIPCMemHandleData = (void *)handle;
    *pIPCMemHandleDataSizeRet = sizeof(*handle);
    return UR_RESULT_SUCCESS;
}

ur_result_t zepi_urIPCPutMemHandleExp(ur_context_handle_t hContext, void *pIPCMemHandleData)
{
    ur_result_t result = zepi_ur_check_context(hContext);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_pointer(pIPCMemHandleData, "pIPCMemHandleData");
    return result == UR_RESULT_SUCCESS
               ? zepi_ur_result(zepi_ipc_put(zepi_ur_context(hContext), pIPCMemHandleData))
               : result;
}

ur_result_t zepi_urIPCOpenMemHandleExp(ur_context_handle_t hContext, ur_device_handle_t hDevice,
                                       void *pIPCMemHandleData, size_t ipcMemHandleDataSize,
                                       void **ppMem)
{
    ur_result_t result = zepi_ur_check_context(hContext);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_context_device(hContext, hDevice, NULL);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_pointer(pIPCMemHandleData, "pIPCMemHandleData");
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_pointer(ppMem, "ppMem");
    if (result == UR_RESULT_SUCCESS && ipcMemHandleDataSize != sizeof(struct zepi_ipc_handle))
        result =
            zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE, "a handle of %zu bytes, expected %zu",
                           ipcMemHandleDataSize, sizeof(struct zepi_ipc_handle));
    return result == UR_RESULT_SUCCESS
               ? zepi_ur_result(zepi_ipc_open(zepi_ur_context(hContext), zepi_ur_device(hDevice),
                                              pIPCMemHandleData, ipcMemHandleDataSize, ppMem))
               : result;
}

ur_result_t zepi_urIPCCloseMemHandleExp(ur_context_handle_t hContext, void *pMem)
{
    ur_result_t result = zepi_ur_check_context(hContext);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_pointer(pMem, "pMem");
    return result == UR_RESULT_SUCCESS
               ? zepi_ur_result(zepi_ipc_close(zepi_ur_context(hContext), pMem))
               : result;
}
