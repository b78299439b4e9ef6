// SPDX-License-Identifier: MIT
#include "memory/interop/external_memory.h"

#include "device/device.h"
#include "ur/handles.h"

ZEPI_UR_DEFINE_HANDLE(external_memory, ur_exp_external_mem_handle_t, zepi_external_memory,
                      UR_RESULT_ERROR_INVALID_VALUE)

static ur_result_t check_memory_of(ur_context_handle_t context, ur_exp_external_mem_handle_t memory)
{
    const ur_result_t result = zepi_ur_check_external_memory(memory);
    return result
               ? result
               : zepi_ur_check_same_context(zepi_ur_context(context),
                                            zepi_ur_external_memory(memory)->context,
                                            UR_RESULT_ERROR_INVALID_VALUE, "the external memory");
}

// ---- Import ----

// 0: of Windows. Those types are known, and refused.
static ur_result_t read_kind(ur_exp_external_mem_type_t type, enum zepi_external_kind *out_kind)
{
    static const enum zepi_external_kind kinds[] = {
        [UR_EXP_EXTERNAL_MEM_TYPE_OPAQUE_FD] = ZEPI_EXTERNAL_OPAQUE_FD,
        [UR_EXP_EXTERNAL_MEM_TYPE_DMA_BUF] = ZEPI_EXTERNAL_DMA_BUF,
        [UR_EXP_EXTERNAL_MEM_TYPE_WIN32_NT_DX11_RESOURCE] = 0,
    };
    if ((uint32_t)type >= sizeof(kinds) / sizeof(kinds[0]))
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_ENUMERATION,
                              "external memory of type %u is not known", (unsigned)type);
    *out_kind = kinds[type];
    return UR_RESULT_SUCCESS;
}

static ur_result_t read_descriptor_kind(ur_exp_external_mem_type_t type,
                                        enum zepi_external_kind *out_kind)
{
    const ur_result_t result = read_kind(type, out_kind);
    return result || *out_kind != 0 ? result
                                    : zepi_ur_refuse(UR_RESULT_ERROR_UNSUPPORTED_FEATURE,
                                                     "external memory of Windows: expected a file "
                                                     "descriptor");
}

ur_result_t zepi_urBindlessImagesImportExternalMemoryExp(
    ur_context_handle_t hContext, ur_device_handle_t hDevice, size_t size,
    ur_exp_external_mem_type_t memHandleType, ur_exp_external_mem_desc_t *pExternalMemDesc,
    ur_exp_external_mem_handle_t *phExternalMem)
{
    enum zepi_external_kind kind = 0;
    ur_result_t result;
    if ((result = zepi_ur_check_context_device(hContext, hDevice)) ||
        (result = zepi_ur_check_pointer(pExternalMemDesc, "pExternalMemDesc")) ||
        (result = zepi_ur_check_pointer(phExternalMem, "phExternalMem")) ||
        (result = read_descriptor_kind(memHandleType, &kind)))
        return result;
    const ur_exp_file_descriptor_t *file =
        zepi_ur_find_in_chain(pExternalMemDesc->pNext, UR_STRUCTURE_TYPE_EXP_FILE_DESCRIPTOR);
    if (!file)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE,
                              "the description of external memory has no file descriptor");
    return zepi_ur_result(
        zepi_external_memory_import(zepi_ur_context(hContext), zepi_ur_device(hDevice), kind, size,
                                    file->fd, (struct zepi_external_memory **)phExternalMem));
}

ur_result_t zepi_urBindlessImagesReleaseExternalMemoryExp(ur_context_handle_t hContext,
                                                          ur_device_handle_t hDevice,
                                                          ur_exp_external_mem_handle_t hExternalMem)
{
    ur_result_t result = zepi_ur_check_context_device(hContext, hDevice);
    result = result ? result : check_memory_of(hContext, hExternalMem);
    return zepi_ur_release(result, hExternalMem);
}

ur_result_t zepi_urBindlessImagesSupportsImportingHandleTypeExp(
    ur_device_handle_t hDevice, ur_exp_external_mem_type_t memHandleType, ur_bool_t *pSupportedRet)
{
    enum zepi_external_kind kind = 0;
    struct zepi_external_kinds kinds = {0};
    ur_result_t result;
    if ((result = zepi_ur_check_device(hDevice)) || (result = read_kind(memHandleType, &kind)) ||
        (result = zepi_ur_check_pointer(pSupportedRet, "pSupportedRet")) ||
        (kind && (result = zepi_ur_result(
                      zepi_device_get_external_kinds(zepi_ur_device(hDevice), &kinds)))))
        return result;
    *pSupportedRet = (kinds.imported & kind) != 0;
    return UR_RESULT_SUCCESS;
}

// ---- Mappings ----

ur_result_t zepi_urBindlessImagesMapExternalLinearMemoryExp(
    ur_context_handle_t hContext, ur_device_handle_t hDevice, uint64_t offset, uint64_t size,
    ur_exp_external_mem_handle_t hExternalMem, void **ppRetMem)
{
    ur_result_t result;
    if ((result = zepi_ur_check_context_device(hContext, hDevice)) ||
        (result = check_memory_of(hContext, hExternalMem)) ||
        (result = zepi_ur_check_pointer(ppRetMem, "ppRetMem")))
        return result;
    return zepi_ur_result(
        zepi_external_memory_map(zepi_ur_external_memory(hExternalMem), offset, size, ppRetMem));
}

ur_result_t zepi_urBindlessImagesFreeMappedLinearMemoryExp(ur_context_handle_t hContext,
                                                           ur_device_handle_t hDevice, void *pMem)
{
    ur_result_t result;
    if ((result = zepi_ur_check_context_device(hContext, hDevice)) ||
        (result = zepi_ur_check_pointer(pMem, "pMem")))
        return result;
    return zepi_ur_result(zepi_external_memory_unmap(zepi_ur_context(hContext), pMem));
}

// ---- Export ----

static ur_result_t check_export_size(const struct zepi_device *device, size_t alignment,
                                     size_t size)
{
    if (alignment & (alignment - 1))
        return zepi_ur_refuse(UR_RESULT_ERROR_UNSUPPORTED_ALIGNMENT,
                              "an alignment of %zu bytes, expected a power of two", alignment);
    if (size == 0)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_USM_SIZE, "an allocation of 0 bytes");
    if (device->max_allocation_bytes > 0 && size > device->max_allocation_bytes)
        return zepi_ur_refuse(UR_RESULT_ERROR_UNSUPPORTED_SIZE,
                              "an allocation of %zu bytes: the device takes at most %llu", size,
                              (unsigned long long)device->max_allocation_bytes);
    return UR_RESULT_SUCCESS;
}

ur_result_t zepi_urMemoryExportAllocExportableMemoryExp(
    ur_context_handle_t hContext, ur_device_handle_t hDevice, size_t alignment, size_t size,
    ur_exp_external_mem_type_t handleTypeToExport, void **ppMem)
{
    enum zepi_external_kind kind = 0;
    ur_result_t result;
    if ((result = zepi_ur_check_context_device(hContext, hDevice)) ||
        (result = zepi_ur_check_pointer(ppMem, "ppMem")) ||
        (result = read_descriptor_kind(handleTypeToExport, &kind)) ||
        (result = check_export_size(zepi_ur_device(hDevice), alignment, size)))
        return result;
    const zepi_result_t allocated = zepi_external_memory_allocate(
        zepi_ur_context(hContext), zepi_ur_device(hDevice), kind, size, alignment, ppMem);
    // More than the driver has room for at all.
    return zepi_ur_result_with(allocated, ZEPI_ERROR_INVALID_SIZE,
                               UR_RESULT_ERROR_UNSUPPORTED_SIZE);
}

ur_result_t zepi_urMemoryExportFreeExportableMemoryExp(ur_context_handle_t hContext,
                                                       ur_device_handle_t hDevice, void *pMem)
{
    ur_result_t result;
    if ((result = zepi_ur_check_context_device(hContext, hDevice)) ||
        (result = zepi_ur_check_pointer(pMem, "pMem")))
        return result;
    return zepi_ur_result(
        zepi_external_memory_free(zepi_ur_context(hContext), zepi_ur_device(hDevice), pMem));
}

// The output is the host's `int`.
ur_result_t zepi_urMemoryExportExportMemoryHandleExp(ur_context_handle_t hContext,
                                                     ur_device_handle_t hDevice,
                                                     ur_exp_external_mem_type_t handleTypeToExport,
                                                     void *pMem, void *pMemHandleRet)
{
    enum zepi_external_kind kind = 0;
    ur_result_t result;
    if ((result = zepi_ur_check_context_device(hContext, hDevice)) ||
        (result = zepi_ur_check_pointer(pMem, "pMem")) ||
        (result = zepi_ur_check_pointer(pMemHandleRet, "pMemHandleRet")) ||
        (result = read_descriptor_kind(handleTypeToExport, &kind)))
        return result;
    return zepi_ur_result(zepi_external_memory_export(
        zepi_ur_context(hContext), zepi_ur_device(hDevice), kind, pMem, pMemHandleRet));
}
