// SPDX-License-Identifier: MIT
// Appending copies, fills and hints to command buffers.
#include "copy/copy.h"
#include "ur/graph/command_buffer.h"
#include "ur/queue/transfer.h"

static ur_result_t append_transfer(const struct zepi_ur_append *append,
                                   const struct zepi_transfer *transfer,
                                   const struct zepi_graph_memory memory[2])
{
    struct zepi_graph_command *command = zepi_ur_append_make(append, transfer->head.kind);
    if (command && zepi_graph_command_set_transfer(command, transfer, memory) != ZEPI_SUCCESS) {
        zepi_release(command);
        command = NULL;
    }
    return zepi_ur_append_end(append, command);
}

// ---- USM ----

ur_result_t zepi_urCommandBufferAppendUSMMemcpyExp(
    ur_exp_command_buffer_handle_t hCommandBuffer, void *pDst, const void *pSrc, size_t size,
    uint32_t numSyncPointsInWaitList, const ur_exp_command_buffer_sync_point_t *pSyncPointWaitList,
    uint32_t numEventsInWaitList, const ur_event_handle_t *phEventWaitList,
    ur_exp_command_buffer_sync_point_t *pSyncPoint, ur_event_handle_t *phEvent,
    ur_exp_command_buffer_command_handle_t *phCommand)
{
    struct zepi_ur_append append = ZEPI_UR_APPEND;
    ur_result_t result;
    if ((result = zepi_ur_append_begin(&append)) ||
        (result = zepi_ur_check_range(append.graph->context, pDst, size, "pDst")) ||
        (result = zepi_ur_check_range(append.graph->context, pSrc, size, "pSrc")))
        return result;
    const struct zepi_transfer copy = {
        .head.kind = ZEPI_COMMAND_COPY, .to = pDst, .from = pSrc, .size_bytes = size};
    return append_transfer(&append, &copy, NULL);
}

static ur_result_t append_fill(const struct zepi_ur_append *append, void *memory,
                               const void *pattern, size_t pattern_size, size_t size,
                               struct zepi_ur_mem *mem)
{
    const struct zepi_graph_memory uses[2] = {zepi_ur_graph_memory(mem)};
    const struct zepi_transfer fill = {.head.kind = ZEPI_COMMAND_FILL,
                                       .to = memory,
                                       .size_bytes = size,
                                       .pattern = pattern,
                                       .pattern_size_bytes = pattern_size};
    return append_transfer(append, &fill, uses);
}

ur_result_t zepi_urCommandBufferAppendUSMFillExp(
    ur_exp_command_buffer_handle_t hCommandBuffer, void *pMemory, const void *pPattern,
    size_t patternSize, size_t size, uint32_t numSyncPointsInWaitList,
    const ur_exp_command_buffer_sync_point_t *pSyncPointWaitList, uint32_t numEventsInWaitList,
    const ur_event_handle_t *phEventWaitList, ur_exp_command_buffer_sync_point_t *pSyncPoint,
    ur_event_handle_t *phEvent, ur_exp_command_buffer_command_handle_t *phCommand)
{
    struct zepi_ur_append append = ZEPI_UR_APPEND;
    ur_result_t result;
    if ((result = zepi_ur_append_begin(&append)) ||
        (result = zepi_ur_check_range(append.graph->context, pMemory, size, "pMemory")) ||
        (result = zepi_ur_check_pattern(pPattern, patternSize, size)))
        return result;
    return append_fill(&append, pMemory, pPattern, patternSize, size, NULL);
}

static ur_result_t append_hint(struct zepi_ur_append *append, enum zepi_command_kind kind,
                               const void *memory, size_t size, uint32_t flags,
                               uint32_t unknown_flags)
{
    ur_result_t result;
    if ((result = zepi_ur_append_begin(append)) ||
        (result = zepi_ur_check_range(append->graph->context, memory, size, "pMemory")) ||
        (result = zepi_ur_check_flags(flags, unknown_flags)))
        return result;
    if (kind == ZEPI_COMMAND_MARKER)
        return zepi_ur_append_end(append, zepi_ur_append_make(append, kind));
    const struct zepi_transfer hint = {
        .head.kind = kind,
        .from = memory,
        .size_bytes = size,
        .advice = kind == ZEPI_COMMAND_ADVISE ? zepi_ur_advice_bits(flags) : 0};
    return append_transfer(append, &hint, NULL);
}

ur_result_t zepi_urCommandBufferAppendUSMPrefetchExp(
    ur_exp_command_buffer_handle_t hCommandBuffer, const void *pMemory, size_t size,
    ur_usm_migration_flags_t flags, uint32_t numSyncPointsInWaitList,
    const ur_exp_command_buffer_sync_point_t *pSyncPointWaitList, uint32_t numEventsInWaitList,
    const ur_event_handle_t *phEventWaitList, ur_exp_command_buffer_sync_point_t *pSyncPoint,
    ur_event_handle_t *phEvent, ur_exp_command_buffer_command_handle_t *phCommand)
{
    struct zepi_ur_append append = ZEPI_UR_APPEND;
    // Level Zero moves memory to devices only.
    const enum zepi_command_kind kind =
        flags & UR_USM_MIGRATION_FLAG_DEVICE_TO_HOST ? ZEPI_COMMAND_MARKER : ZEPI_COMMAND_PREFETCH;
    return append_hint(&append, kind, pMemory, size, flags, UR_USM_MIGRATION_FLAGS_MASK);
}

ur_result_t zepi_urCommandBufferAppendUSMAdviseExp(
    ur_exp_command_buffer_handle_t hCommandBuffer, const void *pMemory, size_t size,
    ur_usm_advice_flags_t advice, uint32_t numSyncPointsInWaitList,
    const ur_exp_command_buffer_sync_point_t *pSyncPointWaitList, uint32_t numEventsInWaitList,
    const ur_event_handle_t *phEventWaitList, ur_exp_command_buffer_sync_point_t *pSyncPoint,
    ur_event_handle_t *phEvent, ur_exp_command_buffer_command_handle_t *phCommand)
{
    struct zepi_ur_append append = ZEPI_UR_APPEND;
    return append_hint(&append, ZEPI_COMMAND_ADVISE, pMemory, size, advice,
                       UR_USM_ADVICE_FLAGS_MASK);
}

// ---- Buffers ----

// One side of a copy: memory of the host's, or a buffer from an offset on.
struct end {
    bool is_host;
    ur_mem_handle_t mem; // of a buffer
    char *memory;        // else; found by check_ends for a buffer
    size_t offset;
};
#define BUFFER(handle, from)                                                                       \
    {                                                                                              \
        .mem = (handle), .offset = (from)                                                          \
    }
#define HOST_NAME "the host's memory"
#define HOST(pointer)                                                                              \
    {                                                                                              \
        .is_host = true, .memory = (char *)(pointer)                                               \
    }

static ur_result_t check_end(const struct zepi_ur_append *append, struct end *end)
{
    if (end->is_host)
        return UR_RESULT_SUCCESS;
    const ur_result_t result = zepi_ur_check_buffer(end->mem, append->graph->context);
    return result
               ? result
               : zepi_ur_buffer_address(zepi_ur_mem(end->mem), append->graph->device, &end->memory);
}

// Begins to append a copy.
static ur_result_t check_ends(struct zepi_ur_append *append, struct end *to, struct end *from)
{
    ur_result_t result;
    if ((result = zepi_ur_append_begin(append)) || (result = check_end(append, from)))
        return result;
    return check_end(append, to);
}

static ur_result_t check_bytes(const struct zepi_ur_append *append, const struct end *end,
                               size_t size)
{
    return end->is_host ? zepi_ur_check_range(append->graph->context, end->memory, size, HOST_NAME)
                        : zepi_ur_check_buffer_range(zepi_ur_mem(end->mem), end->offset, size);
}

static ur_result_t append_between(const struct zepi_ur_append *append,
                                  const struct zepi_transfer *transfer, const struct end *to,
                                  const struct end *from)
{
    const struct zepi_graph_memory memory[2] = {zepi_ur_graph_memory(zepi_ur_mem(to->mem)),
                                                zepi_ur_graph_memory(zepi_ur_mem(from->mem))};
    return append_transfer(append, transfer, memory);
}

static ur_result_t append_copy(struct zepi_ur_append *append, struct end *to, struct end *from,
                               size_t size)
{
    ur_result_t result;
    if ((result = check_ends(append, to, from)) || (result = check_bytes(append, from, size)) ||
        (result = check_bytes(append, to, size)))
        return result;
    const struct zepi_transfer copy = {.head.kind = ZEPI_COMMAND_COPY,
                                       .to = to->memory + to->offset,
                                       .from = from->memory + from->offset,
                                       .size_bytes = size};
    return append_between(append, &copy, to, from);
}

ur_result_t zepi_urCommandBufferAppendMemBufferCopyExp(
    ur_exp_command_buffer_handle_t hCommandBuffer, ur_mem_handle_t hSrcMem, ur_mem_handle_t hDstMem,
    size_t srcOffset, size_t dstOffset, size_t size, uint32_t numSyncPointsInWaitList,
    const ur_exp_command_buffer_sync_point_t *pSyncPointWaitList, uint32_t numEventsInWaitList,
    const ur_event_handle_t *phEventWaitList, ur_exp_command_buffer_sync_point_t *pSyncPoint,
    ur_event_handle_t *phEvent, ur_exp_command_buffer_command_handle_t *phCommand)
{
    struct zepi_ur_append append = ZEPI_UR_APPEND;
    struct end to = BUFFER(hDstMem, dstOffset);
    struct end from = BUFFER(hSrcMem, srcOffset);
    return append_copy(&append, &to, &from, size);
}

ur_result_t zepi_urCommandBufferAppendMemBufferWriteExp(
    ur_exp_command_buffer_handle_t hCommandBuffer, ur_mem_handle_t hBuffer, size_t offset,
    size_t size, const void *pSrc, uint32_t numSyncPointsInWaitList,
    const ur_exp_command_buffer_sync_point_t *pSyncPointWaitList, uint32_t numEventsInWaitList,
    const ur_event_handle_t *phEventWaitList, ur_exp_command_buffer_sync_point_t *pSyncPoint,
    ur_event_handle_t *phEvent, ur_exp_command_buffer_command_handle_t *phCommand)
{
    struct zepi_ur_append append = ZEPI_UR_APPEND;
    struct end to = BUFFER(hBuffer, offset);
    struct end from = HOST(pSrc);
    return append_copy(&append, &to, &from, size);
}

ur_result_t zepi_urCommandBufferAppendMemBufferReadExp(
    ur_exp_command_buffer_handle_t hCommandBuffer, ur_mem_handle_t hBuffer, size_t offset,
    size_t size, void *pDst, uint32_t numSyncPointsInWaitList,
    const ur_exp_command_buffer_sync_point_t *pSyncPointWaitList, uint32_t numEventsInWaitList,
    const ur_event_handle_t *phEventWaitList, ur_exp_command_buffer_sync_point_t *pSyncPoint,
    ur_event_handle_t *phEvent, ur_exp_command_buffer_command_handle_t *phCommand)
{
    struct zepi_ur_append append = ZEPI_UR_APPEND;
    struct end to = HOST(pDst);
    struct end from = BUFFER(hBuffer, offset);
    return append_copy(&append, &to, &from, size);
}

ur_result_t zepi_urCommandBufferAppendMemBufferFillExp(
    ur_exp_command_buffer_handle_t hCommandBuffer, ur_mem_handle_t hBuffer, const void *pPattern,
    size_t patternSize, size_t offset, size_t size, uint32_t numSyncPointsInWaitList,
    const ur_exp_command_buffer_sync_point_t *pSyncPointWaitList, uint32_t numEventsInWaitList,
    const ur_event_handle_t *phEventWaitList, ur_exp_command_buffer_sync_point_t *pSyncPoint,
    ur_event_handle_t *phEvent, ur_exp_command_buffer_command_handle_t *phCommand)
{
    struct zepi_ur_append append = ZEPI_UR_APPEND;
    ur_result_t result;
    if ((result = zepi_ur_append_begin(&append)) ||
        (result = zepi_ur_check_buffer(hBuffer, append.graph->context)) ||
        (result = zepi_ur_check_pattern(pPattern, patternSize, size)) ||
        (result = zepi_ur_check_buffer_range(zepi_ur_mem(hBuffer), offset, size)))
        return result;
    char *memory;
    struct zepi_ur_mem *mem = zepi_ur_mem(hBuffer);
    result = zepi_ur_buffer_address(mem, append.graph->device, &memory);
    if (result != UR_RESULT_SUCCESS)
        return result;
    return append_fill(&append, memory + offset, pPattern, patternSize, size, mem);
}

// ---- Rectangles ----

// One side of a rectangular copy.
struct side {
    struct end end;
    struct zepi_ur_rect rect;
};

static ur_result_t read_side(const struct zepi_ur_append *append, const struct side *side,
                             ur_rect_region_t region, struct zepi_layout *out_layout)
{
    return side->end.is_host
               ? zepi_ur_read_memory_rect(append->graph->context, HOST_NAME, side->end.memory,
                                          &side->rect, region, out_layout)
               : zepi_ur_read_buffer_rect(zepi_ur_mem(side->end.mem), &side->rect, region,
                                          out_layout);
}

static ur_result_t append_rect(struct zepi_ur_append *append, struct side *to, struct side *from,
                               ur_rect_region_t region)
{
    struct zepi_transfer copy = {.head.kind = ZEPI_COMMAND_COPY_RECT};
    ur_result_t result;
    if ((result = check_ends(append, &to->end, &from->end)) ||
        (result = read_side(append, from, region, &copy.from_layout)) ||
        (result = read_side(append, to, region, &copy.to_layout)))
        return result;
    copy.to = to->end.memory;
    copy.from = from->end.memory;
    return append_between(append, &copy, &to->end, &from->end);
}

ur_result_t zepi_urCommandBufferAppendMemBufferCopyRectExp(
    ur_exp_command_buffer_handle_t hCommandBuffer, ur_mem_handle_t hSrcMem, ur_mem_handle_t hDstMem,
    ur_rect_offset_t srcOrigin, ur_rect_offset_t dstOrigin, ur_rect_region_t region,
    size_t srcRowPitch, size_t srcSlicePitch, size_t dstRowPitch, size_t dstSlicePitch,
    uint32_t numSyncPointsInWaitList, const ur_exp_command_buffer_sync_point_t *pSyncPointWaitList,
    uint32_t numEventsInWaitList, const ur_event_handle_t *phEventWaitList,
    ur_exp_command_buffer_sync_point_t *pSyncPoint, ur_event_handle_t *phEvent,
    ur_exp_command_buffer_command_handle_t *phCommand)
{
    struct zepi_ur_append append = ZEPI_UR_APPEND;
    struct side to = {BUFFER(hDstMem, 0), {dstOrigin, dstRowPitch, dstSlicePitch}};
    struct side from = {BUFFER(hSrcMem, 0), {srcOrigin, srcRowPitch, srcSlicePitch}};
    return append_rect(&append, &to, &from, region);
}

ur_result_t zepi_urCommandBufferAppendMemBufferWriteRectExp(
    ur_exp_command_buffer_handle_t hCommandBuffer, ur_mem_handle_t hBuffer,
    ur_rect_offset_t bufferOffset, ur_rect_offset_t hostOffset, ur_rect_region_t region,
    size_t bufferRowPitch, size_t bufferSlicePitch, size_t hostRowPitch, size_t hostSlicePitch,
    void *pSrc, uint32_t numSyncPointsInWaitList,
    const ur_exp_command_buffer_sync_point_t *pSyncPointWaitList, uint32_t numEventsInWaitList,
    const ur_event_handle_t *phEventWaitList, ur_exp_command_buffer_sync_point_t *pSyncPoint,
    ur_event_handle_t *phEvent, ur_exp_command_buffer_command_handle_t *phCommand)
{
    struct zepi_ur_append append = ZEPI_UR_APPEND;
    struct side to = {BUFFER(hBuffer, 0), {bufferOffset, bufferRowPitch, bufferSlicePitch}};
    struct side from = {HOST(pSrc), {hostOffset, hostRowPitch, hostSlicePitch}};
    return append_rect(&append, &to, &from, region);
}

ur_result_t zepi_urCommandBufferAppendMemBufferReadRectExp(
    ur_exp_command_buffer_handle_t hCommandBuffer, ur_mem_handle_t hBuffer,
    ur_rect_offset_t bufferOffset, ur_rect_offset_t hostOffset, ur_rect_region_t region,
    size_t bufferRowPitch, size_t bufferSlicePitch, size_t hostRowPitch, size_t hostSlicePitch,
    void *pDst, uint32_t numSyncPointsInWaitList,
    const ur_exp_command_buffer_sync_point_t *pSyncPointWaitList, uint32_t numEventsInWaitList,
    const ur_event_handle_t *phEventWaitList, ur_exp_command_buffer_sync_point_t *pSyncPoint,
    ur_event_handle_t *phEvent, ur_exp_command_buffer_command_handle_t *phCommand)
{
    struct zepi_ur_append append = ZEPI_UR_APPEND;
    struct side to = {HOST(pDst), {hostOffset, hostRowPitch, hostSlicePitch}};
    struct side from = {BUFFER(hBuffer, 0), {bufferOffset, bufferRowPitch, bufferSlicePitch}};
    return append_rect(&append, &to, &from, region);
}
