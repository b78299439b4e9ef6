// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_FIELDS_H
#define ZE_CPU_FIELDS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// Bytes behind their length, in 64 bits: of native binaries, and of records of drm_shim.

static inline void cpu_field_write(FILE *file, const void *bytes, uint64_t size_bytes)
{
    fwrite(&size_bytes, sizeof(size_bytes), 1, file);
    if (size_bytes > 0)
        fwrite(bytes, 1, size_bytes, file);
}

struct cpu_fields {
    const uint8_t *bytes; // borrowed; of the next field
    size_t left;
};

// The next field, borrowed. False if it reaches beyond the end.
static inline bool cpu_field_read(struct cpu_fields *fields, const uint8_t **out_bytes,
                                  size_t *out_size_bytes)
{
    uint64_t size_bytes;
    if (fields->left < sizeof(size_bytes))
        return false;
    memcpy(&size_bytes, fields->bytes, sizeof(size_bytes));
    if (size_bytes > fields->left - sizeof(size_bytes))
        return false;
    *out_bytes = fields->bytes + sizeof(size_bytes);
    *out_size_bytes = size_bytes;
    fields->bytes += sizeof(size_bytes) + size_bytes;
    fields->left -= sizeof(size_bytes) + size_bytes;
    return true;
}

#endif
