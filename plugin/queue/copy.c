// SPDX-License-Identifier: MIT
#include "queue/copy.h"

#include "device/device.h"
#include "memory/image.h"
#include "memory/usm_driver.h"
#include "queue/capture_command.h"
#include "queue/submit.h"
#include "ze/ze.h"

#define MAX_PATTERN_BYTES 128

static zepi_result_t check_copy_range(const char *what, const void *memory, size_t size_bytes)
{
    if (!memory)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the %s is NULL", what);
    if ((uintptr_t)memory + size_bytes < (uintptr_t)memory)
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE, "%zu bytes from %p reach past the end of memory",
                         size_bytes, memory);
    return ZEPI_SUCCESS;
}

// A command of no bytes: it still waits, and its event completes.
static zepi_result_t append_empty_copy(zepi_queue_t queue, zepi_wait_list_t wait,
                                       zepi_event_t *out_event)
{
    return zepi_queue_marker(queue, wait, out_event);
}

zepi_result_t zepi_queue_copy(zepi_queue_t queue, void *destination, const void *source,
                              size_t size_bytes, zepi_wait_list_t wait, zepi_event_t *out_event)
{
    struct zepi_submit submit;
    zepi_result_t result = zepi_check_object(queue, &zepi_queue_type);
    if (result == ZEPI_SUCCESS && size_bytes == 0)
        return append_empty_copy(queue, wait, out_event);
    if (result == ZEPI_SUCCESS)
        result = check_copy_range("destination", destination, size_bytes);
    if (result == ZEPI_SUCCESS)
        result = check_copy_range("source", source, size_bytes);
    if (result == ZEPI_SUCCESS)
        result = zepi_submit_begin(&submit, queue, wait, out_event, ZEPI_ENGINE_COPY);
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

zepi_result_t zepi_queue_copy_finish(struct zepi_queue *queue, bool somebody_sleeps, ze_result_t ze)
{
    if (somebody_sleeps)
        zepi_mutex_wake(&queue->mutex);
    return zepi_check_ze(ze, "zeCommandListAppendMemoryCopy");
}

// Fills in the pitches that were left to us, and checks that rows and slices do not overlap and
// that Level Zero's 32 bits hold everything.
static zepi_result_t read_copy_rect(const char *what, const zepi_rect_t *rect,
                                    const size_t region[3], ze_copy_region_t *out_region,
                                    uint32_t *out_pitch, uint32_t *out_slice_pitch)
{
    const size_t row = rect->row_pitch_bytes ? rect->row_pitch_bytes : region[0];
    size_t slice = rect->slice_pitch_bytes;
    size_t least;
    if (__builtin_mul_overflow(row, region[1], &least))
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE, "the %s rectangle is too large", what);
    if (slice == 0)
        slice = least;
    if (row < region[0])
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                         "the %s's row pitch is %zu bytes, expected at least %zu, the region's "
                         "width",
                         what, row, region[0]);
    if (slice < least)
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                         "the %s's slice pitch is %zu bytes, expected at least %zu, the row pitch "
                         "times the region's height",
                         what, slice, least);
    for (int i = 0; i < 3; i++) {
        if (rect->origin_bytes[i] > UINT32_MAX || region[i] > UINT32_MAX)
            return zepi_fail(ZEPI_ERROR_INVALID_SIZE, "the %s rectangle is beyond 32 bits", what);
    }
    if (row > UINT32_MAX || slice > UINT32_MAX)
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE, "the %s's pitch is beyond 32 bits", what);
    *out_region = (ze_copy_region_t){
        .originX = (uint32_t)rect->origin_bytes[0],
        .originY = (uint32_t)rect->origin_bytes[1],
        .originZ = (uint32_t)rect->origin_bytes[2],
        .width = (uint32_t)region[0],
        .height = (uint32_t)region[1],
        .depth = (uint32_t)region[2],
    };
    *out_pitch = (uint32_t)row;
    *out_slice_pitch = (uint32_t)slice;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_copy_regions_init(struct zepi_copy_regions *regions, const zepi_rect_t *to,
                                     const zepi_rect_t *from, const size_t region[3])
{
    const zepi_result_t result = read_copy_rect("destination", to, region, &regions->to,
                                                &regions->to_pitch, &regions->to_slice_pitch);
    return result == ZEPI_SUCCESS ? read_copy_rect("source", from, region, &regions->from,
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
        return append_empty_copy(queue, wait, out_event);
    result = zepi_copy_regions_init(&regions, destination_rect, source_rect, region);
    if (result == ZEPI_SUCCESS)
        result = zepi_submit_begin(&submit, queue, wait, out_event, ZEPI_ENGINE_COPY);
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

zepi_result_t zepi_queue_fill(zepi_queue_t queue, void *destination, const void *pattern,
                              size_t pattern_size_bytes, size_t size_bytes, zepi_wait_list_t wait,
                              zepi_event_t *out_event)
{
    struct zepi_submit submit;
    zepi_result_t result = zepi_check_object(queue, &zepi_queue_type);
    if (result != ZEPI_SUCCESS)
        return result;
    if (!pattern)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the pattern is NULL");
    if (pattern_size_bytes == 0 || pattern_size_bytes > MAX_PATTERN_BYTES ||
        (pattern_size_bytes & (pattern_size_bytes - 1)))
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                         "the pattern has %zu bytes, expected a power of two from 1 to %d",
                         pattern_size_bytes, MAX_PATTERN_BYTES);
    if (size_bytes % pattern_size_bytes != 0)
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                         "%zu bytes to fill, expected a multiple of the pattern's %zu", size_bytes,
                         pattern_size_bytes);
    if (size_bytes == 0)
        return append_empty_copy(queue, wait, out_event);
    const size_t max_bytes = queue->device->max_fill_pattern_bytes;
    if (max_bytes > 0 && pattern_size_bytes > max_bytes)
        return zepi_fail(ZEPI_ERROR_UNSUPPORTED,
                         "the pattern has %zu bytes, this device takes at most %zu",
                         pattern_size_bytes, max_bytes);
    result = check_copy_range("destination", destination, size_bytes);
    if (result == ZEPI_SUCCESS)
        result = zepi_submit_begin(&submit, queue, wait, out_event, ZEPI_ENGINE_COMPUTE);
    if (__builtin_expect(result == ZEPI_CAPTURED, 0))
        return zepi_capture_fill(queue, destination, pattern, pattern_size_bytes, size_bytes, wait,
                                 out_event);
    if (result != ZEPI_SUCCESS)
        return result;
    result =
        ZEPI_ZE(zeCommandListAppendMemoryFill, submit.list, destination, pattern,
                pattern_size_bytes, size_bytes, submit.signal, submit.wait_count, submit.waits);
    return zepi_submit_end(&submit, result, out_event);
}

static zepi_result_t capture_hint(struct zepi_queue *queue, enum zepi_captured_kind kind,
                                  const void *memory, size_t size_bytes, zepi_advice_t advice,
                                  zepi_wait_list_t wait, zepi_event_t *out_event)
{
    const struct zepi_captured_command command = {
        .kind = kind, .from = memory, .size_bytes = size_bytes, .advice = advice};
    return zepi_capture_command(queue, &command, wait, out_event);
}

// Hints take no events of their own: barriers stand for them where a command waits.
static zepi_result_t append_copy_before_hint(const struct zepi_submit *submit)
{
    return submit->wait_count == 0 ? ZEPI_SUCCESS
                                   : ZEPI_ZE(zeCommandListAppendBarrier, submit->list, NULL,
                                             submit->wait_count, submit->waits);
}

static zepi_result_t append_copy_after_hint(const struct zepi_submit *submit)
{
    return submit->signal
               ? ZEPI_ZE(zeCommandListAppendBarrier, submit->list, submit->signal, 0, NULL)
               : ZEPI_SUCCESS;
}

zepi_result_t zepi_queue_prefetch(zepi_queue_t queue, const void *memory, size_t size_bytes,
                                  zepi_wait_list_t wait, zepi_event_t *out_event)
{
    struct zepi_submit submit;
    zepi_result_t result = zepi_check_object(queue, &zepi_queue_type);
    if (result == ZEPI_SUCCESS && size_bytes == 0)
        return append_empty_copy(queue, wait, out_event);
    if (result == ZEPI_SUCCESS)
        result = check_copy_range("memory", memory, size_bytes);
    if (result == ZEPI_SUCCESS)
        result = zepi_submit_begin(&submit, queue, wait, out_event, ZEPI_ENGINE_COMPUTE);
    if (__builtin_expect(result == ZEPI_CAPTURED, 0))
        return capture_hint(queue, ZEPI_CAPTURED_PREFETCH, memory, size_bytes, 0, wait, out_event);
    if (result != ZEPI_SUCCESS)
        return result;
    result = append_copy_before_hint(&submit);
    if (result == ZEPI_SUCCESS)
        result = ZEPI_ZE(zeCommandListAppendMemoryPrefetch, submit.list, memory, size_bytes);
    if (result == ZEPI_SUCCESS)
        result = append_copy_after_hint(&submit);
    return zepi_submit_end(&submit, result, out_event);
}

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

zepi_result_t zepi_append_advice(ze_command_list_handle_t list, const struct zepi_device *device,
                                 const void *memory, size_t size_bytes, zepi_advice_t advice)
{
    return ZEPI_ZE(zeCommandListAppendMemAdvise, list, device->ze, memory, size_bytes,
                   advices[advice]);
}

zepi_result_t zepi_queue_advise(zepi_queue_t queue, const void *memory, size_t size_bytes,
                                zepi_advice_t advice, zepi_event_t *out_event)
{
    const zepi_wait_list_t no_wait = {NULL, 0};
    struct zepi_submit submit;
    zepi_result_t result = zepi_check_object(queue, &zepi_queue_type);
    if (result == ZEPI_SUCCESS && (unsigned)advice >= sizeof(advices) / sizeof(advices[0]))
        result = zepi_fail(ZEPI_ERROR_INVALID_VALUE, "advice %d is not known", (int)advice);
    if (result == ZEPI_SUCCESS)
        result = check_copy_range("memory", memory, size_bytes);
    if (result == ZEPI_SUCCESS)
        result = zepi_submit_begin(&submit, queue, no_wait, out_event, ZEPI_ENGINE_COMPUTE);
    if (__builtin_expect(result == ZEPI_CAPTURED, 0))
        return capture_hint(queue, ZEPI_CAPTURED_ADVISE, memory, size_bytes, advice, no_wait,
                            out_event);
    if (result != ZEPI_SUCCESS)
        return result;
    result = zepi_append_advice(submit.list, queue->device, memory, size_bytes, advice);
    if (result == ZEPI_SUCCESS)
        result = append_copy_after_hint(&submit);
    return zepi_submit_end(&submit, result, out_event);
}

// Through a queue for this alone.
static zepi_result_t write_device_memory(struct zepi_context *context, struct zepi_device *device,
                                         void *memory, const void *data, size_t size_bytes)
{
    static const unsigned char zero;
    const zepi_wait_list_t no_wait = {NULL, 0};
    zepi_queue_t queue;
    zepi_result_t result = zepi_queue_create(context, device, ZEPI_QUEUE_IN_ORDER, &queue);
    if (result != ZEPI_SUCCESS)
        return result;
    result = data ? zepi_queue_copy(queue, memory, data, size_bytes, no_wait, NULL)
                  : zepi_queue_fill(queue, memory, &zero, 1, size_bytes, no_wait, NULL);
    if (result == ZEPI_SUCCESS)
        result = zepi_queue_wait(queue);
    zepi_release(queue);
    return result;
}

static zepi_result_t copy_init(struct zepi_context *context)
{
    zepi_usm_driver_of(context)->write = write_device_memory;
    return ZEPI_SUCCESS;
}

const struct zepi_context_part zepi_copy_part = {.init = copy_init};

// ---- Images ----

static zepi_result_t begin_image_copy(struct zepi_submit *submit, struct zepi_queue *queue,
                                      zepi_wait_list_t wait, const zepi_event_t *out_event)
{
    const zepi_result_t result =
        zepi_submit_begin(submit, queue, wait, out_event, ZEPI_ENGINE_COMPUTE);
    return result == ZEPI_CAPTURED
               ? zepi_fail(ZEPI_ERROR_CAPTURE_UNSUPPORTED, "copies of images cannot be captured")
               : result;
}

zepi_result_t zepi_queue_copy_image(zepi_queue_t queue, struct zepi_image *destination,
                                    const ze_image_region_t *to, struct zepi_image *source,
                                    const ze_image_region_t *from, zepi_wait_list_t wait,
                                    zepi_event_t *out_event)
{
    struct zepi_submit submit;
    zepi_result_t result = begin_image_copy(&submit, queue, wait, out_event);
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
    zepi_result_t result = begin_image_copy(&submit, queue, wait, out_event);
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
    zepi_result_t result = begin_image_copy(&submit, queue, wait, out_event);
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
