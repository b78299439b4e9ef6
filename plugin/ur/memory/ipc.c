// SPDX-License-Identifier: MIT
#include "memory/foreign/ipc.h"

#include "memory/virtual_memory.h"
#include "ur/handles.h"
#include "ur/memory/physical_memory.h"

ur_result_t zepi_urIPCGetMemHandleExp(ur_context_handle_t hContext, void *pMem,
                                      void **ppIPCMemHandleData, size_t *pIPCMemHandleDataSizeRet)
{
    const struct zepi_ipc_handle *handle = NULL;
    ur_result_t result = zepi_ur_check_context_pointer(hContext, pMem, "pMem");
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
    const ur_result_t result =
        zepi_ur_check_context_pointer(hContext, pIPCMemHandleData, "pIPCMemHandleData");
    return result == UR_RESULT_SUCCESS
               ? zepi_ur_result(
                     zepi_ipc_put(zepi_ur_context(hContext), ZEPI_IPC_USM, pIPCMemHandleData))
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
    const ur_result_t result = zepi_ur_check_context_pointer(hContext, pMem, "pMem");
    return result == UR_RESULT_SUCCESS
               ? zepi_ur_result(zepi_ipc_close(zepi_ur_context(hContext), pMem))
               : result;
}

// ---- Physical memory ----

ur_result_t zepi_urIPCGetPhysMemHandleExp(ur_context_handle_t hContext,
                                          ur_physical_mem_handle_t hPhysMem,
                                          void **ppIPCPhysMemHandleData,
                                          size_t *pIPCPhysMemHandleDataSizeRet)
{
    const struct zepi_ipc_handle *handle = NULL;
    ur_result_t result = zepi_ur_check_context(hContext);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_physical_memory_in(hContext, hPhysMem);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_pointer(ppIPCPhysMemHandleData, "ppIPCPhysMemHandleData");
    if (result == UR_RESULT_SUCCESS)
        result =
            zepi_ur_check_pointer(pIPCPhysMemHandleDataSizeRet, "pIPCPhysMemHandleDataSizeRet");
    if (result != UR_RESULT_SUCCESS)
        return result;
    struct zepi_physical_memory *memory = zepi_ur_physical_memory(hPhysMem);
    if (memory->sharing != ZEPI_PHYSICAL_SHARED)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_ARGUMENT,
                              "the physical memory was not created with "
                              "UR_PHYSICAL_MEM_FLAG_ENABLE_IPC");
    result = zepi_ur_result(zepi_ipc_get_physical(memory, &handle));
    if (result != UR_RESULT_SUCCESS)
        return result;
    *ppIPCPhysMemHandleData = (void *)handle;
    *pIPCPhysMemHandleDataSizeRet = sizeof(*handle);
    return UR_RESULT_SUCCESS;
}

ur_result_t zepi_urIPCPutPhysMemHandleExp(ur_context_handle_t hContext,
                                          const void *pIPCPhysMemHandleData)
{
    const ur_result_t result =
        zepi_ur_check_context_pointer(hContext, pIPCPhysMemHandleData, "pIPCPhysMemHandleData");
    return result == UR_RESULT_SUCCESS
               ? zepi_ur_result(zepi_ipc_put(zepi_ur_context(hContext), ZEPI_IPC_PHYSICAL,
                                             pIPCPhysMemHandleData))
               : result;
}

ur_result_t zepi_urIPCOpenPhysMemHandleExp(ur_context_handle_t hContext, ur_device_handle_t hDevice,
                                           const void *pIPCPhysMemHandleData,
                                           size_t ipcPhysMemHandleDataSize,
                                           ur_physical_mem_handle_t *phPhysMem)
{
    ur_result_t result = zepi_ur_check_context(hContext);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_context_device(hContext, hDevice, NULL);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_pointer(pIPCPhysMemHandleData, "pIPCPhysMemHandleData");
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_pointer(phPhysMem, "phPhysMem");
    if (result == UR_RESULT_SUCCESS && ipcPhysMemHandleDataSize != sizeof(struct zepi_ipc_handle))
        result =
            zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE, "a handle of %zu bytes, expected %zu",
                           ipcPhysMemHandleDataSize, sizeof(struct zepi_ipc_handle));
    return result == UR_RESULT_SUCCESS
               ? zepi_ur_result(zepi_ipc_open_physical(
                     zepi_ur_context(hContext), zepi_ur_device(hDevice), pIPCPhysMemHandleData,
                     ipcPhysMemHandleDataSize, (struct zepi_physical_memory **)phPhysMem))
               : result;
}

ur_result_t zepi_urIPCClosePhysMemHandleExp(ur_context_handle_t hContext,
                                            ur_physical_mem_handle_t hPhysMem)
{
    ur_result_t result = zepi_ur_check_context(hContext);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_physical_memory_in(hContext, hPhysMem);
    if (result == UR_RESULT_SUCCESS &&
        zepi_ur_physical_memory(hPhysMem)->sharing != ZEPI_PHYSICAL_IMPORTED)
        result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE,
                                "the physical memory was not opened by a handle");
    return zepi_ur_release(result, hPhysMem);
}
