// SPDX-License-Identifier: MIT
#ifndef ZEPI_UR_INFO_H
#define ZEPI_UR_INFO_H

#include "ur/check.h"

// The output of one of the ...GetInfo queries: of one call, borrowed.
struct zepi_ur_info {
    size_t size; // room at `value`, in bytes
    void *value; // NULL: only the size is asked for
    size_t *out_size;
    uint32_t query; // for functions of tables
};

// Returns a value of `size_bytes` bytes. Too little room is
// UR_RESULT_ERROR_INVALID_SIZE; nothing is written then.
ur_result_t zepi_ur_info_return(const struct zepi_ur_info *info, const void *bytes,
                                size_t size_bytes);
ur_result_t zepi_ur_info_return_string(const struct zepi_ur_info *info, const char *text);
ur_result_t zepi_ur_info_return_u32(const struct zepi_ur_info *info, uint32_t value);

// Refuses a query that is not supported, or one that the header does not have: `last` is the
// header's last query.
ur_result_t zepi_ur_refuse_query(uint32_t query, uint32_t last);

// ---- Tables of queries ----

enum zepi_ur_type {
    ZEPI_UR_BOOL,
    ZEPI_UR_U32,
    ZEPI_UR_U64,
    ZEPI_UR_SIZE,
    ZEPI_UR_U32_OR_NONE, // 0: the query is not supported
    ZEPI_UR_U64_OR_NONE,
    ZEPI_UR_BYTES,      // the bytes of a member: a handle, a list
    ZEPI_UR_CHARACTERS, // the characters of a member, up to a zero
    ZEPI_UR_TEXT,       // a member that points to characters, or the constant
};

// A value that is no number; a number; a number that a parameter names, and that may fail.
typedef ur_result_t zepi_ur_value(void *object, const struct zepi_ur_info *info);
typedef uint64_t zepi_ur_number(void *object);
typedef zepi_result_t zepi_ur_asked(void *object, uint64_t parameter, uint64_t *out_number);

// The source of a query's value: a function, else a member of the object, else a constant.
struct zepi_ur_query {
    uint32_t query;
    enum zepi_ur_type type;
    zepi_ur_value *value;
    zepi_ur_number *number;
    zepi_ur_asked *asked;
    const char *text;          // a constant
    size_t offset, size_bytes; // of the member; a size of 0: none
    uint64_t bits; // the constant, the member's bits that count, or the parameter of `asked`
};

// Rows, in braces. Names of queries and types have no prefix.
#define ZEPI_UR_VALUE(name, function) .query = UR_##name, .value = (function)
#define ZEPI_UR_NUMBER(name, kind, function)                                                       \
    .query = UR_##name, .type = ZEPI_UR_##kind, .number = (function)
#define ZEPI_UR_ASKED(name, kind, function, parameter)                                             \
    .query = UR_##name, .type = ZEPI_UR_##kind, .asked = (function), .bits = (parameter)
#define ZEPI_UR_FLAG(name, kind, object, member, flags)                                            \
    .query = UR_##name, .type = ZEPI_UR_##kind, .bits = (flags),                                   \
    .offset = offsetof(struct object, member),                                                     \
    .size_bytes = sizeof(((struct object *)NULL)->member)
#define ZEPI_UR_MEMBER(name, kind, object, member)                                                 \
    ZEPI_UR_FLAG(name, kind, object, member, UINT64_MAX)
#define ZEPI_UR_IS(name, kind, constant)                                                           \
    .query = UR_##name, .type = ZEPI_UR_##kind, .bits = (constant)
// The object is a uint64_t, the number itself.
#define ZEPI_UR_ITSELF(name, kind)                                                                 \
    .query = UR_##name, .type = ZEPI_UR_##kind, .bits = UINT64_MAX, .size_bytes = sizeof(uint64_t)
#define ZEPI_UR_STRING(name, constant) .query = UR_##name, .type = ZEPI_UR_TEXT, .text = (constant)
#define ZEPI_UR_REFERENCES(name) ZEPI_UR_NUMBER(name, U32, zepi_ur_references_of)
zepi_ur_number zepi_ur_references_of;

// The row of a query; NULL: there is none.
const struct zepi_ur_query *zepi_ur_find_query(const struct zepi_ur_query *rows, size_t count,
                                               uint32_t query);

// A whole ...GetInfo: `checked` is the result for the object's handle.
ur_result_t zepi_ur_get_info(ur_result_t checked, void *object, const struct zepi_ur_query *rows,
                             size_t count, uint32_t query, uint32_t last, size_t size, void *value,
                             size_t *out_size);
#define ZEPI_UR_ROWS(rows) (rows), sizeof(rows) / sizeof((rows)[0])

// Defines ur<Noun>GetInfo<suffix> of a ur_<name>_handle_t; `last` has no prefix.
#define ZEPI_UR_DEFINE_GET_INFO(noun, suffix, name, check, rows, last)                             \
    ur_result_t zepi_ur##noun##GetInfo##suffix(ur_##name##_handle_t handle,                        \
                                               ur_##name##_info_t query, size_t size, void *value, \
                                               size_t *out_size)                                   \
    {                                                                                              \
        return zepi_ur_get_info(check(handle), handle, ZEPI_UR_ROWS(rows), query, UR_##last, size, \
                                value, out_size);                                                  \
    }

#endif
