// SPDX-License-Identifier: MIT
#ifndef ZEPI_QUEUE_COPY_H
#define ZEPI_QUEUE_COPY_H

#include <zepi/zepi.h>

zepi_result_t zepi_queue_copy(zepi_queue_t queue, void *destination, const void *source,
                              size_t size_bytes, zepi_wait_list_t wait, zepi_event_t *out_event);
zepi_result_t zepi_queue_copy_rect(zepi_queue_t queue, void *destination,
                                   const zepi_rect_t *destination_rect, const void *source,
                                   const zepi_rect_t *source_rect, const size_t region[3],
                                   zepi_wait_list_t wait, zepi_event_t *out_event);
zepi_result_t zepi_queue_fill(zepi_queue_t queue, void *destination, const void *pattern,
                              size_t pattern_size_bytes, size_t size_bytes, zepi_wait_list_t wait,
                              zepi_event_t *out_event);
// The same with a pattern of any size.
zepi_result_t zepi_queue_fill_any(zepi_queue_t queue, void *destination, const void *pattern,
                                  size_t pattern_size_bytes, size_t size_bytes,
                                  zepi_wait_list_t wait, zepi_event_t *out_event);
// Rows of `width_bytes`, each `pitch_bytes` after the one before; the pattern goes on from row to
// row. A width that is no multiple of the pattern is an error.
struct zepi_fill_rect {
    size_t pitch_bytes;
    size_t width_bytes;
    size_t height;
};
zepi_result_t zepi_queue_fill_rect(zepi_queue_t queue, void *destination,
                                   const struct zepi_fill_rect *rect, const void *pattern,
                                   size_t pattern_size_bytes, zepi_wait_list_t wait,
                                   zepi_event_t *out_event);
zepi_result_t zepi_queue_prefetch(zepi_queue_t queue, const void *memory, size_t size_bytes,
                                  zepi_wait_list_t wait, zepi_event_t *out_event);
zepi_result_t zepi_queue_advise(zepi_queue_t queue, const void *memory, size_t size_bytes,
                                zepi_advice_t advice, zepi_event_t *out_event);

#endif
