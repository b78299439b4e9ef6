// SPDX-License-Identifier: MIT
#include "program/native/symbol_table.h"
#include "fuzz.h"

struct bounds {
    const char *at;
    const char *end;
};

static bool visit_symbol(void *user, const struct zepi_spirv_symbol *symbol)
{
    struct bounds *bounds = user;
    // Names ascend, and end inside.
    fuzz_require(symbol->name > bounds->at && symbol->name < bounds->end);
    bounds->at = symbol->name + strlen(symbol->name);
    fuzz_require(bounds->at < bounds->end);
    return true;
}

// Imports and exports of native code, as the cache keeps them.
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
    struct bounds bounds = {(const char *)bytes, (const char *)bytes + size_bytes};
    zepi_symbol_table_walk(bytes, size_bytes, visit_symbol, &bounds);
    return 0;
}
