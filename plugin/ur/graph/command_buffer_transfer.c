// SPDX-License-Identifier: MIT
// Appending copies, fills and hints to command buffers.
#include "copy/copy.h"
#include "ur/graph/command_buffer.h"
#include "ur/queue/transfer.h"

static ur_result_t append_transfer(const struct zepi_ur_append *append,
                                   const struct zepi_transfer *transfer,
                                   const struct zepi_arg_use memory[2])
{
    struct zepi_graph_command *command = zepi_ur_append_make(append, transfer->head.kind);
    if (command && zepi_graph_command_set_transfer(command, transfer, memory) != ZEPI_SUCCESS) {
        zepi_release(command);
        command = NULL;
    }
    return zepi_ur_append_end(append, command);
}

// ---- USM ----

ur_result_t zepi_urCommandBufferAppendUSMMemcpyExp(ur_exp_command_buffer_handle_t hCommandBuffer,
                                                   void *pDst, const void *pSrc, size_t size,
                                                   ZEPI_UR_APPEND_PARAMETERS)
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
    const struct zepi_arg_use uses[2] = {zepi_ur_graph_memory(mem)};
    const struct zepi_transfer fill = {.head.kind = ZEPI_COMMAND_FILL,
                                       .to = memory,
                                       .size_bytes = size,
                                       .pattern = pattern,
                                       .pattern_size_bytes = pattern_size};
    return append_transfer(append, &fill, uses);
}

ur_result_t zepi_urCommandBufferAppendUSMFillExp(ur_exp_command_buffer_handle_t hCommandBuffer,
                                                 void *pMemory, const void *pPattern,
                                                 size_t patternSize, size_t size,
                                                 ZEPI_UR_APPEND_PARAMETERS)
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

ur_result_t zepi_urCommandBufferAppendUSMPrefetchExp(ur_exp_command_buffer_handle_t hCommandBuffer,
                                                     const void *pMemory, size_t size,
                                                     ur_usm_migration_flags_t flags,
                                                     ZEPI_UR_APPEND_PARAMETERS)
{
    struct zepi_ur_append append = ZEPI_UR_APPEND;
    // Level Zero moves memory to devices only.
    const enum zepi_command_kind kind =
        flags & UR_USM_MIGRATION_FLAG_DEVICE_TO_HOST ? ZEPI_COMMAND_MARKER : ZEPI_COMMAND_PREFETCH;
    return append_hint(&append, kind, pMemory, size, flags, UR_USM_MIGRATION_FLAGS_MASK);
}

ur_result_t zepi_urCommandBufferAppendUSMAdviseExp(ur_exp_command_buffer_handle_t hCommandBuffer,
                                                   const void *pMemory, size_t size,
                                                   ur_usm_advice_flags_t advice,
                                                   ZEPI_UR_APPEND_PARAMETERS)
{
    struct zepi_ur_append append = ZEPI_UR_APPEND;
    return append_hint(&append, ZEPI_COMMAND_ADVISE, pMemory, size, advice,
                       UR_USM_ADVICE_FLAGS_MASK);
}

// ---- Buffers ----

static ur_result_t copy_begin(struct zepi_ur_append *append, const struct zepi_ur_end *to,
                              const struct zepi_ur_end *from)
{
    const ur_result_t result = zepi_ur_append_begin(append);
    return result ? result : zepi_ur_check_ends(append->graph->context, to, from);
}

static ur_result_t find_end(const struct zepi_ur_append *append, struct zepi_ur_end *end)
{
    return end->name ? UR_RESULT_SUCCESS
                     : zepi_ur_buffer_address(zepi_ur_mem(end->buffer), append->graph->device,
                                              &end->memory);
}

// `copy` has all but the memory of the ends.
static ur_result_t append_between(const struct zepi_ur_append *append, struct zepi_transfer *copy,
                                  struct zepi_ur_end *to, struct zepi_ur_end *from)
{
    ur_result_t result;
    if ((result = find_end(append, from)) || (result = find_end(append, to)))
        return result;
    copy->to = to->memory + to->offset;
    copy->from = from->memory + from->offset;
    const struct zepi_arg_use memory[2] = {zepi_ur_graph_memory(zepi_ur_mem(to->buffer)),
                                           zepi_ur_graph_memory(zepi_ur_mem(from->buffer))};
    return append_transfer(append, copy, memory);
}

static ur_result_t append_bytes(struct zepi_ur_append *append, struct zepi_ur_end *to,
                                struct zepi_ur_end *from, size_t size)
{
    struct zepi_transfer copy = {.head.kind = ZEPI_COMMAND_COPY, .size_bytes = size};
    ur_result_t result;
    if ((result = copy_begin(append, to, from)) ||
        (result = zepi_ur_check_bytes(append->graph->context, to, from, size)))
        return result;
    return append_between(append, &copy, to, from);
}

ur_result_t zepi_urCommandBufferAppendMemBufferCopyExp(
    ur_exp_command_buffer_handle_t hCommandBuffer, ur_mem_handle_t hSrcMem, ur_mem_handle_t hDstMem,
    size_t srcOffset, size_t dstOffset, size_t size, ZEPI_UR_APPEND_PARAMETERS)
{
    struct zepi_ur_append append = ZEPI_UR_APPEND;
    struct zepi_ur_end to = {ZEPI_UR_BUFFER(hDstMem, dstOffset)};
    struct zepi_ur_end from = {ZEPI_UR_BUFFER(hSrcMem, srcOffset)};
    return append_bytes(&append, &to, &from, size);
}

ur_result_t
zepi_urCommandBufferAppendMemBufferWriteExp(ur_exp_command_buffer_handle_t hCommandBuffer,
                                            ur_mem_handle_t hBuffer, size_t offset, size_t size,
                                            const void *pSrc, ZEPI_UR_APPEND_PARAMETERS)
{
    struct zepi_ur_append append = ZEPI_UR_APPEND;
    struct zepi_ur_end to = {ZEPI_UR_BUFFER(hBuffer, offset)};
    struct zepi_ur_end from = {ZEPI_UR_MEMORY(pSrc)};
    return append_bytes(&append, &to, &from, size);
}

ur_result_t
zepi_urCommandBufferAppendMemBufferReadExp(ur_exp_command_buffer_handle_t hCommandBuffer,
                                           ur_mem_handle_t hBuffer, size_t offset, size_t size,
                                           void *pDst, ZEPI_UR_APPEND_PARAMETERS)
{
    struct zepi_ur_append append = ZEPI_UR_APPEND;
    struct zepi_ur_end to = {ZEPI_UR_MEMORY(pDst)};
    struct zepi_ur_end from = {ZEPI_UR_BUFFER(hBuffer, offset)};
    return append_bytes(&append, &to, &from, size);
}

ur_result_t zepi_urCommandBufferAppendMemBufferFillExp(
    ur_exp_command_buffer_handle_t hCommandBuffer, ur_mem_handle_t hBuffer, const void *pPattern,
    size_t patternSize, size_t offset, size_t size, ZEPI_UR_APPEND_PARAMETERS)
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

static ur_result_t append_rects(struct zepi_ur_append *append, struct zepi_ur_end *to,
                                struct zepi_ur_end *from, ur_rect_region_t region)
{
    struct zepi_transfer copy = {.head.kind = ZEPI_COMMAND_COPY_RECT};
    ur_result_t result;
    if ((result = copy_begin(append, to, from)) ||
        (result = zepi_ur_read_rects(append->graph->context, to, from, region, &copy)))
        return result;
    return append_between(append, &copy, to, from);
}

ur_result_t zepi_urCommandBufferAppendMemBufferCopyRectExp(
    ur_exp_command_buffer_handle_t hCommandBuffer, ur_mem_handle_t hSrcMem, ur_mem_handle_t hDstMem,
    ur_rect_offset_t srcOrigin, ur_rect_offset_t dstOrigin, ur_rect_region_t region,
    size_t srcRowPitch, size_t srcSlicePitch, size_t dstRowPitch, size_t dstSlicePitch,
    ZEPI_UR_APPEND_PARAMETERS)
{
    struct zepi_ur_append append = ZEPI_UR_APPEND;
    struct zepi_ur_end to = {ZEPI_UR_BUFFER(hDstMem, 0),
                             .rect = {dstOrigin, dstRowPitch, dstSlicePitch}};
    struct zepi_ur_end from = {ZEPI_UR_BUFFER(hSrcMem, 0),
                               .rect = {srcOrigin, srcRowPitch, srcSlicePitch}};
    return append_rects(&append, &to, &from, region);
}

ur_result_t zepi_urCommandBufferAppendMemBufferWriteRectExp(
    ur_exp_command_buffer_handle_t hCommandBuffer, ur_mem_handle_t hBuffer,
    ur_rect_offset_t bufferOffset, ur_rect_offset_t hostOffset, ur_rect_region_t region,
    size_t bufferRowPitch, size_t bufferSlicePitch, size_t hostRowPitch, size_t hostSlicePitch,
    void *pSrc, ZEPI_UR_APPEND_PARAMETERS)
{
    struct zepi_ur_append append = ZEPI_UR_APPEND;
    struct zepi_ur_end to = {ZEPI_UR_BUFFER(hBuffer, 0),
                             .rect = {bufferOffset, bufferRowPitch, bufferSlicePitch}};
    struct zepi_ur_end from = {ZEPI_UR_MEMORY(pSrc),
                               .rect = {hostOffset, hostRowPitch, hostSlicePitch}};
    return append_rects(&append, &to, &from, region);
}

ur_result_t zepi_urCommandBufferAppendMemBufferReadRectExp(
    ur_exp_command_buffer_handle_t hCommandBuffer, ur_mem_handle_t hBuffer,
    ur_rect_offset_t bufferOffset, ur_rect_offset_t hostOffset, ur_rect_region_t region,
    size_t bufferRowPitch, size_t bufferSlicePitch, size_t hostRowPitch, size_t hostSlicePitch,
    void *pDst, ZEPI_UR_APPEND_PARAMETERS)
{
    struct zepi_ur_append append = ZEPI_UR_APPEND;
    struct zepi_ur_end to = {ZEPI_UR_MEMORY(pDst),
                             .rect = {hostOffset, hostRowPitch, hostSlicePitch}};
    struct zepi_ur_end from = {ZEPI_UR_BUFFER(hBuffer, 0),
                               .rect = {bufferOffset, bufferRowPitch, bufferSlicePitch}};
    return append_rects(&append, &to, &from, region);
}
