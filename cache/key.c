// SPDX-License-Identifier: MIT
#include "cache/key.h"
#include "cache/seam.h"

#include <assert.h>
#include <string.h>

enum { FIELD_HEAD_BYTES = 2 + 4 };

static inline uint8_t *put_u16(uint8_t *at, uint16_t value)
{
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
    return at + 2;
}

static inline uint8_t *put_u32(uint8_t *at, uint32_t value)
{
    return put_u16(put_u16(at, (uint16_t)value), (uint16_t)(value >> 16));
}

static inline uint8_t *put_u64(uint8_t *at, uint64_t value)
{
    return put_u32(put_u32(at, (uint32_t)value), (uint32_t)(value >> 32));
}

void zepi_key_init(struct zepi_key *key, uint32_t format_version)
{
    key->bytes = key->inline_bytes;
    key->capacity = sizeof(key->inline_bytes);
    key->has_failed = false;
    key->is_sealed = false;
    key->size = (size_t)(put_u32(key->bytes, format_version) - key->bytes);
}

void zepi_key_finish(struct zepi_key *key)
{
    if (key->bytes != key->inline_bytes)
        zepi_seam_free(key->bytes);
    key->bytes = NULL;
    key->size = 0;
}

static bool grow(struct zepi_key *key, size_t needed)
{
    size_t capacity = needed > 2 * key->capacity ? needed : 2 * key->capacity;
    uint8_t *bytes = zepi_seam_allocate(capacity);
    if (!bytes)
        return false;
    memcpy(bytes, key->bytes, key->size);
    if (key->bytes != key->inline_bytes)
        zepi_seam_free(key->bytes);
    key->bytes = bytes;
    key->capacity = capacity;
    return true;
}

// Writes the head of a field and makes room for its contents. Returns where they go, or NULL.
static inline uint8_t *begin_field(struct zepi_key *key, uint16_t tag, size_t size)
{
    assert(!key->is_sealed);
    if (size > UINT32_MAX)
        key->has_failed = true;
    if (key->has_failed)
        return NULL;
    size_t end = key->size + FIELD_HEAD_BYTES + size;
    if (end > key->capacity && !grow(key, end)) {
        key->has_failed = true;
        return NULL;
    }
    uint8_t *at = key->bytes + key->size;
    key->size = end;
    return put_u32(put_u16(at, tag), (uint32_t)size);
}

void zepi_key_add_bytes(struct zepi_key *key, uint16_t tag, const void *bytes, size_t size)
{
    uint8_t *at = begin_field(key, tag, size);
    if (at && size > 0)
        memcpy(at, bytes, size);
}

void zepi_key_add_string(struct zepi_key *key, uint16_t tag, const char *text)
{
    zepi_key_add_bytes(key, tag, text, strlen(text));
}

void zepi_key_add_u32(struct zepi_key *key, uint16_t tag, uint32_t value)
{
    uint8_t *at = begin_field(key, tag, sizeof(value));
    if (at)
        put_u32(at, value);
}

void zepi_key_add_u64(struct zepi_key *key, uint16_t tag, uint64_t value)
{
    uint8_t *at = begin_field(key, tag, sizeof(value));
    if (at)
        put_u64(at, value);
}

void zepi_key_add_digest(struct zepi_key *key, uint16_t tag, struct zepi_digest digest)
{
    uint8_t *at = begin_field(key, tag, sizeof(digest.low) + sizeof(digest.high));
    if (at)
        put_u64(put_u64(at, digest.low), digest.high);
}

void zepi_key_add_numbered(struct zepi_key *key, uint16_t tag, uint32_t number, const void *bytes,
                           size_t size)
{
    if (size > UINT32_MAX - sizeof(number)) {
        key->has_failed = true;
        return;
    }
    uint8_t *at = begin_field(key, tag, sizeof(number) + size);
    if (!at)
        return;
    at = put_u32(at, number);
    if (size > 0)
        memcpy(at, bytes, size);
}

bool zepi_key_seal(struct zepi_key *key)
{
    if (key->has_failed)
        return false;
    key->digest = zepi_digest_of(key->bytes, key->size);
    key->is_sealed = true;
    return true;
}
