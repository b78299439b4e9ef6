// SPDX-License-Identifier: MIT
#ifndef ZEPI_CACHE_SHARED_SHARED_RECORD_H
#define ZEPI_CACHE_SHARED_SHARED_RECORD_H

#include "cache/disk/disk_record.h"
#include "cache/shared/secret.h"

// A record as the server has it: the HMAC-SHA256 of the rest (zeros without a key), then the
// bytes of a file of the disk cache (cache/disk/README.md).

enum { ZEPI_SHARED_MAC_BYTES = 32 };

// Longer records are neither stored nor read.
#define ZEPI_SHARED_MAX_RECORD_BYTES ((size_t)256 << 20)

// Returns the bytes, which the caller frees by zepi_sys_free, or NULL: without memory, or too long.
uint8_t *zepi_shared_record_encode(const struct zepi_shared_secret *secret,
                                   const struct zepi_key *key,
                                   const struct zepi_build_record *record, size_t *out_size);

// Returns whether the bytes are one whole sound record that was made with the same key.
// Borrows from them.
bool zepi_shared_record_decode(const struct zepi_shared_secret *secret, const uint8_t *bytes,
                               size_t size, struct zepi_disk_record_view *out_view);

#endif
