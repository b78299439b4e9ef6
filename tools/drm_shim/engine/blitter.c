// SPDX-License-Identifier: MIT
#include "blitter.h"

#include "log.h"
#include "memory/gpu_memory.h"
#include "trace.h"

#include <inttypes.h>

static uint64_t quad(const uint32_t *words)
{
    return words[0] | (uint64_t)words[1] << 32;
}

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

static bool memory_copy(struct shim_address_space *space, uint32_t queue, const uint32_t *words)
{
    const uint64_t columns = (words[1] & 0xffffff) + UINT64_C(1);
    struct rows from = {quad(words + 5), (words[3] & 0x3ffff) + 1};
    struct rows to = {quad(words + 7), (words[4] & 0x3ffff) + 1};
    if (words[0] >> 19 & 1) // pages of 256 bytes
        return copy_rows(space, queue, to, from, columns * 256, 1);
    const uint64_t height = words[0] >> 17 & 3 ? (words[2] & 0x3ffff) + UINT64_C(1) : 1;
    return copy_rows(space, queue, to, from, columns, height);
}

static bool memory_set(struct shim_address_space *space, uint32_t queue, const uint32_t *words)
{
    const uint8_t byte = (uint8_t)(words[6] >> 24);
    const struct rows to = {quad(words + 4), (words[3] & 0x3ffff) + 1};
    const uint64_t height = words[0] >> 17 & 1 ? (words[2] & 0x3ffff) + UINT64_C(1) : 1;
    return fill_rows(space, queue, to, (words[1] & 0xffffff) + UINT64_C(1), height, &byte, 1);
}

// A rectangle of a surface, in pixels.
struct rectangle {
    uint32_t x1, y1, x2, y2;
};

static struct rectangle target_of(const uint32_t *words)
{
    struct rectangle target = {words[2] & 0xffff, words[2] >> 16, words[3] & 0xffff,
                               words[3] >> 16};
    if (target.x2 < target.x1 || target.y2 < target.y1)
        target = (struct rectangle){0};
    return target;
}

static struct rows rows_at(uint64_t surface, uint32_t pitch_word, uint32_t x, uint32_t y,
                           uint32_t pixel)
{
    const uint64_t pitch = (pitch_word & 0x3ffff) + UINT64_C(1);
    return (struct rows){surface + y * pitch + (uint64_t)x * pixel, pitch};
}

// As rows_at, of a surface that may be tiled: its rows lie as those of a linear one
// (kernels/surface.h), its pitch counts words, and an array index counts slices. `shape` is where
// the command describes it: height and width, distance of slices, array index.
static struct rows slice_at(uint64_t surface, uint32_t pitch_word, const uint32_t *shape,
                            uint32_t x, uint32_t y, uint32_t pixel)
{
    const bool is_tiled = pitch_word >> 30 != 0;
    const uint64_t pitch = ((pitch_word & 0x3ffff) + UINT64_C(1)) * (is_tiled ? 4 : 1);
    const uint32_t height = (shape[0] & 0x3fff) + 1, distance = (shape[1] >> 4 & 0x7fff) << 2;
    const uint64_t slice = is_tiled ? shape[2] >> 21 : 0;
    const uint64_t row = slice * (distance > height ? distance : height) + y;
    return (struct rows){surface + row * pitch + (uint64_t)x * pixel, pitch};
}

static bool block_copy(struct shim_address_space *space, uint32_t queue, const uint32_t *words,
                       uint32_t pixel)
{
    if (words[6] & 0x3fff3fff || words[11] & 0x3fff3fff || words[17] & 15 || words[20] & 15) {
        shim_error("XY_BLOCK_COPY_BLT: offsets and levels of surfaces are not known");
        return false;
    }
    const struct rectangle target = target_of(words);
    const struct rows to =
        slice_at(quad(words + 4), words[1], words + 16, target.x1, target.y1, pixel);
    const struct rows from =
        slice_at(quad(words + 9), words[8], words + 19, words[7] & 0xffff, words[7] >> 16, pixel);
    return copy_rows(space, queue, to, from, (uint64_t)(target.x2 - target.x1) * pixel,
                     target.y2 - target.y1);
}

static bool colour_fill(struct shim_address_space *space, uint32_t queue, const uint32_t *words,
                        uint32_t pixel)
{
    if (words[1] >> 30 != 0) {
        shim_error("XY_FAST_COLOR_BLT: tiled surfaces are not known");
        return false;
    }
    const struct rectangle target = target_of(words);
    const struct rows to = rows_at(quad(words + 4), words[1], target.x1, target.y1, pixel);
    return fill_rows(space, queue, to, (uint64_t)(target.x2 - target.x1) * pixel,
                     target.y2 - target.y1, words + 7, pixel);
}

static const struct {
    uint32_t operation, length; // at least
    const char *name;
} known[] = {
    {0x5a, 9, "MEM_COPY"},
    {0x5b, 7, "MEM_SET"},
    {0x41, 22, "XY_BLOCK_COPY_BLT"},
    {0x44, 11, "XY_FAST_COLOR_BLT"},
};

static bool is_known(uint32_t operation, uint32_t length)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (known[i].operation != operation)
            continue;
        if (length < known[i].length)
            shim_error("%s has %u words; expected %u", known[i].name, length, known[i].length);
        return length >= known[i].length;
    }
    shim_error("command 0x%x of the copy engine is not known", operation);
    return false;
}

bool shim_blitter_run(struct shim_address_space *space, uint32_t queue, const uint32_t *words,
                      uint32_t length)
{
    static const uint8_t pixel_bytes[8] = {1, 2, 4, 8, 12, 16, 0, 0};
    const uint32_t operation = words[0] >> 22 & 0x7f, pixel = pixel_bytes[words[0] >> 19 & 7];
    if (!is_known(operation, length))
        return false;
    switch (operation) {
    case 0x5a:
        return memory_copy(space, queue, words);
    case 0x5b:
        return memory_set(space, queue, words);
    default:
        break;
    }
    if (pixel == 0) {
        shim_error("command 0x%x of the copy engine: a size of pixels is not known", operation);
        return false;
    }
    return operation == 0x41 ? block_copy(space, queue, words, pixel)
                             : colour_fill(space, queue, words, pixel);
}
