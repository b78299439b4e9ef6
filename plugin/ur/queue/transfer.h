// SPDX-License-Identifier: MIT
#ifndef ZEPI_UR_QUEUE_TRANSFER_H
#define ZEPI_UR_QUEUE_TRANSFER_H

#include "copy/copy.h"
#include "ur/command.h"
#include "ur/memory/mem.h"

// Copies, fills and hints as the host describes them: enqueued, or appended to a command buffer.
// Any thread.

// A rectangle of bytes.
struct zepi_ur_rect {
    ur_rect_offset_t origin;
    size_t row_pitch;
    size_t slice_pitch;
};

// Where a command writes or reads: a buffer from an offset on, or memory of the host or USM. Of a
// copy of a rectangle, with its place there.
struct zepi_ur_end {
    const char *name; // of the parameter; NULL: the command has no such end
    bool is_buffer;
    ur_mem_handle_t buffer;
    size_t offset;
    char *memory; // NULL: a buffer
    struct zepi_ur_rect rect;
};
#define ZEPI_UR_BUFFER(handle, from)                                                               \
    .name = #handle, .is_buffer = true, .buffer = (handle), .offset = (from)
#define ZEPI_UR_MEMORY(parameter) .name = #parameter, .memory = (char *)(parameter)

struct zepi_ur_transfer {
    struct zepi_ur_end to, from; // a fill has `to` alone, a hint `from`
    ur_rect_region_t region;     // of rectangles, and fills by rows
    uint32_t flags;              // of a hint
    struct zepi_transfer core;   // kind, size and pattern; the rest follows from the members above
};
// Kinds, in the braces of a transfer, before its ends.
#define ZEPI_UR_COPY(size) .core = {.head.kind = ZEPI_COMMAND_COPY, .size_bytes = (size)}
#define ZEPI_UR_COPY_RECT(box) .core = {.head.kind = ZEPI_COMMAND_COPY_RECT}, .region = (box)
#define ZEPI_UR_FILL(bytes, bytes_size, size)                                                      \
    .core = {.head.kind = ZEPI_COMMAND_FILL,                                                       \
             .size_bytes = (size),                                                                 \
             .pattern = (bytes),                                                                   \
             .pattern_size_bytes = (bytes_size)}
#define ZEPI_UR_HINT(hint, size, bits)                                                             \
    .core = {.head.kind = ZEPI_COMMAND_##hint, .size_bytes = (size)}, .flags = (bits)

// Checks ends, sizes, pattern and flags, and fills in the core's transfer but for addresses. A hint
// without a counterpart becomes a marker.
ur_result_t zepi_ur_transfer_read(struct zepi_context *context, struct zepi_ur_transfer *transfer);

// A pattern that fits `size`.
ur_result_t zepi_ur_check_pattern(const void *pattern, size_t pattern_size, size_t size);

// The whole function that enqueues it.
ur_result_t zepi_ur_enqueue_transfer(struct zepi_ur_command *command,
                                     struct zepi_ur_transfer *transfer, ur_command_t type);

#endif
