// SPDX-License-Identifier: MIT
#include "program/native/symbol_table.h"
#include "fuzz.h"

// Imports and exports of native code, as the cache keeps them: names ascend, and end inside.
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
    const char *at = (const char *)bytes;
    const char *end = at + size_bytes;
    struct zepi_spirv_symbol symbol;
    size_t offset = 0;
    while (zepi_symbol_table_next(bytes, size_bytes, &offset, &symbol)) {
        fuzz_require(symbol.name > at && symbol.name < end);
        at = symbol.name + strlen(symbol.name);
        fuzz_require(at < end);
    }
    return 0;
}
