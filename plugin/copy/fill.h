// SPDX-License-Identifier: MIT
#ifndef ZEPI_COPY_FILL_H
#define ZEPI_COPY_FILL_H

#include "device/context.h"
#include "queue/queue.h"

// Fills of memory with a pattern, as commands of a queue. Any thread, under no lock. The pattern is
// read before the call returns. The caller has checked queue, wait list, pattern and ranges
// (checks/check.h), and fills some bytes, a multiple of the pattern.

// With a pattern of any size, on any device.
zepi_result_t zepi_queue_fill(zepi_queue_t queue, void *destination, const void *pattern,
                              size_t pattern_size_bytes, size_t size_bytes, zepi_wait_list_t wait,
                              zepi_event_t *out_event);

// Rows of `width_bytes`, each `pitch_bytes` after the one before; the pattern goes on from row to
// row. All rows together are a multiple of it.
struct zepi_fill_rect {
    size_t pitch_bytes;
    size_t width_bytes;
    size_t height;
};
zepi_result_t zepi_queue_fill_rect(zepi_queue_t queue, void *destination,
                                   const struct zepi_fill_rect *rect, const void *pattern,
                                   size_t pattern_size_bytes, zepi_wait_list_t wait,
                                   zepi_event_t *out_event);

// Whether the driver fills with patterns of this size.
bool zepi_has_fill_command(const struct zepi_device *device, size_t pattern_size_bytes);

#endif
