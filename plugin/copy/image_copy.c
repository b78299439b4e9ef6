// SPDX-License-Identifier: MIT
#include "copy/image_copy.h"

#include "copy/copy.h"
#include "memory/image.h"
#include "queue/capture_command.h"
#include "ze/ze.h"

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
        const struct zepi_captured_copy command = {.head.kind = ZEPI_CAPTURED_COPY_IMAGE,
                                                   .image_copy = copy};
        return zepi_capture_command(queue, &command.head, wait, out_event);
    }
    if (result != ZEPI_SUCCESS)
        return result;
    result = zepi_append_image_copy(frame.submit.list, copy, frame.submit.signal,
                                    frame.submit.wait_count, frame.submit.waits);
    return zepi_copy_end(&frame, result, out_event);
}
