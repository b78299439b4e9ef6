// SPDX-License-Identifier: MIT
#include "queue/copy_image.h"

#include "memory/image.h"
#include "queue/submit.h"
#include "ze/ze.h"

zepi_result_t zepi_queue_copy_image(zepi_queue_t queue, struct zepi_image *destination,
                                    const ze_image_region_t *to, struct zepi_image *source,
                                    const ze_image_region_t *from, zepi_wait_list_t wait,
                                    zepi_event_t *out_event)
{
    struct zepi_submit submit;
    zepi_result_t result = zepi_submit_begin(&submit, queue, wait, out_event, ZEPI_ENGINE_COMPUTE);
    if (result != ZEPI_SUCCESS)
        return result;
    result = ZEPI_ZE(zeCommandListAppendImageCopyRegion, submit.list, destination->ze, source->ze,
                     to, from, submit.signal, submit.wait_count, submit.waits);
    return zepi_submit_end(&submit, result, out_event);
}

// Pitches came with the specification 1.4's extension zeCommandListAppendImageCopy...MemoryExt;
// drivers without take rows without gaps alone.
zepi_result_t zepi_queue_write_image(zepi_queue_t queue, struct zepi_image *destination,
                                     const ze_image_region_t *to, const void *source,
                                     uint32_t row_pitch_bytes, uint32_t slice_pitch_bytes,
                                     zepi_wait_list_t wait, zepi_event_t *out_event)
{
    struct zepi_submit submit;
    zepi_result_t result = zepi_submit_begin(&submit, queue, wait, out_event, ZEPI_ENGINE_COMPUTE);
    if (result != ZEPI_SUCCESS)
        return result;
    if (row_pitch_bytes == 0 && slice_pitch_bytes == 0)
        result = ZEPI_ZE(zeCommandListAppendImageCopyFromMemory, submit.list, destination->ze,
                         source, to, submit.signal, submit.wait_count, submit.waits);
    else if (zepi_ze.zeCommandListAppendImageCopyFromMemoryExt)
        result = ZEPI_ZE(zeCommandListAppendImageCopyFromMemoryExt, submit.list, destination->ze,
                         source, to, row_pitch_bytes, slice_pitch_bytes, submit.signal,
                         submit.wait_count, submit.waits);
    else
        result = zepi_fail(ZEPI_ERROR_UNSUPPORTED, "the loader lacks image copies with pitches");
    return zepi_submit_end(&submit, result, out_event);
}

zepi_result_t zepi_queue_read_image(zepi_queue_t queue, void *destination,
                                    struct zepi_image *source, const ze_image_region_t *from,
                                    uint32_t row_pitch_bytes, uint32_t slice_pitch_bytes,
                                    zepi_wait_list_t wait, zepi_event_t *out_event)
{
    struct zepi_submit submit;
    zepi_result_t result = zepi_submit_begin(&submit, queue, wait, out_event, ZEPI_ENGINE_COMPUTE);
    if (result != ZEPI_SUCCESS)
        return result;
    if (row_pitch_bytes == 0 && slice_pitch_bytes == 0)
        result = ZEPI_ZE(zeCommandListAppendImageCopyToMemory, submit.list, destination, source->ze,
                         from, submit.signal, submit.wait_count, submit.waits);
    else if (zepi_ze.zeCommandListAppendImageCopyToMemoryExt)
        result = ZEPI_ZE(zeCommandListAppendImageCopyToMemoryExt, submit.list, destination,
                         source->ze, from, row_pitch_bytes, slice_pitch_bytes, submit.signal,
                         submit.wait_count, submit.waits);
    else
        result = zepi_fail(ZEPI_ERROR_UNSUPPORTED, "the loader lacks image copies with pitches");
    return zepi_submit_end(&submit, result, out_event);
}
