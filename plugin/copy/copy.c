// SPDX-License-Identifier: MIT
#include "copy/copy.h"

#include "memory/usm.h"
#include "queue/capture_command.h"
#include "ze/ze.h"

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
    zepi_result_t result =
        zepi_copy_begin(&submit, queue, wait, out_event, ZEPI_ENGINE_COPY, source);
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

zepi_result_t zepi_append_copy_rect(ze_command_list_handle_t list, void *destination,
                                    const struct zepi_layout *to, const void *source,
                                    const struct zepi_layout *from, ze_event_handle_t signal,
                                    uint32_t wait_count, ze_event_handle_t *waits)
{
    return ZEPI_ZE(zeCommandListAppendMemoryCopyRegion, list, destination, &to->region,
                   to->row_pitch_bytes, to->slice_pitch_bytes, source, &from->region,
                   from->row_pitch_bytes, from->slice_pitch_bytes, signal, wait_count, waits);
}

zepi_result_t zepi_queue_copy_rect(zepi_queue_t queue, void *destination,
                                   const struct zepi_layout *to, const void *source,
                                   const struct zepi_layout *from, zepi_wait_list_t wait,
                                   zepi_event_t *out_event)
{
    struct zepi_submit submit;
    zepi_result_t result =
        zepi_copy_begin(&submit, queue, wait, out_event, ZEPI_ENGINE_COPY, source);
    if (__builtin_expect(result == ZEPI_CAPTURED, 0)) {
        const struct zepi_captured_command command = {.kind = ZEPI_CAPTURED_COPY_RECT,
                                                      .to = destination,
                                                      .to_layout = to,
                                                      .from = source,
                                                      .from_layout = from};
        return zepi_capture_command(queue, &command, wait, out_event);
    }
    if (result != ZEPI_SUCCESS)
        return result;
    result = zepi_append_copy_rect(submit.list, destination, to, source, from, submit.signal,
                                   submit.wait_count, submit.waits);
    return zepi_submit_end(&submit, result, out_event);
}
