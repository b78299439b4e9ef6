// SPDX-License-Identifier: MIT
#ifndef ZEPI_UR_QUEUE_TRANSFER_H
#define ZEPI_UR_QUEUE_TRANSFER_H

#include "ur/memory/mem.h"

// Checks and translations of copies, fills and hints, enqueued or recorded. Any thread.

// A rectangle in the core's words.
ur_result_t zepi_ur_rect_init(zepi_rect_t *rect, ur_rect_offset_t origin, size_t row_pitch,
                              size_t slice_pitch, ur_rect_region_t region);
// The last byte of a rectangle lies inside the buffer.
ur_result_t zepi_ur_check_rect(const struct zepi_ur_mem *mem, const zepi_rect_t *rect,
                               ur_rect_region_t region);

// A pattern that fits `size`.
ur_result_t zepi_ur_check_pattern(const void *pattern, size_t pattern_size, size_t size);

// Commands.
zepi_result_t zepi_ur_prefetch(zepi_queue_t queue, const void *memory, size_t size,
                               ur_usm_migration_flags_t flags, zepi_wait_list_t wait,
                               zepi_event_t *out_event);
// One hint after the other, then the event.
zepi_result_t zepi_ur_advise(zepi_queue_t queue, const void *memory, size_t size,
                             ur_usm_advice_flags_t advice, zepi_wait_list_t wait,
                             zepi_event_t *out_event);

#endif
