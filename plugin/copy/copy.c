// SPDX-License-Identifier: MIT
#include "copy/copy.h"

#include "core/stats.h"
#include "memory/pool.h"
#include "memory/usm.h"
#include "queue/capture_command.h"
#include "queue/event.h"
#include "queue/progress.h"
#include "ze/ze.h"

#include <string.h>

zepi_result_t zepi_copy_append_gate(struct zepi_submit *submit)
{
    return submit->has_lists && submit->gate && submit->queue->has_in_order_list
               ? ZEPI_ZE(zeCommandListAppendBarrier, submit->list, NULL, 1, &submit->gate->ze)
               : ZEPI_SUCCESS;
}

// Whether the host can read it: it is neither zepi's nor the driver's.
static bool is_of_host(struct zepi_context *context, const void *memory, size_t size_bytes)
{
    zepi_usm_info_t info = {.size = sizeof(info)};
    return zepi_usm_room(context, memory, size_bytes) == SIZE_MAX &&
           zepi_usm_get_info(context, memory, &info) == ZEPI_SUCCESS &&
           info.kind == ZEPI_USM_UNKNOWN;
}

// USM with the contents of the source of a gated copy, which is read while the copy is enqueued, as
// nothing is before it: without a gate, and without a mapping of the source. NULL: the copy reads
// the source itself.
static __attribute__((cold, noinline)) void *stage_source(struct zepi_queue *queue,
                                                          const void *destination,
                                                          const void *source, size_t size_bytes,
                                                          zepi_wait_list_t wait)
{
    struct zepi_context *context = queue->context;
    void *staged;
    if (wait.count > 0 || size_bytes > ZEPI_USM_POOLED_BYTES ||
        !zepi_usm_is_known_inside(context, destination, 1) ||
        !zepi_queue_has_nothing_before(queue) || zepi_queue_is_capturing(queue) ||
        !is_of_host(context, source, size_bytes) ||
        zepi_usm_allocate(context, NULL, ZEPI_USM_HOST, size_bytes, 0, &staged) != ZEPI_SUCCESS)
        return NULL;
    memcpy(staged, source, size_bytes);
    return staged;
}

// Whether it is a device's and zepi did not allocate it: a variable of a module.
static bool is_variable(struct zepi_context *context, const void *memory)
{
    zepi_usm_info_t info = {.size = sizeof(info)};
    return !zepi_usm_is_known_inside(context, memory, 1) &&
           zepi_usm_get_info(context, memory, &info) == ZEPI_SUCCESS &&
           info.kind == ZEPI_USM_DEVICE;
}

// Whether a gated copy would wait for its gate while it is appended (quirk early-copies): the
// driver copies variables of modules by the processor. All before it is complete then, so that it
// needs no gate.
static __attribute__((cold, noinline)) bool waits_before(struct zepi_queue *queue,
                                                         const void *destination,
                                                         const void *source, zepi_wait_list_t wait,
                                                         zepi_result_t *out_result)
{
    if (zepi_queue_is_capturing(queue) ||
        (!is_variable(queue->context, destination) && !is_variable(queue->context, source)))
        return false;
    *out_result = zepi_queue_wait_for_commands(queue);
    if (*out_result == ZEPI_SUCCESS && wait.count > 0)
        *out_result = zepi_event_wait(wait.count, wait.events, UINT64_MAX);
    return true;
}

void *zepi_copy_stage_destination(struct zepi_queue *queue, const void *destination,
                                  const void *source, size_t size_bytes)
{
    struct zepi_context *context = queue->context;
    void *staged;
    return size_bytes <= ZEPI_USM_POOLED_BYTES &&
                   (uintptr_t)destination + size_bytes > (uintptr_t)destination &&
                   zepi_usm_is_known_inside(context, source, size_bytes) &&
                   is_of_host(context, destination, size_bytes) &&
                   zepi_usm_allocate(context, NULL, ZEPI_USM_HOST, size_bytes, 0, &staged) ==
                       ZEPI_SUCCESS
               ? staged
               : NULL;
}

zepi_result_t zepi_queue_copy(zepi_queue_t queue, void *destination, const void *source,
                              size_t size_bytes, zepi_wait_list_t wait, zepi_event_t *out_event)
{
    struct zepi_submit submit;
    zepi_result_t result = ZEPI_SUCCESS;
    const bool is_gated = zepi_copy_is_gated(queue, destination, source) &&
                          !waits_before(queue, destination, source, wait, &result);
    if (result != ZEPI_SUCCESS)
        return result;
    void *staged = is_gated ? stage_source(queue, destination, source, size_bytes, wait) : NULL;
    result = is_gated && !staged
                 ? zepi_submit_begin_gated(&submit, queue, wait, out_event, ZEPI_ENGINE_COPY)
                 : zepi_submit_begin(&submit, queue, wait, out_event, ZEPI_ENGINE_COPY);
    if (__builtin_expect(result == ZEPI_CAPTURED, 0)) {
        const struct zepi_captured_copy command = {.head.kind = ZEPI_CAPTURED_COPY,
                                                   .to = destination,
                                                   .from = source,
                                                   .size_bytes = size_bytes};
        result = zepi_capture_command(queue, &command.head, wait, out_event);
    } else if (result == ZEPI_SUCCESS) {
        result = ZEPI_ZE(zeCommandListAppendMemoryCopy, submit.list, destination,
                         staged ? staged : source, size_bytes, submit.signal, submit.wait_count,
                         submit.waits);
        result = zepi_submit_end(&submit, result, out_event);
    }
    if (__builtin_expect(staged != NULL, 0))
        zepi_usm_give(queue->context, staged);
    return result;
}

zepi_result_t zepi_append_copy_rect(ze_command_list_handle_t list, void *destination,
                                    const struct zepi_layout *to, const void *source,
                                    const struct zepi_layout *from, ze_event_handle_t signal,
                                    uint32_t wait_count, ze_event_handle_t *waits)
{
    const zepi_result_t result =
        ZEPI_ZE(zeCommandListAppendMemoryCopyRegion, list, destination, &to->region,
                to->row_pitch_bytes, to->slice_pitch_bytes, source, &from->region,
                from->row_pitch_bytes, from->slice_pitch_bytes, signal, wait_count, waits);
    if (result == ZEPI_SUCCESS)
        zepi_stats_note_bytes(ZEPI_STAT_COPIES, (uint64_t)to->region.width * to->region.height *
                                                    (to->region.depth > 0 ? to->region.depth : 1));
    return result;
}

zepi_result_t zepi_queue_copy_rect(zepi_queue_t queue, void *destination,
                                   const struct zepi_layout *to, const void *source,
                                   const struct zepi_layout *from, zepi_wait_list_t wait,
                                   zepi_event_t *out_event)
{
    struct zepi_submit submit;
    zepi_result_t result =
        zepi_copy_begin(&submit, queue, wait, out_event, ZEPI_ENGINE_COPY, destination, source);
    if (__builtin_expect(result == ZEPI_CAPTURED, 0)) {
        const struct zepi_captured_copy command = {.head.kind = ZEPI_CAPTURED_COPY_RECT,
                                                   .to = destination,
                                                   .to_layout = to,
                                                   .from = source,
                                                   .from_layout = from};
        return zepi_capture_command(queue, &command.head, wait, out_event);
    }
    if (result != ZEPI_SUCCESS)
        return result;
    result = zepi_copy_append_gate(&submit);
    if (result == ZEPI_SUCCESS)
        result = zepi_append_copy_rect(submit.list, destination, to, source, from, submit.signal,
                                       submit.wait_count, submit.waits);
    return zepi_submit_end(&submit, result, out_event);
}
