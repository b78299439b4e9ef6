// SPDX-License-Identifier: MIT
#include "core/interface.h"

#include <string.h>

zepi_result_t zepi_list_objects(uint32_t count, void *const *objects, uint32_t capacity,
                                void **out_objects, uint32_t *out_count)
{
    for (uint32_t i = 0; i < count && i < capacity; i++)
        out_objects[i] = zepi_retain(objects[i]);
    *out_count = count;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_copy_info(void *out_info, const void *info, size_t own_size)
{
    size_t size;
    if (!out_info)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the output structure is NULL");
    memcpy(&size, out_info, sizeof(size));
    if (size < sizeof(size))
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                         "the output structure's size is %zu, expected sizeof it", size);
    if (size > own_size)
        size = own_size;
    memcpy(out_info, info, size);
    memcpy(out_info, &size, sizeof(size));
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_read_desc(void *own, size_t own_size, size_t least, const void *desc,
                             const char *name)
{
    size_t size;
    memset(own, 0, own_size);
    if (!desc)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the %s is NULL", name);
    memcpy(&size, desc, sizeof(size));
    if (size < least || size > 65536)
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                         "the size of the %s is %zu, expected sizeof it (%zu)", name, size,
                         own_size);
    for (size_t i = own_size; i < size; i++) {
        if (((const char *)desc)[i] != 0)
            return zepi_fail(ZEPI_ERROR_UNSUPPORTED,
                             "the %s asks for something newer than this version of zepi: byte %zu "
                             "is not zero",
                             name, i);
    }
    memcpy(own, desc, size < own_size ? size : own_size);
    return ZEPI_SUCCESS;
}
