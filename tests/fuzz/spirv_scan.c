// SPDX-License-Identifier: MIT
#include "tools/zepi/cache/spirv_scan.h"
#include "fuzz.h"

// A file in which `zepi cache warm` looks for modules: they lie in it, one behind the other, and
// begin as modules do.
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
    static const uint8_t magic[] = {0x03, 0x02, 0x23, 0x07};
    struct spirv_module module;
    size_t offset = 0;
    size_t end = 0;
    while (spirv_scan_next(bytes, size_bytes, &offset, &module)) {
        const size_t begin = (size_t)(module.bytes - bytes);
        fuzz_require(begin >= end && begin % 4 == 0 && begin <= size_bytes &&
                     module.size_bytes > sizeof(magic) && module.size_bytes <= size_bytes - begin);
        fuzz_require(memcmp(module.bytes, magic, sizeof(magic)) == 0);
        end = begin + module.size_bytes;
        fuzz_require(offset == end);
    }
    fuzz_require(offset == size_bytes);
    return 0;
}
