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
        const struct zepi_transfer command = {.head.kind = ZEPI_COMMAND_COPY,
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

// ---- Hints ----

static zepi_result_t append_advice(ze_command_list_handle_t list, const struct zepi_device *device,
                                   const struct zepi_transfer *hint)
{
    static const ze_memory_advice_t advices[] = {
        [ZEPI_ADVICE_SET_READ_MOSTLY] = ZE_MEMORY_ADVICE_SET_READ_MOSTLY,
        [ZEPI_ADVICE_CLEAR_READ_MOSTLY] = ZE_MEMORY_ADVICE_CLEAR_READ_MOSTLY,
        [ZEPI_ADVICE_SET_PREFERRED_LOCATION] = ZE_MEMORY_ADVICE_SET_PREFERRED_LOCATION,
        [ZEPI_ADVICE_CLEAR_PREFERRED_LOCATION] = ZE_MEMORY_ADVICE_CLEAR_PREFERRED_LOCATION,
        [ZEPI_ADVICE_SET_NON_ATOMIC_MOSTLY] = ZE_MEMORY_ADVICE_SET_NON_ATOMIC_MOSTLY,
        [ZEPI_ADVICE_CLEAR_NON_ATOMIC_MOSTLY] = ZE_MEMORY_ADVICE_CLEAR_NON_ATOMIC_MOSTLY,
        [ZEPI_ADVICE_BIAS_CACHED] = ZE_MEMORY_ADVICE_BIAS_CACHED,
        [ZEPI_ADVICE_BIAS_UNCACHED] = ZE_MEMORY_ADVICE_BIAS_UNCACHED,
    };
    zepi_result_t result = ZEPI_SUCCESS;
    for (unsigned bit = 0; hint->advice >> bit && result == ZEPI_SUCCESS; bit++) {
        if (hint->advice & (1u << bit))
            result = ZEPI_ZE(zeCommandListAppendMemAdvise, list, device->ze, hint->from,
                             hint->size_bytes, advices[bit]);
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
        zepi_stats_count_bytes(ZEPI_STAT_FILLS, transfer->size_bytes);
        return ZEPI_ZE(zeCommandListAppendMemoryFill, list, transfer->to, transfer->pattern,
                       transfer->pattern_size_bytes, transfer->size_bytes, signal, wait_count,
                       waits);
    default:
        return append_hint(list, device, transfer, signal, wait_count, waits);
    }
}

zepi_result_t zepi_queue_transfer(zepi_queue_t queue, const struct zepi_transfer *transfer,
                                  zepi_wait_list_t wait, zepi_event_t *out_event)
{
    struct zepi_copy frame;
    const bool is_rect = transfer->head.kind == ZEPI_COMMAND_COPY_RECT;
    const bool is_copy = is_rect || transfer->head.kind == ZEPI_COMMAND_COPY_IMAGE;
    zepi_result_t result = zepi_copy_begin(
        &frame, queue, wait, out_event, is_rect ? ZEPI_ENGINE_COPY : ZEPI_ENGINE_COMPUTE,
        is_copy ? transfer->to : NULL, is_copy ? transfer->from : NULL, 0);
    if (__builtin_expect(result == ZEPI_CAPTURED, 0))
        return zepi_capture_command(queue, &transfer->head, wait, out_event);
    if (result != ZEPI_SUCCESS)
        return result;
    result = zepi_append_transfer(frame.submit.list, queue->device, transfer, frame.submit.signal,
                                  frame.submit.wait_count, frame.submit.waits);
    return zepi_copy_end(&frame, result, out_event);
}

zepi_result_t zepi_queue_copy_rect(zepi_queue_t queue, void *destination,
                                   const struct zepi_layout *to, const void *source,
                                   const struct zepi_layout *from, zepi_wait_list_t wait,
                                   zepi_event_t *out_event)
{
    const struct zepi_transfer copy = {.head.kind = ZEPI_COMMAND_COPY_RECT,
                                       .to = destination,
                                       .to_layout = *to,
                                       .from = source,
                                       .from_layout = *from};
    return zepi_queue_transfer(queue, &copy, wait, out_event);
}
