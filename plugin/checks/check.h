// SPDX-License-Identifier: MIT
#ifndef ZEPI_CHECKS_CHECK_H
#define ZEPI_CHECKS_CHECK_H

#include "copy/copy.h"
#include "memory/usm.h"
#include "queue/event.h"

// Both front ends check a host's arguments with these functions. A failure is noted with its
// sentence, which has the front end's name of the argument; a front end whose codes say more than
// the result asks for the subject. Layers below check none of it again. Any thread, under no lock.

// The events of a command's wait list are live ones of the platform: ZEPI_SUBJECT_CONTEXT if one is
// of another.
zepi_result_t zepi_check_events(const struct zepi_context *context, zepi_wait_list_t wait);
static inline zepi_result_t zepi_check_wait_list(const struct zepi_context *context,
                                                 zepi_wait_list_t wait)
{
    return wait.count == 0 ? ZEPI_SUCCESS : zepi_check_events(context, wait);
}

// `size_bytes`, which are not 0, from `memory` on lie in one allocation as far as zepi knows, and
// in the address space. ZEPI_ERROR_INVALID_VALUE: `memory` is NULL.
zepi_result_t zepi_check_any_range(struct zepi_context *context, const char *name,
                                   const void *memory, size_t size_bytes) __attribute__((noinline));
static inline zepi_result_t zepi_check_range(struct zepi_context *context, const char *name,
                                             const void *memory, size_t size_bytes)
{
    return size_bytes > 0 && zepi_usm_is_known_inside(context, memory, size_bytes)
               ? ZEPI_SUCCESS
               : zepi_check_any_range(context, name, memory, size_bytes);
}

// A rectangle in memory of `capacity` bytes (SIZE_MAX: not known) as Level Zero takes it, with the
// pitches that were left out. Rows and slices do not overlap. *out_size_bytes: from the memory's
// begin to the end of the rectangle.
zepi_result_t zepi_check_rect(const char *name, const zepi_rect_t *rect, const size_t region[3],
                              size_t capacity, struct zepi_layout *out_layout,
                              size_t *out_size_bytes);

// Memory that the rectangle is in: it may be an allocation, which is its capacity then.
static inline zepi_result_t zepi_check_rect_in_memory(struct zepi_context *context,
                                                      const char *name, const void *memory,
                                                      const zepi_rect_t *rect,
                                                      const size_t region[3],
                                                      struct zepi_layout *out_layout)
{
    size_t size_bytes;
    const zepi_result_t result =
        zepi_check_rect(name, rect, region, SIZE_MAX, out_layout, &size_bytes);
    return result ? result : zepi_check_range(context, name, memory, size_bytes);
}

#endif
