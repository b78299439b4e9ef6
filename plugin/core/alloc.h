// SPDX-License-Identifier: MIT
#ifndef ZEPI_CORE_ALLOC_H
#define ZEPI_CORE_ALLOC_H

#include "core/sys.h"

#include <stddef.h>
#include <string.h>

// The memory of the plugin and of cache/. Every allocation goes through sys.h, where tests make the
// n-th one fail. Each function returns owned memory, or NULL without memory; the caller reports
// that. Any thread.

static inline void zepi_free(void *memory)
{
    zepi_sys_free(memory);
}

// `count` zeroed elements of `size` bytes. A count of 0 gives memory, too, so that NULL always
// means failure.
static inline void *zepi_allocate(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    void *memory = zepi_sys_allocate(bytes ? bytes : 1);
    return memory ? memset(memory, 0, bytes) : NULL;
}

static inline void *zepi_duplicate(const void *bytes, size_t size_bytes)
{
    void *copy = zepi_sys_allocate(size_bytes ? size_bytes : 1);
    return copy && size_bytes ? memcpy(copy, bytes, size_bytes) : copy;
}

static inline char *zepi_duplicate_string(const char *text)
{
    return zepi_duplicate(text, strlen(text) + 1);
}

// Makes room for one more element in an owned array that grows by doubling. Returns the array,
// which may have moved, or NULL: the old one is then as it was.
static inline void *zepi_grow(void *array, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return array;
    const size_t larger = *capacity ? *capacity * 2 : 8;
    void *moved = zepi_allocate(larger, size);
    if (!moved)
        return NULL;
    if (count > 0)
        memcpy(moved, array, count * size);
    zepi_free(array);
    *capacity = larger;
    return moved;
}

#endif
