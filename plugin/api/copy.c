// SPDX-License-Identifier: MIT
#include "copy/copy.h"
#include "api/api.h"
#include "api/check.h"
#include "queue/command/barrier.h"

#define MOST_PATTERN_BYTES 128

// The bytes of a command, which is a marker if there are none.
static zepi_result_t check_bytes(struct zepi_context *context, const char *name, const void *memory,
                                 size_t size_bytes)
{
    return size_bytes > 0 ? zepi_check_range(context, name, memory, size_bytes) : ZEPI_SUCCESS;
}

static __attribute__((noinline)) zepi_result_t
copy_any_memory(zepi_queue_t queue, void *destination, const void *source, size_t size_bytes,
                zepi_wait_list_t wait, zepi_event_t *out_event)
{
    zepi_result_t result;
    if ((result = zepi_api_check_command(queue, wait)) ||
        (result = check_bytes(queue->context, "destination", destination, size_bytes)) ||
        (result = check_bytes(queue->context, "source", source, size_bytes)))
        return result;
    return size_bytes > 0 ? zepi_queue_copy(queue, destination, source, size_bytes, wait, out_event)
                          : zepi_queue_marker(queue, wait, out_event);
}

zepi_result_t zepi_api_queue_copy(zepi_queue_t queue, void *destination, const void *source,
                                  size_t size_bytes, zepi_wait_list_t wait, zepi_event_t *out_event)
{
    // Without events, between bytes that the table of allocations knows.
    if (__builtin_expect(wait.count > 0 || out_event || size_bytes == 0 ||
                             !zepi_object_is(queue, &zepi_queue_type) ||
                             !zepi_usm_is_known_inside(queue->context, destination, size_bytes) ||
                             !zepi_usm_is_known_inside(queue->context, source, size_bytes),
                         0) ||
        !zepi_queue_copy_begin(queue))
        return copy_any_memory(queue, destination, source, size_bytes, wait, out_event);
    return zepi_queue_copy_end(queue, destination, source, size_bytes);
}

zepi_result_t zepi_api_queue_copy_rect(zepi_queue_t queue, void *destination,
                                       const zepi_rect_t *destination_rect, const void *source,
                                       const zepi_rect_t *source_rect, const size_t region[3],
                                       zepi_wait_list_t wait, zepi_event_t *out_event)
{
    struct zepi_layout to, from;
    zepi_result_t result = zepi_api_check_command(queue, wait);
    if (result != ZEPI_SUCCESS)
        return result;
    if (!destination || !source || !destination_rect || !source_rect || !region)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "destination, source, their rectangles and the region must not be NULL");
    if (region[0] == 0 || region[1] == 0 || region[2] == 0)
        return zepi_queue_marker(queue, wait, out_event);
    if ((result = zepi_check_rect_in_memory(queue->context, "destination", destination,
                                            destination_rect, region, &to)) ||
        (result = zepi_check_rect_in_memory(queue->context, "source", source, source_rect, region,
                                            &from)))
        return result;
    return zepi_queue_copy_rect(queue, destination, &to, source, &from, wait, out_event);
}

static zepi_result_t check_pattern(const struct zepi_device *device, const void *pattern,
                                   size_t pattern_size_bytes, size_t size_bytes)
{
    if (!pattern)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the pattern is NULL");
    if (pattern_size_bytes == 0 || pattern_size_bytes > MOST_PATTERN_BYTES ||
        (pattern_size_bytes & (pattern_size_bytes - 1)))
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                         "the pattern has %zu bytes, expected a power of two from 1 to %d",
                         pattern_size_bytes, MOST_PATTERN_BYTES);
    if (size_bytes % pattern_size_bytes != 0)
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                         "%zu bytes to fill, expected a multiple of the pattern's %zu", size_bytes,
                         pattern_size_bytes);
    if (size_bytes > 0 && !zepi_has_fill_command(device, pattern_size_bytes))
        return zepi_fail(ZEPI_ERROR_UNSUPPORTED,
                         "the pattern has %zu bytes, this device takes at most %zu",
                         pattern_size_bytes, device->max_fill_pattern_bytes);
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_api_queue_fill(zepi_queue_t queue, void *destination, const void *pattern,
                                  size_t pattern_size_bytes, size_t size_bytes,
                                  zepi_wait_list_t wait, zepi_event_t *out_event)
{
    zepi_result_t result;
    if ((result = zepi_api_check_command(queue, wait)) ||
        (result = check_pattern(queue->device, pattern, pattern_size_bytes, size_bytes)) ||
        (result = check_bytes(queue->context, "destination", destination, size_bytes)))
        return result;
    const struct zepi_transfer fill = {.head.kind = ZEPI_COMMAND_FILL,
                                       .to = destination,
                                       .size_bytes = size_bytes,
                                       .pattern = pattern,
                                       .pattern_size_bytes = pattern_size_bytes};
    return size_bytes > 0 ? zepi_queue_transfer(queue, &fill, wait, out_event)
                          : zepi_queue_marker(queue, wait, out_event);
}

zepi_result_t zepi_api_queue_prefetch(zepi_queue_t queue, const void *memory, size_t size_bytes,
                                      zepi_wait_list_t wait, zepi_event_t *out_event)
{
    zepi_result_t result;
    if ((result = zepi_api_check_command(queue, wait)) ||
        (result = check_bytes(queue->context, "memory", memory, size_bytes)))
        return result;
    const struct zepi_transfer prefetch = {
        .head.kind = ZEPI_COMMAND_PREFETCH, .from = memory, .size_bytes = size_bytes};
    return size_bytes > 0 ? zepi_queue_transfer(queue, &prefetch, wait, out_event)
                          : zepi_queue_marker(queue, wait, out_event);
}

zepi_result_t zepi_api_queue_advise(zepi_queue_t queue, const void *memory, size_t size_bytes,
                                    zepi_advice_t advice, zepi_event_t *out_event)
{
    const zepi_wait_list_t no_wait = {NULL, 0};
    zepi_result_t result;
    if ((result = zepi_check_object(queue, &zepi_queue_type)) ||
        ((unsigned)advice > ZEPI_ADVICE_BIAS_UNCACHED &&
         (result = zepi_fail(ZEPI_ERROR_INVALID_VALUE, "advice %d is not known", (int)advice))) ||
        (result = check_bytes(queue->context, "memory", memory, size_bytes)))
        return result;
    const struct zepi_transfer hint = {.head.kind = ZEPI_COMMAND_ADVISE,
                                       .from = memory,
                                       .size_bytes = size_bytes,
                                       .advice = 1u << advice};
    return size_bytes > 0 ? zepi_queue_transfer(queue, &hint, no_wait, out_event)
                          : zepi_queue_marker(queue, no_wait, out_event);
}
