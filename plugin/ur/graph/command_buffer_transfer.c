// SPDX-License-Identifier: MIT
// Appending copies, fills and hints to command buffers.
#include "ur/graph/command_buffer.h"
#include "ur/queue/transfer.h"

// The end's address in commands of the graph's device.
static ur_result_t find_end(const struct zepi_ur_append *append, const struct zepi_ur_end *end,
                            char **out_address)
{
    *out_address = end->memory;
    if (!end->is_buffer)
        return UR_RESULT_SUCCESS;
    const ur_result_t result =
        zepi_ur_buffer_address(zepi_ur_mem(end->buffer), append->graph->device, out_address);
    *out_address += result == UR_RESULT_SUCCESS ? end->offset : 0;
    return result;
}

// All of the end's buffer, as the command uses it.
static struct zepi_arg_use use_of_end(const struct zepi_ur_end *end)
{
    struct zepi_ur_mem *mem = zepi_ur_mem(end->buffer);
    return end->is_buffer
               ? (struct zepi_arg_use){.object = mem,
                                       .part = zepi_ur_buffer_part(mem, 0, mem->size_bytes)}
               : (struct zepi_arg_use){0};
}

static ur_result_t append_transfer(struct zepi_ur_append *append, struct zepi_ur_transfer *transfer)
{
    struct zepi_transfer *core = &transfer->core;
    char *to, *from;
    ur_result_t result;
    if ((result = zepi_ur_append_begin(append)) ||
        (result = zepi_ur_transfer_read(append->graph->context, transfer)) ||
        (result = find_end(append, &transfer->from, &from)) ||
        (result = find_end(append, &transfer->to, &to)))
        return result;
    core->to = to;
    core->from = from;
    const struct zepi_arg_use memory[2] = {use_of_end(&transfer->to), use_of_end(&transfer->from)};
    struct zepi_graph_command *command = zepi_ur_append_make(append, core->head.kind);
    if (command && core->head.kind != ZEPI_COMMAND_MARKER &&
        zepi_graph_command_set_transfer(command, core, memory) != ZEPI_SUCCESS) {
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
    struct zepi_ur_transfer copy = {ZEPI_UR_COPY(size), .to = {ZEPI_UR_MEMORY(pDst)},
                                    .from = {ZEPI_UR_MEMORY(pSrc)}};
    return append_transfer(&append, &copy);
}

ur_result_t zepi_urCommandBufferAppendUSMFillExp(ur_exp_command_buffer_handle_t hCommandBuffer,
                                                 void *pMemory, const void *pPattern,
                                                 size_t patternSize, size_t size,
                                                 ZEPI_UR_APPEND_PARAMETERS)
{
    struct zepi_ur_append append = ZEPI_UR_APPEND;
    struct zepi_ur_transfer fill = {ZEPI_UR_FILL(pPattern, patternSize, size),
                                    .to = {ZEPI_UR_MEMORY(pMemory)}};
    return append_transfer(&append, &fill);
}

ur_result_t zepi_urCommandBufferAppendUSMPrefetchExp(ur_exp_command_buffer_handle_t hCommandBuffer,
                                                     const void *pMemory, size_t size,
                                                     ur_usm_migration_flags_t flags,
                                                     ZEPI_UR_APPEND_PARAMETERS)
{
    struct zepi_ur_append append = ZEPI_UR_APPEND;
    struct zepi_ur_transfer hint = {ZEPI_UR_HINT(PREFETCH, size, flags),
                                    .from = {ZEPI_UR_MEMORY(pMemory)}};
    return append_transfer(&append, &hint);
}

ur_result_t zepi_urCommandBufferAppendUSMAdviseExp(ur_exp_command_buffer_handle_t hCommandBuffer,
                                                   const void *pMemory, size_t size,
                                                   ur_usm_advice_flags_t advice,
                                                   ZEPI_UR_APPEND_PARAMETERS)
{
    struct zepi_ur_append append = ZEPI_UR_APPEND;
    struct zepi_ur_transfer hint = {ZEPI_UR_HINT(ADVISE, size, advice),
                                    .from = {ZEPI_UR_MEMORY(pMemory)}};
    return append_transfer(&append, &hint);
}

// ---- Buffers ----

ur_result_t zepi_urCommandBufferAppendMemBufferCopyExp(
    ur_exp_command_buffer_handle_t hCommandBuffer, ur_mem_handle_t hSrcMem, ur_mem_handle_t hDstMem,
    size_t srcOffset, size_t dstOffset, size_t size, ZEPI_UR_APPEND_PARAMETERS)
{
    struct zepi_ur_append append = ZEPI_UR_APPEND;
    struct zepi_ur_transfer copy = {ZEPI_UR_COPY(size), .to = {ZEPI_UR_BUFFER(hDstMem, dstOffset)},
                                    .from = {ZEPI_UR_BUFFER(hSrcMem, srcOffset)}};
    return append_transfer(&append, &copy);
}

ur_result_t
zepi_urCommandBufferAppendMemBufferWriteExp(ur_exp_command_buffer_handle_t hCommandBuffer,
                                            ur_mem_handle_t hBuffer, size_t offset, size_t size,
                                            const void *pSrc, ZEPI_UR_APPEND_PARAMETERS)
{
    struct zepi_ur_append append = ZEPI_UR_APPEND;
    struct zepi_ur_transfer copy = {ZEPI_UR_COPY(size), .to = {ZEPI_UR_BUFFER(hBuffer, offset)},
                                    .from = {ZEPI_UR_MEMORY(pSrc)}};
    return append_transfer(&append, &copy);
}

ur_result_t
zepi_urCommandBufferAppendMemBufferReadExp(ur_exp_command_buffer_handle_t hCommandBuffer,
                                           ur_mem_handle_t hBuffer, size_t offset, size_t size,
                                           void *pDst, ZEPI_UR_APPEND_PARAMETERS)
{
    struct zepi_ur_append append = ZEPI_UR_APPEND;
    struct zepi_ur_transfer copy = {ZEPI_UR_COPY(size), .to = {ZEPI_UR_MEMORY(pDst)},
                                    .from = {ZEPI_UR_BUFFER(hBuffer, offset)}};
    return append_transfer(&append, &copy);
}

ur_result_t zepi_urCommandBufferAppendMemBufferFillExp(
    ur_exp_command_buffer_handle_t hCommandBuffer, ur_mem_handle_t hBuffer, const void *pPattern,
    size_t patternSize, size_t offset, size_t size, ZEPI_UR_APPEND_PARAMETERS)
{
    struct zepi_ur_append append = ZEPI_UR_APPEND;
    struct zepi_ur_transfer fill = {ZEPI_UR_FILL(pPattern, patternSize, size),
                                    .to = {ZEPI_UR_BUFFER(hBuffer, offset)}};
    return append_transfer(&append, &fill);
}

// ---- Rectangles ----

ur_result_t zepi_urCommandBufferAppendMemBufferCopyRectExp(
    ur_exp_command_buffer_handle_t hCommandBuffer, ur_mem_handle_t hSrcMem, ur_mem_handle_t hDstMem,
    ur_rect_offset_t srcOrigin, ur_rect_offset_t dstOrigin, ur_rect_region_t region,
    size_t srcRowPitch, size_t srcSlicePitch, size_t dstRowPitch, size_t dstSlicePitch,
    ZEPI_UR_APPEND_PARAMETERS)
{
    struct zepi_ur_append append = ZEPI_UR_APPEND;
    struct zepi_ur_transfer copy = {
        ZEPI_UR_COPY_RECT(region),
        .to = {ZEPI_UR_BUFFER(hDstMem, 0), .rect = {dstOrigin, dstRowPitch, dstSlicePitch}},
        .from = {ZEPI_UR_BUFFER(hSrcMem, 0), .rect = {srcOrigin, srcRowPitch, srcSlicePitch}}};
    return append_transfer(&append, &copy);
}

ur_result_t zepi_urCommandBufferAppendMemBufferWriteRectExp(
    ur_exp_command_buffer_handle_t hCommandBuffer, ur_mem_handle_t hBuffer,
    ur_rect_offset_t bufferOffset, ur_rect_offset_t hostOffset, ur_rect_region_t region,
    size_t bufferRowPitch, size_t bufferSlicePitch, size_t hostRowPitch, size_t hostSlicePitch,
    void *pSrc, ZEPI_UR_APPEND_PARAMETERS)
{
    struct zepi_ur_append append = ZEPI_UR_APPEND;
    struct zepi_ur_transfer copy = {
        ZEPI_UR_COPY_RECT(region),
        .to = {ZEPI_UR_BUFFER(hBuffer, 0),
               .rect = {bufferOffset, bufferRowPitch, bufferSlicePitch}},
        .from = {ZEPI_UR_MEMORY(pSrc), .rect = {hostOffset, hostRowPitch, hostSlicePitch}}};
    return append_transfer(&append, &copy);
}

ur_result_t zepi_urCommandBufferAppendMemBufferReadRectExp(
    ur_exp_command_buffer_handle_t hCommandBuffer, ur_mem_handle_t hBuffer,
    ur_rect_offset_t bufferOffset, ur_rect_offset_t hostOffset, ur_rect_region_t region,
    size_t bufferRowPitch, size_t bufferSlicePitch, size_t hostRowPitch, size_t hostSlicePitch,
    void *pDst, ZEPI_UR_APPEND_PARAMETERS)
{
    struct zepi_ur_append append = ZEPI_UR_APPEND;
    struct zepi_ur_transfer copy = {
        ZEPI_UR_COPY_RECT(region),
        .to = {ZEPI_UR_MEMORY(pDst), .rect = {hostOffset, hostRowPitch, hostSlicePitch}},
        .from = {ZEPI_UR_BUFFER(hBuffer, 0),
                 .rect = {bufferOffset, bufferRowPitch, bufferSlicePitch}}};
    return append_transfer(&append, &copy);
}
