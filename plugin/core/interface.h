// SPDX-License-Identifier: MIT
#ifndef ZEPI_CORE_INTERFACE_H
#define ZEPI_CORE_INTERFACE_H

#include "core/object.h"

// The idioms of the interface, zepi.h: lists that a host has room for, and structures whose first
// member is their size. They keep nothing: any thread.

// Checks the pointers of a list output.
static inline zepi_result_t zepi_check_list(uint32_t capacity, const void *out_elements,
                                            const void *out_count)
{
    if (!out_count)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the output for the count is NULL");
    if (capacity > 0 && !out_elements)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "the output list is NULL, for a capacity of %u elements",
                         (unsigned)capacity);
    return ZEPI_SUCCESS;
}

// Gives new references to as many of `objects` as there is room for. Does not fail.
zepi_result_t zepi_list_objects(uint32_t count, void *const *objects, uint32_t capacity,
                                void **out_objects, uint32_t *out_count);

// Copies a filled information structure of `own_size` bytes, whose first member is its size, to
// the caller's: as much as the caller has room for, with that size written back.
zepi_result_t zepi_copy_info(void *out_info, const void *info, size_t own_size);

// Reads a caller's structure, whose first member is its size, into our own of `own_size` bytes:
// members that the caller's lacks are zero. A size below `least` is refused; more than ours is fine
// if the rest is zero.
zepi_result_t zepi_read_desc(void *own, size_t own_size, size_t least, const void *desc,
                             const char *name);

#endif
