// SPDX-License-Identifier: MIT
#include "core/alloc.h"

void *zepi_grow_full(void *array, size_t count, size_t *capacity, size_t size)
{
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
