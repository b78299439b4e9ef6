// SPDX-License-Identifier: MIT
#include "copy/copy.h"
#include "copy/fill.h"
#include "ur/command.h"
#include "ur/queue/transfer.h"

// The frame and the buffer, which the queue must be able to use.
static ur_result_t buffer_command_begin(struct zepi_ur_command *command, ur_queue_handle_t queue,
                                        ur_mem_handle_t buffer, bool is_blocking,
                                        uint32_t wait_count, const ur_event_handle_t *wait_list,
                                        ur_event_handle_t *out_event)
{
    const ur_result_t result =
        zepi_ur_command_begin(command, queue, is_blocking, wait_count, wait_list, out_event);
    return result ? result : zepi_ur_check_buffer(buffer, command->queue->context);
}

// Some bytes of a buffer, wherever the queue's device reaches them.
static zepi_result_t use_buffer_range(struct zepi_buffer_uses *uses, ur_mem_handle_t buffer,
                                      size_t offset, size_t size, enum zepi_buffer_access access,
                                      void **out_address)
{
    const struct zepi_buffer_part part = zepi_ur_buffer_part(zepi_ur_mem(buffer), offset, size);
    return zepi_buffer_use(uses, &part, access, ZEPI_BUFFER_ANYWHERE, out_address);
}

static zepi_result_t use_whole_buffer(struct zepi_buffer_uses *uses, ur_mem_handle_t buffer,
                                      enum zepi_buffer_access access, void **out_address)
{
    return use_buffer_range(uses, buffer, 0, zepi_ur_mem(buffer)->size_bytes, access, out_address);
}

// `other`: NULL if the command has one buffer.
static ur_result_t buffer_command_end(struct zepi_ur_command *command,
                                      struct zepi_buffer_uses *uses, zepi_result_t done,
                                      ur_mem_handle_t buffer, ur_mem_handle_t other,
                                      ur_command_t type)
{
    zepi_buffer_uses_finish(uses);
    if (done == ZEPI_SUCCESS)
        zepi_ur_hold_foreign(command->queue, zepi_ur_mem(buffer));
    if (done == ZEPI_SUCCESS && other)
        zepi_ur_hold_foreign(command->queue, zepi_ur_mem(other));
    return zepi_ur_command_end(command, done, type);
}

// Copies bytes of a buffer to memory (ZEPI_BUFFER_READ), or from there (ZEPI_BUFFER_WRITE).
static ur_result_t transfer_buffer(struct zepi_ur_command *command, ur_mem_handle_t buffer,
                                   enum zepi_buffer_access access, size_t offset, size_t size,
                                   void *memory, ur_command_t type)
{
    struct zepi_buffer_uses uses;
    void *address;
    const bool is_read = access == ZEPI_BUFFER_READ;
    ur_result_t result;
    if ((result = zepi_ur_check_range(command->queue->context, memory, size,
                                      is_read ? "pDst" : "pSrc")) ||
        (result = zepi_ur_check_buffer_range(zepi_ur_mem(buffer), offset, size)))
        return result;
    zepi_buffer_uses_init(&uses, command->queue, command->wait);
    zepi_result_t done = use_buffer_range(&uses, buffer, offset, size, access, &address);
    if (done == ZEPI_SUCCESS)
        done =
            zepi_queue_copy(command->queue, is_read ? memory : address, is_read ? address : memory,
                            size, uses.wait, zepi_ur_command_event(command));
    return buffer_command_end(command, &uses, done, buffer, NULL, type);
}

ur_result_t zepi_urEnqueueMemBufferRead(ur_queue_handle_t hQueue, ur_mem_handle_t hBuffer,
                                        bool blockingRead, size_t offset, size_t size, void *pDst,
                                        uint32_t wait_count, const ur_event_handle_t *wait_list,
                                        ur_event_handle_t *out_event)
{
    struct zepi_ur_command command;
    const ur_result_t result = buffer_command_begin(&command, hQueue, hBuffer, blockingRead,
                                                    wait_count, wait_list, out_event);
    return result ? result
                  : transfer_buffer(&command, hBuffer, ZEPI_BUFFER_READ, offset, size, pDst,
                                    UR_COMMAND_MEM_BUFFER_READ);
}

ur_result_t zepi_urEnqueueMemBufferWrite(ur_queue_handle_t hQueue, ur_mem_handle_t hBuffer,
                                         bool blockingWrite, size_t offset, size_t size,
                                         const void *pSrc, uint32_t wait_count,
                                         const ur_event_handle_t *wait_list,
                                         ur_event_handle_t *out_event)
{
    struct zepi_ur_command command;
    const ur_result_t result = buffer_command_begin(&command, hQueue, hBuffer, blockingWrite,
                                                    wait_count, wait_list, out_event);
    return result ? result
                  : transfer_buffer(&command, hBuffer, ZEPI_BUFFER_WRITE, offset, size,
                                    (void *)pSrc, UR_COMMAND_MEM_BUFFER_WRITE);
}

ur_result_t zepi_urEnqueueMemBufferCopy(ur_queue_handle_t hQueue, ur_mem_handle_t hBufferSrc,
                                        ur_mem_handle_t hBufferDst, size_t srcOffset,
                                        size_t dstOffset, size_t size, uint32_t wait_count,
                                        const ur_event_handle_t *wait_list,
                                        ur_event_handle_t *out_event)
{
    struct zepi_ur_command command;
    struct zepi_buffer_uses uses;
    void *source;
    void *destination;
    ur_result_t result;
    if ((result = buffer_command_begin(&command, hQueue, hBufferSrc, false, wait_count, wait_list,
                                       out_event)) ||
        (result = zepi_ur_check_buffer(hBufferDst, command.queue->context)) ||
        (size == 0 &&
         (result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_SIZE, "a copy of 0 bytes"))) ||
        (result = zepi_ur_check_buffer_range(zepi_ur_mem(hBufferSrc), srcOffset, size)) ||
        (result = zepi_ur_check_buffer_range(zepi_ur_mem(hBufferDst), dstOffset, size)))
        return result;
    zepi_buffer_uses_init(&uses, command.queue, command.wait);
    zepi_result_t done =
        use_buffer_range(&uses, hBufferSrc, srcOffset, size, ZEPI_BUFFER_READ, &source);
    if (done == ZEPI_SUCCESS)
        done =
            use_buffer_range(&uses, hBufferDst, dstOffset, size, ZEPI_BUFFER_WRITE, &destination);
    if (done == ZEPI_SUCCESS)
        done = zepi_queue_copy(command.queue, destination, source, size, uses.wait,
                               zepi_ur_command_event(&command));
    return buffer_command_end(&command, &uses, done, hBufferSrc, hBufferDst,
                              UR_COMMAND_MEM_BUFFER_COPY);
}

ur_result_t zepi_urEnqueueMemBufferFill(ur_queue_handle_t hQueue, ur_mem_handle_t hBuffer,
                                        const void *pPattern, size_t patternSize, size_t offset,
                                        size_t size, uint32_t wait_count,
                                        const ur_event_handle_t *wait_list,
                                        ur_event_handle_t *out_event)
{
    struct zepi_ur_command command;
    struct zepi_buffer_uses uses;
    void *destination;
    ur_result_t result;
    if ((result = buffer_command_begin(&command, hQueue, hBuffer, false, wait_count, wait_list,
                                       out_event)) ||
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
    zepi_result_t done =
        use_buffer_range(&uses, hBuffer, offset, size, ZEPI_BUFFER_WRITE, &destination);
    if (done == ZEPI_SUCCESS)
        done = zepi_queue_fill_any(command.queue, destination, pPattern, patternSize, size,
                                   uses.wait, zepi_ur_command_event(&command));
    return buffer_command_end(&command, &uses, done, hBuffer, NULL, UR_COMMAND_MEM_BUFFER_FILL);
}

// Copies a rectangle of a buffer to memory (ZEPI_BUFFER_READ), or from there (ZEPI_BUFFER_WRITE).
static ur_result_t transfer_buffer_rect(struct zepi_ur_command *command, ur_mem_handle_t buffer,
                                        enum zepi_buffer_access access,
                                        const struct zepi_ur_rect *in_buffer, void *memory,
                                        const struct zepi_ur_rect *in_memory,
                                        ur_rect_region_t region, ur_command_t type)
{
    struct zepi_buffer_uses uses;
    void *address;
    struct zepi_layout layout, memory_layout;
    zepi_event_t *event = zepi_ur_command_event(command);
    const char *name = access == ZEPI_BUFFER_READ ? "pDst" : "pSrc";
    ur_result_t result;
    if ((result = zepi_ur_read_buffer_rect(zepi_ur_mem(buffer), in_buffer, region, &layout)) ||
        (result = zepi_ur_read_memory_rect(command->queue->context, name, memory, in_memory, region,
                                           &memory_layout)))
        return result;
    zepi_buffer_uses_init(&uses, command->queue, command->wait);
    zepi_result_t done = use_whole_buffer(&uses, buffer, access, &address);
    if (done == ZEPI_SUCCESS)
        done = access == ZEPI_BUFFER_READ
                   ? zepi_queue_copy_rect(command->queue, memory, &memory_layout, address, &layout,
                                          uses.wait, event)
                   : zepi_queue_copy_rect(command->queue, address, &layout, memory, &memory_layout,
                                          uses.wait, event);
    return buffer_command_end(command, &uses, done, buffer, NULL, type);
}

ur_result_t zepi_urEnqueueMemBufferReadRect(ur_queue_handle_t hQueue, ur_mem_handle_t hBuffer,
                                            bool blockingRead, ur_rect_offset_t bufferOrigin,
                                            ur_rect_offset_t hostOrigin, ur_rect_region_t region,
                                            size_t bufferRowPitch, size_t bufferSlicePitch,
                                            size_t hostRowPitch, size_t hostSlicePitch, void *pDst,
                                            uint32_t wait_count, const ur_event_handle_t *wait_list,
                                            ur_event_handle_t *out_event)
{
    struct zepi_ur_command command;
    const struct zepi_ur_rect from = {bufferOrigin, bufferRowPitch, bufferSlicePitch};
    const struct zepi_ur_rect to = {hostOrigin, hostRowPitch, hostSlicePitch};
    const ur_result_t result = buffer_command_begin(&command, hQueue, hBuffer, blockingRead,
                                                    wait_count, wait_list, out_event);
    return result ? result
                  : transfer_buffer_rect(&command, hBuffer, ZEPI_BUFFER_READ, &from, pDst, &to,
                                         region, UR_COMMAND_MEM_BUFFER_READ_RECT);
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
    struct zepi_ur_command command;
    const struct zepi_ur_rect to = {bufferOrigin, bufferRowPitch, bufferSlicePitch};
    const struct zepi_ur_rect from = {hostOrigin, hostRowPitch, hostSlicePitch};
    const ur_result_t result = buffer_command_begin(&command, hQueue, hBuffer, blockingWrite,
                                                    wait_count, wait_list, out_event);
    return result ? result
                  : transfer_buffer_rect(&command, hBuffer, ZEPI_BUFFER_WRITE, &to, pSrc, &from,
                                         region, UR_COMMAND_MEM_BUFFER_WRITE_RECT);
}

ur_result_t zepi_urEnqueueMemBufferCopyRect(ur_queue_handle_t hQueue, ur_mem_handle_t hBufferSrc,
                                            ur_mem_handle_t hBufferDst, ur_rect_offset_t srcOrigin,
                                            ur_rect_offset_t dstOrigin, ur_rect_region_t region,
                                            size_t srcRowPitch, size_t srcSlicePitch,
                                            size_t dstRowPitch, size_t dstSlicePitch,
                                            uint32_t wait_count, const ur_event_handle_t *wait_list,
                                            ur_event_handle_t *out_event)
{
    struct zepi_ur_command command;
    struct zepi_buffer_uses uses;
    void *source;
    void *destination;
    struct zepi_layout from, to;
    const struct zepi_ur_rect from_rect = {srcOrigin, srcRowPitch, srcSlicePitch};
    const struct zepi_ur_rect to_rect = {dstOrigin, dstRowPitch, dstSlicePitch};
    ur_result_t result;
    if ((result = buffer_command_begin(&command, hQueue, hBufferSrc, false, wait_count, wait_list,
                                       out_event)) ||
        (result = zepi_ur_check_buffer(hBufferDst, command.queue->context)) ||
        (result = zepi_ur_read_buffer_rect(zepi_ur_mem(hBufferSrc), &from_rect, region, &from)) ||
        (result = zepi_ur_read_buffer_rect(zepi_ur_mem(hBufferDst), &to_rect, region, &to)))
        return result;
    zepi_buffer_uses_init(&uses, command.queue, command.wait);
    zepi_result_t done = use_whole_buffer(&uses, hBufferSrc, ZEPI_BUFFER_READ, &source);
    if (done == ZEPI_SUCCESS)
        done = use_whole_buffer(&uses, hBufferDst, ZEPI_BUFFER_WRITE, &destination);
    if (done == ZEPI_SUCCESS)
        done = zepi_queue_copy_rect(command.queue, destination, &to, source, &from, uses.wait,
                                    zepi_ur_command_event(&command));
    return buffer_command_end(&command, &uses, done, hBufferSrc, hBufferDst,
                              UR_COMMAND_MEM_BUFFER_COPY_RECT);
}
