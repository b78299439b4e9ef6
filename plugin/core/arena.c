// SPDX-License-Identifier: MIT
#include "core/arena.h"

#include "core/alloc.h"

#include <stdalign.h>
#include <stdint.h>

#define ALIGNMENT alignof(max_align_t)
// Blocks grow from the first size, with which the allocator is quickest, to the last one.
#define FIRST_BLOCK_BYTES 1024
#define LARGEST_BLOCK_BYTES ((size_t)32 << 10)

struct zepi_arena_block {
    struct zepi_arena_block *next;
    size_t size_bytes; // all of it
    alignas(ALIGNMENT) char bytes[];
};

static size_t arena_piece_bytes(size_t size_bytes)
{
    return (size_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

// Adds a block with a piece of this size.
static bool arena_add_block(struct zepi_arena *arena, size_t piece_bytes)
{
    size_t size_bytes = arena->blocks ? 4 * arena->blocks->size_bytes : FIRST_BLOCK_BYTES;
    if (size_bytes > LARGEST_BLOCK_BYTES)
        size_bytes = LARGEST_BLOCK_BYTES;
    if (size_bytes - sizeof(struct zepi_arena_block) < piece_bytes)
        size_bytes = sizeof(struct zepi_arena_block) + piece_bytes;
    struct zepi_arena_block *block = zepi_sys_allocate(size_bytes);
    if (!block)
        return false;
    block->next = arena->blocks;
    block->size_bytes = size_bytes;
    arena->blocks = block;
    arena->free = block->bytes;
    arena->free_bytes = size_bytes - sizeof(*block);
    return true;
}

void *zepi_arena_allocate(struct zepi_arena *arena, size_t size_bytes)
{
    const size_t piece_bytes = arena_piece_bytes(size_bytes);
    if (size_bytes > PTRDIFF_MAX ||
        (piece_bytes > arena->free_bytes && !arena_add_block(arena, piece_bytes)))
        return NULL;
    char *piece = arena->free;
    arena->free += piece_bytes;
    arena->free_bytes -= piece_bytes;
    return memset(piece, 0, size_bytes);
}

void zepi_arena_give_back(struct zepi_arena *arena, void *memory, size_t size_bytes)
{
    const size_t piece_bytes = arena_piece_bytes(size_bytes);
    if ((char *)memory + piece_bytes != arena->free)
        return;
    arena->free = memory;
    arena->free_bytes += piece_bytes;
}

void zepi_arena_finish(struct zepi_arena *arena)
{
    while (arena->blocks) {
        struct zepi_arena_block *block = arena->blocks;
        arena->blocks = block->next;
        zepi_free(block);
    }
}
