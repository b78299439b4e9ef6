// SPDX-License-Identifier: MIT
#ifndef ZEPI_TESTS_FUZZ_FUZZ_H
#define ZEPI_TESTS_FUZZ_FUZZ_H

#include "cache/digest.h"

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Shared by all fuzz targets. libFuzzer, or replay_main.c, calls this.
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes);

// A target whose inputs have a structure may define this: it changes an input of `size_bytes` to
// one of up to `max_size_bytes`, and returns its size. LLVMFuzzerMutate changes bytes without
// regard to structure. The names are libFuzzer's, and replay_main.c does the same.
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size_bytes, size_t max_size_bytes,
                               unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size_bytes, size_t max_size_bytes);

static inline void fuzz_require(bool holds)
{
    if (!holds)
        abort();
}

// Writes the right checksum, XXH3-128 of all other bytes, from `at` to `end`.
static inline void fuzz_seal(uint8_t *bytes, size_t size_bytes, size_t at, size_t end)
{
    if (size_bytes < end)
        return;
    const struct zepi_digest_part parts[] = {{bytes, at}, {bytes + end, size_bytes - end}};
    const struct zepi_digest digest = zepi_digest_of_parts(parts, 2);
    const uint64_t words[2] = {htole64(digest.low), htole64(digest.high)};
    memcpy(bytes + at, words, sizeof(words));
}

#endif
