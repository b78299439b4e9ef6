// SPDX-License-Identifier: MIT
#include "blitter.h"

#include "commands.h"
#include "log.h"
#include "memory/gpu_memory.h"
#include "trace.h"

#include <inttypes.h>

// Rows of memory, each `pitch` bytes behind the one before.
struct rows {
    uint64_t start, pitch;
};

static bool copy_rows(struct shim_address_space *space, uint32_t queue, struct rows to,
                      struct rows from, uint64_t width, uint64_t height)
{
    shim_trace("copy queue %u to 0x%" PRIx64 " from 0x%" PRIx64 " width %" PRIu64
               " height %" PRIu64,
               queue, to.start, from.start, width, height);
    for (uint64_t y = 0; y < height; y++)
        if (!shim_gpu_memory_copy(space, to.start + y * to.pitch, from.start + y * from.pitch,
                                  width))
            return false;
    return true;
}

static bool fill_rows(struct shim_address_space *space, uint32_t queue, struct rows to,
                      uint64_t width, uint64_t height, const void *pattern, uint32_t pattern_size)
{
    const struct shim_trace_bytes bytes = {"pattern", pattern, pattern_size};
    shim_trace_with(&bytes, 1, "fill queue %u to 0x%" PRIx64 " width %" PRIu64 " height %" PRIu64,
                    queue, to.start, width, height);
    for (uint64_t y = 0; y < height; y++)
        if (!shim_gpu_memory_fill(space, to.start + y * to.pitch, width, pattern, pattern_size))
            return false;
    return true;
}

static bool memory_copy(struct shim_address_space *space, uint32_t queue, const uint32_t *words,
                        uint32_t length)
{
    SHIM_COMMAND(shim_mem_copy, copy);
    const uint64_t columns = copy.width + UINT64_C(1);
    const struct rows from = {shim_quad(copy.from), copy.from_pitch + UINT64_C(1)};
    const struct rows to = {shim_quad(copy.to), copy.to_pitch + UINT64_C(1)};
    if (copy.is_pages) // of 256 bytes
        return copy_rows(space, queue, to, from, columns * 256, 1);
    return copy_rows(space, queue, to, from, columns,
                     copy.is_matrix ? copy.height + UINT64_C(1) : 1);
}

static bool memory_set(struct shim_address_space *space, uint32_t queue, const uint32_t *words,
                       uint32_t length)
{
    SHIM_COMMAND(shim_mem_set, set);
    const uint8_t byte = set.byte;
    const struct rows to = {shim_quad(set.to), set.pitch + UINT64_C(1)};
    return fill_rows(space, queue, to, set.width + UINT64_C(1),
                     set.is_matrix ? set.height + UINT64_C(1) : 1, &byte, 1);
}

// Of a rectangle in pixels; 0 x 0 if its end lies before its beginning.
struct size {
    uint32_t width, height;
};

static struct size size_of(struct shim_blt_point begin, struct shim_blt_point end)
{
    if (end.x < begin.x || end.y < begin.y)
        return (struct size){0};
    return (struct size){end.x - begin.x, end.y - begin.y};
}

// Where a pixel of a surface lies. The rows of a tiled one lie as those of a linear one
// (kernels/surface.h).
static struct rows rows_at(uint64_t start, struct shim_blt_pitch pitch,
                           struct shim_blt_surface surface, struct shim_blt_point point,
                           uint32_t pixel)
{
    const bool is_tiled = pitch.tiling != 0;
    const uint64_t bytes = (pitch.pitch + UINT64_C(1)) * (is_tiled ? 4 : 1);
    const uint32_t height = surface.height + 1u, distance = surface.slice_distance * 4u;
    const uint64_t slice = is_tiled ? surface.slice : 0;
    const uint64_t row = slice * (distance > height ? distance : height) + point.y;
    return (struct rows){start + row * bytes + (uint64_t)point.x * pixel, bytes};
}

static bool block_copy(struct shim_address_space *space, uint32_t queue, const uint32_t *words,
                       uint32_t length, uint32_t pixel)
{
    SHIM_COMMAND(shim_xy_block_copy_blt, copy);
    if (copy.to_offsets.x || copy.to_offsets.y || copy.from_offsets.x || copy.from_offsets.y ||
        copy.to_surface.level || copy.from_surface.level) {
        shim_error("XY_BLOCK_COPY_BLT: offsets and levels of surfaces are not known");
        return false;
    }
    const struct size size = size_of(copy.begin, copy.end);
    const struct rows to =
        rows_at(shim_quad(copy.to), copy.to_pitch, copy.to_surface, copy.begin, pixel);
    const struct rows from =
        rows_at(shim_quad(copy.from), copy.from_pitch, copy.from_surface, copy.from_begin, pixel);
    return copy_rows(space, queue, to, from, (uint64_t)size.width * pixel, size.height);
}

static bool color_fill(struct shim_address_space *space, uint32_t queue, const uint32_t *words,
                       uint32_t length, uint32_t pixel)
{
    SHIM_COMMAND(shim_xy_fast_color_blt, fill);
    if (fill.pitch.tiling != 0) {
        shim_error("XY_FAST_COLOR_BLT: tiled surfaces are not known");
        return false;
    }
    const struct size size = size_of(fill.begin, fill.end);
    const struct rows to =
        rows_at(shim_quad(fill.to), fill.pitch, (struct shim_blt_surface){0}, fill.begin, pixel);
    return fill_rows(space, queue, to, (uint64_t)size.width * pixel, size.height, fill.color,
                     pixel);
}

bool shim_blitter_run(struct shim_address_space *space, uint32_t queue, const uint32_t *words,
                      uint32_t length)
{
    static const uint8_t pixel_bytes[8] = {1, 2, 4, 8, 12, 16, 0, 0};
    SHIM_COMMAND(shim_blitter_head, head);
    const uint32_t pixel = pixel_bytes[head.pixel_size];
    switch (head.opcode) {
    case SHIM_MEM_COPY:
        return memory_copy(space, queue, words, length);
    case SHIM_MEM_SET:
        return memory_set(space, queue, words, length);
    case SHIM_XY_BLOCK_COPY_BLT:
        if (pixel != 0)
            return block_copy(space, queue, words, length, pixel);
        break;
    case SHIM_XY_FAST_COLOR_BLT:
        if (pixel != 0)
            return color_fill(space, queue, words, length, pixel);
        break;
    }
    shim_error("command 0x%x of the copy engine, or its size of pixels, is not known", head.opcode);
    return false;
}
