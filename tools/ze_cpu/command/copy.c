// SPDX-License-Identifier: MIT
#include "copy.h"

#include <stdbool.h>
#include <string.h>

// From here on a fill is copied from its own beginning, which stays in the cache.
#define FILL_PIECE_BYTES ((size_t)16 << 10)

static bool is_one_byte(const unsigned char *pattern, size_t pattern_bytes)
{
    return memcmp(pattern, pattern + 1, pattern_bytes - 1) == 0;
}

void cpu_fill(void *target, size_t size_bytes, const void *pattern, size_t pattern_bytes)
{
    unsigned char *bytes = target;
    if (is_one_byte(pattern, pattern_bytes)) {
        memset(target, *(const unsigned char *)pattern, size_bytes);
        return;
    }
    size_t filled = pattern_bytes < size_bytes ? pattern_bytes : size_bytes;
    memcpy(bytes, pattern, filled);
    // Doubles what is there; stays in step with the pattern because every piece but the last is a
    // multiple of it: both are powers of two.
    while (filled < size_bytes) {
        size_t piece = filled < FILL_PIECE_BYTES || pattern_bytes > FILL_PIECE_BYTES
                           ? filled
                           : FILL_PIECE_BYTES;
        if (piece > size_bytes - filled)
            piece = size_bytes - filled;
        memcpy(bytes + filled, bytes, piece);
        filled += piece;
    }
}

void cpu_copy_region(void *target, const void *source, const struct cpu_copy_region *region)
{
    for (size_t z = 0; z < region->depth; z++)
        for (size_t y = 0; y < region->height; y++)
            memmove((unsigned char *)target + z * region->target_slice_bytes +
                        y * region->target_row_bytes,
                    (const unsigned char *)source + z * region->source_slice_bytes +
                        y * region->source_row_bytes,
                    region->width_bytes);
}
