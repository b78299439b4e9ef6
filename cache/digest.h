// SPDX-License-Identifier: MIT
#ifndef ZEPI_CACHE_DIGEST_H
#define ZEPI_CACHE_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// XXH3-128 of some bytes: names files and recognises images; XXH3-64: indexes hash tables. Not
// cryptographic: bytes that must not be confused are also compared one by one, and those that must
// not be forged are guarded by the ownership of their files. The value is the same on every
// machine.
struct zepi_digest {
    uint64_t low;
    uint64_t high;
};

// A piece of the bytes to digest. Borrowed.
struct zepi_digest_part {
    const void *bytes;
    size_t size;
};

// Characters of a digest in hexadecimal, without the terminating zero.
#define ZEPI_DIGEST_HEX_LENGTH 32

// Runs at memory speed on large inputs. `bytes` may be NULL if `size` is 0.
struct zepi_digest zepi_digest_of(const void *bytes, size_t size);

// XXH3-64 of some bytes: two thirds of the cost, for tables where equality is checked anyway.
uint64_t zepi_digest_hash(const void *bytes, size_t size);

// The digest of `count` pieces as if they were one piece.
struct zepi_digest zepi_digest_of_parts(const struct zepi_digest_part *parts, size_t count);

// Lower-case hexadecimal, most significant digit first, terminated.
void zepi_digest_to_hex(struct zepi_digest digest, char out_hex[ZEPI_DIGEST_HEX_LENGTH + 1]);

static inline bool zepi_digest_equal(struct zepi_digest a, struct zepi_digest b)
{
    return a.low == b.low && a.high == b.high;
}

#endif
