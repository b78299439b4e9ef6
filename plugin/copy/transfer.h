// SPDX-License-Identifier: MIT
#ifndef ZEPI_COPY_TRANSFER_H
#define ZEPI_COPY_TRANSFER_H

#include "queue/capture.h"
#include "ze/ze.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Copies, fills and hints as they are appended to command lists of the driver, by queues (copy.h)
// and by graphs. Any thread, under the lock of the list. The caller has checked ranges and patterns
// (checks/check.h), and transfers some bytes (quirk empty-copies).

struct zepi_device;
struct zepi_image;

// A rectangle of bytes as Level Zero takes it.
struct zepi_layout {
    ze_copy_region_t region;
    uint32_t row_pitch_bytes;
    uint32_t slice_pitch_bytes; // 0: one slice
};

// A copy, fill or hint, as a command of a queue or a graph. Borrowed for one call, with what it
// points to.
struct zepi_transfer {
    struct zepi_captured_command head;
    void *to;         // memory; NULL: an image
    const void *from; // the same; memory of hints, too; of a fill its values
    size_t size_bytes;
    struct zepi_layout to_layout; // rectangles; rows of a fill: a height of 0: it has no gaps
    struct zepi_layout from_layout;
    // Copies of images. NULL: memory, whose rows have no gaps if the pitches are 0.
    struct zepi_image *to_image; // borrowed
    struct zepi_image *from_image;
    ze_image_region_t to_region; // of an image; a width of 0: all of it
    ze_image_region_t from_region;
    uint32_t row_pitch_bytes;
    uint32_t slice_pitch_bytes;
    const void *pattern; // of any size; goes on from row to row, and all rows are a multiple of it
    size_t pattern_size_bytes;
    uint32_t advice; // a bit for each zepi_advice_t
};

// Appends to a list of the device.
// ZEPI_ERROR_UNSUPPORTED: the memory of an image has pitches, and the loader knows no such copies.
zepi_result_t zepi_append_transfer(ze_command_list_handle_t list, const struct zepi_device *device,
                                   const struct zepi_transfer *transfer, ze_event_handle_t signal,
                                   uint32_t wait_count, ze_event_handle_t *waits);

// Whether the driver fills with patterns of this size.
bool zepi_has_fill_command(const struct zepi_device *device, size_t pattern_size_bytes);
// Whether the fill is one command of the driver's.
static inline bool zepi_fill_is_command(const struct zepi_device *device,
                                        const struct zepi_transfer *fill)
{
    return fill->to_layout.region.height == 0 &&
           zepi_has_fill_command(device, fill->pattern_size_bytes);
}

// The first rows of a fill, where the driver's command does not make them. *out_values: USM of the
// host's, owned (zepi_usm_put), until the fill's commands are over; NULL: not needed.
zepi_result_t zepi_fill_make_values(struct zepi_context *context, const struct zepi_device *device,
                                    const struct zepi_transfer *fill, void **out_values);

#endif
