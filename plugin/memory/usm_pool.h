// SPDX-License-Identifier: MIT
#ifndef ZEPI_MEMORY_USM_POOL_H
#define ZEPI_MEMORY_USM_POOL_H

#include "memory/usm_driver.h"

// The source of USM. Small allocations are blocks of slabs that the driver allocated: a power of
// two long, and aligned to their length, up to 2 MiB. A block that is given back serves the next
// allocation of its class at once, or, if commands may use it, once they are complete: it is
// pending until then. One that is freed in the order of a queue serves allocations that come later
// in that order at once. Slabs without a block in use stay up to a limit, until the driver has no
// memory left, or until a host trims. Larger allocations go to the driver one by one, unless the
// pool's threshold keeps them.
//
// A context has a pool of its own, whose shared memory is dedicated: it moves between host and
// device by pages, which allocations should not have in common unless the host wants a pool for it.
// Others are made on demand. No two have a page in common.

// A context's pools.
struct zepi_usm_pools {
    struct zepi_usm_pool *own;             // of the context
    _Atomic(struct zepi_usm_pool *) first; // owned; every one that was made
    struct zepi_device_pools *of_devices;  // owned; of each device of the context
    struct zepi_usm_pool *released;        // a list: pools to be used again
    struct zepi_mutex mutex;               // guards the two above; allocation alone under it
    atomic_uint_fast64_t looked_ns;        // the time of the last look for unused memory
};

static inline struct zepi_usm_pools *zepi_usm_pools_of(const struct zepi_context *context)
{
    return context->components[ZEPI_COMPONENT_USM];
}

// Gives back memory that is not in use while the pool has more than `keep_bytes` of the driver's.
// False: none.
bool zepi_usm_pool_trim(struct zepi_usm_pool *pool, size_t keep_bytes);
// Trims shards that had no allocation since the last call, down to the pool's threshold.
void zepi_usm_pool_trim_unused(struct zepi_usm_pool *pool);

// Pending memory that fits, or a dedicated allocation that is kept; of these, one that is at
// most a quarter longer. Counted; its epoch is the old one, so that a free waits for the commands
// before, too. NULL: there is none.
void *zepi_usm_pool_get_pending(struct zepi_usm_pool *pool, const struct zepi_usm_alloc_desc *desc);

// The length of a block for the allocation: it is aligned to that.
static inline size_t zepi_usm_block_bytes(const struct zepi_usm_alloc_desc *desc)
{
    return desc->size_bytes > desc->alignment_bytes ? desc->size_bytes : desc->alignment_bytes;
}
static inline bool zepi_usm_pool_has_blocks(const struct zepi_usm_pool *pool,
                                            const struct zepi_usm_alloc_desc *desc)
{
    return !desc->export_types && (desc->kind != ZEPI_USM_SHARED || pool->is_counted) &&
           zepi_usm_block_bytes(desc) <= pool->most_bytes &&
           desc->alignment_bytes <= ZEPI_USM_MOST_ALIGNMENT_BYTES;
}

// Gets memory from the driver for the shard, and enters it into the table. For a dedicated
// allocation the driver is asked again after zepi_context_reclaim; in place of a slab, one of these
// may be had. *out_region NULL: the table cannot have the memory, and the pool does not count it.
zepi_result_t zepi_usm_region_allocate(struct zepi_usm_shard *shard,
                                       const struct zepi_usm_region_desc *desc,
                                       struct zepi_usm_region **out_region, void **out_memory);
// One more slab. False: there is no memory for one; a dedicated allocation may still succeed.
bool zepi_usm_shard_grow(struct zepi_usm_shard *shard, unsigned size_class);
// Takes a region that is in no list of its shard out of the table, and frees its memory.
zepi_result_t zepi_usm_region_free(struct zepi_usm_region *region);

// Puts a slab that was given a block where it belongs now, gives back idle slabs beyond the limit,
// and unlocks the shard. Always ZEPI_SUCCESS, as its callers return.
zepi_result_t zepi_usm_shard_flush_and_unlock(struct zepi_usm_shard *shard,
                                              struct zepi_usm_region *slab)
    __attribute__((cold, noinline));

// The heap for memory of the kind, or NULL.
static inline struct zepi_usm_heap *zepi_usm_pool_heap(struct zepi_usm_pool *pool,
                                                       const struct zepi_device *device,
                                                       zepi_usm_kind_t kind)
{
    for (uint32_t i = 0; i < pool->heap_count; i++) {
        if (pool->heaps[i].device == device && pool->heaps[i].kind == kind)
            return &pool->heaps[i];
    }
    return NULL;
}

// Gives back a block whose allocation was ended, at once or when its use is over, and unlocks the
// shard.
zepi_result_t zepi_usm_shard_push_busy_and_unlock(struct zepi_usm_shard *shard,
                                                  struct zepi_usm_region *slab,
                                                  struct zepi_usm_block *block);
// Gives back pending blocks whose use is over. False: there were none.
bool zepi_usm_shard_collect(struct zepi_usm_shard *shard);

// Begins the only allocation of a dedicated region, which is new. Counted.
void zepi_usm_shard_begin_dedicated(struct zepi_usm_shard *shard, struct zepi_usm_region *region,
                                    size_t size_bytes);
// zepi_usm_shard_get_locked with the lock, and counted.
void *zepi_usm_shard_get(struct zepi_usm_shard *shard, unsigned size_class, size_t size_bytes);
// Ends the allocation that begins at `memory`, in the order of a queue after `freed`; no timeline
// there: its use is that of all that was submitted so far. ZEPI_ERROR_INVALID_VALUE: no allocation
// begins there.
zepi_result_t zepi_usm_block_put(struct zepi_usm_region *region, void *memory,
                                 struct zepi_point freed);

#endif
