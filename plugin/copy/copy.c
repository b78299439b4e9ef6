// SPDX-License-Identifier: MIT
#include "copy/copy.h"

#include "memory/usm.h"
#include "queue/capture_command.h"
#include "queue/command/barrier.h"
#include "ze/ze.h"

zepi_result_t zepi_copy_check_range(const char *name, const void *memory, size_t size_bytes)
{
    if (!memory)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the %s is NULL", name);
    if ((uintptr_t)memory + size_bytes < (uintptr_t)memory)
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE, "%zu bytes from %p reach past the end of memory",
                         size_bytes, memory);
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_copy_await_source(struct zepi_submit *submit, const void *source)
{
    return !zepi_queue_copies_early(submit->queue) ||
                   zepi_usm_is_known_inside(submit->queue->context, source, 1)
               ? ZEPI_SUCCESS
               : zepi_submit_await_list_locked(submit);
}

zepi_result_t zepi_queue_copy(zepi_queue_t queue, void *destination, const void *source,
                              size_t size_bytes, zepi_wait_list_t wait, zepi_event_t *out_event)
{
    struct zepi_submit submit;
    zepi_result_t result = zepi_check_object(queue, &zepi_queue_type);
    if (result == ZEPI_SUCCESS && size_bytes == 0)
        return zepi_queue_marker(queue, wait, out_event);
    if (result == ZEPI_SUCCESS)
        result = zepi_copy_check_range("destination", destination, size_bytes);
    if (result == ZEPI_SUCCESS)
        result = zepi_copy_check_range("source", source, size_bytes);
    if (result == ZEPI_SUCCESS)
        result = zepi_copy_begin(&submit, queue, wait, out_event, ZEPI_ENGINE_COPY, source);
    if (__builtin_expect(result == ZEPI_CAPTURED, 0)) {
        const struct zepi_captured_command command = {.kind = ZEPI_CAPTURED_COPY,
                                                      .to = destination,
                                                      .from = source,
                                                      .size_bytes = size_bytes};
        return zepi_capture_command(queue, &command, wait, out_event);
    }
    if (result != ZEPI_SUCCESS)
        return result;
    result = ZEPI_ZE(zeCommandListAppendMemoryCopy, submit.list, destination, source, size_bytes,
                     submit.signal, submit.wait_count, submit.waits);
    return zepi_submit_end(&submit, result, out_event);
}

bool zepi_copy_rect_extent(const zepi_rect_t *rect, const size_t region[3], size_t *out_size_bytes)
{
    const size_t *origin = rect->origin_bytes;
    size_t slice = rect->slice_pitch_bytes;
    size_t rows, slices, size;
    const size_t row = rect->row_pitch_bytes ? rect->row_pitch_bytes : region[0];
    if ((slice == 0 && __builtin_mul_overflow(row, region[1], &slice)) ||
        __builtin_add_overflow(origin[1], region[1] - 1, &rows) ||
        __builtin_add_overflow(origin[2], region[2] - 1, &slices) ||
        __builtin_mul_overflow(rows, row, &rows) ||
        __builtin_mul_overflow(slices, slice, &slices) ||
        __builtin_add_overflow(origin[0], region[0], &size) ||
        __builtin_add_overflow(size, rows, &size) || __builtin_add_overflow(size, slices, &size))
        return false;
    *out_size_bytes = size;
    return true;
}

// Whether Level Zero's 32 bits hold the rectangle. A slice pitch counts where there is a second
// slice, or one before the region.
static zepi_result_t check_copied_numbers(const char *name, const zepi_rect_t *rect, size_t row,
                                          size_t slice, const size_t region[3])
{
    for (int i = 0; i < 3; i++) {
        if (rect->origin_bytes[i] > UINT32_MAX || region[i] > UINT32_MAX)
            return zepi_fail(ZEPI_ERROR_INVALID_SIZE, "the %s rectangle is beyond 32 bits", name);
    }
    if (row > UINT32_MAX)
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                         "the %s's row pitch of %zu bytes is beyond 32 bits", name, row);
    if (slice > UINT32_MAX)
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                         "the %s's slice pitch of %zu bytes is beyond 32 bits: copy single slices "
                         "from where they begin",
                         name, slice);
    return ZEPI_SUCCESS;
}

// Fills in the pitches that were left to us, and checks that rows and slices do not overlap.
static zepi_result_t read_copy_rect(const char *name, const void *memory, const zepi_rect_t *rect,
                                    const size_t region[3], ze_copy_region_t *out_region,
                                    uint32_t *out_pitch, uint32_t *out_slice_pitch)
{
    const size_t row = rect->row_pitch_bytes ? rect->row_pitch_bytes : region[0];
    const bool is_single = region[2] == 1 && rect->origin_bytes[2] == 0;
    size_t least;
    size_t size_bytes;
    if (__builtin_mul_overflow(row, region[1], &least) ||
        !zepi_copy_rect_extent(rect, region, &size_bytes))
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE, "the %s rectangle is too large", name);
    const size_t slice = rect->slice_pitch_bytes ? rect->slice_pitch_bytes : least;
    if (row < region[0])
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                         "the %s's row pitch is %zu bytes, expected at least %zu, the region's "
                         "width",
                         name, row, region[0]);
    if (slice < least)
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                         "the %s's slice pitch is %zu bytes, expected at least %zu, the row pitch "
                         "times the region's height",
                         name, slice, least);
    zepi_result_t result = zepi_copy_check_range(name, memory, size_bytes);
    if (result == ZEPI_SUCCESS)
        result = check_copied_numbers(name, rect, row, is_single ? 0 : slice, region);
    if (result != ZEPI_SUCCESS)
        return result;
    *out_region = (ze_copy_region_t){
        .originX = (uint32_t)rect->origin_bytes[0],
        .originY = (uint32_t)rect->origin_bytes[1],
        .originZ = (uint32_t)rect->origin_bytes[2],
        .width = (uint32_t)region[0],
        .height = (uint32_t)region[1],
        .depth = (uint32_t)region[2],
    };
    *out_pitch = (uint32_t)row;
    *out_slice_pitch = is_single ? 0 : (uint32_t)slice;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_copy_regions_init(struct zepi_copy_regions *regions, const void *destination,
                                     const zepi_rect_t *to, const void *source,
                                     const zepi_rect_t *from, const size_t region[3])
{
    const zepi_result_t result =
        read_copy_rect("destination", destination, to, region, &regions->to, &regions->to_pitch,
                       &regions->to_slice_pitch);
    return result == ZEPI_SUCCESS ? read_copy_rect("source", source, from, region, &regions->from,
                                                   &regions->from_pitch, &regions->from_slice_pitch)
                                  : result;
}

zepi_result_t zepi_queue_copy_rect(zepi_queue_t queue, void *destination,
                                   const zepi_rect_t *destination_rect, const void *source,
                                   const zepi_rect_t *source_rect, const size_t region[3],
                                   zepi_wait_list_t wait, zepi_event_t *out_event)
{
    struct zepi_submit submit;
    struct zepi_copy_regions regions;
    zepi_result_t result = zepi_check_object(queue, &zepi_queue_type);
    if (result != ZEPI_SUCCESS)
        return result;
    if (!destination || !source || !destination_rect || !source_rect || !region)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "destination, source, their rectangles and the region must not be NULL");
    if (region[0] == 0 || region[1] == 0 || region[2] == 0)
        return zepi_queue_marker(queue, wait, out_event);
    result = zepi_copy_regions_init(&regions, destination, destination_rect, source, source_rect,
                                    region);
    if (result == ZEPI_SUCCESS)
        result = zepi_copy_begin(&submit, queue, wait, out_event, ZEPI_ENGINE_COPY, source);
    if (__builtin_expect(result == ZEPI_CAPTURED, 0)) {
        const struct zepi_captured_command command = {.kind = ZEPI_CAPTURED_COPY_RECT,
                                                      .to = destination,
                                                      .to_rect = destination_rect,
                                                      .from = source,
                                                      .from_rect = source_rect,
                                                      .region = region};
        return zepi_capture_command(queue, &command, wait, out_event);
    }
    if (result != ZEPI_SUCCESS)
        return result;
    result =
        ZEPI_ZE(zeCommandListAppendMemoryCopyRegion, submit.list, destination, &regions.to,
                regions.to_pitch, regions.to_slice_pitch, source, &regions.from, regions.from_pitch,
                regions.from_slice_pitch, submit.signal, submit.wait_count, submit.waits);
    return zepi_submit_end(&submit, result, out_event);
}
