// SPDX-License-Identifier: MIT
#ifndef ZEPI_UR_QUEUE_TRANSFER_H
#define ZEPI_UR_QUEUE_TRANSFER_H

#include "copy/copy.h"
#include "ur/memory/mem.h"

// Checks and translations of copies, fills and hints, enqueued or recorded. Any thread.

// A rectangle of bytes as the host describes it.
struct zepi_ur_rect {
    ur_rect_offset_t origin;
    size_t row_pitch;
    size_t slice_pitch;
};

// An end of a copy: a buffer from an offset on, or memory of the host or USM. Of a copy of a
// rectangle, with its place there.
struct zepi_ur_end {
    const char *name; // of the parameter with the memory; NULL: a buffer
    ur_mem_handle_t buffer;
    char *memory; // of a buffer: for the caller, which finds it
    size_t offset;
    struct zepi_ur_rect rect;
};
#define ZEPI_UR_BUFFER(handle, from) .buffer = (handle), .offset = (from)
#define ZEPI_UR_MEMORY(parameter) .name = #parameter, .memory = (char *)(parameter)

// Whether the buffers are such that commands of the context can use them.
ur_result_t zepi_ur_check_ends(const struct zepi_context *context, const struct zepi_ur_end *to,
                               const struct zepi_ur_end *from);
// `size` bytes, or a rectangle, are inside both. The latter's layouts go into the transfer.
ur_result_t zepi_ur_check_bytes(struct zepi_context *context, const struct zepi_ur_end *to,
                                const struct zepi_ur_end *from, size_t size);
ur_result_t zepi_ur_read_rects(struct zepi_context *context, const struct zepi_ur_end *to,
                               const struct zepi_ur_end *from, ur_rect_region_t region,
                               struct zepi_transfer *out_transfer);

// A pattern that fits `size`.
ur_result_t zepi_ur_check_pattern(const void *pattern, size_t pattern_size, size_t size);

// The core's advices among these flags, a bit for each. The other flags are hints without a
// counterpart.
uint32_t zepi_ur_advice_bits(ur_usm_advice_flags_t advice);

#endif
