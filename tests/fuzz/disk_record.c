// SPDX-License-Identifier: MIT
#include "cache/disk/disk_record.h"
#include "fuzz.h"

enum { AT_CHECKSUM = 48 };

// A file of the cache on disk. The checksum is made right, so that the fields behind it are read.
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
    struct zepi_disk_record_view view;
    uint8_t *copy = malloc(size_bytes);
    memcpy(copy, bytes, size_bytes);
    fuzz_seal(copy, size_bytes, AT_CHECKSUM, ZEPI_DISK_HEAD_BYTES);
    if (zepi_disk_record_decode(copy, size_bytes, &view)) {
        struct zepi_disk_record_file file;
        const struct zepi_key key = {.bytes = (uint8_t *)view.key, .size = view.key_size};
        // Payload, log and key are all that there is, and every bit counts.
        zepi_disk_record_encode(&key, &view.record, &file);
        fuzz_require(file.size_bytes == size_bytes);
        const uint8_t *at = copy;
        for (int i = 0; i < ZEPI_DISK_RECORD_PARTS; i++) {
            fuzz_require(memcmp(at, file.parts[i].bytes, file.parts[i].size) == 0);
            at += file.parts[i].size;
        }
        copy[size_bytes / 2] ^= 1;
        fuzz_require(!zepi_disk_record_decode(copy, size_bytes, &view));
    }
    free(copy);
    return 0;
}
