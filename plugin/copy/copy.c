// SPDX-License-Identifier: MIT
#include "copy/copy.h"

#include "core/stats.h"
#include "memory/image.h"
#include "queue/capture_command.h"
#include "ze/ze.h"

zepi_result_t zepi_queue_copy(zepi_queue_t queue, void *destination, const void *source,
                              size_t size_bytes, zepi_wait_list_t wait, zepi_event_t *out_event)
{
    struct zepi_copy copy;
    zepi_result_t result = zepi_copy_begin(&copy, queue, wait, out_event, ZEPI_ENGINE_COPY,
                                           destination, source, size_bytes);
    if (__builtin_expect(result == ZEPI_CAPTURED, 0)) {
        const struct zepi_transfer command = {.head.kind = ZEPI_CAPTURED_COPY,
                                              .to = destination,
                                              .from = source,
                                              .size_bytes = size_bytes};
        return zepi_capture_command(queue, &command.head, wait, out_event);
    }
    if (result != ZEPI_SUCCESS)
        return result;
    zepi_stats_count_bytes(ZEPI_STAT_COPIES, size_bytes);
    result = ZEPI_ZE(zeCommandListAppendMemoryCopy, copy.submit.list, destination, copy.source,
                     size_bytes, copy.submit.signal, copy.submit.wait_count, copy.submit.waits);
    return zepi_copy_end(&copy, result, out_event);
}

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

zepi_result_t zepi_append_copy_rect(ze_command_list_handle_t list, void *destination,
                                    const struct zepi_layout *to, const void *source,
                                    const struct zepi_layout *from, ze_event_handle_t signal,
                                    uint32_t wait_count, ze_event_handle_t *waits)
{
    struct zepi_layout to_slice = *to, from_slice = *from;
    void *to_begin = (void *)begin_of_slice(destination, &to_slice);
    const void *from_begin = (const void *)begin_of_slice(source, &from_slice);
    zepi_stats_count_bytes(ZEPI_STAT_COPIES, (uint64_t)to->region.width * to->region.height *
                                                 (to->region.depth > 0 ? to->region.depth : 1));
    return ZEPI_ZE(zeCommandListAppendMemoryCopyRegion, list, to_begin, &to_slice.region,
                   to_slice.row_pitch_bytes, to_slice.slice_pitch_bytes, from_begin,
                   &from_slice.region, from_slice.row_pitch_bytes, from_slice.slice_pitch_bytes,
                   signal, wait_count, waits);
}

zepi_result_t zepi_queue_copy_rect(zepi_queue_t queue, void *destination,
                                   const struct zepi_layout *to, const void *source,
                                   const struct zepi_layout *from, zepi_wait_list_t wait,
                                   zepi_event_t *out_event)
{
    struct zepi_copy copy;
    zepi_result_t result =
        zepi_copy_begin(&copy, queue, wait, out_event, ZEPI_ENGINE_COPY, destination, source, 0);
    if (__builtin_expect(result == ZEPI_CAPTURED, 0)) {
        const struct zepi_transfer command = {.head.kind = ZEPI_CAPTURED_COPY_RECT,
                                              .to = destination,
                                              .to_layout = *to,
                                              .from = source,
                                              .from_layout = *from};
        return zepi_capture_command(queue, &command.head, wait, out_event);
    }
    if (result != ZEPI_SUCCESS)
        return result;
    result = zepi_append_copy_rect(copy.submit.list, destination, to, source, from,
                                   copy.submit.signal, copy.submit.wait_count, copy.submit.waits);
    return zepi_copy_end(&copy, result, out_event);
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
                                                    const struct zepi_image_copy *copy,
                                                    ze_event_handle_t signal, uint32_t wait_count,
                                                    ze_event_handle_t *waits)
{
    if (copy->to && zepi_ze.zeCommandListAppendImageCopyFromMemoryExt)
        return ZEPI_ZE(zeCommandListAppendImageCopyFromMemoryExt, list, copy->to->ze,
                       copy->from_memory, image_copy_region(&copy->to_region),
                       copy->row_pitch_bytes, copy->slice_pitch_bytes, signal, wait_count, waits);
    if (!copy->to && zepi_ze.zeCommandListAppendImageCopyToMemoryExt)
        return ZEPI_ZE(zeCommandListAppendImageCopyToMemoryExt, list, copy->to_memory,
                       copy->from->ze, image_copy_region(&copy->from_region), copy->row_pitch_bytes,
                       copy->slice_pitch_bytes, signal, wait_count, waits);
    return zepi_fail(ZEPI_ERROR_UNSUPPORTED, "the loader lacks image copies with pitches");
}

zepi_result_t zepi_append_image_copy(ze_command_list_handle_t list,
                                     const struct zepi_image_copy *copy, ze_event_handle_t signal,
                                     uint32_t wait_count, ze_event_handle_t *waits)
{
    const ze_image_region_t *to = image_copy_region(&copy->to_region);
    const ze_image_region_t *from = image_copy_region(&copy->from_region);
    if (copy->to && copy->from)
        return ZEPI_ZE(zeCommandListAppendImageCopyRegion, list, copy->to->ze, copy->from->ze, to,
                       from, signal, wait_count, waits);
    if (copy->row_pitch_bytes > 0 || copy->slice_pitch_bytes > 0)
        return append_image_copy_with_pitches(list, copy, signal, wait_count, waits);
    if (copy->to)
        return ZEPI_ZE(zeCommandListAppendImageCopyFromMemory, list, copy->to->ze,
                       copy->from_memory, to, signal, wait_count, waits);
    return ZEPI_ZE(zeCommandListAppendImageCopyToMemory, list, copy->to_memory, copy->from->ze,
                   from, signal, wait_count, waits);
}

zepi_result_t zepi_queue_copy_image(zepi_queue_t queue, const struct zepi_image_copy *copy,
                                    zepi_wait_list_t wait, zepi_event_t *out_event)
{
    struct zepi_copy frame;
    zepi_result_t result = zepi_copy_begin(&frame, queue, wait, out_event, ZEPI_ENGINE_COMPUTE,
                                           copy->to ? NULL : copy->to_memory,
                                           copy->from ? NULL : copy->from_memory, 0);
    if (result == ZEPI_CAPTURED) {
        const struct zepi_transfer command = {.head.kind = ZEPI_CAPTURED_COPY_IMAGE,
                                              .image_copy = copy};
        return zepi_capture_command(queue, &command.head, wait, out_event);
    }
    if (result != ZEPI_SUCCESS)
        return result;
    result = zepi_append_image_copy(frame.submit.list, copy, frame.submit.signal,
                                    frame.submit.wait_count, frame.submit.waits);
    return zepi_copy_end(&frame, result, out_event);
}
