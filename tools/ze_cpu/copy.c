// SPDX-License-Identifier: MIT
#include "copy.h"

#include <string.h>

void cpu_fill(void *target, size_t size_bytes, const void *pattern, size_t pattern_bytes)
{
    unsigned char *bytes = target;
    if (pattern_bytes == 1) {
        memset(target, *(const unsigned char *)pattern, size_bytes);
        return;
    }
    size_t filled = pattern_bytes < size_bytes ? pattern_bytes : size_bytes;
    memcpy(bytes, pattern, filled);
    // Doubles what is there; stays in step with the pattern because `filled` is a multiple of it.
    while (filled < size_bytes) {
        size_t piece = filled < size_bytes - filled ? filled : size_bytes - filled;
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
