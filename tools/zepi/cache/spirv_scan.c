// SPDX-License-Identifier: MIT
#include "spirv_scan.h"

#include <endian.h>
#include <stdint.h>
#include <string.h>

enum {
    MAGIC = 0x07230203,
    HEADER_WORDS = 5,
    OP_LINE = 8,
    OP_FUNCTION = 54,
    OP_FUNCTION_END = 56,
    OP_NO_LINE = 317,
};

static uint32_t word_at(const unsigned char *bytes, size_t index)
{
    uint32_t word;
    memcpy(&word, bytes + 4 * index, sizeof(word));
    return le32toh(word);
}

// Version 1.0 to 1.15, some ids, no schema.
static bool is_header(const unsigned char *bytes, size_t words)
{
    return words > HEADER_WORDS && word_at(bytes, 0) == MAGIC &&
           (word_at(bytes, 1) & 0xfffff0ff) == 0x00010000 && word_at(bytes, 3) > 0 &&
           word_at(bytes, 4) == 0;
}

// Walks the instructions. Returns the module's words: up to the end of its last function, 0 if it
// has none.
static size_t count_words(const unsigned char *bytes, size_t words)
{
    size_t end = 0;
    bool is_between_functions = false;
    for (size_t at = HEADER_WORDS; at < words;) {
        const uint32_t first = word_at(bytes, at);
        const uint32_t op = first & 0xffff;
        const uint32_t length = first >> 16;
        if (length == 0 || length > words - at)
            break;
        if (is_between_functions && op != OP_FUNCTION && op != OP_LINE && op != OP_NO_LINE)
            break;
        at += length;
        if (op == OP_FUNCTION_END)
            end = at;
        if (op == OP_FUNCTION_END || op == OP_FUNCTION)
            is_between_functions = op == OP_FUNCTION_END;
    }
    return end;
}

bool spirv_scan_next(const unsigned char *bytes, size_t size_bytes, size_t *offset,
                     struct spirv_module *out_module)
{
    for (size_t at = *offset; at + 4 <= size_bytes; at += 4) {
        const unsigned char *start = bytes + at;
        const size_t words = (size_bytes - at) / 4;
        if (!is_header(start, words))
            continue;
        const size_t counted = count_words(start, words);
        if (counted == 0)
            continue;
        *out_module = (struct spirv_module){start, at == 0 ? size_bytes : 4 * counted};
        *offset = at + out_module->size_bytes;
        return true;
    }
    *offset = size_bytes;
    return false;
}
