// SPDX-License-Identifier: MIT
#ifndef ZEPI_CHECKS_CHECK_H
#define ZEPI_CHECKS_CHECK_H

#include "copy/copy.h"
#include "memory/usm.h"
#include "queue/event.h"

// Both front ends check a host's arguments with these functions. A check fills in a fault, which
// tells the kind of mistake; the front end fails with its sentence, and with a code of its own.
// Layers below check none of it again. Any thread, under no lock.

enum zepi_fault_kind {
    ZEPI_FAULT_NO_LIST,     // a wait list of `wanted` events is NULL
    ZEPI_FAULT_EVENT,       // `object`, of a wait list, is no live event
    ZEPI_FAULT_PLATFORM,    // an event of a wait list is of another platform than its queue
    ZEPI_FAULT_NULL,        // `what` is NULL
    ZEPI_FAULT_EMPTY,       // no bytes, or a region of nothing
    ZEPI_FAULT_END,         // `wanted` bytes from `object` on, where there are `has`
    ZEPI_FAULT_WRAP,        // the same, past the end of the address space
    ZEPI_FAULT_ROW_PITCH,   // `has` bytes, the region's width is `wanted`
    ZEPI_FAULT_SLICE_PITCH, // `has` bytes, a slice of the region takes `wanted`
    ZEPI_FAULT_TOO_LARGE,   // a rectangle that passes the 64 bits of a size
    ZEPI_FAULT_IMAGE,       // `wanted` pixels in a dimension, of an image that has `has` there
    // Beyond Level Zero's 32 bits.
    ZEPI_FAULT_32_BITS,       // an origin or a region
    ZEPI_FAULT_ROW_32_BITS,   // a row pitch of `has` bytes
    ZEPI_FAULT_SLICE_32_BITS, // a slice pitch of `has` bytes
};

struct zepi_fault {
    enum zepi_fault_kind kind;
    const char *what; // the front end's name of the argument; of wait lists NULL
    const void *object;
    size_t wanted;
    size_t has;
};

// Notes the sentence of a fault, and returns its code.
zepi_result_t zepi_fault_fail(const struct zepi_fault *fault) __attribute__((cold, noinline));

// The events of a command's wait list are live ones of the platform.
bool zepi_check_events(const struct zepi_context *context, zepi_wait_list_t wait,
                       struct zepi_fault *out_fault);
static inline bool zepi_check_wait_list(const struct zepi_context *context, zepi_wait_list_t wait,
                                        struct zepi_fault *out_fault)
{
    return wait.count == 0 || zepi_check_events(context, wait, out_fault);
}

// `size_bytes`, which are not 0, from `memory` on lie in one allocation as far as zepi knows, and
// in the address space.
bool zepi_check_any_range(struct zepi_context *context, const char *what, const void *memory,
                          size_t size_bytes, struct zepi_fault *out_fault)
    __attribute__((noinline));
static inline bool zepi_check_range(struct zepi_context *context, const char *what,
                                    const void *memory, size_t size_bytes,
                                    struct zepi_fault *out_fault)
{
    return (size_bytes > 0 && zepi_usm_is_known_inside(context, memory, size_bytes)) ||
           zepi_check_any_range(context, what, memory, size_bytes, out_fault);
}

// A rectangle in memory of `capacity` bytes (SIZE_MAX: not known) as Level Zero takes it, with the
// pitches that were left out. Rows and slices do not overlap. *out_size_bytes: from the memory's
// begin to the end of the rectangle.
bool zepi_check_rect(const char *what, const zepi_rect_t *rect, const size_t region[3],
                     size_t capacity, struct zepi_layout *out_layout, size_t *out_size_bytes,
                     struct zepi_fault *out_fault);

// Memory that the rectangle is in: it may be an allocation, which is its capacity then.
static inline bool zepi_check_rect_in_memory(struct zepi_context *context, const char *what,
                                             const void *memory, const zepi_rect_t *rect,
                                             const size_t region[3], struct zepi_layout *out_layout,
                                             struct zepi_fault *out_fault)
{
    size_t size_bytes;
    return zepi_check_rect(what, rect, region, SIZE_MAX, out_layout, &size_bytes, out_fault) &&
           zepi_check_range(context, what, memory, size_bytes, out_fault);
}

#endif
