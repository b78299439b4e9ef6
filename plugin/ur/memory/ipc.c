// SPDX-License-Identifier: MIT
#include "memory/interop/ipc.h"

#include "ur/memory/physical_memory.h"

// Of USM from `memory` on, or of physical memory.
static ur_result_t get_handle(struct zepi_context *context, const void *memory,
                              const struct zepi_physical_memory *physical, void **out_handle,
                              size_t *out_size_bytes)
{
    const struct zepi_ipc_handle *handle = NULL;
    ur_result_t result;
    if ((result = zepi_ur_check_pointer(out_handle, "the output for the handle's data")) ||
        (result = zepi_ur_check_pointer(out_size_bytes, "the output for the handle's size")) ||
        (result = zepi_ur_result(zepi_ipc_get(context, memory, physical, &handle))))
        return result;
    *out_handle = (void *)handle;
    *out_size_bytes = sizeof(*handle);
    return UR_RESULT_SUCCESS;
}

ur_result_t zepi_urIPCGetMemHandleExp(ur_context_handle_t hContext, void *pMem,
                                      void **ppIPCMemHandleData, size_t *pIPCMemHandleDataSizeRet)
{
    const ur_result_t result = zepi_ur_check_context_pointer(hContext, pMem, "pMem");
    return result ? result
                  : get_handle(zepi_ur_context(hContext), pMem, NULL, ppIPCMemHandleData,
                               pIPCMemHandleDataSizeRet);
}

static ur_result_t put_handle(ur_context_handle_t context, const void *handle, bool is_physical)
{
    const ur_result_t result = zepi_ur_check_context_pointer(context, handle, "the handle's data");
    return result ? result
                  : zepi_ur_result(zepi_ipc_put(zepi_ur_context(context), handle, is_physical));
}

ur_result_t zepi_urIPCPutMemHandleExp(ur_context_handle_t hContext, void *pIPCMemHandleData)
{
    return put_handle(hContext, pIPCMemHandleData, false);
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

// ---- Physical memory ----

ur_result_t zepi_urIPCGetPhysMemHandleExp(ur_context_handle_t hContext,
                                          ur_physical_mem_handle_t hPhysMem,
                                          void **ppIPCPhysMemHandleData,
                                          size_t *pIPCPhysMemHandleDataSizeRet)
{
    const struct zepi_physical_memory *physical = zepi_ur_physical_memory(hPhysMem);
    const ur_result_t result = zepi_ur_check_context_physical(hContext, hPhysMem);
    if (result != UR_RESULT_SUCCESS)
        return result;
    if (physical->sharing != ZEPI_PHYSICAL_SHARED)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_ARGUMENT,
                              "the physical memory was not created with "
                              "UR_PHYSICAL_MEM_FLAG_ENABLE_IPC");
    return get_handle(physical->context, NULL, physical, ppIPCPhysMemHandleData,
                      pIPCPhysMemHandleDataSizeRet);
}

ur_result_t zepi_urIPCPutPhysMemHandleExp(ur_context_handle_t hContext,
                                          const void *pIPCPhysMemHandleData)
{
    return put_handle(hContext, pIPCPhysMemHandleData, true);
}

ur_result_t zepi_urIPCOpenPhysMemHandleExp(ur_context_handle_t hContext, ur_device_handle_t hDevice,
                                           const void *pIPCPhysMemHandleData,
                                           size_t ipcPhysMemHandleDataSize,
                                           ur_physical_mem_handle_t *phPhysMem)
{
    ur_result_t result;
    if ((result = zepi_ur_check_context_device(hContext, hDevice)) ||
        (result = zepi_ur_check_pointer(pIPCPhysMemHandleData, "pIPCPhysMemHandleData")) ||
        (result = zepi_ur_check_pointer(phPhysMem, "phPhysMem")))
        return result;
    return zepi_ur_result_with(
        zepi_ipc_open_physical(zepi_ur_context(hContext), zepi_ur_device(hDevice),
                               pIPCPhysMemHandleData, ipcPhysMemHandleDataSize,
                               (struct zepi_physical_memory **)phPhysMem),
        ZEPI_ERROR_INVALID_SIZE, UR_RESULT_ERROR_INVALID_VALUE);
}

// Mappings of the memory stay.
ur_result_t zepi_urIPCClosePhysMemHandleExp(ur_context_handle_t hContext,
                                            ur_physical_mem_handle_t hPhysMem)
{
    ur_result_t result = zepi_ur_check_context_physical(hContext, hPhysMem);
    if (result == UR_RESULT_SUCCESS &&
        zepi_ur_physical_memory(hPhysMem)->sharing != ZEPI_PHYSICAL_IMPORTED)
        result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE,
                                "the physical memory was not opened by a handle");
    return zepi_ur_release(result, hPhysMem);
}
