// SPDX-License-Identifier: MIT
#include "cache/shared/shared.h"
#include "core/sys.h"
#include "fuzz.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

enum { AT_CHECKSUM = ZEPI_SHARED_MAC_BYTES + 48 };

// The address of a server, which is a line of text. Its parts end within their arrays.
static void parse_address(const uint8_t *bytes, size_t size_bytes)
{
    struct zepi_shared_address address;
    char *text = malloc(size_bytes + 1);
    memcpy(text, bytes, size_bytes);
    text[size_bytes] = '\0';
    if (!zepi_shared_address_parse(text, &address))
        fuzz_require(strlen(address.host) > 0 && strlen(address.host) < sizeof(address.host) &&
                     strlen(address.port) < sizeof(address.port) &&
                     strlen(address.database) < sizeof(address.database));
    free(text);
}

// A record of the shared store. HMAC and checksum are made right, so that what is behind them is
// read.
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
    const struct zepi_shared_secret secret = {.bytes = "a key", .size = 5};
    struct zepi_disk_record_view view;
    uint8_t *copy = malloc(size_bytes);
    memcpy(copy, bytes, size_bytes);
    parse_address(bytes, size_bytes);
    (void)zepi_shared_record_decode(&secret, copy, size_bytes, &view);
    if (size_bytes > ZEPI_SHARED_MAC_BYTES) {
        fuzz_seal(copy + ZEPI_SHARED_MAC_BYTES, size_bytes - ZEPI_SHARED_MAC_BYTES,
                  AT_CHECKSUM - ZEPI_SHARED_MAC_BYTES, ZEPI_DISK_HEAD_BYTES);
        HMAC(EVP_sha256(), secret.bytes, (int)secret.size, copy + ZEPI_SHARED_MAC_BYTES,
             size_bytes - ZEPI_SHARED_MAC_BYTES, copy, NULL);
    }
    if (zepi_shared_record_decode(&secret, copy, size_bytes, &view)) {
        size_t again_size;
        const struct zepi_key key = {.bytes = (uint8_t *)view.key, .size = view.key_size};
        uint8_t *again = zepi_shared_record_encode(&secret, &key, &view.record, &again_size);
        fuzz_require(again && again_size == size_bytes && memcmp(again, copy, size_bytes) == 0);
        zepi_sys_free(again);
        copy[size_bytes / 2] ^= 1;
        fuzz_require(!zepi_shared_record_decode(&secret, copy, size_bytes, &view));
    }
    free(copy);
    return 0;
}
