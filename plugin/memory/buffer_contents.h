// SPDX-License-Identifier: MIT
#ifndef ZEPI_MEMORY_BUFFER_CONTENTS_H
#define ZEPI_MEMORY_BUFFER_CONTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Which locations have a buffer's present contents, byte range by byte range: parts of a buffer may
// be written on several devices at once. A location is a bit, numbered by the buffer. Without
// locks, and without calls but for memory.

struct zepi_buffer_range {
    size_t end_bytes;   // begins where the one before ends
    uint64_t locations; // none: the contents are undefined
};

struct zepi_buffer_contents {
    struct zepi_buffer_range *ranges; // owned; ascending, the last ends with the buffer
    uint32_t count;
    uint32_t capacity;
};

#define ZEPI_BUFFER_LOCATION(number) (UINT64_C(1) << (number))

// All of `size_bytes` is in `locations`. False without memory.
bool zepi_buffer_contents_init(struct zepi_buffer_contents *contents, size_t size_bytes,
                               uint64_t locations);
void zepi_buffer_contents_finish(struct zepi_buffer_contents *contents);

// The first bytes that the location lacks and others have. False: there are none.
struct zepi_buffer_stale_range {
    size_t begin_bytes;
    size_t end_bytes;
    uint64_t locations; // that have them
};
bool zepi_buffer_contents_find_stale(const struct zepi_buffer_contents *contents, uint32_t location,
                                     size_t begin_bytes, size_t end_bytes,
                                     struct zepi_buffer_stale_range *out_range);

// The location has the bytes, too; or has them alone, since they were written there. False without
// memory: nothing has changed.
bool zepi_buffer_contents_add(struct zepi_buffer_contents *contents, uint32_t location,
                              size_t begin_bytes, size_t end_bytes);
bool zepi_buffer_contents_set(struct zepi_buffer_contents *contents, uint32_t location,
                              size_t begin_bytes, size_t end_bytes);

#endif
