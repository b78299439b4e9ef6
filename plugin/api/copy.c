// SPDX-License-Identifier: MIT
#include "copy/copy.h"
#include "api/api.h"
#include "copy/fill.h"
#include "copy/hint.h"
#include "memory/usm.h"

// NULL, and a range past the end of the address space, are left to copy.c.
static zepi_result_t check_copied_range(zepi_queue_t queue, const char *name, const void *memory,
                                        size_t size_bytes)
{
    const zepi_result_t result = zepi_check_object(queue, &zepi_queue_type);
    if (result != ZEPI_SUCCESS || !memory || (uintptr_t)memory + size_bytes < (uintptr_t)memory ||
        zepi_usm_is_inside(queue->context, memory, size_bytes))
        return result;
    return zepi_fail(ZEPI_ERROR_INVALID_SIZE,
                     "the %s is %zu bytes from %p on, its allocation has %zu there", name,
                     size_bytes, memory, zepi_usm_room(queue->context, memory, size_bytes));
}

static __attribute__((noinline)) zepi_result_t
copy_any_memory(zepi_queue_t queue, void *destination, const void *source, size_t size_bytes,
                zepi_wait_list_t wait, zepi_event_t *out_event)
{
    zepi_result_t result = check_copied_range(queue, "destination", destination, size_bytes);
    if (result == ZEPI_SUCCESS)
        result = check_copied_range(queue, "source", source, size_bytes);
    return result == ZEPI_SUCCESS
               ? zepi_queue_copy(queue, destination, source, size_bytes, wait, out_event)
               : result;
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

static zepi_result_t check_copied_rect(zepi_queue_t queue, const char *name, const void *memory,
                                       const zepi_rect_t *rect, const size_t region[3])
{
    size_t size_bytes;
    if (!rect || !region || region[0] == 0 || region[1] == 0 || region[2] == 0)
        return ZEPI_SUCCESS;
    return zepi_copy_rect_extent(rect, region, &size_bytes)
               ? check_copied_range(queue, name, memory, size_bytes)
               : zepi_fail(ZEPI_ERROR_INVALID_SIZE, "the %s rectangle is too large", name);
}

zepi_result_t zepi_api_queue_copy_rect(zepi_queue_t queue, void *destination,
                                       const zepi_rect_t *destination_rect, const void *source,
                                       const zepi_rect_t *source_rect, const size_t region[3],
                                       zepi_wait_list_t wait, zepi_event_t *out_event)
{
    zepi_result_t result =
        check_copied_rect(queue, "destination", destination, destination_rect, region);
    if (result == ZEPI_SUCCESS)
        result = check_copied_rect(queue, "source", source, source_rect, region);
    return result == ZEPI_SUCCESS
               ? zepi_queue_copy_rect(queue, destination, destination_rect, source, source_rect,
                                      region, wait, out_event)
               : result;
}

zepi_result_t zepi_api_queue_fill(zepi_queue_t queue, void *destination, const void *pattern,
                                  size_t pattern_size_bytes, size_t size_bytes,
                                  zepi_wait_list_t wait, zepi_event_t *out_event)
{
    const zepi_result_t result = check_copied_range(queue, "destination", destination, size_bytes);
    return result == ZEPI_SUCCESS ? zepi_queue_fill(queue, destination, pattern, pattern_size_bytes,
                                                    size_bytes, wait, out_event)
                                  : result;
}

zepi_result_t zepi_api_queue_prefetch(zepi_queue_t queue, const void *memory, size_t size_bytes,
                                      zepi_wait_list_t wait, zepi_event_t *out_event)
{
    const zepi_result_t result = check_copied_range(queue, "memory", memory, size_bytes);
    return result == ZEPI_SUCCESS ? zepi_queue_prefetch(queue, memory, size_bytes, wait, out_event)
                                  : result;
}

zepi_result_t zepi_api_queue_advise(zepi_queue_t queue, const void *memory, size_t size_bytes,
                                    zepi_advice_t advice, zepi_event_t *out_event)
{
    const zepi_result_t result = check_copied_range(queue, "memory", memory, size_bytes);
    return result == ZEPI_SUCCESS ? zepi_queue_advise(queue, memory, size_bytes, advice, out_event)
                                  : result;
}
