// SPDX-License-Identifier: MIT
#ifndef ZEPI_CORE_ARENA_H
#define ZEPI_CORE_ARENA_H

#include <stddef.h>

// Memory that is given back as a whole. One piece costs a few instructions, where an allocation of
// its own and its end cost hundreds once there are many of them. Zeroed memory is an arena without
// anything. Not thread-safe: the owner has a lock.
struct zepi_arena {
    struct zepi_arena_block *blocks; // owned; the last one has the free bytes
    char *free;
    size_t free_bytes;
};

// Zeroed bytes, aligned for any object, until the arena is finished. NULL without memory; the
// caller reports that.
void *zepi_arena_allocate(struct zepi_arena *arena, size_t size_bytes);
// Gives a piece of this size back if it was the last one; any other stays.
void zepi_arena_give_back(struct zepi_arena *arena, void *memory, size_t size_bytes);
void zepi_arena_finish(struct zepi_arena *arena);

#endif
