// SPDX-License-Identifier: MIT
#include "spirv_copy.h"

#include <stdlib.h>
#include <string.h>

void spirv_write(struct spirv_copy *copy, const uint32_t *words, size_t count)
{
    if (copy->capacity - copy->count < count && !copy->has_failed) {
        const size_t capacity = 2 * copy->capacity + count + 1024;
        uint32_t *grown = realloc(copy->words, capacity * sizeof(*grown));
        copy->has_failed = grown == NULL;
        copy->words = grown != NULL ? grown : copy->words;
        copy->capacity = grown != NULL ? capacity : copy->capacity;
    }
    if (copy->has_failed)
        return;
    memcpy(copy->words + copy->count, words, count * sizeof(*words));
    copy->count += count;
}

void spirv_write_instruction(struct spirv_copy *copy, uint32_t operation, const uint32_t *operands,
                             size_t count)
{
    const uint32_t first = (uint32_t)(count + 1) << 16 | operation;
    spirv_write(copy, &first, 1);
    spirv_write(copy, operands, count);
}

void spirv_write_with(struct spirv_copy *copy, const uint32_t *words, size_t at, uint32_t word)
{
    spirv_write(copy, words, at);
    spirv_write(copy, &word, 1);
    spirv_write(copy, words + at + 1, spirv_length(words) - at - 1);
}

bool spirv_finish(struct spirv_copy *copy, uint32_t bound, uint8_t **out_spirv,
                  size_t *out_size_bytes)
{
    if (copy->has_failed) {
        free(copy->words);
        return false;
    }
    copy->words[SPIRV_BOUND] = bound;
    *out_spirv = (uint8_t *)copy->words;
    *out_size_bytes = copy->count * sizeof(*copy->words);
    return true;
}
