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
    return result == UR_RESULT_SUCCESS ? zepi_ur_check_buffer(buffer, command->queue->context)
                                       : result;
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

static ur_result_t check_some_bytes(size_t size)
{
    return size > 0 ? UR_RESULT_SUCCESS
                    : zepi_ur_refuse(UR_RESULT_ERROR_INVALID_SIZE, "a command of 0 bytes");
}

// Memory of the host, called `name`, on the other side of some bytes of a buffer.
static ur_result_t check_host_copy(const void *memory, const char *name, ur_mem_handle_t buffer,
                                   size_t offset, size_t size)
{
    ur_result_t result = zepi_ur_check_pointer(memory, name);
    if (result == UR_RESULT_SUCCESS)
        result = check_some_bytes(size);
    return result == UR_RESULT_SUCCESS
               ? zepi_ur_check_buffer_range(zepi_ur_mem(buffer), offset, size)
               : result;
}

ur_result_t zepi_urEnqueueMemBufferRead(ur_queue_handle_t hQueue, ur_mem_handle_t hBuffer,
                                        bool blockingRead, size_t offset, size_t size, void *pDst,
                                        uint32_t numEventsInWaitList,
                                        const ur_event_handle_t *phEventWaitList,
                                        ur_event_handle_t *phEvent)
{
    struct zepi_ur_command command;
    struct zepi_buffer_uses uses;
    void *source;
    ur_result_t result = buffer_command_begin(&command, hQueue, hBuffer, blockingRead,
                                              numEventsInWaitList, phEventWaitList, phEvent);
    if (result == UR_RESULT_SUCCESS)
        result = check_host_copy(pDst, "pDst", hBuffer, offset, size);
    if (result != UR_RESULT_SUCCESS)
        return result;
    zepi_buffer_uses_init(&uses, command.queue, command.wait);
    zepi_result_t done = use_buffer_range(&uses, hBuffer, offset, size, ZEPI_BUFFER_READ, &source);
    if (done == ZEPI_SUCCESS)
        done = zepi_queue_copy(command.queue, pDst, source, size, uses.wait,
                               zepi_ur_command_event(&command));
    return buffer_command_end(&command, &uses, done, hBuffer, NULL, UR_COMMAND_MEM_BUFFER_READ);
}

ur_result_t zepi_urEnqueueMemBufferWrite(ur_queue_handle_t hQueue, ur_mem_handle_t hBuffer,
                                         bool blockingWrite, size_t offset, size_t size,
                                         const void *pSrc, uint32_t numEventsInWaitList,
                                         const ur_event_handle_t *phEventWaitList,
                                         ur_event_handle_t *phEvent)
{
    struct zepi_ur_command command;
    struct zepi_buffer_uses uses;
    void *destination;
    ur_result_t result = buffer_command_begin(&command, hQueue, hBuffer, blockingWrite,
                                              numEventsInWaitList, phEventWaitList, phEvent);
    if (result == UR_RESULT_SUCCESS)
        result = check_host_copy(pSrc, "pSrc", hBuffer, offset, size);
    if (result != UR_RESULT_SUCCESS)
        return result;
    zepi_buffer_uses_init(&uses, command.queue, command.wait);
    zepi_result_t done =
        use_buffer_range(&uses, hBuffer, offset, size, ZEPI_BUFFER_WRITE, &destination);
    if (done == ZEPI_SUCCESS)
        done = zepi_queue_copy(command.queue, destination, pSrc, size, uses.wait,
                               zepi_ur_command_event(&command));
    return buffer_command_end(&command, &uses, done, hBuffer, NULL, UR_COMMAND_MEM_BUFFER_WRITE);
}

ur_result_t zepi_urEnqueueMemBufferCopy(ur_queue_handle_t hQueue, ur_mem_handle_t hBufferSrc,
                                        ur_mem_handle_t hBufferDst, size_t srcOffset,
                                        size_t dstOffset, size_t size, uint32_t numEventsInWaitList,
                                        const ur_event_handle_t *phEventWaitList,
                                        ur_event_handle_t *phEvent)
{
    struct zepi_ur_command command;
    struct zepi_buffer_uses uses;
    void *source;
    void *destination;
    ur_result_t result = buffer_command_begin(&command, hQueue, hBufferSrc, false,
                                              numEventsInWaitList, phEventWaitList, phEvent);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_buffer(hBufferDst, command.queue->context);
    if (result == UR_RESULT_SUCCESS)
        result = check_some_bytes(size);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_buffer_range(zepi_ur_mem(hBufferSrc), srcOffset, size);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_buffer_range(zepi_ur_mem(hBufferDst), dstOffset, size);
    if (result != UR_RESULT_SUCCESS)
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
                                        size_t size, uint32_t numEventsInWaitList,
                                        const ur_event_handle_t *phEventWaitList,
                                        ur_event_handle_t *phEvent)
{
    struct zepi_ur_command command;
    struct zepi_buffer_uses uses;
    void *destination;
    ur_result_t result = buffer_command_begin(&command, hQueue, hBuffer, false, numEventsInWaitList,
                                              phEventWaitList, phEvent);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_pointer(pPattern, "pPattern");
    if (result == UR_RESULT_SUCCESS &&
        (patternSize == 0 || (patternSize & (patternSize - 1)) || size == 0 ||
         size % patternSize != 0 || offset % patternSize != 0))
        result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_SIZE,
                                "a pattern of %zu bytes for %zu bytes from %zu on, expected a "
                                "power of two and multiples of it",
                                patternSize, size, offset);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_buffer_range(zepi_ur_mem(hBuffer), offset, size);
    if (result != UR_RESULT_SUCCESS)
        return result;
    zepi_buffer_uses_init(&uses, command.queue, command.wait);
    zepi_result_t done =
        use_buffer_range(&uses, hBuffer, offset, size, ZEPI_BUFFER_WRITE, &destination);
    if (done == ZEPI_SUCCESS)
        done = zepi_queue_fill_any(command.queue, destination, pPattern, patternSize, size,
                                   uses.wait, zepi_ur_command_event(&command));
    return buffer_command_end(&command, &uses, done, hBuffer, NULL, UR_COMMAND_MEM_BUFFER_FILL);
}

ur_result_t zepi_ur_rect_init(zepi_rect_t *rect, ur_rect_offset_t origin, size_t row_pitch,
                              size_t slice_pitch, ur_rect_region_t region)
{
    const size_t row = row_pitch ? row_pitch : region.width;
    size_t least;
    if (region.width == 0 || region.height == 0 || region.depth == 0)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_SIZE, "a region of nothing");
    if (row < region.width || __builtin_mul_overflow(region.height, row, &least) ||
        (slice_pitch != 0 && (slice_pitch < least || slice_pitch % row != 0)))
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_SIZE,
                              "pitches of %zu and %zu bytes, for rows of %llu bytes and slices of "
                              "%llu rows",
                              row_pitch, slice_pitch, (unsigned long long)region.width,
                              (unsigned long long)region.height);
    *rect = (zepi_rect_t){.origin_bytes = {origin.x, origin.y, origin.z},
                          .row_pitch_bytes = row_pitch,
                          .slice_pitch_bytes = slice_pitch};
    return UR_RESULT_SUCCESS;
}

ur_result_t zepi_ur_check_rect(const struct zepi_ur_mem *mem, const zepi_rect_t *rect,
                               ur_rect_region_t region)
{
    const size_t box[3] = {region.width, region.height, region.depth};
    size_t end;
    if (!zepi_copy_rect_extent(rect, box, &end) || end > mem->size_bytes)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_SIZE,
                              "the rectangle reaches past the end of the buffer of %zu bytes",
                              mem->size_bytes);
    return UR_RESULT_SUCCESS;
}

static zepi_result_t copy_buffer_rect(struct zepi_ur_command *command,
                                      const struct zepi_buffer_uses *uses, void *destination,
                                      const zepi_rect_t *to, const void *source,
                                      const zepi_rect_t *from, ur_rect_region_t region)
{
    const size_t box[3] = {region.width, region.height, region.depth};
    return zepi_queue_copy_rect(command->queue, destination, to, source, from, box, uses->wait,
                                zepi_ur_command_event(command));
}

// A rectangle as the host describes it.
struct host_rect {
    ur_rect_offset_t origin;
    size_t row_pitch;
    size_t slice_pitch;
};

// Copies a rectangle of a buffer to memory (ZEPI_BUFFER_READ), or from there (ZEPI_BUFFER_WRITE).
static ur_result_t transfer_buffer_rect(struct zepi_ur_command *command, ur_mem_handle_t buffer,
                                        enum zepi_buffer_access access,
                                        const struct host_rect *in_buffer, void *memory,
                                        const struct host_rect *in_memory, ur_rect_region_t region,
                                        ur_command_t type)
{
    struct zepi_buffer_uses uses;
    void *address;
    zepi_rect_t rect;
    zepi_rect_t memory_rect;
    ur_result_t result =
        zepi_ur_check_pointer(memory, access == ZEPI_BUFFER_READ ? "pDst" : "pSrc");
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_rect_init(&rect, in_buffer->origin, in_buffer->row_pitch,
                                   in_buffer->slice_pitch, region);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_rect_init(&memory_rect, in_memory->origin, in_memory->row_pitch,
                                   in_memory->slice_pitch, region);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_rect(zepi_ur_mem(buffer), &rect, region);
    if (result != UR_RESULT_SUCCESS)
        return result;
    zepi_buffer_uses_init(&uses, command->queue, command->wait);
    zepi_result_t done = use_whole_buffer(&uses, buffer, access, &address);
    if (done == ZEPI_SUCCESS)
        done = access == ZEPI_BUFFER_READ
                   ? copy_buffer_rect(command, &uses, memory, &memory_rect, address, &rect, region)
                   : copy_buffer_rect(command, &uses, address, &rect, memory, &memory_rect, region);
    return buffer_command_end(command, &uses, done, buffer, NULL, type);
}

ur_result_t zepi_urEnqueueMemBufferReadRect(ur_queue_handle_t hQueue, ur_mem_handle_t hBuffer,
                                            bool blockingRead, ur_rect_offset_t bufferOrigin,
                                            ur_rect_offset_t hostOrigin, ur_rect_region_t region,
                                            size_t bufferRowPitch, size_t bufferSlicePitch,
                                            size_t hostRowPitch, size_t hostSlicePitch, void *pDst,
                                            uint32_t numEventsInWaitList,
                                            const ur_event_handle_t *phEventWaitList,
                                            ur_event_handle_t *phEvent)
{
    struct zepi_ur_command command;
    const struct host_rect from = {bufferOrigin, bufferRowPitch, bufferSlicePitch};
    const struct host_rect to = {hostOrigin, hostRowPitch, hostSlicePitch};
    const ur_result_t result = buffer_command_begin(&command, hQueue, hBuffer, blockingRead,
                                                    numEventsInWaitList, phEventWaitList, phEvent);
    return result == UR_RESULT_SUCCESS
               ? transfer_buffer_rect(&command, hBuffer, ZEPI_BUFFER_READ, &from, pDst, &to, region,
                                      UR_COMMAND_MEM_BUFFER_READ_RECT)
               : result;
}

ur_result_t zepi_urEnqueueMemBufferWriteRect(ur_queue_handle_t hQueue, ur_mem_handle_t hBuffer,
                                             bool blockingWrite, ur_rect_offset_t bufferOrigin,
                                             ur_rect_offset_t hostOrigin, ur_rect_region_t region,
                                             size_t bufferRowPitch, size_t bufferSlicePitch,
                                             size_t hostRowPitch, size_t hostSlicePitch, void *pSrc,
                                             uint32_t numEventsInWaitList,
                                             const ur_event_handle_t *phEventWaitList,
                                             ur_event_handle_t *phEvent)
{
    struct zepi_ur_command command;
    const struct host_rect to = {bufferOrigin, bufferRowPitch, bufferSlicePitch};
    const struct host_rect from = {hostOrigin, hostRowPitch, hostSlicePitch};
    const ur_result_t result = buffer_command_begin(&command, hQueue, hBuffer, blockingWrite,
                                                    numEventsInWaitList, phEventWaitList, phEvent);
    return result == UR_RESULT_SUCCESS
               ? transfer_buffer_rect(&command, hBuffer, ZEPI_BUFFER_WRITE, &to, pSrc, &from,
                                      region, UR_COMMAND_MEM_BUFFER_WRITE_RECT)
               : result;
}

ur_result_t zepi_urEnqueueMemBufferCopyRect(ur_queue_handle_t hQueue, ur_mem_handle_t hBufferSrc,
                                            ur_mem_handle_t hBufferDst, ur_rect_offset_t srcOrigin,
                                            ur_rect_offset_t dstOrigin, ur_rect_region_t region,
                                            size_t srcRowPitch, size_t srcSlicePitch,
                                            size_t dstRowPitch, size_t dstSlicePitch,
                                            uint32_t numEventsInWaitList,
                                            const ur_event_handle_t *phEventWaitList,
                                            ur_event_handle_t *phEvent)
{
    struct zepi_ur_command command;
    struct zepi_buffer_uses uses;
    void *source;
    void *destination;
    zepi_rect_t from;
    zepi_rect_t to;
    ur_result_t result = buffer_command_begin(&command, hQueue, hBufferSrc, false,
                                              numEventsInWaitList, phEventWaitList, phEvent);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_buffer(hBufferDst, command.queue->context);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_rect_init(&from, srcOrigin, srcRowPitch, srcSlicePitch, region);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_rect_init(&to, dstOrigin, dstRowPitch, dstSlicePitch, region);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_rect(zepi_ur_mem(hBufferSrc), &from, region);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_rect(zepi_ur_mem(hBufferDst), &to, region);
    if (result != UR_RESULT_SUCCESS)
        return result;
    zepi_buffer_uses_init(&uses, command.queue, command.wait);
    zepi_result_t done = use_whole_buffer(&uses, hBufferSrc, ZEPI_BUFFER_READ, &source);
    if (done == ZEPI_SUCCESS)
        done = use_whole_buffer(&uses, hBufferDst, ZEPI_BUFFER_WRITE, &destination);
    if (done == ZEPI_SUCCESS)
        done = copy_buffer_rect(&command, &uses, destination, &to, source, &from, region);
    return buffer_command_end(&command, &uses, done, hBufferSrc, hBufferDst,
                              UR_COMMAND_MEM_BUFFER_COPY_RECT);
}
