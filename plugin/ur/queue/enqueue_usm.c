// SPDX-License-Identifier: MIT
#include "copy/copy.h"
#include "copy/fill.h"
#include "queue/command/barrier.h"
#include "queue/progress.h"
#include "ur/command.h"
#include "ur/queue/transfer.h"

#include <string.h>

static __attribute__((noinline)) ur_result_t
enqueue_memcpy_any(ur_queue_handle_t hQueue, bool blocking, void *pDst, const void *pSrc,
                   size_t size, uint32_t wait_count, const ur_event_handle_t *wait_list,
                   ur_event_handle_t *out_event)
{
    struct zepi_ur_command command = ZEPI_UR_COMMAND(hQueue, blocking);
    ur_result_t result;
    if ((result = zepi_ur_command_begin(&command)) ||
        (result = zepi_ur_check_range(command.queue->context, pDst, size, "pDst")) ||
        (result = zepi_ur_check_range(command.queue->context, pSrc, size, "pSrc")))
        return result;
    return zepi_ur_command_end(&command,
                               zepi_queue_copy(command.queue, pDst, pSrc, size, command.wait,
                                               zepi_ur_command_event(&command)),
                               UR_COMMAND_USM_MEMCPY);
}

// Whether a copy may touch these bytes, and is then appended as it is: as enqueue_memcpy_any,
// without a message.
static inline bool is_plainly_copied(struct zepi_queue *queue, const void *memory, size_t size)
{
    if (zepi_usm_is_known_inside(queue->context, memory, size))
        return true;
    return !zepi_queue_copies_early(queue) && memory &&
           (uintptr_t)memory + size > (uintptr_t)memory &&
           zepi_usm_is_inside_any(queue->context, memory, size);
}

// True: the queue's mutex is held, for zepi_queue_copy_end.
static inline bool begin_plain_copy(struct zepi_queue *queue, const void *pDst, const void *pSrc,
                                    size_t size)
{
    return __builtin_expect(size > 0 && is_plainly_copied(queue, pDst, size) &&
                                is_plainly_copied(queue, pSrc, size),
                            1) &&
           zepi_queue_copy_begin(queue);
}

// Without events.
static __attribute__((noinline)) ur_result_t
enqueue_memcpy_plain(ur_queue_handle_t hQueue, void *pDst, const void *pSrc, size_t size)
{
    struct zepi_queue *queue = zepi_ur_queue(hQueue);
    if (__builtin_expect(!zepi_object_is(queue, &zepi_queue_type), 0) ||
        !begin_plain_copy(queue, pDst, pSrc, size))
        return enqueue_memcpy_any(hQueue, false, pDst, pSrc, size, 0, NULL, NULL);
    return zepi_ur_result(zepi_queue_copy_end(queue, pDst, pSrc, size));
}

// Without events. The wait is for the queue, if that is in order or has nothing before the copy,
// which costs less than an event. A copy to the host's memory goes through USM.
static __attribute__((noinline)) ur_result_t
enqueue_memcpy_blocking(ur_queue_handle_t hQueue, void *pDst, const void *pSrc, size_t size)
{
    struct zepi_queue *queue = zepi_ur_queue(hQueue);
    const bool is_queue = zepi_object_is(queue, &zepi_queue_type);
    if (is_queue && (queue->has_in_order_list || zepi_queue_poll(queue)) &&
        begin_plain_copy(queue, pDst, pSrc, size)) {
        const zepi_result_t result = zepi_queue_copy_end(queue, pDst, pSrc, size);
        return zepi_ur_result(result == ZEPI_SUCCESS ? zepi_queue_wait_for_commands(queue)
                                                     : result);
    }
    void *staged =
        is_queue && !zepi_queue_is_capturing(queue) && zepi_copy_is_gated(queue, pDst, pSrc)
            ? zepi_copy_stage_destination(queue, pDst, pSrc, size)
            : NULL;
    if (!staged)
        return enqueue_memcpy_any(hQueue, true, pDst, pSrc, size, 0, NULL, NULL);
    const ur_result_t result = enqueue_memcpy_blocking(hQueue, staged, pSrc, size);
    if (result == UR_RESULT_SUCCESS)
        memcpy(pDst, staged, size);
    zepi_usm_put(queue->context, staged);
    return result;
}

ur_result_t zepi_urEnqueueUSMMemcpy(ur_queue_handle_t hQueue, bool blocking, void *pDst,
                                    const void *pSrc, size_t size, uint32_t wait_count,
                                    const ur_event_handle_t *wait_list,
                                    ur_event_handle_t *out_event)
{
    // The frame of a command is for its event and its wait list.
    if (((uintptr_t)wait_list | (uintptr_t)out_event | wait_count) == 0)
        return blocking ? enqueue_memcpy_blocking(hQueue, pDst, pSrc, size)
                        : enqueue_memcpy_plain(hQueue, pDst, pSrc, size);
    return enqueue_memcpy_any(hQueue, blocking, pDst, pSrc, size, wait_count, wait_list, out_event);
}

ur_result_t zepi_urEnqueueUSMFill(ur_queue_handle_t hQueue, void *pMem, size_t patternSize,
                                  const void *pPattern, size_t size, uint32_t wait_count,
                                  const ur_event_handle_t *wait_list, ur_event_handle_t *out_event)
{
    struct zepi_ur_command command = ZEPI_UR_COMMAND(hQueue, false);
    ur_result_t result;
    if ((result = zepi_ur_command_begin(&command)) ||
        (result = zepi_ur_check_range(command.queue->context, pMem, size, "pMem")) ||
        (result = zepi_ur_check_pattern(pPattern, patternSize, size)))
        return result;
    return zepi_ur_command_end(&command,
                               zepi_queue_fill(command.queue, pMem, pPattern, patternSize, size,
                                               command.wait, zepi_ur_command_event(&command)),
                               UR_COMMAND_USM_FILL);
}

// The checks that prefetches and advice share.
static ur_result_t check_usm_hint(const struct zepi_ur_command *command, const void *memory,
                                  size_t size, uint32_t flags, uint32_t unknown_flags)
{
    const ur_result_t result = zepi_ur_check_range(command->queue->context, memory, size, "pMem");
    return result ? result : zepi_ur_check_flags(flags, unknown_flags);
}

static zepi_result_t prefetch_usm(zepi_queue_t queue, const void *memory, size_t size,
                                  ur_usm_migration_flags_t flags, zepi_wait_list_t wait,
                                  zepi_event_t *out_event)
{
    const struct zepi_transfer prefetch = {
        .head.kind = ZEPI_COMMAND_PREFETCH, .from = memory, .size_bytes = size};
    // Level Zero moves memory to devices only: a hint to move it to the host is ignored.
    return flags & UR_USM_MIGRATION_FLAG_DEVICE_TO_HOST
               ? zepi_queue_marker(queue, wait, out_event)
               : zepi_queue_transfer(queue, &prefetch, wait, out_event);
}

ur_result_t zepi_urEnqueueUSMPrefetch(ur_queue_handle_t hQueue, const void *pMem, size_t size,
                                      ur_usm_migration_flags_t flags, uint32_t wait_count,
                                      const ur_event_handle_t *wait_list,
                                      ur_event_handle_t *out_event)
{
    struct zepi_ur_command command = ZEPI_UR_COMMAND(hQueue, false);
    ur_result_t result;
    if ((result = zepi_ur_command_begin(&command)) ||
        (result = check_usm_hint(&command, pMem, size, flags, UR_USM_MIGRATION_FLAGS_MASK)))
        return result;
    return zepi_ur_command_end(&command,
                               prefetch_usm(command.queue, pMem, size, flags, command.wait,
                                            zepi_ur_command_event(&command)),
                               UR_COMMAND_USM_PREFETCH);
}

ur_result_t zepi_urEnqueueUSMAdvise(ur_queue_handle_t hQueue, const void *pMem, size_t size,
                                    ur_usm_advice_flags_t advice, ur_event_handle_t *out_event)
{
    struct zepi_ur_command command = {.queue = zepi_ur_queue(hQueue), .out_event = out_event};
    ur_result_t result;
    if ((result = zepi_ur_command_begin(&command)) ||
        (result = check_usm_hint(&command, pMem, size, advice, UR_USM_ADVICE_FLAGS_MASK)))
        return result;
    const struct zepi_transfer hint = {.head.kind = ZEPI_COMMAND_ADVISE,
                                       .from = pMem,
                                       .size_bytes = size,
                                       .advice = zepi_ur_advice_bits(advice)};
    return zepi_ur_command_end(
        &command,
        zepi_queue_transfer(command.queue, &hint, command.wait, zepi_ur_command_event(&command)),
        UR_COMMAND_USM_ADVISE);
}

// Rows that lie `pitch` bytes apart, in their allocation: the last one ends with its own bytes.
// Rows without gaps, and a single one, are of any size.
static ur_result_t read_rows(struct zepi_context *context, const void *memory, size_t pitch,
                             size_t width, size_t height, const char *name,
                             struct zepi_layout *out_layout)
{
    const zepi_rect_t rect = {.row_pitch_bytes = pitch};
    const size_t region[3] = {width, height, 1};
    if (pitch == 0)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_SIZE, "a pitch of 0 bytes at %s", name);
    return zepi_ur_result_of_range(
        zepi_check_rect_in_memory(context, name, memory, &rect, region, out_layout));
}

ur_result_t zepi_urEnqueueUSMFill2D(ur_queue_handle_t hQueue, void *pMem, size_t pitch,
                                    size_t patternSize, const void *pPattern, size_t width,
                                    size_t height, uint32_t wait_count,
                                    const ur_event_handle_t *wait_list,
                                    ur_event_handle_t *out_event)
{
    struct zepi_ur_command command = ZEPI_UR_COMMAND(hQueue, false);
    struct zepi_layout layout;
    size_t size;
    ur_result_t result = zepi_ur_command_begin(&command);
    if (result == UR_RESULT_SUCCESS && __builtin_mul_overflow(width, height, &size))
        result =
            zepi_ur_refuse(UR_RESULT_ERROR_INVALID_SIZE, "%zu rows of %zu bytes", height, width);
    if (result == UR_RESULT_SUCCESS)
        // Rows without gaps, and a single one, are filled as bytes.
        result =
            pitch == width || (height == 1 && pitch > width)
                ? zepi_ur_check_range(command.queue->context, pMem, size, "pMem")
                : read_rows(command.queue->context, pMem, pitch, width, height, "pMem", &layout);
    result = result ? result : zepi_ur_check_pattern(pPattern, patternSize, size);
    if (result == UR_RESULT_SUCCESS && (patternSize & (patternSize - 1)))
        result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_SIZE,
                                "a pattern of %zu bytes, expected a power of two", patternSize);
    if (result != UR_RESULT_SUCCESS)
        return result;
    const struct zepi_fill_rect rect = {pitch, width, height};
    return zepi_ur_command_end(&command,
                               zepi_queue_fill_rect(command.queue, pMem, &rect, pPattern,
                                                    patternSize, command.wait,
                                                    zepi_ur_command_event(&command)),
                               UR_COMMAND_USM_FILL_2D);
}

ur_result_t zepi_urEnqueueUSMMemcpy2D(ur_queue_handle_t hQueue, bool blocking, void *pDst,
                                      size_t dstPitch, const void *pSrc, size_t srcPitch,
                                      size_t width, size_t height, uint32_t wait_count,
                                      const ur_event_handle_t *wait_list,
                                      ur_event_handle_t *out_event)
{
    struct zepi_ur_command command = ZEPI_UR_COMMAND(hQueue, blocking);
    struct zepi_layout to, from;
    ur_result_t result;
    if ((result = zepi_ur_command_begin(&command)) ||
        (result = read_rows(command.queue->context, pDst, dstPitch, width, height, "pDst", &to)) ||
        (result = read_rows(command.queue->context, pSrc, srcPitch, width, height, "pSrc", &from)))
        return result;
    return zepi_ur_command_end(&command,
                               zepi_queue_copy_rect(command.queue, pDst, &to, pSrc, &from,
                                                    command.wait, zepi_ur_command_event(&command)),
                               UR_COMMAND_USM_MEMCPY_2D);
}
