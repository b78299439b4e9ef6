// SPDX-License-Identifier: MIT
#include "copy/copy.h"
#include "queue/progress.h"
#include "ur/queue/transfer.h"

#include <string.h>

static __attribute__((noinline)) ur_result_t enqueue_memcpy_any(ur_queue_handle_t hQueue,
                                                                bool blocking, void *pDst,
                                                                const void *pSrc, size_t size,
                                                                ZEPI_UR_ENQUEUE_PARAMETERS)
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
           size <= zepi_usm_room(queue->context, memory, size);
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
                                    const void *pSrc, size_t size, ZEPI_UR_ENQUEUE_PARAMETERS)
{
    // The frame of a command is for its event and its wait list.
    if (((uintptr_t)wait_list | (uintptr_t)out_event | wait_count) == 0)
        return blocking ? enqueue_memcpy_blocking(hQueue, pDst, pSrc, size)
                        : enqueue_memcpy_plain(hQueue, pDst, pSrc, size);
    return enqueue_memcpy_any(hQueue, blocking, pDst, pSrc, size, wait_count, wait_list, out_event);
}

// Made directly, as a copy: what ends that are buffers need would cost half as much again.
ur_result_t zepi_urEnqueueUSMFill(ur_queue_handle_t hQueue, void *pMem, size_t patternSize,
                                  const void *pPattern, size_t size, ZEPI_UR_ENQUEUE_PARAMETERS)
{
    struct zepi_ur_command command = ZEPI_UR_COMMAND(hQueue, false);
    ur_result_t result;
    if ((result = zepi_ur_command_begin(&command)) ||
        (result = zepi_ur_check_range(command.queue->context, pMem, size, "pMem")) ||
        (result = zepi_ur_check_pattern(pPattern, patternSize, size)))
        return result;
    const struct zepi_transfer fill = {.head.kind = ZEPI_COMMAND_FILL,
                                       .to = pMem,
                                       .size_bytes = size,
                                       .pattern = pPattern,
                                       .pattern_size_bytes = patternSize};
    return zepi_ur_command_end(
        &command,
        zepi_queue_transfer(command.queue, &fill, command.wait, zepi_ur_command_event(&command)),
        UR_COMMAND_USM_FILL);
}

ur_result_t zepi_urEnqueueUSMPrefetch(ur_queue_handle_t hQueue, const void *pMem, size_t size,
                                      ur_usm_migration_flags_t flags, ZEPI_UR_ENQUEUE_PARAMETERS)
{
    struct zepi_ur_command command = ZEPI_UR_COMMAND(hQueue, false);
    struct zepi_ur_transfer hint = {ZEPI_UR_HINT(PREFETCH, size, flags),
                                    .from = {ZEPI_UR_MEMORY(pMem)}};
    return zepi_ur_enqueue_transfer(&command, &hint, UR_COMMAND_USM_PREFETCH);
}

ur_result_t zepi_urEnqueueUSMAdvise(ur_queue_handle_t hQueue, const void *pMem, size_t size,
                                    ur_usm_advice_flags_t advice, ur_event_handle_t *out_event)
{
    struct zepi_ur_command command = {.queue = zepi_ur_queue(hQueue), .out_event = out_event};
    struct zepi_ur_transfer hint = {ZEPI_UR_HINT(ADVISE, size, advice),
                                    .from = {ZEPI_UR_MEMORY(pMem)}};
    return zepi_ur_enqueue_transfer(&command, &hint, UR_COMMAND_USM_ADVISE);
}

// ---- Rows that lie `pitch` bytes apart ----

ur_result_t zepi_urEnqueueUSMFill2D(ur_queue_handle_t hQueue, void *pMem, size_t pitch,
                                    size_t patternSize, const void *pPattern, size_t width,
                                    size_t height, ZEPI_UR_ENQUEUE_PARAMETERS)
{
    struct zepi_ur_command command = ZEPI_UR_COMMAND(hQueue, false);
    struct zepi_ur_transfer fill = {ZEPI_UR_FILL(pPattern, patternSize, 0),
                                    .to = {ZEPI_UR_MEMORY(pMem), .rect.row_pitch = pitch},
                                    .region = {width, height, 1}};
    ur_result_t result = zepi_ur_check_queue(hQueue);
    if (result == UR_RESULT_SUCCESS &&
        (pitch == 0 || patternSize & (patternSize - 1) ||
         __builtin_mul_overflow(width, height, &fill.core.size_bytes)))
        result =
            zepi_ur_refuse(UR_RESULT_ERROR_INVALID_SIZE,
                           "%zu rows of %zu bytes with a pitch of %zu, a pattern of %zu bytes, "
                           "expected a power of two",
                           height, width, pitch, patternSize);
    return result ? result : zepi_ur_enqueue_transfer(&command, &fill, UR_COMMAND_USM_FILL_2D);
}

ur_result_t zepi_urEnqueueUSMMemcpy2D(ur_queue_handle_t hQueue, bool blocking, void *pDst,
                                      size_t dstPitch, const void *pSrc, size_t srcPitch,
                                      size_t width, size_t height, ZEPI_UR_ENQUEUE_PARAMETERS)
{
    struct zepi_ur_command command = ZEPI_UR_COMMAND(hQueue, blocking);
    const ur_rect_region_t region = {width, height, 1};
    struct zepi_ur_transfer copy = {ZEPI_UR_COPY_RECT(region),
                                    .to = {ZEPI_UR_MEMORY(pDst), .rect.row_pitch = dstPitch},
                                    .from = {ZEPI_UR_MEMORY(pSrc), .rect.row_pitch = srcPitch}};
    ur_result_t result = zepi_ur_check_queue(hQueue);
    // Other rectangles have a pitch of their own instead.
    if (result == UR_RESULT_SUCCESS && (dstPitch == 0 || srcPitch == 0))
        result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_SIZE, "pitches of %zu and %zu bytes",
                                dstPitch, srcPitch);
    return result ? result : zepi_ur_enqueue_transfer(&command, &copy, UR_COMMAND_USM_MEMCPY_2D);
}
