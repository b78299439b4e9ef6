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

bool zepi_symbol_table_walk(const void *bytes, size_t size_bytes,
                            bool (*visit)(void *user, const struct zepi_spirv_symbol *symbol),
                            void *user)
{
    const char *at = bytes;
    const char *end = at + size_bytes;
    if (size_bytes == 0 || *at++ != ZEPI_SYMBOL_TABLE_VERSION)
        return true;
    while (end - at > 2) {
        const struct zepi_spirv_symbol symbol = {.name = at + 2,
                                                 .linkage = (enum zepi_spirv_linkage)at[1],
                                                 .is_function = at[0] == KIND_FUNCTION};
        const char *terminator = memchr(at + 2, '\0', (size_t)(end - at - 2));
        if (!terminator || (at[0] != KIND_FUNCTION && at[0] != KIND_VARIABLE) || at[1] < 0 ||
            symbol.linkage > ZEPI_SPIRV_LINK_ONCE_ODR)
            return true;
        if (!visit(user, &symbol))
            return false;
        at = terminator + 1;
    }
    return true;
}

bool zepi_symbol_table_key(struct zepi_key *key, struct zepi_digest native)
{
    zepi_key_init(key, ZEPI_KEY_VERSION);
    zepi_key_add_u32(key, ZEPI_KEY_KIND, ZEPI_KEY_KIND_SYMBOLS);
    zepi_key_add_digest(key, ZEPI_KEY_IMAGE, native);
    return zepi_key_seal(key);
}
