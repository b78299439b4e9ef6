// SPDX-License-Identifier: MIT
#include "ur/queue/transfer.h"

// ---- Bytes ----

ur_result_t zepi_urEnqueueMemBufferRead(ur_queue_handle_t hQueue, ur_mem_handle_t hBuffer,
                                        bool blockingRead, size_t offset, size_t size, void *pDst,
                                        ZEPI_UR_ENQUEUE_PARAMETERS)
{
    struct zepi_ur_command command = ZEPI_UR_COMMAND(hQueue, blockingRead);
    struct zepi_ur_transfer copy = {ZEPI_UR_COPY(size), .to = {ZEPI_UR_MEMORY(pDst)},
                                    .from = {ZEPI_UR_BUFFER(hBuffer, offset)}};
    return zepi_ur_enqueue_transfer(&command, &copy, UR_COMMAND_MEM_BUFFER_READ);
}

ur_result_t zepi_urEnqueueMemBufferWrite(ur_queue_handle_t hQueue, ur_mem_handle_t hBuffer,
                                         bool blockingWrite, size_t offset, size_t size,
                                         const void *pSrc, ZEPI_UR_ENQUEUE_PARAMETERS)
{
    struct zepi_ur_command command = ZEPI_UR_COMMAND(hQueue, blockingWrite);
    struct zepi_ur_transfer copy = {ZEPI_UR_COPY(size), .to = {ZEPI_UR_BUFFER(hBuffer, offset)},
                                    .from = {ZEPI_UR_MEMORY(pSrc)}};
    return zepi_ur_enqueue_transfer(&command, &copy, UR_COMMAND_MEM_BUFFER_WRITE);
}

ur_result_t zepi_urEnqueueMemBufferCopy(ur_queue_handle_t hQueue, ur_mem_handle_t hBufferSrc,
                                        ur_mem_handle_t hBufferDst, size_t srcOffset,
                                        size_t dstOffset, size_t size, ZEPI_UR_ENQUEUE_PARAMETERS)
{
    struct zepi_ur_command command = ZEPI_UR_COMMAND(hQueue, false);
    struct zepi_ur_transfer copy = {ZEPI_UR_COPY(size),
                                    .to = {ZEPI_UR_BUFFER(hBufferDst, dstOffset)},
                                    .from = {ZEPI_UR_BUFFER(hBufferSrc, srcOffset)}};
    return zepi_ur_enqueue_transfer(&command, &copy, UR_COMMAND_MEM_BUFFER_COPY);
}

ur_result_t zepi_urEnqueueMemBufferFill(ur_queue_handle_t hQueue, ur_mem_handle_t hBuffer,
                                        const void *pPattern, size_t patternSize, size_t offset,
                                        size_t size, ZEPI_UR_ENQUEUE_PARAMETERS)
{
    struct zepi_ur_command command = ZEPI_UR_COMMAND(hQueue, false);
    struct zepi_ur_transfer fill = {ZEPI_UR_FILL(pPattern, patternSize, size),
                                    .to = {ZEPI_UR_BUFFER(hBuffer, offset)}};
    const ur_result_t result = zepi_ur_check_queue(hQueue);
    if (result != UR_RESULT_SUCCESS)
        return result;
    // The header's rule for queues alone.
    if (patternSize & (patternSize - 1) || (patternSize > 0 && offset % patternSize != 0))
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_SIZE,
                              "a pattern of %zu bytes from %zu on, expected a power of two and a "
                              "multiple of it",
                              patternSize, offset);
    return zepi_ur_enqueue_transfer(&command, &fill, UR_COMMAND_MEM_BUFFER_FILL);
}

// ---- Rectangles ----

ur_result_t zepi_urEnqueueMemBufferReadRect(ur_queue_handle_t hQueue, ur_mem_handle_t hBuffer,
                                            bool blockingRead, ur_rect_offset_t bufferOrigin,
                                            ur_rect_offset_t hostOrigin, ur_rect_region_t region,
                                            size_t bufferRowPitch, size_t bufferSlicePitch,
                                            size_t hostRowPitch, size_t hostSlicePitch, void *pDst,
                                            ZEPI_UR_ENQUEUE_PARAMETERS)
{
    struct zepi_ur_command command = ZEPI_UR_COMMAND(hQueue, blockingRead);
    struct zepi_ur_transfer copy = {
        ZEPI_UR_COPY_RECT(region),
        .to = {ZEPI_UR_MEMORY(pDst), .rect = {hostOrigin, hostRowPitch, hostSlicePitch}},
        .from = {ZEPI_UR_BUFFER(hBuffer, 0),
                 .rect = {bufferOrigin, bufferRowPitch, bufferSlicePitch}}};
    return zepi_ur_enqueue_transfer(&command, &copy, UR_COMMAND_MEM_BUFFER_READ_RECT);
}

ur_result_t zepi_urEnqueueMemBufferWriteRect(ur_queue_handle_t hQueue, ur_mem_handle_t hBuffer,
                                             bool blockingWrite, ur_rect_offset_t bufferOrigin,
                                             ur_rect_offset_t hostOrigin, ur_rect_region_t region,
                                             size_t bufferRowPitch, size_t bufferSlicePitch,
                                             size_t hostRowPitch, size_t hostSlicePitch, void *pSrc,
                                             ZEPI_UR_ENQUEUE_PARAMETERS)
{
    struct zepi_ur_command command = ZEPI_UR_COMMAND(hQueue, blockingWrite);
    struct zepi_ur_transfer copy = {
        ZEPI_UR_COPY_RECT(region),
        .to = {ZEPI_UR_BUFFER(hBuffer, 0),
               .rect = {bufferOrigin, bufferRowPitch, bufferSlicePitch}},
        .from = {ZEPI_UR_MEMORY(pSrc), .rect = {hostOrigin, hostRowPitch, hostSlicePitch}}};
    return zepi_ur_enqueue_transfer(&command, &copy, UR_COMMAND_MEM_BUFFER_WRITE_RECT);
}

ur_result_t zepi_urEnqueueMemBufferCopyRect(ur_queue_handle_t hQueue, ur_mem_handle_t hBufferSrc,
                                            ur_mem_handle_t hBufferDst, ur_rect_offset_t srcOrigin,
                                            ur_rect_offset_t dstOrigin, ur_rect_region_t region,
                                            size_t srcRowPitch, size_t srcSlicePitch,
                                            size_t dstRowPitch, size_t dstSlicePitch,
                                            ZEPI_UR_ENQUEUE_PARAMETERS)
{
    struct zepi_ur_command command = ZEPI_UR_COMMAND(hQueue, false);
    struct zepi_ur_transfer copy = {
        ZEPI_UR_COPY_RECT(region),
        .to = {ZEPI_UR_BUFFER(hBufferDst, 0), .rect = {dstOrigin, dstRowPitch, dstSlicePitch}},
        .from = {ZEPI_UR_BUFFER(hBufferSrc, 0), .rect = {srcOrigin, srcRowPitch, srcSlicePitch}}};
    return zepi_ur_enqueue_transfer(&command, &copy, UR_COMMAND_MEM_BUFFER_COPY_RECT);
}
