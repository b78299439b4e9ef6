// SPDX-License-Identifier: MIT
#include "memory/interop/ipc.h"

#include "memory/virtual_memory.h"
#include "ur/handles.h"
#include "ur/memory/physical_memory.h"

static ur_result_t check_open(ur_context_handle_t context, ur_device_handle_t device,
                              const void *handle, size_t size_bytes, const void *out_memory)
{
    ur_result_t result = zepi_ur_check_context_device(context, device);
    result = result ?: zepi_ur_check_pointer(handle, "handle");
    result = result ?: zepi_ur_check_pointer(out_memory, "output for the memory");
    return result != UR_RESULT_SUCCESS || size_bytes == sizeof(struct zepi_ipc_handle)
               ? result
               : zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE,
                                "a handle of %zu bytes, expected %zu", size_bytes,
                                sizeof(struct zepi_ipc_handle));
}

static ur_result_t check_outputs(const void *out_handle, const void *out_size_bytes)
{
    return zepi_ur_check_pointer(out_handle, "output for the handle")
               ?: zepi_ur_check_pointer(out_size_bytes, "output for the size");
}

static ur_result_t put_handle(ur_context_handle_t context, enum zepi_ipc_kind kind,
                              const void *handle)
{
    return zepi_ur_check_context_pointer(context, handle, "handle")
               ?: zepi_ur_result(zepi_ipc_put(zepi_ur_context(context), kind, handle));
}

ur_result_t zepi_urIPCGetMemHandleExp(ur_context_handle_t hContext, void *pMem,
                                      void **ppIPCMemHandleData, size_t *pIPCMemHandleDataSizeRet)
{
    const struct zepi_ipc_handle *handle = NULL;
    ur_result_t result = zepi_ur_check_context_pointer(hContext, pMem, "pMem");
    result = result ?: check_outputs(ppIPCMemHandleData, pIPCMemHandleDataSizeRet);
    result = result ?: zepi_ur_result(zepi_ipc_get(zepi_ur_context(hContext), pMem, &handle));
    if (result != UR_RESULT_SUCCESS)
        return result;
    *ppIPCMemHandleData = (void *)handle;
    *pIPCMemHandleDataSizeRet = sizeof(*handle);
    return UR_RESULT_SUCCESS;
}

ur_result_t zepi_urIPCPutMemHandleExp(ur_context_handle_t hContext, void *pIPCMemHandleData)
{
    return put_handle(hContext, ZEPI_IPC_USM, pIPCMemHandleData);
}

ur_result_t zepi_urIPCOpenMemHandleExp(ur_context_handle_t hContext, ur_device_handle_t hDevice,
                                       void *pIPCMemHandleData, size_t ipcMemHandleDataSize,
                                       void **ppMem)
{
    return check_open(hContext, hDevice, pIPCMemHandleData, ipcMemHandleDataSize, ppMem)
               ?: zepi_ur_result(zepi_ipc_open(zepi_ur_context(hContext), zepi_ur_device(hDevice),
                                               pIPCMemHandleData, ipcMemHandleDataSize, ppMem));
}

ur_result_t zepi_urIPCCloseMemHandleExp(ur_context_handle_t hContext, void *pMem)
{
    return zepi_ur_check_context_pointer(hContext, pMem, "pMem")
               ?: zepi_ur_result(zepi_ipc_close(zepi_ur_context(hContext), pMem));
}

// ---- Physical memory ----

ur_result_t zepi_urIPCGetPhysMemHandleExp(ur_context_handle_t hContext,
                                          ur_physical_mem_handle_t hPhysMem,
                                          void **ppIPCPhysMemHandleData,
                                          size_t *pIPCPhysMemHandleDataSizeRet)
{
    const struct zepi_ipc_handle *handle = NULL;
    ur_result_t result = zepi_ur_check_context(hContext);
    result = result ?: zepi_ur_check_physical_memory_in(hContext, hPhysMem);
    result = result ?: check_outputs(ppIPCPhysMemHandleData, pIPCPhysMemHandleDataSizeRet);
    if (result == UR_RESULT_SUCCESS &&
        zepi_ur_physical_memory(hPhysMem)->sharing != ZEPI_PHYSICAL_SHARED)
        result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_ARGUMENT,
                                "the physical memory was not created with "
                                "UR_PHYSICAL_MEM_FLAG_ENABLE_IPC");
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_result(zepi_ipc_get_physical(zepi_ur_physical_memory(hPhysMem), &handle));
    if (result != UR_RESULT_SUCCESS)
        return result;
    *ppIPCPhysMemHandleData = (void *)handle;
    *pIPCPhysMemHandleDataSizeRet = sizeof(*handle);
    return UR_RESULT_SUCCESS;
}

ur_result_t zepi_urIPCPutPhysMemHandleExp(ur_context_handle_t hContext,
                                          const void *pIPCPhysMemHandleData)
{
    return put_handle(hContext, ZEPI_IPC_PHYSICAL, pIPCPhysMemHandleData);
}

ur_result_t zepi_urIPCOpenPhysMemHandleExp(ur_context_handle_t hContext, ur_device_handle_t hDevice,
                                           const void *pIPCPhysMemHandleData,
                                           size_t ipcPhysMemHandleDataSize,
                                           ur_physical_mem_handle_t *phPhysMem)
{
    return check_open(hContext, hDevice, pIPCPhysMemHandleData, ipcPhysMemHandleDataSize, phPhysMem)
               ?: zepi_ur_result(zepi_ipc_open_physical(
                      zepi_ur_context(hContext), zepi_ur_device(hDevice), pIPCPhysMemHandleData,
                      ipcPhysMemHandleDataSize, (struct zepi_physical_memory **)phPhysMem));
}

ur_result_t zepi_urIPCClosePhysMemHandleExp(ur_context_handle_t hContext,
                                            ur_physical_mem_handle_t hPhysMem)
{
    ur_result_t result = zepi_ur_check_context(hContext);
    result = result ?: zepi_ur_check_physical_memory_in(hContext, hPhysMem);
    if (result == UR_RESULT_SUCCESS &&
        zepi_ur_physical_memory(hPhysMem)->sharing != ZEPI_PHYSICAL_IMPORTED)
        result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE,
                                "the physical memory was not opened by a handle");
    return zepi_ur_release(result, hPhysMem);
}
