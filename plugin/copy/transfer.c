// SPDX-License-Identifier: MIT
#include "copy/transfer.h"

#include "core/stats.h"
#include "device/device.h"
#include "memory/image.h"
#include "memory/usm.h"

#include <string.h>

// ---- Rectangles ----

// One slice begins at an address of its own (quirk forgotten-slices). The caller has checked that
// the slice is inside the memory.
static uintptr_t begin_of_slice(const void *memory, struct zepi_layout *layout)
{
    uintptr_t begin = (uintptr_t)memory;
    if (layout->region.depth <= 1) {
        begin += (uintptr_t)layout->region.originZ * layout->slice_pitch_bytes;
        layout->region.originZ = 0;
        layout->slice_pitch_bytes = 0;
    }
    return begin;
}

static zepi_result_t append_copy_rect(ze_command_list_handle_t list,
                                      const struct zepi_transfer *copy, ze_event_handle_t signal,
                                      uint32_t wait_count, ze_event_handle_t *waits)
{
    struct zepi_layout to = copy->to_layout, from = copy->from_layout;
    void *to_begin = (void *)begin_of_slice(copy->to, &to);
    const void *from_begin = (const void *)begin_of_slice(copy->from, &from);
    zepi_stats_count_bytes(ZEPI_STAT_COPIES, (uint64_t)to.region.width * to.region.height *
                                                 (to.region.depth > 0 ? to.region.depth : 1));
    return ZEPI_ZE(zeCommandListAppendMemoryCopyRegion, list, to_begin, &to.region,
                   to.row_pitch_bytes, to.slice_pitch_bytes, from_begin, &from.region,
                   from.row_pitch_bytes, from.slice_pitch_bytes, signal, wait_count, waits);
}

// ---- Images ----

// NULL: the whole image.
static const ze_image_region_t *image_copy_region(const ze_image_region_t *region)
{
    return region->width > 0 ? region : NULL;
}

// Pitches came with the specification 1.4's extension zeCommandListAppendImageCopy...MemoryExt;
// drivers without take rows without gaps alone.
static zepi_result_t append_image_copy_with_pitches(ze_command_list_handle_t list,
                                                    const struct zepi_transfer *copy,
                                                    ze_event_handle_t signal, uint32_t wait_count,
                                                    ze_event_handle_t *waits)
{
    if (copy->to_image && zepi_ze.zeCommandListAppendImageCopyFromMemoryExt)
        return ZEPI_ZE(zeCommandListAppendImageCopyFromMemoryExt, list, copy->to_image->ze,
                       copy->from, image_copy_region(&copy->to_region), copy->row_pitch_bytes,
                       copy->slice_pitch_bytes, signal, wait_count, waits);
    if (!copy->to_image && zepi_ze.zeCommandListAppendImageCopyToMemoryExt)
        return ZEPI_ZE(zeCommandListAppendImageCopyToMemoryExt, list, copy->to,
                       copy->from_image->ze, image_copy_region(&copy->from_region),
                       copy->row_pitch_bytes, copy->slice_pitch_bytes, signal, wait_count, waits);
    return zepi_fail(ZEPI_ERROR_UNSUPPORTED, "the loader lacks image copies with pitches");
}

static zepi_result_t append_image_copy(ze_command_list_handle_t list,
                                       const struct zepi_transfer *copy, ze_event_handle_t signal,
                                       uint32_t wait_count, ze_event_handle_t *waits)
{
    const ze_image_region_t *to = image_copy_region(&copy->to_region);
    const ze_image_region_t *from = image_copy_region(&copy->from_region);
    if (copy->to_image && copy->from_image)
        return ZEPI_ZE(zeCommandListAppendImageCopyRegion, list, copy->to_image->ze,
                       copy->from_image->ze, to, from, signal, wait_count, waits);
    if (copy->row_pitch_bytes > 0 || copy->slice_pitch_bytes > 0)
        return append_image_copy_with_pitches(list, copy, signal, wait_count, waits);
    if (copy->to_image)
        return ZEPI_ZE(zeCommandListAppendImageCopyFromMemory, list, copy->to_image->ze, copy->from,
                       to, signal, wait_count, waits);
    return ZEPI_ZE(zeCommandListAppendImageCopyToMemory, list, copy->to, copy->from_image->ze, from,
                   signal, wait_count, waits);
}

// ---- Fills ----

#define MAX_PATTERN_BYTES 128

bool zepi_has_fill_command(const struct zepi_device *device, size_t pattern_size_bytes)
{
    const size_t most = device->max_fill_pattern_bytes;
    return pattern_size_bytes <= MAX_PATTERN_BYTES &&
           (pattern_size_bytes & (pattern_size_bytes - 1)) == 0 &&
           (most == 0 || pattern_size_bytes <= most);
}

// The rows of a fill. One without gaps has rows of a pattern each.
struct fill_rows {
    size_t width_bytes;
    size_t pitch_bytes;
    size_t count;
    size_t first_count; // the pattern begins with a row again after so many
};

static struct fill_rows fill_rows_of(const struct zepi_transfer *fill)
{
    const struct zepi_layout *layout = &fill->to_layout;
    const size_t pattern_bytes = fill->pattern_size_bytes;
    if (layout->region.height == 0)
        return (struct fill_rows){pattern_bytes, pattern_bytes, fill->size_bytes / pattern_bytes,
                                  1};
    const size_t width_bytes = layout->region.width;
    // Patterns of rows are a power of two bytes.
    const size_t largest_power = width_bytes & (~width_bytes + 1); // that divides the width
    return (struct fill_rows){width_bytes, layout->row_pitch_bytes, layout->region.height,
                              pattern_bytes > largest_power ? pattern_bytes / largest_power : 1};
}

zepi_result_t zepi_fill_make_values(struct zepi_context *context, const struct zepi_device *device,
                                    const struct zepi_transfer *fill, void **out_values)
{
    const struct fill_rows rows = fill_rows_of(fill);
    const size_t size_bytes = rows.first_count * rows.width_bytes;
    *out_values = NULL;
    if (rows.first_count == 1 && zepi_has_fill_command(device, fill->pattern_size_bytes))
        return ZEPI_SUCCESS;
    const zepi_result_t result =
        zepi_usm_allocate(context, NULL, ZEPI_USM_HOST, size_bytes, out_values);
    for (size_t at = 0; at < size_bytes && result == ZEPI_SUCCESS; at += fill->pattern_size_bytes)
        memcpy((char *)*out_values + at, fill->pattern, fill->pattern_size_bytes);
    return result;
}

// Copies rows that lie `from_pitch_bytes` apart to rows of the fill.
static zepi_result_t append_rows(ze_command_list_handle_t list, const struct fill_rows *rows,
                                 void *to, const void *from, size_t from_pitch_bytes, size_t count,
                                 ze_event_handle_t signal, uint32_t wait_count,
                                 ze_event_handle_t *waits)
{
    const ze_copy_region_t region = {
        .width = (uint32_t)rows->width_bytes, .height = (uint32_t)count, .depth = 1};
    if (rows->pitch_bytes == rows->width_bytes)
        return ZEPI_ZE(zeCommandListAppendMemoryCopy, list, to, from, count * rows->width_bytes,
                       signal, wait_count, waits);
    return ZEPI_ZE(zeCommandListAppendMemoryCopyRegion, list, to, &region,
                   (uint32_t)rows->pitch_bytes, 0, from, &region, (uint32_t)from_pitch_bytes, 0,
                   signal, wait_count, waits);
}

// The first rows are copied from the values, or filled. Then the rows that are there are copied,
// twice as many each time. Each copy waits, since there may be a gate (gate.h). The last one comes
// after all others, and signals.
static zepi_result_t append_fill_by_rows(ze_command_list_handle_t list,
                                         const struct zepi_transfer *fill, ze_event_handle_t signal,
                                         uint32_t wait_count, ze_event_handle_t *waits)
{
    const struct fill_rows rows = fill_rows_of(fill);
    const uintptr_t to = (uintptr_t)fill->to;
    ze_event_handle_t first_signal = rows.count <= rows.first_count ? signal : NULL;
    zepi_result_t result =
        fill->from
            ? append_rows(list, &rows, fill->to, fill->from, rows.width_bytes, rows.first_count,
                          first_signal, wait_count, waits)
            : ZEPI_ZE(zeCommandListAppendMemoryFill, list, fill->to, fill->pattern,
                      fill->pattern_size_bytes, rows.width_bytes, first_signal, wait_count, waits);
    for (size_t done = rows.first_count; done < rows.count && result == ZEPI_SUCCESS; done *= 2) {
        const size_t left = rows.count - done;
        result = ZEPI_ZE(zeCommandListAppendBarrier, list, NULL, 0, NULL);
        if (result == ZEPI_SUCCESS)
            result = append_rows(list, &rows, (void *)(to + done * rows.pitch_bytes), fill->to,
                                 rows.pitch_bytes, done < left ? done : left,
                                 done < left ? NULL : signal, wait_count, waits);
    }
    return result;
}

static zepi_result_t append_fill(ze_command_list_handle_t list, const struct zepi_transfer *fill,
                                 ze_event_handle_t signal, uint32_t wait_count,
                                 ze_event_handle_t *waits)
{
    zepi_stats_count_bytes(ZEPI_STAT_FILLS, fill->size_bytes);
    if (fill->from || fill->to_layout.region.height > 0)
        return append_fill_by_rows(list, fill, signal, wait_count, waits);
    return ZEPI_ZE(zeCommandListAppendMemoryFill, list, fill->to, fill->pattern,
                   fill->pattern_size_bytes, fill->size_bytes, signal, wait_count, waits);
}

// ---- Hints ----

static_assert((int)ZEPI_ADVICE_SET_READ_MOSTLY == ZE_MEMORY_ADVICE_SET_READ_MOSTLY &&
                  (int)ZEPI_ADVICE_BIAS_UNCACHED == ZE_MEMORY_ADVICE_BIAS_UNCACHED,
              "advices have Level Zero's values");

static zepi_result_t append_advice(ze_command_list_handle_t list, const struct zepi_device *device,
                                   const struct zepi_transfer *hint)
{
    zepi_result_t result = ZEPI_SUCCESS;
    for (unsigned bit = 0; hint->advice >> bit && result == ZEPI_SUCCESS; bit++) {
        if (hint->advice & (1u << bit))
            result = ZEPI_ZE(zeCommandListAppendMemAdvise, list, device->ze, hint->from,
                             hint->size_bytes, (ze_memory_advice_t)bit);
    }
    return result;
}

// Hints take no events of their own: barriers stand for them.
static zepi_result_t append_hint(ze_command_list_handle_t list, const struct zepi_device *device,
                                 const struct zepi_transfer *hint, ze_event_handle_t signal,
                                 uint32_t wait_count, ze_event_handle_t *waits)
{
    zepi_result_t result = ZEPI_SUCCESS;
    if (wait_count > 0)
        result = ZEPI_ZE(zeCommandListAppendBarrier, list, NULL, wait_count, waits);
    if (result == ZEPI_SUCCESS)
        result =
            hint->head.kind == ZEPI_COMMAND_ADVISE
                ? append_advice(list, device, hint)
                : ZEPI_ZE(zeCommandListAppendMemoryPrefetch, list, hint->from, hint->size_bytes);
    return result == ZEPI_SUCCESS && signal
               ? ZEPI_ZE(zeCommandListAppendBarrier, list, signal, 0, NULL)
               : result;
}

// ---- All kinds ----

zepi_result_t zepi_append_transfer(ze_command_list_handle_t list, const struct zepi_device *device,
                                   const struct zepi_transfer *transfer, ze_event_handle_t signal,
                                   uint32_t wait_count, ze_event_handle_t *waits)
{
    switch (transfer->head.kind) {
    case ZEPI_COMMAND_COPY:
        zepi_stats_count_bytes(ZEPI_STAT_COPIES, transfer->size_bytes);
        return ZEPI_ZE(zeCommandListAppendMemoryCopy, list, transfer->to, transfer->from,
                       transfer->size_bytes, signal, wait_count, waits);
    case ZEPI_COMMAND_COPY_RECT:
        return append_copy_rect(list, transfer, signal, wait_count, waits);
    case ZEPI_COMMAND_COPY_IMAGE:
        return append_image_copy(list, transfer, signal, wait_count, waits);
    case ZEPI_COMMAND_FILL:
        return append_fill(list, transfer, signal, wait_count, waits);
    default:
        return append_hint(list, device, transfer, signal, wait_count, waits);
    }
}
