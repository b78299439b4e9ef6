// SPDX-License-Identifier: MIT
#include "copy/copy.h"
#include "copy/fill.h"
#include "ur/command.h"
#include "ur/queue/transfer.h"

// The frame, and the ends, which the queue must be able to use.
static ur_result_t copy_begin(const struct zepi_ur_command *command, const struct zepi_ur_end *to,
                              const struct zepi_ur_end *from)
{
    const ur_result_t result = zepi_ur_command_begin(command);
    return result ? result : zepi_ur_check_ends(command->queue->context, to, from);
}

// Some bytes of a buffer, on the queue's device.
static zepi_result_t use_end(struct zepi_buffer_uses *uses, struct zepi_ur_end *end, size_t offset,
                             size_t size, enum zepi_buffer_access access)
{
    void *address = end->memory;
    zepi_result_t result = ZEPI_SUCCESS;
    if (!end->name) {
        const struct zepi_buffer_part part =
            zepi_ur_buffer_part(zepi_ur_mem(end->buffer), offset, size);
        result = zepi_buffer_use(uses, &part, access, ZEPI_BUFFER_ON_DEVICE, &address);
    }
    if (result == ZEPI_SUCCESS)
        end->memory = address;
    return result;
}

static zepi_result_t use_all(struct zepi_buffer_uses *uses, struct zepi_ur_end *end,
                             enum zepi_buffer_access access)
{
    const size_t size = end->name ? 0 : zepi_ur_mem(end->buffer)->size_bytes;
    return use_end(uses, end, 0, size, access);
}

static void hold_end(struct zepi_queue *queue, const struct zepi_ur_end *end)
{
    if (!end->name)
        zepi_ur_hold_foreign(queue, zepi_ur_mem(end->buffer));
}

static ur_result_t copy_end(struct zepi_ur_command *command, struct zepi_buffer_uses *uses,
                            zepi_result_t done, const struct zepi_ur_end *to,
                            const struct zepi_ur_end *from, ur_command_t type)
{
    zepi_buffer_uses_finish(uses);
    if (done == ZEPI_SUCCESS) {
        hold_end(command->queue, from);
        hold_end(command->queue, to);
    }
    return zepi_ur_command_end(command, done, type);
}

// ---- Bytes ----

static ur_result_t copy_bytes(struct zepi_ur_command *command, struct zepi_ur_end *to,
                              struct zepi_ur_end *from, size_t size, ur_command_t type)
{
    struct zepi_buffer_uses uses;
    ur_result_t result;
    if ((result = copy_begin(command, to, from)) ||
        (!to->name && !from->name && size == 0 &&
         (result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_SIZE, "a copy of 0 bytes"))) ||
        (result = zepi_ur_check_bytes(command->queue->context, to, from, size)))
        return result;
    zepi_buffer_uses_init(&uses, command->queue, command->wait);
    zepi_result_t done = use_end(&uses, from, from->offset, size, ZEPI_BUFFER_READ);
    if (done == ZEPI_SUCCESS)
        done = use_end(&uses, to, to->offset, size, ZEPI_BUFFER_WRITE);
    if (done == ZEPI_SUCCESS)
        done = zepi_queue_copy(command->queue, to->memory, from->memory, size, uses.wait,
                               zepi_ur_command_event(command));
    return copy_end(command, &uses, done, to, from, type);
}

ur_result_t zepi_urEnqueueMemBufferRead(ur_queue_handle_t hQueue, ur_mem_handle_t hBuffer,
                                        bool blockingRead, size_t offset, size_t size, void *pDst,
                                        uint32_t wait_count, const ur_event_handle_t *wait_list,
                                        ur_event_handle_t *out_event)
{
    struct zepi_ur_command command = ZEPI_UR_COMMAND(hQueue, blockingRead);
    struct zepi_ur_end to = {ZEPI_UR_MEMORY(pDst)};
    struct zepi_ur_end from = {ZEPI_UR_BUFFER(hBuffer, offset)};
    return copy_bytes(&command, &to, &from, size, UR_COMMAND_MEM_BUFFER_READ);
}

ur_result_t zepi_urEnqueueMemBufferWrite(ur_queue_handle_t hQueue, ur_mem_handle_t hBuffer,
                                         bool blockingWrite, size_t offset, size_t size,
                                         const void *pSrc, uint32_t wait_count,
                                         const ur_event_handle_t *wait_list,
                                         ur_event_handle_t *out_event)
{
    struct zepi_ur_command command = ZEPI_UR_COMMAND(hQueue, blockingWrite);
    struct zepi_ur_end to = {ZEPI_UR_BUFFER(hBuffer, offset)};
    struct zepi_ur_end from = {ZEPI_UR_MEMORY(pSrc)};
    return copy_bytes(&command, &to, &from, size, UR_COMMAND_MEM_BUFFER_WRITE);
}

ur_result_t zepi_urEnqueueMemBufferCopy(ur_queue_handle_t hQueue, ur_mem_handle_t hBufferSrc,
                                        ur_mem_handle_t hBufferDst, size_t srcOffset,
                                        size_t dstOffset, size_t size, uint32_t wait_count,
                                        const ur_event_handle_t *wait_list,
                                        ur_event_handle_t *out_event)
{
    struct zepi_ur_command command = ZEPI_UR_COMMAND(hQueue, false);
    struct zepi_ur_end to = {ZEPI_UR_BUFFER(hBufferDst, dstOffset)};
    struct zepi_ur_end from = {ZEPI_UR_BUFFER(hBufferSrc, srcOffset)};
    return copy_bytes(&command, &to, &from, size, UR_COMMAND_MEM_BUFFER_COPY);
}

ur_result_t zepi_urEnqueueMemBufferFill(ur_queue_handle_t hQueue, ur_mem_handle_t hBuffer,
                                        const void *pPattern, size_t patternSize, size_t offset,
                                        size_t size, uint32_t wait_count,
                                        const ur_event_handle_t *wait_list,
                                        ur_event_handle_t *out_event)
{
    struct zepi_ur_command command = ZEPI_UR_COMMAND(hQueue, false);
    struct zepi_buffer_uses uses;
    struct zepi_ur_end to = {ZEPI_UR_BUFFER(hBuffer, offset)};
    ur_result_t result;
    if ((result = copy_begin(&command, &to, &to)) ||
        (result = zepi_ur_check_pointer(pPattern, "pPattern")) ||
        (((patternSize == 0 || (patternSize & (patternSize - 1)) || size == 0 ||
           size % patternSize != 0 || offset % patternSize != 0)) &&
         (result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_SIZE,
                                  "a pattern of %zu bytes for %zu bytes from %zu on, expected a "
                                  "power of two and multiples of it",
                                  patternSize, size, offset))) ||
        (result = zepi_ur_check_buffer_range(zepi_ur_mem(hBuffer), offset, size)))
        return result;
    zepi_buffer_uses_init(&uses, command.queue, command.wait);
    zepi_result_t done = use_end(&uses, &to, offset, size, ZEPI_BUFFER_WRITE);
    if (done == ZEPI_SUCCESS)
        done = zepi_queue_fill(command.queue, to.memory, pPattern, patternSize, size, uses.wait,
                               zepi_ur_command_event(&command));
    return copy_end(&command, &uses, done, &to, &to, UR_COMMAND_MEM_BUFFER_FILL);
}

// ---- Rectangles ----

static ur_result_t copy_rects(struct zepi_ur_command *command, struct zepi_ur_end *to,
                              struct zepi_ur_end *from, ur_rect_region_t region, ur_command_t type)
{
    struct zepi_buffer_uses uses;
    struct zepi_transfer copy = {.head.kind = ZEPI_COMMAND_COPY_RECT};
    ur_result_t result;
    if ((result = copy_begin(command, to, from)) ||
        (result = zepi_ur_read_rects(command->queue->context, to, from, region, &copy)))
        return result;
    zepi_buffer_uses_init(&uses, command->queue, command->wait);
    zepi_result_t done = use_all(&uses, from, ZEPI_BUFFER_READ);
    if (done == ZEPI_SUCCESS)
        done = use_all(&uses, to, ZEPI_BUFFER_WRITE);
    copy.to = to->memory;
    copy.from = from->memory;
    if (done == ZEPI_SUCCESS)
        done =
            zepi_queue_transfer(command->queue, &copy, uses.wait, zepi_ur_command_event(command));
    return copy_end(command, &uses, done, to, from, type);
}

ur_result_t zepi_urEnqueueMemBufferReadRect(ur_queue_handle_t hQueue, ur_mem_handle_t hBuffer,
                                            bool blockingRead, ur_rect_offset_t bufferOrigin,
                                            ur_rect_offset_t hostOrigin, ur_rect_region_t region,
                                            size_t bufferRowPitch, size_t bufferSlicePitch,
                                            size_t hostRowPitch, size_t hostSlicePitch, void *pDst,
                                            uint32_t wait_count, const ur_event_handle_t *wait_list,
                                            ur_event_handle_t *out_event)
{
    struct zepi_ur_command command = ZEPI_UR_COMMAND(hQueue, blockingRead);
    struct zepi_ur_end to = {ZEPI_UR_MEMORY(pDst),
                             .rect = {hostOrigin, hostRowPitch, hostSlicePitch}};
    struct zepi_ur_end from = {ZEPI_UR_BUFFER(hBuffer, 0),
                               .rect = {bufferOrigin, bufferRowPitch, bufferSlicePitch}};
    return copy_rects(&command, &to, &from, region, UR_COMMAND_MEM_BUFFER_READ_RECT);
}

ur_result_t zepi_urEnqueueMemBufferWriteRect(ur_queue_handle_t hQueue, ur_mem_handle_t hBuffer,
                                             bool blockingWrite, ur_rect_offset_t bufferOrigin,
                                             ur_rect_offset_t hostOrigin, ur_rect_region_t region,
                                             size_t bufferRowPitch, size_t bufferSlicePitch,
                                             size_t hostRowPitch, size_t hostSlicePitch, void *pSrc,
                                             uint32_t wait_count,
                                             const ur_event_handle_t *wait_list,
                                             ur_event_handle_t *out_event)
{
    struct zepi_ur_command command = ZEPI_UR_COMMAND(hQueue, blockingWrite);
    struct zepi_ur_end to = {ZEPI_UR_BUFFER(hBuffer, 0),
                             .rect = {bufferOrigin, bufferRowPitch, bufferSlicePitch}};
    struct zepi_ur_end from = {ZEPI_UR_MEMORY(pSrc),
                               .rect = {hostOrigin, hostRowPitch, hostSlicePitch}};
    return copy_rects(&command, &to, &from, region, UR_COMMAND_MEM_BUFFER_WRITE_RECT);
}

ur_result_t zepi_urEnqueueMemBufferCopyRect(ur_queue_handle_t hQueue, ur_mem_handle_t hBufferSrc,
                                            ur_mem_handle_t hBufferDst, ur_rect_offset_t srcOrigin,
                                            ur_rect_offset_t dstOrigin, ur_rect_region_t region,
                                            size_t srcRowPitch, size_t srcSlicePitch,
                                            size_t dstRowPitch, size_t dstSlicePitch,
                                            uint32_t wait_count, const ur_event_handle_t *wait_list,
                                            ur_event_handle_t *out_event)
{
    struct zepi_ur_command command = ZEPI_UR_COMMAND(hQueue, false);
    struct zepi_ur_end to = {ZEPI_UR_BUFFER(hBufferDst, 0),
                             .rect = {dstOrigin, dstRowPitch, dstSlicePitch}};
    struct zepi_ur_end from = {ZEPI_UR_BUFFER(hBufferSrc, 0),
                               .rect = {srcOrigin, srcRowPitch, srcSlicePitch}};
    return copy_rects(&command, &to, &from, region, UR_COMMAND_MEM_BUFFER_COPY_RECT);
}
