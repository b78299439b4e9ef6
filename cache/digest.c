// SPDX-License-Identifier: MIT
#include "cache/digest.h"

// Compiled in: code that puts the library's streaming state on the stack must be compiled with the
// same version of it, and a hit on a short key costs less without the call.
#define XXH_INLINE_ALL
#include <xxhash.h>

static struct zepi_digest from_xxh(XXH128_hash_t hash)
{
    return (struct zepi_digest){.low = hash.low64, .high = hash.high64};
}

struct zepi_digest zepi_digest_of(const void *bytes, size_t size)
{
    return from_xxh(XXH3_128bits(bytes, size));
}

uint64_t zepi_digest_hash(const void *bytes, size_t size)
{
    return XXH3_64bits(bytes, size);
}

struct zepi_digest zepi_digest_of_parts(const struct zepi_digest_part *parts, size_t count)
{
    // On the stack: the state holds no pointer to memory of its own.
    XXH3_state_t state;
    XXH3_128bits_reset(&state);
    for (size_t i = 0; i < count; i++) {
        if (parts[i].size > 0)
            XXH3_128bits_update(&state, parts[i].bytes, parts[i].size);
    }
    return from_xxh(XXH3_128bits_digest(&state));
}

void zepi_digest_to_hex(struct zepi_digest digest, char out_hex[ZEPI_DIGEST_HEX_LENGTH + 1])
{
    static const char digits[] = "0123456789abcdef";
    const uint64_t words[2] = {digest.high, digest.low};
    for (int i = 0; i < ZEPI_DIGEST_HEX_LENGTH; i++)
        out_hex[i] = digits[words[i / 16] >> (60 - i % 16 * 4) & 15];
    out_hex[ZEPI_DIGEST_HEX_LENGTH] = '\0';
}
