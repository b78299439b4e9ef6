// SPDX-License-Identifier: MIT
#include "chain.h"
#include "device/device.h"
#include "entry.h"
#include "memory.h"
#include "ze_newer.h"

// Any memory of the context, allocated or mapped. False for other memory.
static bool find(ze_context_handle_t context, const void *pointer,
                 struct cpu_allocation *out_memory)
{
    return cpu_memory_find(pointer, out_memory) && out_memory->context == context;
}

// No allocation is made of several.
static void describe_sub_allocations(void *chain)
{
    ze_memory_sub_allocations_exp_properties_t *sub_allocations =
        cpu_chain_find(chain, CPU_STRUCTURE_TYPE_MEMORY_SUB_ALLOCATIONS_EXP_PROPERTIES);
    if (sub_allocations != NULL && sub_allocations->pCount != NULL)
        *sub_allocations->pCount = 0;
}

// The descriptor stays the driver's, as with Intel's.
static bool export_file(const struct cpu_allocation *memory, void *chain)
{
    ze_external_memory_export_fd_t *export =
        cpu_chain_find(chain, ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD);
    if (export == NULL || export->flags == 0 || export->flags != memory->exported_as)
        return false;
    export->fd = memory->file;
    return true;
}

ze_result_t ZE_APICALL cpu_zeMemGetAllocProperties(
    ze_context_handle_t hContext, const void *ptr,
    ze_memory_allocation_properties_t *pMemAllocProperties, ze_device_handle_t *phDevice)
{
    struct cpu_allocation memory;
    bool is_found = find(hContext, ptr, &memory);
    if (cpu_chain_has_external_memory(pMemAllocProperties->pNext) &&
        !(is_found && export_file(&memory, pMemAllocProperties->pNext)))
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    pMemAllocProperties->type = is_found ? memory.type : ZE_MEMORY_TYPE_UNKNOWN;
    pMemAllocProperties->id = is_found ? memory.id : 0;
    pMemAllocProperties->pageSize = is_found ? CPU_PAGE_BYTES : 0;
    if (phDevice != NULL)
        *phDevice = is_found ? memory.device : NULL;
    describe_sub_allocations(pMemAllocProperties->pNext);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeMemGetAddressRange(ze_context_handle_t hContext, const void *ptr,
                                                void **pBase, size_t *pSize)
{
    struct cpu_allocation memory;
    if (!find(hContext, ptr, &memory))
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    if (pBase != NULL)
        *pBase = (void *)memory.address;
    if (pSize != NULL)
        *pSize = memory.size_bytes;
    return ZE_RESULT_SUCCESS;
}
