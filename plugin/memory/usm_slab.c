// SPDX-License-Identifier: MIT
#include "memory/usm_slab.h"

// The end of every list of slabs: no block is ever had from it.
static struct zepi_usm_region no_slab;

static struct zepi_usm_region **shard_first_slab_of(struct zepi_usm_shard *shard,
                                                    const struct zepi_usm_region *slab)
{
    return &shard->first[zepi_usm_slab_class(slab)];
}

// The bytes that a slab which is not the first of its class adds to the shard's idle bytes.
static size_t slab_idle_bytes(const struct zepi_usm_region *slab)
{
    return slab->hold_count == 0 ? atomic_load_explicit(&slab->size_bytes, memory_order_relaxed)
                                 : 0;
}

void zepi_usm_shard_link_locked(struct zepi_usm_shard *shard, struct zepi_usm_region *slab)
{
    struct zepi_usm_region **first = shard_first_slab_of(shard, slab);
    slab->hold_count -= ZEPI_USM_UNLINKED;
    if (*first == &no_slab) {
        slab->previous = NULL;
        slab->next = &no_slab;
        slab->hold_count++;
        *first = slab;
        return;
    }
    slab->previous = *first;
    slab->next = (*first)->next;
    slab->previous->next = slab;
    if (slab->next != &no_slab)
        slab->next->previous = slab;
    shard->idle_bytes += slab_idle_bytes(slab);
}

static void shard_unlink_locked(struct zepi_usm_shard *shard, struct zepi_usm_region *slab)
{
    struct zepi_usm_region *next = slab->next;
    if (next != &no_slab)
        next->previous = slab->previous;
    if (slab->previous) {
        slab->previous->next = next;
        shard->idle_bytes -= slab_idle_bytes(slab);
    } else {
        *shard_first_slab_of(shard, slab) = next;
        slab->hold_count--;
        if (next != &no_slab) {
            shard->idle_bytes -= slab_idle_bytes(next);
            next->hold_count++;
        }
    }
    slab->hold_count += ZEPI_USM_UNLINKED;
}

void zepi_usm_shard_drop_full_locked(struct zepi_usm_shard *shard, unsigned size_class)
{
    struct zepi_usm_region *full = shard->first[size_class];
    while (full != &no_slab && !full->first_free) {
        shard_unlink_locked(shard, full);
        full = shard->first[size_class];
    }
}

void zepi_usm_shard_place_locked(struct zepi_usm_shard *shard, struct zepi_usm_region *slab)
{
    if (slab->hold_count < 0)
        zepi_usm_shard_link_locked(shard, slab);
    else if (slab->previous)
        shard->idle_bytes += slab_idle_bytes(slab);
}

struct zepi_usm_region *zepi_usm_shard_get_idle_locked(struct zepi_usm_shard *shard,
                                                       size_t *excess_bytes)
{
    struct zepi_usm_region *idle = NULL;
    for (unsigned size_class = 0; size_class < ZEPI_USM_CLASSES; size_class++) {
        struct zepi_usm_region *slab = shard->first[size_class];
        while (slab != &no_slab && *excess_bytes > 0) {
            struct zepi_usm_region *next = slab->next;
            if (slab->hold_count == (slab->previous ? 0 : 1)) {
                const size_t bytes = atomic_load_explicit(&slab->size_bytes, memory_order_relaxed);
                *excess_bytes -= bytes < *excess_bytes ? bytes : *excess_bytes;
                shard_unlink_locked(shard, slab);
                // No block comes back to it any more.
                atomic_store_explicit(&slab->shard, NULL, memory_order_relaxed);
                slab->next = idle;
                idle = slab;
            }
            slab = next;
        }
    }
    return idle;
}

void zepi_usm_shard_init(struct zepi_usm_shard *shard, struct zepi_usm_heap *heap)
{
    shard->heap = heap;
    for (unsigned size_class = 0; size_class < ZEPI_USM_CLASSES; size_class++)
        shard->first[size_class] = &no_slab;
}

// ---- Pending memory ----

static size_t dedicated_bytes(struct zepi_usm_block *block)
{
    return atomic_load_explicit(&zepi_usm_block_region(block)->size_bytes, memory_order_relaxed);
}

struct zepi_usm_block *zepi_usm_shard_get_over_locked(struct zepi_usm_shard *shard, unsigned list,
                                                      size_t keep_bytes)
{
    struct zepi_usm_pool *pool = shard->heap->pool;
    struct zepi_sync *sync = zepi_sync_of(pool->context);
    const bool is_idle = zepi_sync_is_idle(sync);
    size_t excess_bytes =
        list == ZEPI_USM_DEDICATED ? zepi_usm_pool_excess_bytes(pool, keep_bytes) : 1;
    struct zepi_usm_block *taken = NULL;
    struct zepi_usm_block **link = &shard->pending[list];
    while (*link) {
        struct zepi_usm_block *block = *link;
        if (is_idle)
            block->freed.point.timeline = NULL;
        if (!zepi_use_is_over(sync, &block->freed) || excess_bytes == 0) {
            link = &block->next;
            continue;
        }
        if (list == ZEPI_USM_DEDICATED)
            excess_bytes -=
                dedicated_bytes(block) < excess_bytes ? dedicated_bytes(block) : excess_bytes;
        *link = block->next;
        block->next = taken;
        taken = block;
    }
    return taken;
}

struct zepi_use zepi_usm_shard_find_use_locked(const struct zepi_usm_shard *shard)
{
    struct zepi_use use = {{NULL, 0}, 0};
    for (unsigned list = 0; list <= ZEPI_USM_DEDICATED; list++) {
        // The last of a list was freed first.
        for (const struct zepi_usm_block *block = shard->pending[list]; block; block = block->next)
            use = block->freed.point.timeline ? block->freed : use;
    }
    return use;
}

static bool is_dependency(const struct zepi_usm_dependencies *dependencies, struct zepi_use use)
{
    for (uint32_t i = 0; dependencies && use.since == ZEPI_NO_OTHERS && i < dependencies->count;
         i++) {
        if (zepi_point_covers(dependencies->points[i], use.point))
            return true;
    }
    return false;
}

// Blocks of a class are long enough, and aligned.
static bool dedicated_fits(struct zepi_usm_block *block, const struct zepi_usm_alloc_desc *desc)
{
    const size_t size_bytes = dedicated_bytes(block);
    return size_bytes >= desc->size_bytes &&
           size_bytes - desc->size_bytes <= desc->size_bytes / 4 &&
           (desc->alignment_bytes == 0 || (uintptr_t)block->address % desc->alignment_bytes == 0);
}

struct zepi_usm_block *zepi_usm_shard_get_pending(struct zepi_usm_shard *shard, unsigned list,
                                                  const struct zepi_usm_alloc_desc *desc)
{
    struct zepi_sync *sync = zepi_sync_of(shard->heap->pool->context);
    zepi_mutex_lock(&shard->mutex);
    struct zepi_usm_block **link = &shard->pending[list];
    while (*link && ((list == ZEPI_USM_DEDICATED && !dedicated_fits(*link, desc)) ||
                     (!zepi_use_is_over(sync, &(*link)->freed) &&
                      !is_dependency(desc->dependencies, (*link)->freed))))
        link = &(*link)->next;
    struct zepi_usm_block *block = *link;
    if (block) {
        *link = block->next;
        zepi_usm_block_begin_locked(block, desc->size_bytes);
    }
    zepi_mutex_unlock(&shard->mutex);
    return block;
}
