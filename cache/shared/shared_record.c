// SPDX-License-Identifier: MIT
#include "cache/shared/shared_record.h"

#include "core/sys.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>

static bool make_mac(const struct zepi_shared_secret *secret, const uint8_t *bytes, size_t size,
                     uint8_t out_mac[ZEPI_SHARED_MAC_BYTES])
{
    memset(out_mac, 0, ZEPI_SHARED_MAC_BYTES);
    return secret->size == 0 ||
           HMAC(EVP_sha256(), secret->bytes, (int)secret->size, bytes, size, out_mac, NULL);
}

uint8_t *zepi_shared_record_encode(const struct zepi_shared_secret *secret,
                                   const struct zepi_key *key,
                                   const struct zepi_build_record *record, size_t *out_size)
{
    struct zepi_disk_record_file file;
    zepi_disk_record_encode(key, record, &file);
    if (file.size_bytes > ZEPI_SHARED_MAX_RECORD_BYTES - ZEPI_SHARED_MAC_BYTES)
        return NULL;
    *out_size = ZEPI_SHARED_MAC_BYTES + (size_t)file.size_bytes;
    uint8_t *bytes = zepi_sys_allocate(*out_size);
    if (!bytes)
        return NULL;
    size_t at = ZEPI_SHARED_MAC_BYTES;
    for (int i = 0; i < ZEPI_DISK_RECORD_PARTS; i++) {
        if (file.parts[i].size > 0)
            memcpy(bytes + at, file.parts[i].bytes, file.parts[i].size);
        at += file.parts[i].size;
    }
    if (make_mac(secret, bytes + ZEPI_SHARED_MAC_BYTES, (size_t)file.size_bytes, bytes))
        return bytes;
    zepi_sys_free(bytes);
    return NULL;
}

bool zepi_shared_record_decode(const struct zepi_shared_secret *secret, const uint8_t *bytes,
                               size_t size, struct zepi_disk_record_view *out_view)
{
    uint8_t mac[ZEPI_SHARED_MAC_BYTES];
    if (size < sizeof(mac) || size > ZEPI_SHARED_MAX_RECORD_BYTES)
        return false;
    const uint8_t *record = bytes + sizeof(mac);
    size -= sizeof(mac);
    // In constant time: how much of a forged one is right must not show.
    return make_mac(secret, record, size, mac) && CRYPTO_memcmp(mac, bytes, sizeof(mac)) == 0 &&
           zepi_disk_record_decode(record, size, out_view);
}
