// SPDX-License-Identifier: MIT
#include "memory/virtual_memory.h"
#include "api/api.h"
#include "api/check.h"

static zepi_result_t check_access(zepi_memory_access_t access)
{
    return (unsigned)access <= ZEPI_ACCESS_READ_ONLY
               ? ZEPI_SUCCESS
               : zepi_fail(ZEPI_ERROR_INVALID_VALUE, "access %d is not known", (int)access);
}

zepi_result_t zepi_api_virtual_memory_get_page_size(zepi_context_t context, zepi_device_t device,
                                                    size_t size_bytes, size_t *out_page_bytes)
{
    zepi_result_t result;
    if ((result = zepi_api_check_context_pointer(context, out_page_bytes, "output for the size")) ||
        (device && (result = zepi_api_check_context_device(context, device))))
        return result;
    return zepi_virtual_memory_get_page_size(context, device, size_bytes, out_page_bytes);
}

zepi_result_t zepi_api_virtual_memory_reserve(zepi_context_t context, const void *preferred,
                                              size_t size_bytes, void **out_start)
{
    const zepi_result_t result =
        zepi_api_check_context_pointer(context, out_start, "output for the start");
    return result ? result : zepi_virtual_memory_reserve(context, preferred, size_bytes, out_start);
}

zepi_result_t zepi_api_virtual_memory_free(zepi_context_t context, const void *start,
                                           size_t size_bytes)
{
    const zepi_result_t result = zepi_api_check_context_pointer(context, start, "start");
    return result ? result : zepi_virtual_memory_free(context, start, size_bytes);
}

zepi_result_t zepi_api_virtual_memory_map(zepi_context_t context, const void *start,
                                          size_t size_bytes, zepi_physical_memory_t memory,
                                          size_t offset_bytes, zepi_memory_access_t access)
{
    zepi_result_t result;
    if ((result = zepi_api_check_context_pointer(context, start, "start")) ||
        (result = zepi_check_object(memory, &zepi_physical_memory_type)) ||
        (memory->context != context &&
         (result =
              zepi_fail(ZEPI_ERROR_INVALID_OBJECT, "the physical memory is of another context"))) ||
        (result = check_access(access)))
        return result;
    return zepi_virtual_memory_map(context, start, size_bytes, memory, offset_bytes, access);
}

zepi_result_t zepi_api_virtual_memory_unmap(zepi_context_t context, const void *start,
                                            size_t size_bytes)
{
    const zepi_result_t result = zepi_api_check_context_pointer(context, start, "start");
    return result ? result : zepi_virtual_memory_unmap(context, start, size_bytes);
}

zepi_result_t zepi_api_virtual_memory_set_access(zepi_context_t context, const void *start,
                                                 size_t size_bytes, zepi_memory_access_t access)
{
    zepi_result_t result;
    if ((result = zepi_api_check_context_pointer(context, start, "start")) ||
        (result = check_access(access)))
        return result;
    return zepi_virtual_memory_set_access(context, start, size_bytes, access);
}

zepi_result_t zepi_api_virtual_memory_get_access(zepi_context_t context, const void *start,
                                                 size_t size_bytes,
                                                 zepi_memory_access_t *out_access)
{
    zepi_result_t result;
    if ((result = zepi_api_check_context_pointer(context, start, "start")) ||
        (result = zepi_api_check_context_pointer(context, out_access, "output for the access")))
        return result;
    return zepi_virtual_memory_get_access(context, start, size_bytes, out_access);
}

zepi_result_t zepi_api_physical_memory_create(zepi_context_t context, zepi_device_t device,
                                              size_t size_bytes, zepi_physical_memory_t *out_memory)
{
    zepi_result_t result;
    if ((result = zepi_api_check_context_pointer(context, out_memory, "output for the memory")) ||
        (result = zepi_api_check_context_device(context, device)))
        return result;
    return zepi_physical_memory_create(context, device, size_bytes, ZEPI_PHYSICAL_OWN, -1,
                                       out_memory);
}
