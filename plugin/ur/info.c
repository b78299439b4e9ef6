// SPDX-License-Identifier: MIT
#include "ur/info.h"

#include <string.h>

ur_result_t zepi_ur_info_check(const struct zepi_ur_info *info)
{
    if (info->size == 0 && info->value)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_SIZE,
                              "room for 0 bytes of the property's value");
    if (!info->value && (info->size > 0 || !info->out_size))
        return zepi_ur_refuse_null("the output for the property's value");
    return UR_RESULT_SUCCESS;
}

ur_result_t zepi_ur_info_return(const struct zepi_ur_info *info, const void *bytes,
                                size_t size_bytes)
{
    if (info->value && info->size < size_bytes)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_SIZE,
                              "the property's value has %zu bytes, there is room for %zu",
                              size_bytes, info->size);
    if (info->value && size_bytes > 0)
        memcpy(info->value, bytes, size_bytes);
    if (info->out_size)
        *info->out_size = size_bytes;
    return UR_RESULT_SUCCESS;
}

ur_result_t zepi_ur_info_return_string(const struct zepi_ur_info *info, const char *text)
{
    return zepi_ur_info_return(info, text, strlen(text) + 1);
}

ur_result_t zepi_ur_info_return_bool(const struct zepi_ur_info *info, bool value)
{
    const ur_bool_t number = value;
    return zepi_ur_info_return(info, &number, sizeof(number));
}

ur_result_t zepi_ur_info_return_u32(const struct zepi_ur_info *info, uint32_t value)
{
    return zepi_ur_info_return(info, &value, sizeof(value));
}

ur_result_t zepi_ur_info_return_u64(const struct zepi_ur_info *info, uint64_t value)
{
    return zepi_ur_info_return(info, &value, sizeof(value));
}

ur_result_t zepi_ur_info_return_size(const struct zepi_ur_info *info, size_t value)
{
    return zepi_ur_info_return(info, &value, sizeof(value));
}

ur_result_t zepi_ur_info_return_handle(const struct zepi_ur_info *info, const void *handle)
{
    return zepi_ur_info_return(info, &handle, sizeof(handle));
}

ur_result_t zepi_ur_info_return_references(const struct zepi_ur_info *info, const void *object)
{
    const struct zepi_object *head = object;
    return zepi_ur_info_return_u32(info,
                                   atomic_load_explicit(&head->references, memory_order_relaxed));
}

ur_result_t zepi_ur_refuse_query(uint32_t query, uint32_t last)
{
    return query > last ? zepi_ur_refuse(UR_RESULT_ERROR_INVALID_ENUMERATION,
                                         "query 0x%x is not known", query)
                        : zepi_ur_refuse(UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION,
                                         "query 0x%x is not supported", query);
}
