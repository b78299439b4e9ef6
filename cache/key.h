// SPDX-License-Identifier: MIT
#ifndef ZEPI_CACHE_KEY_H
#define ZEPI_CACHE_KEY_H

#include "cache/digest.h"

#include <assert.h>
#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// The key of a build: one canonical byte string. Hash, equality and file identity read these bytes
// and nothing else.
//
//     format version   4 bytes
//     field*           tag, 2 bytes; length, 4 bytes; that many bytes
//
// Integers are little endian; there is no padding. Tags and lengths make the string uniquely
// decodable: the same bytes split differently over fields are a different key. The order of the
// fields is part of the key, so a set (specialization values, say) is sorted before it is added.
//
//     struct zepi_key key;
//     zepi_key_init(&key, FORMAT);
//     zepi_key_add_digest(&key, TAG_IMAGE, image->digest);
//     zepi_key_add_string(&key, TAG_OPTIONS, options);
//     zepi_build_cache_find_or_build(cache, &key, ...); // seals it
//     zepi_key_finish(&key);
//
// A key lives on its builder's stack and needs no allocation up to ZEPI_KEY_INLINE_BYTES. It is
// sealed once, then only read, by any number of threads. It must not be copied by assignment.
#define ZEPI_KEY_INLINE_BYTES 512

struct zepi_key {
    uint8_t *bytes; // inline_bytes, or owned memory
    size_t size;
    size_t capacity;
    uint64_t hash;   // of bytes, valid once sealed
    bool has_failed; // an addition found no memory, or a field was too long
    bool is_sealed;
    void *for_store; // borrowed; data that a store needs beside the bytes, or NULL
    uint8_t inline_bytes[ZEPI_KEY_INLINE_BYTES];
};

// Begins a key. `format_version` says how the fields are to be read: a change of their meaning or
// order changes it.
void zepi_key_init(struct zepi_key *key, uint32_t format_version);

// Frees the bytes of the key. A key that was zeroed and never initialised is fine.
void zepi_key_finish(struct zepi_key *key);

// Private: makes room for `size` more bytes, or notes the failure.
bool zepi_key_grow(struct zepi_key *key, size_t size);

// Appends the head of a field and room for `size` bytes. Returns where they go, or NULL: no memory,
// or a field of 4 GiB or more. That is noted in the key and reported by zepi_key_seal. Not for
// sealed keys. The functions below add whole fields; they are inline because a hit spends half its
// time in them.
static inline uint8_t *zepi_key_begin_field(struct zepi_key *key, uint16_t tag, size_t size)
{
    uint8_t head[6];
    const uint16_t tag_bytes = htole16(tag);
    const uint32_t size_bytes = htole32((uint32_t)size);
    assert(!key->is_sealed);
    memcpy(head, &tag_bytes, sizeof(tag_bytes));
    memcpy(head + sizeof(tag_bytes), &size_bytes, sizeof(size_bytes));
    // A key that failed has no room. (The first term is there for sizes near the end of size_t.)
    if (size > UINT32_MAX || key->capacity - key->size < sizeof(head) + size) {
        if (!zepi_key_grow(key, size))
            return NULL;
    }
    uint8_t *at = key->bytes + key->size;
    key->size += sizeof(head) + size;
    return (uint8_t *)memcpy(at, head, sizeof(head)) + sizeof(head);
}

// Each appends one field, with a copy of its value.
static inline void zepi_key_add_bytes(struct zepi_key *key, uint16_t tag, const void *bytes,
                                      size_t size)
{
    uint8_t *at = zepi_key_begin_field(key, tag, size);
    if (at && size > 0)
        memcpy(at, bytes, size);
}

// Without the terminating zero.
static inline void zepi_key_add_string(struct zepi_key *key, uint16_t tag, const char *text)
{
    zepi_key_add_bytes(key, tag, text, strlen(text));
}

static inline void zepi_key_add_u32(struct zepi_key *key, uint16_t tag, uint32_t value)
{
    value = htole32(value);
    zepi_key_add_bytes(key, tag, &value, sizeof(value));
}

static inline void zepi_key_add_u64(struct zepi_key *key, uint16_t tag, uint64_t value)
{
    value = htole64(value);
    zepi_key_add_bytes(key, tag, &value, sizeof(value));
}

static inline void zepi_key_add_digest(struct zepi_key *key, uint16_t tag,
                                       struct zepi_digest digest)
{
    const uint64_t words[2] = {htole64(digest.low), htole64(digest.high)};
    zepi_key_add_bytes(key, tag, words, sizeof(words));
}

// A field of two parts, a number and bytes: one specialization value with its id, for instance.
static inline void zepi_key_add_numbered(struct zepi_key *key, uint16_t tag, uint32_t number,
                                         const void *bytes, size_t size)
{
    uint8_t *at = zepi_key_begin_field(key, tag, sizeof(number) + size);
    if (!at)
        return;
    number = htole32(number);
    memcpy(at, &number, sizeof(number));
    if (size > 0)
        memcpy(at + sizeof(number), bytes, size);
}

// Computes the hash, the only time. Returns false if an addition failed; the key is then good for
// zepi_key_finish alone.
bool zepi_key_seal(struct zepi_key *key);

// The name of the key's file. Computed at each call: where a file is touched it costs nothing.
struct zepi_digest zepi_key_digest(const struct zepi_key *key);

#endif
