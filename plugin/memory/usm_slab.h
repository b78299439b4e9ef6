// SPDX-License-Identifier: MIT
#ifndef ZEPI_MEMORY_USM_SLAB_H
#define ZEPI_MEMORY_USM_SLAB_H

#include "core/mutex.h"
#include "device/context.h"
#include "memory/usm_region.h"

// The structures of a pool, and slabs of blocks, as a shard has them: which of them have free
// blocks, which are idle, the blocks that begin and end allocations, and pending ones. Functions
// that end in _locked are called under the shard's mutex, and call nothing but sync/. usm_pool.h
// gets slabs from the driver and gives them back.

struct zepi_usm_heap;

#define ZEPI_USM_LEAST_SHIFT 8 // 256 bytes: the meaning of alignment 0 in a pool
#define ZEPI_USM_MOST_SHIFT 22 // 4 MiB
#define ZEPI_USM_MOST_ALIGNMENT_BYTES ((size_t)2 << 20) // of blocks; drivers refuse larger ones
#define ZEPI_USM_SHARDS 8 // of threads; a power of two; memory that lies idle is counted by them
#define ZEPI_USM_CLASSES (ZEPI_USM_MOST_SHIFT - ZEPI_USM_LEAST_SHIFT + 1)
#define ZEPI_USM_DEDICATED ZEPI_USM_CLASSES // in place of a class

// A shard's memory of one kind and device. Blocks go back to the shard that they are from, also
// from other threads.
struct zepi_usm_shard {
    // Guards the members below and the blocks of the shard's slabs; no driver call under it.
    alignas(64) struct zepi_mutex mutex;
    bool was_used;              // a free block, since the last look for unused shards
    size_t idle_bytes;          // of slabs without a block in use, but for the first of each class
    struct zepi_usm_heap *heap; // that it is part of
    // Slabs with free blocks, and maybe full ones in front; at the end one without blocks.
    struct zepi_usm_region *first[ZEPI_USM_CLASSES];
    // Pending blocks by class, freed last first. They are in use for their slabs. Dedicated ones
    // stay here while the pool keeps them for reuse.
    struct zepi_usm_block *pending[ZEPI_USM_CLASSES + 1];
    struct zepi_deferred deferred; // collects pending blocks; waits for one of them
    bool is_deferred;
};

// A pool's memory of one kind and device.
struct zepi_usm_heap {
    struct zepi_usm_pool *pool; // that it is part of
    struct zepi_device *device; // borrowed; NULL: host memory, or shared memory of no device
    zepi_usm_kind_t kind;
    atomic_bool is_off; // the driver's memory cannot be pooled
    struct zepi_usm_shard shards[ZEPI_USM_SHARDS];
};

// What usm_pool.h describes.
struct zepi_usm_pool {
    struct zepi_context *context; // borrowed
    struct zepi_usm_pool *next;   // of the context
    size_t most_bytes;            // 0: nothing is pooled
    size_t least_driver_bytes;
    bool is_zeroed;       // memory that comes from the driver
    bool is_counted;      // bytes in use are; all but the context's own, and never another
    _Atomic(void *) user; // of a counted one; NULL: it was released
    struct zepi_usm_pool *next_released; // no host allocates from it; under the mutex of the pools
    atomic_size_t used_bytes;            // if counted
    atomic_size_t used_high_bytes;
    atomic_size_t reserved_bytes; // of the driver's
    atomic_size_t reserved_high_bytes;
    atomic_uint leaving;           // threads that give memory back to the driver
    atomic_size_t maximum_bytes;   // of reserved_bytes
    atomic_size_t threshold_bytes; // up to here nothing goes back to the driver by itself
    uint32_t heap_count;
    // Each device's and the host's; shared memory of each device and of none.
    struct zepi_usm_heap heaps[];
};

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

// A zeroed shard has no slab.
void zepi_usm_shard_init(struct zepi_usm_shard *shard, struct zepi_usm_heap *heap);

// Adds a slab with free blocks behind the first of its class: that one is used up first.
void zepi_usm_shard_link_locked(struct zepi_usm_shard *shard, struct zepi_usm_region *slab);
// Unlinks the slabs in front of a class that have no free block.
void zepi_usm_shard_drop_full_locked(struct zepi_usm_shard *shard, unsigned size_class);
// Puts a slab that was given a block where it belongs now.
void zepi_usm_shard_place_locked(struct zepi_usm_shard *shard, struct zepi_usm_region *slab);
// Takes out idle slabs of `*excess_bytes` altogether, for the caller to free, and counts them off.
struct zepi_usm_region *zepi_usm_shard_get_idle_locked(struct zepi_usm_shard *shard,
                                                       size_t *excess_bytes);

// Takes out pending blocks whose use is over; of dedicated allocations those beyond `keep_bytes` in
// the pool.
struct zepi_usm_block *zepi_usm_shard_get_over_locked(struct zepi_usm_shard *shard, unsigned list,
                                                      size_t keep_bytes);
// The use of a pending block that was not over when it was looked at; no timeline: there is none.
struct zepi_use zepi_usm_shard_find_use_locked(const struct zepi_usm_shard *shard);
// Begins the allocation in a pending block that fits, and takes it out. NULL: there is none.
struct zepi_usm_block *zepi_usm_shard_get_pending(struct zepi_usm_shard *shard, unsigned list,
                                                  const struct zepi_usm_alloc_desc *desc);

// Counters of a pool. Relaxed: only the numbers matter.
static inline size_t zepi_usm_add(atomic_size_t *counter, size_t value)
{
    return atomic_fetch_add_explicit(counter, value, memory_order_relaxed) + value;
}
static inline void zepi_usm_raise_to(atomic_size_t *high, size_t value)
{
    size_t before = atomic_load_explicit(high, memory_order_relaxed);
    while (before < value && !atomic_compare_exchange_weak_explicit(
                                 high, &before, value, memory_order_relaxed, memory_order_relaxed))
        ;
}

// The driver's memory in the pool beyond `keep_bytes`.
static inline size_t zepi_usm_pool_excess_bytes(const struct zepi_usm_pool *pool, size_t keep_bytes)
{
    const size_t reserved = atomic_load_explicit(&pool->reserved_bytes, memory_order_relaxed);
    return reserved > keep_bytes ? reserved - keep_bytes : 0;
}

// For 1 byte to 4 MiB.
static inline unsigned zepi_usm_class_of(size_t size_bytes)
{
    const unsigned long most = (size_bytes - 1) | ((1u << ZEPI_USM_LEAST_SHIFT) - 1);
    return ((unsigned)__builtin_clzl(most) ^ (unsigned)(sizeof(long) * 8 - 1)) + 1 -
           ZEPI_USM_LEAST_SHIFT;
}

static inline unsigned zepi_usm_slab_class(const struct zepi_usm_region *slab)
{
    return atomic_load_explicit(&slab->shift, memory_order_relaxed) - ZEPI_USM_LEAST_SHIFT;
}

// An allocation begins in a block of a shard.
static inline void zepi_usm_block_begin_locked(struct zepi_usm_block *block, size_t size_bytes)
{
    // Relaxed: a thread that asks about the block got its address from here.
    atomic_store_explicit(&block->end, (uintptr_t)block->address + size_bytes,
                          memory_order_relaxed);
    atomic_store_explicit(&block->serial,
                          atomic_load_explicit(&block->serial, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

// A block for 1 to the class' length bytes, or NULL if the first slab has none. Not counted.
static inline void *zepi_usm_shard_get_locked(struct zepi_usm_shard *shard, unsigned size_class,
                                              size_t size_bytes, uint64_t epoch)
{
    struct zepi_usm_region *slab = shard->first[size_class];
    struct zepi_usm_block *block = slab->first_free;
    if (__builtin_expect(!block, 0))
        return NULL;
    shard->was_used = true;
    slab->first_free = block->next;
    zepi_usm_block_begin_locked(block, size_bytes);
    block->epoch = epoch;
    slab->hold_count++;
    if (!block->address)
        __builtin_unreachable();
    return block->address;
}

// Ends the allocation that begins at the address, of a slab that was found there. NULL: none does.
// The block is then pushed or deferred.
static inline struct zepi_usm_block *zepi_usm_shard_end_locked(const struct zepi_usm_shard *shard,
                                                               struct zepi_usm_region *slab,
                                                               uintptr_t address)
{
    struct zepi_usm_block *block = &slab->blocks[zepi_usm_region_slot(slab, address)];
    // Another shard's: the slab went back meanwhile.
    if (__builtin_expect(atomic_load_explicit(&slab->shard, memory_order_relaxed) != shard ||
                             (uintptr_t)block->address != address ||
                             atomic_load_explicit(&block->end, memory_order_relaxed) == 0,
                         0))
        return NULL;
    atomic_store_explicit(&block->end, 0, memory_order_relaxed);
    return block;
}

// Gives back a block that no command can use.
static inline void zepi_usm_slab_push_locked(struct zepi_usm_region *slab,
                                             struct zepi_usm_block *block)
{
    block->next = slab->first_free;
    slab->first_free = block;
    slab->hold_count--;
}

// Whether the slab is to be placed after a push (zepi_usm_shard_flush_and_unlock): it is idle now,
// or was full.
static inline bool zepi_usm_slab_is_due(const struct zepi_usm_region *slab)
{
    return __builtin_expect(slab->hold_count <= 0, 0);
}

#endif
