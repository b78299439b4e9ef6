// SPDX-License-Identifier: MIT
#ifndef ZEPI_QUEUE_COPY_IMAGE_H
#define ZEPI_QUEUE_COPY_IMAGE_H

#include "core/status.h"

struct zepi_image;

// Commands between images, and between images and memory. Thread-safe. A region of NULL is the
// whole image; memory is rows without gaps if a pitch is 0.
zepi_result_t zepi_queue_copy_image(zepi_queue_t queue, struct zepi_image *destination,
                                    const ze_image_region_t *to, struct zepi_image *source,
                                    const ze_image_region_t *from, zepi_wait_list_t wait,
                                    zepi_event_t *out_event);
zepi_result_t zepi_queue_write_image(zepi_queue_t queue, struct zepi_image *destination,
                                     const ze_image_region_t *to, const void *source,
                                     uint32_t row_pitch_bytes, uint32_t slice_pitch_bytes,
                                     zepi_wait_list_t wait, zepi_event_t *out_event);
zepi_result_t zepi_queue_read_image(zepi_queue_t queue, void *destination,
                                    struct zepi_image *source, const ze_image_region_t *from,
                                    uint32_t row_pitch_bytes, uint32_t slice_pitch_bytes,
                                    zepi_wait_list_t wait, zepi_event_t *out_event);

#endif
