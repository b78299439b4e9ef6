// SPDX-License-Identifier: MIT
#include "ur/info.h"

#include <string.h>

// The pointers that the caller passed for it.
static ur_result_t info_check(const struct zepi_ur_info *info)
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

ur_result_t zepi_ur_info_return_u32(const struct zepi_ur_info *info, uint32_t value)
{
    return zepi_ur_info_return(info, &value, sizeof(value));
}

ur_result_t zepi_ur_refuse_query(uint32_t query, uint32_t last)
{
    return query > last ? zepi_ur_refuse(UR_RESULT_ERROR_INVALID_ENUMERATION,
                                         "query 0x%x is not known", query)
                        : zepi_ur_refuse(UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION,
                                         "query 0x%x is not supported", query);
}

// ---- Tables of queries ----

uint64_t zepi_ur_references_of(void *object)
{
    return atomic_load_explicit(&((struct zepi_object *)object)->references, memory_order_relaxed);
}

const struct zepi_ur_query *zepi_ur_find_query(const struct zepi_ur_query *rows, size_t count,
                                               uint32_t query)
{
    for (size_t i = 0; i < count; i++) {
        if (rows[i].query == query)
            return &rows[i];
    }
    return NULL;
}

static zepi_result_t get_number(const struct zepi_ur_query *row, void *object, uint64_t *out_number)
{
    const void *member = (const char *)object + row->offset;
    if (row->asked)
        return row->asked(object, row->bits, out_number);
    *out_number = row->number            ? row->number(object)
                  : row->size_bytes == 0 ? row->bits
                  : row->size_bytes == 1 ? *(const uint8_t *)member & row->bits
                  : row->size_bytes == 4 ? *(const uint32_t *)member & row->bits
                                         : *(const uint64_t *)member & row->bits;
    return ZEPI_SUCCESS;
}

static ur_result_t answer(const struct zepi_ur_query *row, void *object,
                          const struct zepi_ur_info *info)
{
    const char *member = (const char *)object + row->offset;
    uint64_t number = 0;
    if (row->value)
        return row->value(object, info);
    if (row->type == ZEPI_UR_BYTES)
        return zepi_ur_info_return(info, member, row->size_bytes);
    if (row->type == ZEPI_UR_CHARACTERS)
        return zepi_ur_info_return_string(info, member);
    if (row->type == ZEPI_UR_TEXT)
        return zepi_ur_info_return_string(info,
                                          row->text ? row->text : *(const char *const *)member);
    const ur_result_t result = zepi_ur_result(get_number(row, object, &number));
    if (result != UR_RESULT_SUCCESS)
        return result;
    if (row->type >= ZEPI_UR_U32_OR_NONE && number == 0)
        return UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
    switch (row->type) {
    case ZEPI_UR_BOOL:
        return zepi_ur_info_return(info, &(ur_bool_t){number != 0}, sizeof(ur_bool_t));
    case ZEPI_UR_U32:
    case ZEPI_UR_U32_OR_NONE:
        return zepi_ur_info_return_u32(info, (uint32_t)number);
    default: // a size_t has 64 bits, too
        return zepi_ur_info_return(info, &number, sizeof(number));
    }
}

ur_result_t zepi_ur_get_info(ur_result_t checked, void *object, const struct zepi_ur_query *rows,
                             size_t count, uint32_t query, uint32_t last, size_t size, void *value,
                             size_t *out_size)
{
    const struct zepi_ur_info info = {size, value, out_size, query};
    const struct zepi_ur_query *row = zepi_ur_find_query(rows, count, query);
    ur_result_t result;
    if ((result = checked) || (result = info_check(&info)))
        return result;
    result = row ? answer(row, object, &info) : UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
    return result == UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION ? zepi_ur_refuse_query(query, last)
                                                             : result;
}
