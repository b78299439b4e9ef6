// SPDX-License-Identifier: MIT
#include "memory/interop/ipc.h"

#include "ur/handles.h"

ur_result_t zepi_urIPCGetMemHandleExp(ur_context_handle_t hContext, void *pMem,
                                      void **ppIPCMemHandleData, size_t *pIPCMemHandleDataSizeRet)
{
    const struct zepi_ipc_handle *handle = NULL;
    ur_result_t result;
    if ((result = zepi_ur_check_context_pointer(hContext, pMem, "pMem")) ||
        (result = zepi_ur_check_pointer(ppIPCMemHandleData, "ppIPCMemHandleData")) ||
        (result = zepi_ur_check_pointer(pIPCMemHandleDataSizeRet, "pIPCMemHandleDataSizeRet")) ||
        (result = zepi_ur_result(zepi_ipc_get(zepi_ur_context(hContext), pMem, &handle))))
        return result;
    *ppIPCMemHandleData = (void *)handle;
    *pIPCMemHandleDataSizeRet = sizeof(*handle);
    return UR_RESULT_SUCCESS;
}

ur_result_t zepi_urIPCPutMemHandleExp(ur_context_handle_t hContext, void *pIPCMemHandleData)
{
    const ur_result_t result =
        zepi_ur_check_context_pointer(hContext, pIPCMemHandleData, "pIPCMemHandleData");
    return result ? result
                  : zepi_ur_result(zepi_ipc_put(zepi_ur_context(hContext), pIPCMemHandleData));
}

ur_result_t zepi_urIPCOpenMemHandleExp(ur_context_handle_t hContext, ur_device_handle_t hDevice,
                                       void *pIPCMemHandleData, size_t ipcMemHandleDataSize,
                                       void **ppMem)
{
    ur_result_t result;
    if ((result = zepi_ur_check_context_device(hContext, hDevice)) ||
        (result = zepi_ur_check_pointer(pIPCMemHandleData, "pIPCMemHandleData")) ||
        (result = zepi_ur_check_pointer(ppMem, "ppMem")))
        return result;
    return zepi_ur_result_with(zepi_ipc_open(zepi_ur_context(hContext), zepi_ur_device(hDevice),
                                             pIPCMemHandleData, ipcMemHandleDataSize, ppMem),
                               ZEPI_ERROR_INVALID_SIZE, UR_RESULT_ERROR_INVALID_VALUE);
}

ur_result_t zepi_urIPCCloseMemHandleExp(ur_context_handle_t hContext, void *pMem)
{
    const ur_result_t result = zepi_ur_check_context_pointer(hContext, pMem, "pMem");
    return result ? result : zepi_ur_result(zepi_ipc_close(zepi_ur_context(hContext), pMem));
}
