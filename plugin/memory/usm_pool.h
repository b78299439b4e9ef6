// SPDX-License-Identifier: MIT
#ifndef ZEPI_MEMORY_USM_POOL_H
#define ZEPI_MEMORY_USM_POOL_H

#include "memory/usm_driver.h"
#include "memory/usm_slab.h"

// The source of USM. Small allocations are blocks of slabs that the driver allocated: a power of
// two long, and aligned to their length, up to 2 MiB. A block that is given back serves the next
// allocation of its class at once, or, if commands may use it, once they are complete: it is
// pending until then. One that is freed in the order of a queue serves allocations that come later
// in that order at once. Slabs without a block in use stay up to a limit, until the driver has no
// memory left, or until a host trims. Larger allocations go to the driver one by one, unless the
// pool's threshold keeps them.
//
// A context has a pool of its own, for host and device memory: shared memory moves between host and
// device by pages, which allocations should not have in common unless the host wants a pool for it.
// Others are made on demand. No two have a page in common.

struct zepi_usm_heap {
    struct zepi_usm_pool *pool; // that it is part of
    struct zepi_device *device; // borrowed; NULL: host memory
    zepi_usm_kind_t kind;
    atomic_bool is_off; // the driver's memory cannot be pooled
    struct zepi_usm_shard shards[ZEPI_USM_SHARDS];
};

struct zepi_usm_pool {
    struct zepi_context *context; // borrowed
    struct zepi_usm_pool *next;   // of the context
    size_t most_bytes;            // 0: nothing is pooled
    size_t least_driver_bytes;
    enum zepi_usm_contents contents;
    _Atomic(void *) user;
    struct zepi_usm_pool *next_released; // no host allocates from it; under the mutex of the pools
    atomic_size_t used_bytes;            // if counted
    atomic_size_t used_high_bytes;
    atomic_size_t reserved_bytes; // of the driver's
    atomic_size_t reserved_high_bytes;
    atomic_size_t maximum_bytes;   // of reserved_bytes
    atomic_size_t threshold_bytes; // up to here nothing goes back to the driver by itself
    uint32_t heap_count;
    struct zepi_usm_heap
        heaps[]; // each device's, the host's, and maybe each device's shared memory
};

// A context's pools.
struct zepi_usm_pools {
    struct zepi_usm_pool *own;             // of the context
    _Atomic(struct zepi_usm_pool *) first; // owned; every one that was made
    struct zepi_device_pools *of_devices;  // owned; of each device of the context
    struct zepi_usm_pool *released;        // a list: pools to be used again
    struct zepi_mutex mutex;               // guards the two above; nothing is called under it
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

// The points that an allocation in the order of a queue comes after.
#define ZEPI_USM_MOST_DEPENDENCIES 9
struct zepi_usm_dependencies {
    uint32_t count;
    struct zepi_point points[ZEPI_USM_MOST_DEPENDENCIES];
};

struct zepi_usm_alloc_desc {
    const struct zepi_usm_dependencies *dependencies; // NULL: only memory that no command uses
    struct zepi_device *device;
    zepi_usm_kind_t kind;
    size_t size_bytes;
    size_t alignment_bytes;
    // For other interfaces: 0, or a dedicated allocation, which goes back to the driver.
    ze_external_memory_type_flags_t export_types;
};

// Pending memory that fits, or a dedicated allocation that is kept; of these, one that is at
// most a quarter longer. Counted; its epoch is the old one. NULL: there is none. *out_freed: where
// it was freed in the order of a queue.
void *zepi_usm_pool_get_pending(struct zepi_usm_pool *pool, const struct zepi_usm_alloc_desc *desc,
                                struct zepi_point *out_freed);
// Adds a dedicated allocation, which was ended, to the pending ones. False: the pool has no heap
// for it.
bool zepi_usm_pool_add_dedicated(struct zepi_usm_pool *pool, struct zepi_usm_region *region,
                                 struct zepi_use use);

// The length of a block for the allocation: it is aligned to that.
static inline size_t zepi_usm_block_bytes(const struct zepi_usm_alloc_desc *desc)
{
    return desc->size_bytes > desc->alignment_bytes ? desc->size_bytes : desc->alignment_bytes;
}
static inline bool zepi_usm_pool_has_blocks(const struct zepi_usm_pool *pool,
                                            const struct zepi_usm_alloc_desc *desc)
{
    return !desc->export_types && zepi_usm_block_bytes(desc) <= pool->most_bytes &&
           desc->alignment_bytes <= ZEPI_USM_MOST_ALIGNMENT_BYTES;
}

// Gets memory from the driver as `desc` has it, but for its base, and enters it into the table.
// *out_region NULL: the table cannot have it, and the pool does not count it. `next`: extensions of
// the driver's descriptor.
zepi_result_t zepi_usm_region_allocate(const struct zepi_usm_region_desc *desc,
                                       uint32_t block_count, size_t alignment_bytes,
                                       const void *next, struct zepi_usm_attempts *attempts,
                                       struct zepi_usm_region **out_region, void **out_memory);
// Takes a region of the context, which is in no shard, out of the table, and frees its memory.
zepi_result_t zepi_usm_region_free(struct zepi_usm_region *region);

// Counts bytes of the driver's that the pool is about to have; false: beyond its maximum.
bool zepi_usm_pool_reserve(struct zepi_usm_pool *pool, size_t size_bytes,
                           struct zepi_usm_attempts *attempts);
void zepi_usm_pool_unreserve(struct zepi_usm_pool *pool, size_t size_bytes);
// Bytes that came into use, or go out of it.
void zepi_usm_pool_count(struct zepi_usm_pool *pool, size_t size_bytes);
void zepi_usm_pool_discount(struct zepi_usm_pool *pool, size_t size_bytes);

// From here on a slab is freed with its last block: it is not linked for another.
void zepi_usm_shard_close(struct zepi_usm_shard *shard);
// One more slab. False: there is no memory for one; a single allocation may still succeed.
bool zepi_usm_shard_grow(struct zepi_usm_shard *shard, unsigned size_class,
                         struct zepi_usm_attempts *attempts);
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
// shard. `busy`: the first timeline that may use it (zepi_sync_first_busy).
zepi_result_t zepi_usm_shard_push_busy_and_unlock(struct zepi_usm_shard *shard,
                                                  struct zepi_usm_region *slab,
                                                  struct zepi_usm_block *block,
                                                  struct zepi_timeline *busy);
// Gives back pending blocks whose use is over. False: there were none.
bool zepi_usm_shard_collect(struct zepi_usm_shard *shard);

// zepi_usm_shard_get_locked with the lock, and counted.
void *zepi_usm_shard_get(struct zepi_usm_shard *shard, unsigned size_class, size_t size_bytes);
// Ends the allocation that begins at the address, in the order of a queue after `freed`; no
// timeline there: its use is that of all that was submitted so far. False: no allocation begins
// there.
bool zepi_usm_shard_put(struct zepi_usm_shard *shard, struct zepi_usm_region *slab,
                        uintptr_t address, struct zepi_point freed);

#endif
