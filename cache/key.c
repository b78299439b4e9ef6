// SPDX-License-Identifier: MIT
#include "cache/key.h"
#include "core/sys.h"

enum { FIELD_HEAD_BYTES = 2 + 4 };

void zepi_key_init(struct zepi_key *key, uint32_t format_version)
{
    key->bytes = key->inline_bytes;
    key->capacity = sizeof(key->inline_bytes);
    key->has_failed = false;
    key->is_sealed = false;
    key->for_store = NULL;
    format_version = htole32(format_version);
    memcpy(key->bytes, &format_version, sizeof(format_version));
    key->size = sizeof(format_version);
}

void zepi_key_finish(struct zepi_key *key)
{
    if (key->bytes != key->inline_bytes)
        zepi_sys_free(key->bytes);
    key->bytes = NULL;
    key->size = 0;
}

bool zepi_key_grow(struct zepi_key *key, size_t size)
{
    uint8_t *bytes = NULL;
    size_t capacity = 2 * key->capacity;
    if (!key->has_failed && size <= UINT32_MAX) {
        size_t needed = key->size + FIELD_HEAD_BYTES + size;
        if (capacity < needed)
            capacity = needed;
        bytes = zepi_sys_allocate(capacity);
    }
    if (!bytes) {
        // No room from here on: the next field comes here, too.
        key->has_failed = true;
        key->capacity = key->size;
        return false;
    }
    memcpy(bytes, key->bytes, key->size);
    if (key->bytes != key->inline_bytes)
        zepi_sys_free(key->bytes);
    key->bytes = bytes;
    key->capacity = capacity;
    return true;
}

bool zepi_key_seal(struct zepi_key *key)
{
    if (key->has_failed)
        return false;
    key->hash = zepi_digest_hash(key->bytes, key->size);
    key->is_sealed = true;
    return true;
}

struct zepi_digest zepi_key_digest(const struct zepi_key *key)
{
    return zepi_digest_of(key->bytes, key->size);
}
