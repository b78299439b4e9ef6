// SPDX-License-Identifier: MIT
#ifndef ZEPI_CACHE_KEY_H
#define ZEPI_CACHE_KEY_H

#include "cache/digest.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The key of a build: one canonical byte string. Hash, equality and file identity read these bytes
// and nothing else.
//
//     format version   4 bytes
//     field*           tag, 2 bytes; length, 4 bytes; that many bytes
//
// Integers are little endian; there is no padding. Tags and lengths make the string uniquely
// decodable: the same bytes split differently over fields are a different key. The order of the
// fields is part of the key, so whoever adds a set (specialization values, say) sorts it first.
//
//     struct zepi_key key;
//     zepi_key_init(&key, FORMAT);
//     zepi_key_add_digest(&key, TAG_IMAGE, image->digest);
//     zepi_key_add_string(&key, TAG_OPTIONS, options);
//     if (!zepi_key_seal(&key))
//         ...out of memory
//     zepi_build_cache_find_or_build(cache, &key, ...);
//     zepi_key_finish(&key);
//
// A key lives on its builder's stack and needs no allocation up to ZEPI_KEY_INLINE_BYTES. It is
// sealed once, then only read, by any number of threads. It must not be copied by assignment.
#define ZEPI_KEY_INLINE_BYTES 512

struct zepi_key {
    uint8_t *bytes; // inline_bytes, or owned memory
    size_t size;
    size_t capacity;
    struct zepi_digest digest; // of bytes, valid once sealed
    bool has_failed;           // an addition found no memory, or a field was too long
    bool is_sealed;
    uint8_t inline_bytes[ZEPI_KEY_INLINE_BYTES];
};

// Begins a key. `format_version` says how the fields are to be read: whoever changes their meaning
// or order changes it.
void zepi_key_init(struct zepi_key *key, uint32_t format_version);

// Frees what the key holds. A key that was zeroed and never initialised is fine.
void zepi_key_finish(struct zepi_key *key);

// Each appends one field and copies what it is given. Failing (no memory, a field of 4 GiB or more)
// is noted in the key and reported by zepi_key_seal. None may be called on a sealed key.
void zepi_key_add_bytes(struct zepi_key *key, uint16_t tag, const void *bytes, size_t size);
void zepi_key_add_string(struct zepi_key *key, uint16_t tag, const char *text); // without the zero
void zepi_key_add_u32(struct zepi_key *key, uint16_t tag, uint32_t value);
void zepi_key_add_u64(struct zepi_key *key, uint16_t tag, uint64_t value);
void zepi_key_add_digest(struct zepi_key *key, uint16_t tag, struct zepi_digest digest);

// A field of two parts, an identifier and bytes: one specialization value with its id, for
// instance.
void zepi_key_add_numbered(struct zepi_key *key, uint16_t tag, uint32_t number, const void *bytes,
                           size_t size);

// Computes the digest, the only time. Returns false if an addition failed; the key is then good for
// zepi_key_finish alone.
bool zepi_key_seal(struct zepi_key *key);

// The bits for hash tables (uthash takes 32) and, independent of them, those that choose a shard.
static inline uint32_t zepi_key_table_bits(const struct zepi_key *key)
{
    return (uint32_t)key->digest.low;
}

static inline uint32_t zepi_key_shard_bits(const struct zepi_key *key)
{
    return (uint32_t)key->digest.high;
}

#endif
