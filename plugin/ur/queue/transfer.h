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
ur_result_t zepi_ur_read_buffer_rect(const struct zepi_ur_mem *mem, const struct zepi_ur_rect *rect,
                                     ur_rect_region_t region, struct zepi_layout *out_layout);
// In memory of the host or USM.
ur_result_t zepi_ur_read_memory_rect(struct zepi_context *context, const char *name,
                                     const void *memory, const struct zepi_ur_rect *rect,
                                     ur_rect_region_t region, struct zepi_layout *out_layout);

// A pattern that fits `size`.
ur_result_t zepi_ur_check_pattern(const void *pattern, size_t pattern_size, size_t size);

// The core's advices among these flags, a bit for each. The other flags are hints without a
// counterpart.
uint32_t zepi_ur_advice_bits(ur_usm_advice_flags_t advice);

#endif
