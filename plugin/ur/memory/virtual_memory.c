// SPDX-License-Identifier: MIT
#include "ur/info.h"
#include "ur/memory/physical_memory.h"

// ---- Ranges ----

static ur_result_t read_access_flags(ur_virtual_mem_access_flags_t flags,
                                     enum zepi_memory_access *out_access)
{
    const ur_result_t result = zepi_ur_check_flags(flags, UR_VIRTUAL_MEM_ACCESS_FLAGS_MASK);
    if (result != UR_RESULT_SUCCESS)
        return result;
    if (flags & (flags - 1))
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE,
                              "access flags 0x%x contradict each other", flags);
    *out_access = flags == UR_VIRTUAL_MEM_ACCESS_FLAG_READ_WRITE  ? ZEPI_ACCESS_READ_WRITE
                  : flags == UR_VIRTUAL_MEM_ACCESS_FLAG_READ_ONLY ? ZEPI_ACCESS_READ_ONLY
                                                                  : ZEPI_ACCESS_NONE;
    return UR_RESULT_SUCCESS;
}

// Level Zero has one size for both.
static const struct zepi_ur_query page_queries[] = {
    {ZEPI_UR_ITSELF(VIRTUAL_MEM_GRANULARITY_INFO_MINIMUM, SIZE)},
    {ZEPI_UR_ITSELF(VIRTUAL_MEM_GRANULARITY_INFO_RECOMMENDED, SIZE)},
};

ur_result_t zepi_urVirtualMemGranularityGetInfo(ur_context_handle_t hContext,
                                                ur_device_handle_t hDevice, size_t allocationSize,
                                                ur_virtual_mem_granularity_info_t query,
                                                size_t value_size, void *value, size_t *out_size)
{
    uint64_t page_bytes = 0;
    ur_result_t result =
        hDevice ? zepi_ur_check_context_device(hContext, hDevice) : zepi_ur_check_context(hContext);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_result(zepi_virtual_memory_get_page_size(
            zepi_ur_context(hContext), zepi_ur_device(hDevice), allocationSize, &page_bytes));
    return zepi_ur_get_info(result, &page_bytes, ZEPI_UR_ROWS(page_queries), query,
                            UR_VIRTUAL_MEM_GRANULARITY_INFO_RECOMMENDED, value_size, value,
                            out_size);
}

ur_result_t zepi_urVirtualMemReserve(ur_context_handle_t hContext, const void *pStart, size_t size,
                                     void **ppStart)
{
    const ur_result_t result = zepi_ur_check_context_pointer(hContext, ppStart, "ppStart");
    return result ? result
                  : zepi_ur_result(zepi_virtual_memory_reserve(zepi_ur_context(hContext), pStart,
                                                               size, ppStart));
}

ur_result_t zepi_urVirtualMemFree(ur_context_handle_t hContext, const void *pStart, size_t size)
{
    const ur_result_t result = zepi_ur_check_context_pointer(hContext, pStart, "pStart");
    return result
               ? result
               : zepi_ur_result(zepi_virtual_memory_free(zepi_ur_context(hContext), pStart, size));
}

ur_result_t zepi_urVirtualMemMap(ur_context_handle_t hContext, const void *pStart, size_t size,
                                 ur_physical_mem_handle_t hPhysicalMem, size_t offset,
                                 ur_virtual_mem_access_flags_t flags)
{
    enum zepi_memory_access access = ZEPI_ACCESS_NONE;
    ur_result_t result;
    if ((result = zepi_ur_check_context_physical(hContext, hPhysicalMem)) ||
        (result = zepi_ur_check_pointer(pStart, "pStart")) ||
        (result = read_access_flags(flags, &access)))
        return result;
    return zepi_ur_result(zepi_virtual_memory_map(zepi_ur_context(hContext), pStart, size,
                                                  zepi_ur_physical_memory(hPhysicalMem), offset,
                                                  access));
}

ur_result_t zepi_urVirtualMemUnmap(ur_context_handle_t hContext, const void *pStart, size_t size)
{
    const ur_result_t result = zepi_ur_check_context_pointer(hContext, pStart, "pStart");
    return result
               ? result
               : zepi_ur_result(zepi_virtual_memory_unmap(zepi_ur_context(hContext), pStart, size));
}

ur_result_t zepi_urVirtualMemSetAccess(ur_context_handle_t hContext, const void *pStart,
                                       size_t size, ur_virtual_mem_access_flags_t flags)
{
    enum zepi_memory_access access = ZEPI_ACCESS_NONE;
    ur_result_t result;
    if ((result = zepi_ur_check_context_pointer(hContext, pStart, "pStart")) ||
        (result = read_access_flags(flags, &access)))
        return result;
    return zepi_ur_result(
        zepi_virtual_memory_set_access(zepi_ur_context(hContext), pStart, size, access));
}

static const struct zepi_ur_query access_queries[] = {
    {ZEPI_UR_ITSELF(VIRTUAL_MEM_INFO_ACCESS_MODE, U32)},
};

ur_result_t zepi_urVirtualMemGetInfo(ur_context_handle_t hContext, const void *pStart, size_t size,
                                     ur_virtual_mem_info_t query, size_t value_size, void *value,
                                     size_t *out_size)
{
    enum zepi_memory_access access = ZEPI_ACCESS_NONE;
    ur_result_t result = zepi_ur_check_context_pointer(hContext, pStart, "pStart");
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_result(
            zepi_virtual_memory_get_access(zepi_ur_context(hContext), pStart, size, &access));
    uint64_t flag = access == ZEPI_ACCESS_READ_WRITE  ? UR_VIRTUAL_MEM_ACCESS_FLAG_READ_WRITE
                    : access == ZEPI_ACCESS_READ_ONLY ? UR_VIRTUAL_MEM_ACCESS_FLAG_READ_ONLY
                                                      : UR_VIRTUAL_MEM_ACCESS_FLAG_NONE;
    return zepi_ur_get_info(result, &flag, ZEPI_UR_ROWS(access_queries), query,
                            UR_VIRTUAL_MEM_INFO_ACCESS_MODE, value_size, value, out_size);
}

// ---- Physical memory ----

ur_result_t zepi_urPhysicalMemCreate(ur_context_handle_t hContext, ur_device_handle_t hDevice,
                                     size_t size, const ur_physical_mem_properties_t *pProperties,
                                     ur_physical_mem_handle_t *phPhysicalMem)
{
    const ur_physical_mem_flags_t flags = pProperties ? pProperties->flags : 0;
    ur_result_t result;
    if ((result = zepi_ur_check_context_device(hContext, hDevice)) ||
        (result = zepi_ur_check_flags(flags, UR_PHYSICAL_MEM_FLAGS_MASK)) ||
        (result = zepi_ur_check_pointer(phPhysicalMem, "phPhysicalMem")))
        return result;
    return zepi_ur_result(zepi_physical_memory_create(
        zepi_ur_context(hContext), zepi_ur_device(hDevice), size,
        flags & UR_PHYSICAL_MEM_FLAG_ENABLE_IPC ? ZEPI_PHYSICAL_SHARED : ZEPI_PHYSICAL_OWN, -1,
        (struct zepi_physical_memory **)phPhysicalMem));
}

ZEPI_UR_DEFINE_REFERENCES(PhysicalMem, , ur_physical_mem_handle_t, zepi_ur_check_physical_memory)

static ur_result_t get_properties(void *memory, const struct zepi_ur_info *info)
{
    const enum zepi_physical_sharing sharing = ((struct zepi_physical_memory *)memory)->sharing;
    const ur_physical_mem_properties_t properties = {
        .stype = UR_STRUCTURE_TYPE_PHYSICAL_MEM_PROPERTIES,
        .flags = sharing == ZEPI_PHYSICAL_SHARED ? UR_PHYSICAL_MEM_FLAG_ENABLE_IPC : 0};
    return zepi_ur_info_return(info, &properties, sizeof(properties));
}

static const struct zepi_ur_query physical_memory_queries[] = {
    {ZEPI_UR_MEMBER(PHYSICAL_MEM_INFO_CONTEXT, BYTES, zepi_physical_memory, context)},
    {ZEPI_UR_MEMBER(PHYSICAL_MEM_INFO_DEVICE, BYTES, zepi_physical_memory, device)},
    {ZEPI_UR_MEMBER(PHYSICAL_MEM_INFO_SIZE, SIZE, zepi_physical_memory, size_bytes)},
    {ZEPI_UR_VALUE(PHYSICAL_MEM_INFO_PROPERTIES, get_properties)},
    {ZEPI_UR_REFERENCES(PHYSICAL_MEM_INFO_REFERENCE_COUNT)},
};

ZEPI_UR_DEFINE_GET_INFO(PhysicalMem, , physical_mem, zepi_ur_check_physical_memory,
                        physical_memory_queries, PHYSICAL_MEM_INFO_REFERENCE_COUNT)
