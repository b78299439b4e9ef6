// SPDX-License-Identifier: MIT
#include "checks/image.h"

#include "ze/ze_optional.h"

// By the number of channels less one, and their size: 1, 2 or 4 bytes.
static const int layouts[4][3] = {
    {ZE_IMAGE_FORMAT_LAYOUT_8, ZE_IMAGE_FORMAT_LAYOUT_16, ZE_IMAGE_FORMAT_LAYOUT_32},
    {ZE_IMAGE_FORMAT_LAYOUT_8_8, ZE_IMAGE_FORMAT_LAYOUT_16_16, ZE_IMAGE_FORMAT_LAYOUT_32_32},
    {ZEPI_ZE_IMAGE_FORMAT_LAYOUT_8_8_8, ZEPI_ZE_IMAGE_FORMAT_LAYOUT_16_16_16,
     ZEPI_ZE_IMAGE_FORMAT_LAYOUT_32_32_32},
    {ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8, ZE_IMAGE_FORMAT_LAYOUT_16_16_16_16,
     ZE_IMAGE_FORMAT_LAYOUT_32_32_32_32},
};

ze_image_format_layout_t zepi_image_layout_of(uint32_t channel_count, uint32_t channel_bytes)
{
    const bool is_size = channel_bytes == 1 || channel_bytes == 2 || channel_bytes == 4;
    return channel_count - 1 < 4 && is_size
               ? (ze_image_format_layout_t)layouts[channel_count - 1][channel_bytes / 2]
               : ZE_IMAGE_FORMAT_LAYOUT_FORCE_UINT32;
}

uint32_t zepi_image_pixel_bytes(const struct zepi_image *image)
{
    for (uint32_t i = 0; i < 12; i++) {
        if (layouts[i / 3][i % 3] == (int)image->desc.format.layout)
            return (i / 3 + 1) << (i % 3);
    }
    return 0;
}

zepi_result_t zepi_check_image_region(const struct zepi_image *image, const size_t origin[3],
                                      const size_t extent[3], ze_image_region_t *out_region)
{
    static const size_t begin[3];
    const ze_image_desc_t *desc = &image->desc;
    const uint32_t layers = desc->arraylevels > 0 ? desc->arraylevels : 1;
    const size_t all[3] = {desc->width, desc->type == ZE_IMAGE_TYPE_1DARRAY ? layers : desc->height,
                           desc->type == ZE_IMAGE_TYPE_2DARRAY ? layers : desc->depth};
    if (!extent) {
        origin = begin;
        extent = all;
    }
    for (int i = 0; i < 3; i++) {
        if (extent[i] == 0 || origin[i] > all[i] || extent[i] > all[i] - origin[i])
            return zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                             "a region of %zu pixels in a dimension in which the image has %zu",
                             extent[i], all[i]);
    }
    *out_region = (ze_image_region_t){.originX = (uint32_t)origin[0],
                                      .originY = (uint32_t)origin[1],
                                      .originZ = (uint32_t)origin[2],
                                      .width = (uint32_t)extent[0],
                                      .height = (uint32_t)extent[1],
                                      .depth = (uint32_t)extent[2]};
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_check_image_memory(struct zepi_context *context, const char *name,
                                      const void *memory, const struct zepi_image *image,
                                      const ze_image_region_t *region, size_t row_pitch,
                                      size_t slice_pitch, struct zepi_transfer *copy)
{
    const zepi_rect_t rect = {.row_pitch_bytes = row_pitch, .slice_pitch_bytes = slice_pitch};
    const size_t row = (size_t)zepi_image_pixel_bytes(image) * region->width;
    const size_t slice = row * region->height;
    struct zepi_layout layout = {0};
    // Rows without gaps have no pitches, which Level Zero would have in 32 bits.
    const bool is_dense =
        (row_pitch == 0 || row_pitch == row) && (slice_pitch == 0 || slice_pitch == slice);
    const zepi_result_t result =
        is_dense
            ? zepi_check_range(context, name, memory, slice * region->depth)
            : zepi_check_rect_in_memory(context, name, memory, &rect,
                                        (size_t[]){row, region->height, region->depth}, &layout);
    copy->row_pitch_bytes = layout.row_pitch_bytes;
    copy->slice_pitch_bytes = layout.slice_pitch_bytes;
    return result;
}
