// SPDX-License-Identifier: MIT
#ifndef ZEPI_UR_INFO_H
#define ZEPI_UR_INFO_H

#include "ur/check.h"

// The output of one of the ...GetInfo queries: of one call, borrowed.
struct zepi_ur_info {
    size_t size; // room at `value`, in bytes
    void *value; // NULL: only the size is asked for
    size_t *out_size;
};

// Checks the pointers that the caller passed for it.
ur_result_t zepi_ur_info_check(const struct zepi_ur_info *info);

// Returns a value of `size_bytes` bytes. Too little room is
// UR_RESULT_ERROR_INVALID_SIZE; nothing is written then.
ur_result_t zepi_ur_info_return(const struct zepi_ur_info *info, const void *bytes,
                                size_t size_bytes);

ur_result_t zepi_ur_info_return_string(const struct zepi_ur_info *info, const char *text);
ur_result_t zepi_ur_info_return_bool(const struct zepi_ur_info *info, bool value);
ur_result_t zepi_ur_info_return_u32(const struct zepi_ur_info *info, uint32_t value);
ur_result_t zepi_ur_info_return_u64(const struct zepi_ur_info *info, uint64_t value);
ur_result_t zepi_ur_info_return_size(const struct zepi_ur_info *info, size_t value);
ur_result_t zepi_ur_info_return_handle(const struct zepi_ur_info *info, const void *handle);
ur_result_t zepi_ur_info_return_references(const struct zepi_ur_info *info, const void *object);

// Refuses a query that is not supported, or one that the header does not have: `last` is the
// header's last query.
ur_result_t zepi_ur_refuse_query(uint32_t query, uint32_t last);

#endif
