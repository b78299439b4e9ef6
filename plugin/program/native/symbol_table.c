// SPDX-License-Identifier: MIT
#include "program/native/symbol_table.h"

#include "program/native/key_tags.h"

#include <string.h>

enum { KIND_FUNCTION = 1, KIND_VARIABLE = 2 };

void zepi_symbol_table_write_head(const struct zepi_spirv_symbol *symbol, char out_head[2])
{
    out_head[0] = symbol->is_function ? KIND_FUNCTION : KIND_VARIABLE;
    out_head[1] = (char)symbol->linkage;
}

bool zepi_symbol_table_next(const void *bytes, size_t size_bytes, size_t *inout_offset,
                            struct zepi_spirv_symbol *out_symbol)
{
    const char *table = bytes;
    if (*inout_offset == 0 &&
        (size_bytes == 0 || table[(*inout_offset)++] != ZEPI_SYMBOL_TABLE_VERSION))
        return false;
    const char *at = table + *inout_offset;
    const size_t left = size_bytes - *inout_offset;
    const char *end = left > 2 ? memchr(at + 2, '\0', left - 2) : NULL;
    if (!end || (at[0] != KIND_FUNCTION && at[0] != KIND_VARIABLE) || at[1] < 0 ||
        at[1] > ZEPI_SPIRV_LINK_ONCE_ODR)
        return false;
    *out_symbol = (struct zepi_spirv_symbol){.name = at + 2,
                                             .linkage = (enum zepi_spirv_linkage)at[1],
                                             .is_function = at[0] == KIND_FUNCTION};
    *inout_offset = (size_t)(end + 1 - table);
    return true;
}

bool zepi_symbol_table_key(struct zepi_key *key, struct zepi_digest native)
{
    zepi_key_init(key, ZEPI_KEY_VERSION);
    zepi_key_add_u32(key, ZEPI_KEY_KIND, ZEPI_KEY_KIND_SYMBOLS);
    zepi_key_add_digest(key, ZEPI_KEY_IMAGE, native);
    return zepi_key_seal(key);
}
