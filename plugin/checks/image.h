// SPDX-License-Identifier: MIT
#ifndef ZEPI_CHECKS_IMAGE_H
#define ZEPI_CHECKS_IMAGE_H

#include "checks/check.h"
#include "copy/copy.h"
#include "memory/image.h"

// Images as both front ends describe and copy them. Any thread, under no lock.

// Level Zero's layout of channels of one size; ZE_IMAGE_FORMAT_LAYOUT_FORCE_UINT32: there is none.
ze_image_format_layout_t zepi_image_layout_of(uint32_t channel_count, uint32_t channel_bytes);
// 0: an image whose layout is none of these.
uint32_t zepi_image_pixel_bytes(const struct zepi_image *image);

// Pixels that are inside the image, as Level Zero takes them. Layers of an array are the dimension
// behind its last one. `extent` NULL: the whole image.
zepi_result_t zepi_check_image_region(const struct zepi_image *image, const size_t origin[3],
                                      const size_t extent[3], ze_image_region_t *out_region);
// Memory for a region of the image, whose pitches are 0 if they were left out, and come out as 0 of
// rows without gaps.
zepi_result_t zepi_check_image_memory(struct zepi_context *context, const char *name,
                                      const void *memory, const struct zepi_image *image,
                                      const ze_image_region_t *region, size_t row_pitch,
                                      size_t slice_pitch, struct zepi_transfer *copy);

#endif
