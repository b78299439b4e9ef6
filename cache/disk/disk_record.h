// SPDX-License-Identifier: MIT
#ifndef ZEPI_CACHE_DISK_DISK_RECORD_H
#define ZEPI_CACHE_DISK_DISK_RECORD_H

#include "cache/build_store.h"
#include "cache/digest.h"
#include "cache/key.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Private to the stores: the bytes of one file, and their verification. README.md has the
// format.

#define ZEPI_DISK_FORMAT_VERSION 1

// Longer files are neither written nor read.
#define ZEPI_DISK_MAX_FILE_BYTES ((uint64_t)1 << 30)

enum { ZEPI_DISK_HEAD_BYTES = 64, ZEPI_DISK_RECORD_PARTS = 4 };

// A file to be written: the head, then the parts that it borrows from key and record. Lives where
// it was encoded: the parts point into it.
struct zepi_disk_record_file {
    uint8_t head[ZEPI_DISK_HEAD_BYTES];
    struct zepi_digest_part parts[ZEPI_DISK_RECORD_PARTS];
    uint64_t size_bytes;
};

void zepi_disk_record_encode(const struct zepi_key *key, const struct zepi_build_record *record,
                             struct zepi_disk_record_file *out_file);

// A file that was read. Borrows from its bytes.
struct zepi_disk_record_view {
    struct zepi_build_record record; // without storage
    const uint8_t *key;
    size_t key_size;
};

// Returns whether the bytes are one whole sound record: every bit of the file counts.
bool zepi_disk_record_decode(const uint8_t *bytes, size_t size,
                             struct zepi_disk_record_view *out_view);

#endif
