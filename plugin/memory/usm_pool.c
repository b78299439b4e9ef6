// SPDX-License-Identifier: MIT
#include "memory/usm_pool.h"

#include "core/options.h"
#include "memory/usm_driver.h"
#include "ze/ze.h"

#define SLAB_BLOCKS 64
#define SLAB_MOST_BYTES ((size_t)2 << 20) // if no block is longer
#define SLAB_MOST_SHIFT 16                // longer blocks have a slab each
#define IDLE_BYTES ((size_t)4 << 20)      // of a shard, kept without a block in use

// ---- Trimming ----

static void usm_regions_free(struct zepi_usm_region *first)
{
    while (first) {
        struct zepi_usm_region *slab = first;
        first = slab->next;
        zepi_usm_region_free(slab);
    }
}

// Unlocks the shard and frees `gone`, and idle slabs while the pool has more than `keep_bytes` and
// the shard more than `idle_bytes` of them; 0: any. False: there was nothing to free.
static bool shard_unlock_and_free(struct zepi_usm_shard *shard, struct zepi_usm_region *gone,
                                  size_t keep_bytes, size_t idle_bytes)
{
    struct zepi_usm_pool *pool = shard->heap->pool;
    for (const struct zepi_usm_region *region = gone; region; region = region->next)
        keep_bytes += atomic_load_explicit(&region->size_bytes, memory_order_relaxed);
    size_t excess_bytes = zepi_usm_pool_excess_bytes(pool, keep_bytes);
    if (idle_bytes > 0) {
        const size_t beyond = shard->idle_bytes > idle_bytes ? shard->idle_bytes - idle_bytes : 0;
        excess_bytes = beyond < excess_bytes ? beyond : excess_bytes;
    }
    struct zepi_usm_region *idle =
        excess_bytes > 0 ? zepi_usm_shard_get_idle_locked(shard, &excess_bytes) : NULL;
    const bool is_any = idle || gone;
    if (is_any)
        atomic_fetch_add_explicit(&pool->leaving, 1, memory_order_relaxed);
    zepi_mutex_unlock(&shard->mutex);
    usm_regions_free(idle);
    usm_regions_free(gone);
    // Release: who finds none leaving finds their bytes counted off.
    if (is_any)
        atomic_fetch_sub_explicit(&pool->leaving, 1, memory_order_release);
    return is_any;
}

static size_t threshold_of(const struct zepi_usm_shard *shard)
{
    return atomic_load_explicit(&shard->heap->pool->threshold_bytes, memory_order_relaxed);
}

static bool is_released(const struct zepi_usm_pool *pool)
{
    return pool->is_counted && !atomic_load_explicit(&pool->user, memory_order_relaxed);
}

// What a shard keeps without a block in use: of a pool that was released, nothing.
static size_t idle_bytes_of(const struct zepi_usm_shard *shard)
{
    return is_released(shard->heap->pool) ? 0 : IDLE_BYTES;
}

zepi_result_t zepi_usm_shard_flush_and_unlock(struct zepi_usm_shard *shard,
                                              struct zepi_usm_region *slab)
{
    zepi_usm_shard_place_locked(shard, slab);
    shard_unlock_and_free(shard, NULL, threshold_of(shard), IDLE_BYTES);
    return ZEPI_SUCCESS;
}

// ---- Pending memory ----

// Blocks whose use is over go back to their slabs, dedicated allocations to the driver.
// `keep_bytes` and `idle_bytes`: as for shard_unlock_and_free. False: there was nothing.
static bool shard_collect(struct zepi_usm_shard *shard, size_t keep_bytes, size_t idle_bytes)
{
    struct zepi_usm_region *gone = NULL;
    bool is_any = false;
    zepi_mutex_lock(&shard->mutex);
    for (unsigned list = 0; list <= ZEPI_USM_DEDICATED; list++) {
        struct zepi_usm_block *next =
            shard->pending[list] ? zepi_usm_shard_get_over_locked(shard, list, keep_bytes) : NULL;
        while (next) {
            struct zepi_usm_block *block = next;
            struct zepi_usm_region *region = zepi_usm_block_region(block);
            next = block->next;
            is_any = true;
            if (list == ZEPI_USM_DEDICATED) {
                region->next = gone;
                gone = region;
                continue;
            }
            zepi_usm_slab_push_locked(region, block);
            zepi_usm_shard_place_locked(shard, region);
        }
    }
    return shard_unlock_and_free(shard, gone, keep_bytes, idle_bytes) || is_any;
}

static void collect_deferred(struct zepi_deferred *deferred);

// Has the pending memory collected once the use is over, if it is not. Unlocks the shard.
static __attribute__((noinline)) void shard_defer_and_unlock(struct zepi_usm_shard *shard,
                                                             struct zepi_use use)
{
    shard->is_deferred = use.point.timeline != NULL;
    shard->deferred.run = collect_deferred;
    zepi_mutex_unlock(&shard->mutex);
    if (use.point.timeline)
        zepi_defer_until(zepi_sync_of(shard->heap->pool->context), use, &shard->deferred);
}

static void collect_deferred(struct zepi_deferred *deferred)
{
    struct zepi_usm_shard *shard =
        (struct zepi_usm_shard *)((char *)deferred - offsetof(struct zepi_usm_shard, deferred));
    shard_collect(shard, threshold_of(shard), idle_bytes_of(shard));
    zepi_mutex_lock(&shard->mutex);
    shard_defer_and_unlock(shard, zepi_usm_shard_find_use_locked(shard));
}

// Adds a block, or a dedicated allocation, whose allocation was ended, and unlocks the shard. The
// first one decides when all are looked at, and its memory alone counts as deferred: an allocation
// looks at pending blocks before it asks the driver for more.
static inline zepi_result_t shard_pend_and_unlock(struct zepi_usm_shard *shard, unsigned list,
                                                  struct zepi_usm_block *block, struct zepi_use use)
{
    block->freed = use;
    block->next = shard->pending[list];
    shard->pending[list] = block;
    if (!use.point.timeline || __builtin_expect(shard->is_deferred, 1)) {
        zepi_mutex_unlock(&shard->mutex);
        return ZEPI_SUCCESS;
    }
    shard->deferred.bytes =
        atomic_load_explicit(&zepi_usm_block_region(block)->size_bytes, memory_order_relaxed);
    shard_defer_and_unlock(shard, use);
    return ZEPI_SUCCESS;
}

static bool shard_end_use(struct zepi_usm_shard *shard)
{
    zepi_mutex_lock(&shard->mutex);
    const bool was_used = shard->was_used;
    shard->was_used = false;
    zepi_mutex_unlock(&shard->mutex);
    return was_used;
}

bool zepi_usm_pool_trim(struct zepi_usm_pool *pool, enum zepi_usm_shards shards, size_t keep_bytes)
{
    bool is_any = false;
    for (uint32_t i = 0; i < pool->heap_count * ZEPI_USM_SHARDS; i++) {
        struct zepi_usm_shard *shard =
            &pool->heaps[i / ZEPI_USM_SHARDS].shards[i % ZEPI_USM_SHARDS];
        if (shards == ZEPI_USM_ALL_SHARDS || !shard_end_use(shard))
            is_any = shard_collect(shard, keep_bytes, 0) || is_any;
    }
    return is_any;
}

// ---- Allocation ----

// Bytes that came into use.
static void pool_count(struct zepi_usm_pool *pool, size_t size_bytes)
{
    if (pool->is_counted)
        zepi_usm_raise_to(&pool->used_high_bytes, zepi_usm_add(&pool->used_bytes, size_bytes));
}

// Reserves bytes of the driver's. At the pool's maximum, memory that is not in use makes room.
// Other threads may take that room, and may be giving back what this one needs: it gives up only
// once there is nothing of both. `may_wait`: memory that commands use may make room, too.
static bool pool_reserve(struct zepi_usm_pool *pool, size_t size_bytes, bool may_wait)
{
    const size_t maximum = atomic_load_explicit(&pool->maximum_bytes, memory_order_relaxed);
    unsigned attempt = 0; // without success
    while (!zepi_usm_pool_reserve(pool, size_bytes)) {
        if (size_bytes > maximum || attempt == (may_wait ? 2 : 1))
            return false;
        zepi_sync_poll(zepi_sync_of(pool->context), attempt > 0 ? ZEPI_RECLAIM_TIMEOUT_NS : 0);
        if (zepi_usm_pool_trim(pool, ZEPI_USM_ALL_SHARDS, maximum - size_bytes) ||
            atomic_load_explicit(&pool->leaving, memory_order_acquire) > 0)
            attempt = 0;
        else
            attempt++;
    }
    return true;
}

// Memory of the driver's, within the pool's maximum.
static zepi_result_t shard_get_region(struct zepi_usm_shard *shard,
                                      const struct zepi_usm_region_desc *desc,
                                      struct zepi_usm_region **out_region, void **out_memory)
{
    const bool is_dedicated = desc->shift == ZEPI_USM_WHOLE_SHIFT;
    if (!pool_reserve(shard->heap->pool, desc->size_bytes, is_dedicated))
        return zepi_fail(ZEPI_ERROR_OUT_OF_DEVICE_MEMORY,
                         "%zu bytes of memory: more than the pool may have", desc->size_bytes);
    return zepi_usm_region_allocate(shard, desc, out_region, out_memory);
}

static size_t slab_bytes_of(const struct zepi_usm_pool *pool, unsigned shift)
{
    size_t bytes = (size_t)(shift > SLAB_MOST_SHIFT ? 1 : SLAB_BLOCKS) << shift;
    if (shift <= SLAB_MOST_SHIFT && bytes > SLAB_MOST_BYTES)
        bytes = SLAB_MOST_BYTES;
    while (bytes < ZEPI_USM_GRANULE_BYTES || bytes < pool->least_driver_bytes)
        bytes *= 2;
    return bytes;
}

// One more slab. False: there is no memory for one; a dedicated allocation may still succeed.
static bool shard_grow(struct zepi_usm_shard *shard, unsigned size_class)
{
    const unsigned shift = size_class + ZEPI_USM_LEAST_SHIFT;
    const size_t block_bytes = (size_t)1 << shift;
    struct zepi_usm_heap *heap = shard->heap;
    const struct zepi_usm_region_desc desc = {
        .size_bytes = slab_bytes_of(heap->pool, shift),
        .shift = shift,
        .alignment_bytes = block_bytes < ZEPI_USM_GRANULE_BYTES ? ZEPI_USM_GRANULE_BYTES
                           : block_bytes > ZEPI_USM_MOST_ALIGNMENT_BYTES
                               ? ZEPI_USM_MOST_ALIGNMENT_BYTES
                               : block_bytes};
    struct zepi_usm_region *slab;
    void *memory;
    if (atomic_load_explicit(&heap->is_off, memory_order_relaxed))
        return false;
    const zepi_result_t result = shard_get_region(shard, &desc, &slab, &memory);
    // A driver that does not align, or whose addresses look like another's, will do so again.
    if (result == ZEPI_ERROR_INVALID_VALUE || result == ZEPI_ERROR_UNSUPPORTED)
        atomic_store_explicit(&heap->is_off, true, memory_order_relaxed);
    if (result != ZEPI_SUCCESS)
        return false;
    zepi_mutex_lock(&shard->mutex);
    zepi_usm_shard_link_locked(shard, slab);
    zepi_mutex_unlock(&shard->mutex);
    return true;
}

// A block of the shard, counted, or NULL.
static void *shard_get(struct zepi_usm_shard *shard, unsigned size_class, size_t size_bytes)
{
    zepi_mutex_lock(&shard->mutex);
    zepi_usm_shard_drop_full_locked(shard, size_class);
    void *memory = zepi_usm_shard_get_locked(
        shard, size_class, size_bytes, zepi_sync_epoch(zepi_sync_of(shard->heap->pool->context)));
    zepi_mutex_unlock(&shard->mutex);
    if (memory)
        pool_count(shard->heap->pool, size_bytes);
    return memory;
}

// The length of a block for the allocation: it is aligned to that.
static size_t block_bytes_of(const struct zepi_usm_alloc_desc *desc)
{
    return desc->size_bytes > desc->alignment_bytes ? desc->size_bytes : desc->alignment_bytes;
}

static bool pool_has_blocks(const struct zepi_usm_pool *pool,
                            const struct zepi_usm_alloc_desc *desc)
{
    return !desc->export_types && (desc->kind != ZEPI_USM_SHARED || pool->is_counted) &&
           block_bytes_of(desc) <= pool->most_bytes &&
           desc->alignment_bytes <= ZEPI_USM_MOST_ALIGNMENT_BYTES;
}

// The calling thread's free blocks, a slab more, or another thread's free blocks. NULL: none.
static void *heap_get_block(struct zepi_usm_heap *heap, const struct zepi_usm_alloc_desc *desc)
{
    const size_t size_bytes = desc->size_bytes;
    const unsigned size_class = zepi_usm_class_of(block_bytes_of(desc));
    struct zepi_usm_shard *own = &heap->shards[zepi_thread_shard() % ZEPI_USM_SHARDS];
    void *memory = shard_get(own, size_class, size_bytes);
    // Freed memory whose commands are complete comes before more of the driver's.
    if (!memory && shard_collect(own, threshold_of(own), IDLE_BYTES))
        memory = shard_get(own, size_class, size_bytes);
    if (!memory && zepi_sync_poll(zepi_sync_of(heap->pool->context), 0)) {
        shard_collect(own, threshold_of(own), IDLE_BYTES);
        memory = shard_get(own, size_class, size_bytes);
    }
    while (!memory && shard_grow(own, size_class))
        memory = shard_get(own, size_class, size_bytes);
    for (unsigned i = 0; i < ZEPI_USM_SHARDS && !memory; i++)
        memory = shard_get(&heap->shards[i], size_class, size_bytes);
    return memory;
}

// Pending memory that fits, or a dedicated allocation that is kept; of these, one that is at most a
// quarter longer. Its epoch is the old one, so that a free waits for the commands before, too.
// NULL: there is none.
static void *heap_get_pending(struct zepi_usm_heap *heap, const struct zepi_usm_alloc_desc *desc)
{
    struct zepi_usm_pool *pool = heap->pool;
    struct zepi_usm_block *block = NULL;
    // Without dependencies: blocks whose use is over have gone back, unless the pool keeps them.
    if (desc->export_types ||
        (!desc->dependencies &&
         atomic_load_explicit(&pool->threshold_bytes, memory_order_relaxed) == 0))
        return NULL;
    const unsigned list =
        pool_has_blocks(pool, desc) ? zepi_usm_class_of(block_bytes_of(desc)) : ZEPI_USM_DEDICATED;
    const unsigned own = zepi_thread_shard();
    for (unsigned i = 0; i < ZEPI_USM_SHARDS && !block; i++)
        block = zepi_usm_shard_get_pending(&heap->shards[(own + i) % ZEPI_USM_SHARDS], list, desc);
    if (!block)
        return NULL;
    pool_count(pool, desc->size_bytes);
    return block->address;
}

// An allocation of the driver's for this one. It begins with a granule, for the table.
static zepi_result_t allocate_dedicated(struct zepi_usm_heap *heap,
                                        const struct zepi_usm_alloc_desc *wanted, void **out_memory)
{
    struct zepi_usm_pool *pool = heap->pool;
    struct zepi_usm_shard *shard = &heap->shards[zepi_thread_shard() % ZEPI_USM_SHARDS];
    const bool is_aligned = wanted->alignment_bytes >= ZEPI_USM_GRANULE_BYTES;
    struct zepi_usm_region_desc desc = {
        .size_bytes = wanted->size_bytes < pool->least_driver_bytes ? pool->least_driver_bytes
                                                                    : wanted->size_bytes,
        .shift = ZEPI_USM_WHOLE_SHIFT,
        .alignment_bytes = is_aligned ? wanted->alignment_bytes : ZEPI_USM_GRANULE_BYTES,
        .export_types = wanted->export_types};
    struct zepi_usm_region *region;
    zepi_result_t result = shard_get_region(shard, &desc, &region, out_memory);
    if (result == ZEPI_ERROR_INVALID_VALUE && !is_aligned) { // quirk alignment-refused
        desc.alignment_bytes = wanted->alignment_bytes;
        result = shard_get_region(shard, &desc, &region, out_memory);
    }
    if (result != ZEPI_SUCCESS || !region)
        return result;
    zepi_mutex_lock(&shard->mutex);
    zepi_usm_block_begin_locked(&region->blocks[0], wanted->size_bytes);
    region->blocks[0].epoch = zepi_sync_epoch(zepi_sync_of(pool->context));
    zepi_mutex_unlock(&shard->mutex);
    pool_count(pool, wanted->size_bytes);
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_usm_pool_allocate(struct zepi_usm_pool *pool,
                                     const struct zepi_usm_alloc_desc *desc, void **out_memory)
{
    struct zepi_usm_heap *heap = zepi_usm_pool_heap(pool, desc->device, desc->kind);
    const bool has_blocks = pool_has_blocks(pool, desc);
    void *memory = heap_get_pending(heap, desc);
    if (!memory && has_blocks)
        memory = heap_get_block(heap, desc);
    // Before more of the driver's, as in heap_get_block.
    if (!memory && !has_blocks && desc->dependencies &&
        zepi_sync_poll(zepi_sync_of(pool->context), 0))
        memory = heap_get_pending(heap, desc);
    if (!memory)
        return allocate_dedicated(heap, desc, out_memory);
    *out_memory = memory;
    return ZEPI_SUCCESS;
}

// ---- Frees ----

// Gives back a block once its use is over, and unlocks the shard.
static inline zepi_result_t shard_put_block_and_unlock(struct zepi_usm_shard *shard,
                                                       struct zepi_usm_region *slab,
                                                       struct zepi_usm_block *block,
                                                       struct zepi_use use)
{
    if (use.point.timeline)
        return shard_pend_and_unlock(shard, zepi_usm_slab_class(slab), block, use);
    zepi_usm_slab_push_locked(slab, block);
    if (zepi_usm_slab_is_due(slab))
        return zepi_usm_shard_flush_and_unlock(shard, slab);
    zepi_mutex_unlock(&shard->mutex);
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_usm_shard_push_busy_and_unlock(struct zepi_usm_shard *shard,
                                                  struct zepi_usm_region *slab,
                                                  struct zepi_usm_block *block)
{
    struct zepi_sync *sync = zepi_sync_of(shard->heap->pool->context);
    return shard_put_block_and_unlock(shard, slab, block, zepi_use_now(sync, block->epoch));
}

// Whether the memory of a dedicated allocation is for others: for those that come after the free in
// the order of a queue, or, once no command uses it, for all while the pool keeps so much.
static bool is_for_reuse(const struct zepi_usm_shard *shard, const struct zepi_usm_region *region,
                         struct zepi_use use)
{
    // Another interface may have it.
    if (atomic_load_explicit(&region->export_types, memory_order_relaxed))
        return false;
    if (use.point.timeline)
        return use.since == ZEPI_NO_OTHERS;
    return zepi_options()->usm_pool &&
           zepi_usm_pool_excess_bytes(shard->heap->pool, threshold_of(shard)) == 0;
}

static void put_dedicated_deferred(struct zepi_deferred *deferred);

// Gives back a dedicated allocation: to the driver once no command uses it, unless it is for reuse.
// Unlocks the shard.
static zepi_result_t shard_put_dedicated_and_unlock(struct zepi_usm_shard *shard,
                                                    struct zepi_usm_region *region,
                                                    struct zepi_use use)
{
    if (is_for_reuse(shard, region, use))
        return shard_pend_and_unlock(shard, ZEPI_USM_DEDICATED, &region->blocks[0], use);
    zepi_mutex_unlock(&shard->mutex);
    if (!use.point.timeline)
        return zepi_usm_region_free(region);
    region->deferred.bytes = atomic_load_explicit(&region->size_bytes, memory_order_relaxed);
    region->deferred.run = put_dedicated_deferred;
    zepi_defer_until(zepi_sync_of(shard->heap->pool->context), use, &region->deferred);
    return ZEPI_SUCCESS;
}

static void put_dedicated_deferred(struct zepi_deferred *deferred)
{
    struct zepi_usm_region *region =
        (struct zepi_usm_region *)((char *)deferred - offsetof(struct zepi_usm_region, deferred));
    struct zepi_usm_shard *shard = atomic_load_explicit(&region->shard, memory_order_relaxed);
    zepi_mutex_lock(&shard->mutex);
    shard_put_dedicated_and_unlock(shard, region, (struct zepi_use){0});
}

zepi_result_t zepi_usm_block_put(struct zepi_usm_region *region, void *memory,
                                 struct zepi_point freed)
{
    struct zepi_usm_shard *shard = atomic_load_explicit(&region->shard, memory_order_relaxed);
    struct zepi_usm_block *block = NULL;
    size_t size_bytes = 0;
    if (shard) {
        zepi_mutex_lock(&shard->mutex);
        size_bytes = zepi_usm_region_room(region, memory);
        block = zepi_usm_shard_end_locked(shard, region, (uintptr_t)memory);
        if (!block)
            zepi_mutex_unlock(&shard->mutex);
    }
    if (!block)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "%p is not where an allocation begins, or was freed", memory);
    struct zepi_usm_pool *pool = shard->heap->pool;
    if (pool->is_counted)
        atomic_fetch_sub_explicit(&pool->used_bytes, size_bytes, memory_order_relaxed);
    const struct zepi_use use = freed.timeline
                                    ? zepi_use_until(freed)
                                    : zepi_use_now(zepi_sync_of(pool->context), block->epoch);
    if (zepi_usm_region_is_dedicated(region))
        return shard_put_dedicated_and_unlock(shard, region, use);
    shard_put_block_and_unlock(shard, region, block, use);
    if (is_released(pool))
        shard_collect(shard, 0, 0);
    return ZEPI_SUCCESS;
}
