// SPDX-License-Identifier: MIT
#ifndef ZEPI_COPY_IMAGE_COPY_H
#define ZEPI_COPY_IMAGE_COPY_H

#include "queue/queue.h"

struct zepi_image;

// A copy between images, or between an image and memory: rows without gaps if the pitches are 0.
// Images are borrowed. Any thread, under no lock.
struct zepi_image_copy {
    struct zepi_image *to;         // NULL: memory
    struct zepi_image *from;       // NULL: memory; not both
    ze_image_region_t to_region;   // of an image; a width of 0: all of it
    ze_image_region_t from_region; // the same
    void *to_memory;
    const void *from_memory;
    uint32_t row_pitch_bytes;
    uint32_t slice_pitch_bytes;
};

// As a command of a queue, which the caller has checked with the images. ZEPI_ERROR_UNSUPPORTED:
// there are pitches, and the loader knows no copies with them.
zepi_result_t zepi_queue_copy_image(zepi_queue_t queue, const struct zepi_image_copy *copy,
                                    zepi_wait_list_t wait, zepi_event_t *out_event);

// For a list that is recorded.
zepi_result_t zepi_append_image_copy(ze_command_list_handle_t list,
                                     const struct zepi_image_copy *copy, ze_event_handle_t signal,
                                     uint32_t wait_count, ze_event_handle_t *waits);

#endif
