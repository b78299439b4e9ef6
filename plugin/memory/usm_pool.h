// SPDX-License-Identifier: MIT
#ifndef ZEPI_MEMORY_USM_POOL_H
#define ZEPI_MEMORY_USM_POOL_H

#include "memory/usm_slab.h"

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

enum zepi_usm_shards {
    ZEPI_USM_ALL_SHARDS,
    ZEPI_USM_UNUSED_SHARDS, // that had no allocation since the last call with this
};
// Gives back memory that is not in use while the pool has more than `keep_bytes` of the driver's.
// False: none.
bool zepi_usm_pool_trim(struct zepi_usm_pool *pool, enum zepi_usm_shards shards, size_t keep_bytes);

// Memory from a pool of a context, with dependencies also such that was freed in the order of a
// queue. `desc` has been checked.
zepi_result_t zepi_usm_pool_allocate(struct zepi_usm_pool *pool,
                                     const struct zepi_usm_alloc_desc *desc, void **out_memory);

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
// Ends the allocation that begins at `memory`, in the order of a queue after `freed`; no timeline
// there: its use is that of all that was submitted so far. ZEPI_ERROR_INVALID_VALUE: no allocation
// begins there.
zepi_result_t zepi_usm_block_put(struct zepi_usm_region *region, void *memory,
                                 struct zepi_point freed);

#endif
