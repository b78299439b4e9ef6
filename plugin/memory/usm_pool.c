// SPDX-License-Identifier: MIT
#include "memory/usm_pool.h"

#include "core/options.h"
#include "core/stats.h"
#include "ze/ze.h"

#define SLAB_BLOCKS 64
#define SLAB_MOST_BYTES ((size_t)2 << 20) // if no block is longer
#define SLAB_MOST_SHIFT 16                // longer blocks have a slab each
#define IDLE_BYTES ((size_t)4 << 20)      // of a shard, kept without a block in use

// ---- Counts ----

static void counter_raise_to(atomic_size_t *high, size_t value)
{
    size_t before = atomic_load_explicit(high, memory_order_relaxed);
    while (before < value && !atomic_compare_exchange_weak_explicit(
                                 high, &before, value, memory_order_relaxed, memory_order_relaxed))
        ;
}

// Relaxed, here and below: only the numbers matter.
static size_t counter_add(atomic_size_t *counter, size_t value)
{
    return atomic_fetch_add_explicit(counter, value, memory_order_relaxed) + value;
}

static void pool_unreserve(struct zepi_usm_pool *pool, size_t size_bytes)
{
    // Release: a thread that finds a released pool empty uses it anew.
    atomic_fetch_sub_explicit(&pool->reserved_bytes, size_bytes, memory_order_release);
}

// Counts bytes of the driver's that the pool is about to have; false: beyond its maximum.
// `may_wait`: memory that commands use may make room.
static bool pool_reserve(struct zepi_usm_pool *pool, size_t size_bytes, bool may_wait)
{
    unsigned attempt = 0;
    const size_t maximum = atomic_load_explicit(&pool->maximum_bytes, memory_order_relaxed);
    size_t after = counter_add(&pool->reserved_bytes, size_bytes);
    // Idle slabs may make room, or memory that commands still use.
    for (; after > maximum && size_bytes <= maximum && attempt < (may_wait ? 2 : 1); attempt++) {
        zepi_sync_poll(zepi_sync_of(pool->context), attempt > 0 ? ZEPI_RECLAIM_TIMEOUT_NS : 0);
        zepi_usm_pool_trim(pool, maximum);
        after = atomic_load_explicit(&pool->reserved_bytes, memory_order_relaxed);
    }
    if (after > maximum) {
        pool_unreserve(pool, size_bytes);
        return false;
    }
    counter_raise_to(&pool->reserved_high_bytes, after);
    return true;
}

// Bytes that came into use.
static void pool_count(struct zepi_usm_pool *pool, size_t size_bytes)
{
    if (pool->is_counted)
        counter_raise_to(&pool->used_high_bytes, counter_add(&pool->used_bytes, size_bytes));
}

// ---- Memory of the driver ----

zepi_result_t zepi_usm_region_allocate(struct zepi_usm_shard *shard,
                                       const struct zepi_usm_region_desc *desc,
                                       struct zepi_usm_region **out_region, void **out_memory)
{
    const struct zepi_usm_heap *heap = shard->heap;
    struct zepi_usm_pool *pool = heap->pool;
    const bool is_dedicated = desc->shift == ZEPI_USM_WHOLE_SHIFT;
    enum zepi_usm_entry entry = ZEPI_USM_NOT_ALONE;
    void *memory;
    struct zepi_usm_region *region =
        zepi_usm_region_get(is_dedicated ? 1 : (uint32_t)(desc->size_bytes >> desc->shift));
    if (!region)
        return zepi_fail_no_memory();
    if (!pool_reserve(pool, desc->size_bytes, is_dedicated)) {
        zepi_usm_region_put(region);
        return zepi_fail(ZEPI_ERROR_OUT_OF_DEVICE_MEMORY,
                         "%zu bytes of memory: more than the pool may have", desc->size_bytes);
    }
    zepi_result_t result = zepi_usm_driver_allocate(heap, desc, &memory);
    if (result != ZEPI_SUCCESS)
        goto unreserve;
    zepi_usm_region_fill(region, desc, shard, (uintptr_t)memory);
    if (desc->alignment_bytes == 0 || (uintptr_t)memory % desc->alignment_bytes == 0)
        entry = zepi_usm_table_add((uintptr_t)memory, desc->size_bytes, region);
    if (entry == ZEPI_USM_ENTERED) {
        if (heap->kind == ZEPI_USM_DEVICE)
            zepi_stats_note_memory((int64_t)desc->size_bytes);
        *out_region = region;
        *out_memory = memory;
        return ZEPI_SUCCESS;
    }
    if (entry == ZEPI_USM_NO_MEMORY) {
        zepi_ze.zeMemFree(pool->context->ze, memory);
        result = zepi_fail_no_memory();
    } else {
        // The driver knows it.
        *out_region = NULL;
        *out_memory = memory;
    }

unreserve:
    pool_unreserve(pool, desc->size_bytes);
    zepi_usm_region_put(region);
    return result;
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

bool zepi_usm_shard_grow(struct zepi_usm_shard *shard, unsigned size_class)
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
    const zepi_result_t result = zepi_usm_region_allocate(shard, &desc, &slab, &memory);
    // A driver that does not align, or whose addresses look like another's, will do so again.
    if (result == ZEPI_ERROR_INVALID_VALUE || (result == ZEPI_SUCCESS && !slab))
        atomic_store_explicit(&heap->is_off, true, memory_order_relaxed);
    if (result == ZEPI_SUCCESS && !slab)
        zepi_ze.zeMemFree(heap->pool->context->ze, memory);
    if (result != ZEPI_SUCCESS || !slab)
        return false;
    zepi_mutex_lock(&shard->mutex);
    zepi_usm_shard_link_locked(shard, slab);
    zepi_mutex_unlock(&shard->mutex);
    return true;
}

zepi_result_t zepi_usm_region_free(struct zepi_usm_region *region)
{
    struct zepi_usm_pool *pool = atomic_load_explicit(&region->pool, memory_order_relaxed);
    const uintptr_t base = atomic_load_explicit(&region->base, memory_order_relaxed);
    const size_t size_bytes = atomic_load_explicit(&region->size_bytes, memory_order_relaxed);
    zepi_usm_table_remove(base);
    if (atomic_load_explicit(&region->kind, memory_order_relaxed) == ZEPI_USM_DEVICE)
        zepi_stats_note_memory(-(int64_t)size_bytes);
    zepi_usm_region_put(region);
    const zepi_result_t result = ZEPI_ZE(zeMemFree, pool->context->ze, (void *)base);
    pool_unreserve(pool, size_bytes);
    return result;
}

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
    for (const struct zepi_usm_region *region = gone; region; region = region->next)
        keep_bytes += atomic_load_explicit(&region->size_bytes, memory_order_relaxed);
    size_t excess_bytes = zepi_usm_pool_excess_bytes(shard->heap->pool, keep_bytes);
    if (idle_bytes > 0) {
        const size_t beyond = shard->idle_bytes > idle_bytes ? shard->idle_bytes - idle_bytes : 0;
        excess_bytes = beyond < excess_bytes ? beyond : excess_bytes;
    }
    struct zepi_usm_region *idle =
        excess_bytes > 0 ? zepi_usm_shard_get_idle_locked(shard, &excess_bytes) : NULL;
    zepi_mutex_unlock(&shard->mutex);
    usm_regions_free(idle);
    usm_regions_free(gone);
    return idle || gone;
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

// Blocks go back to their slabs, dedicated allocations to the driver. `deferred_use` of the
// deferred work: where it goes on; no timeline there: it is over. NULL: another thread collects.
// `keep_bytes` and `idle_bytes`: as for shard_unlock_and_free. False: there was nothing.
static bool shard_collect(struct zepi_usm_shard *shard, size_t keep_bytes, size_t idle_bytes,
                          struct zepi_use *deferred_use)
{
    struct zepi_use left = {0};
    struct zepi_usm_region *gone = NULL;
    bool is_any = false;
    zepi_mutex_lock(&shard->mutex);
    for (unsigned list = 0; list <= ZEPI_USM_DEDICATED; list++) {
        struct zepi_usm_block *next =
            shard->pending[list] ? zepi_usm_shard_get_over_locked(shard, list, keep_bytes, &left)
                                 : NULL;
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
    if (deferred_use) {
        *deferred_use = left;
        shard->is_deferred = left.point.timeline != NULL;
    }
    return shard_unlock_and_free(shard, gone, keep_bytes, idle_bytes) || is_any;
}

bool zepi_usm_shard_collect(struct zepi_usm_shard *shard)
{
    return shard_collect(shard, threshold_of(shard), IDLE_BYTES, NULL);
}

static void collect_deferred(struct zepi_deferred *deferred)
{
    struct zepi_use use;
    struct zepi_usm_shard *shard =
        (struct zepi_usm_shard *)((char *)deferred - offsetof(struct zepi_usm_shard, deferred));
    shard_collect(shard, threshold_of(shard), idle_bytes_of(shard), &use);
    if (use.point.timeline)
        zepi_defer_until(zepi_sync_of(shard->heap->pool->context), use, deferred);
}

// The first of the shard's pending blocks: its use decides when all are looked at. Unlocks the
// shard.
static __attribute__((noinline)) zepi_result_t shard_defer_and_unlock(struct zepi_usm_shard *shard,
                                                                      struct zepi_usm_block *block)
{
    const struct zepi_use use = block->freed;
    shard->is_deferred = true;
    shard->deferred.bytes =
        atomic_load_explicit(&zepi_usm_block_region(block)->size_bytes, memory_order_relaxed);
    shard->deferred.run = collect_deferred;
    zepi_mutex_unlock(&shard->mutex);
    zepi_defer_until(zepi_sync_of(shard->heap->pool->context), use, &shard->deferred);
    return ZEPI_SUCCESS;
}

// Adds a block, or a dedicated allocation, whose allocation was ended, and unlocks the shard.
static inline zepi_result_t shard_pend_and_unlock(struct zepi_usm_shard *shard, unsigned list,
                                                  struct zepi_usm_block *block, struct zepi_use use)
{
    block->freed = use;
    block->next = shard->pending[list];
    shard->pending[list] = block;
    if (use.point.timeline && __builtin_expect(!shard->is_deferred, 0))
        return shard_defer_and_unlock(shard, block);
    zepi_mutex_unlock(&shard->mutex);
    return ZEPI_SUCCESS;
}

// Gives back a block once its use is over, and unlocks the shard.
static inline zepi_result_t shard_push_or_pend_and_unlock(struct zepi_usm_shard *shard,
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
    return shard_push_or_pend_and_unlock(shard, slab, block, zepi_use_now(sync, block->epoch));
}

static void free_deferred_region(struct zepi_deferred *deferred);

// Gives back a dedicated allocation: to the driver once no command uses it, or to allocations that
// come later in the order of a queue, or while the pool keeps it. What another interface may have
// is for no other allocation. Unlocks the shard.
static zepi_result_t shard_put_dedicated_and_unlock(struct zepi_usm_shard *shard,
                                                    struct zepi_usm_region *region,
                                                    struct zepi_use use)
{
    const struct zepi_usm_pool *pool = shard->heap->pool;
    const bool is_over = !use.point.timeline;
    const bool is_wanted = is_over ? zepi_options()->usm_pool &&
                                         zepi_usm_pool_excess_bytes(pool, threshold_of(shard)) == 0
                                   : use.since == ZEPI_NO_OTHERS;
    if (is_wanted && !atomic_load_explicit(&region->export_types, memory_order_relaxed))
        return shard_pend_and_unlock(shard, ZEPI_USM_DEDICATED, &region->blocks[0], use);
    zepi_mutex_unlock(&shard->mutex);
    if (is_over)
        return zepi_usm_region_free(region);
    region->deferred.bytes = atomic_load_explicit(&region->size_bytes, memory_order_relaxed);
    region->deferred.run = free_deferred_region;
    zepi_defer_until(zepi_sync_of(pool->context), use, &region->deferred);
    return ZEPI_SUCCESS;
}

static void free_deferred_region(struct zepi_deferred *deferred)
{
    struct zepi_usm_region *region =
        (struct zepi_usm_region *)((char *)deferred - offsetof(struct zepi_usm_region, deferred));
    struct zepi_usm_shard *shard = atomic_load_explicit(&region->shard, memory_order_relaxed);
    zepi_mutex_lock(&shard->mutex);
    shard_put_dedicated_and_unlock(shard, region, (struct zepi_use){0});
}

void *zepi_usm_pool_get_pending(struct zepi_usm_pool *pool, const struct zepi_usm_alloc_desc *desc)
{
    const unsigned list = zepi_usm_pool_has_blocks(pool, desc)
                              ? zepi_usm_class_of(zepi_usm_block_bytes(desc))
                              : ZEPI_USM_DEDICATED;
    struct zepi_usm_heap *heap = zepi_usm_pool_heap(pool, desc->device, desc->kind);
    struct zepi_usm_block *block = NULL;
    const unsigned own = zepi_thread_shard();
    for (unsigned i = 0; heap && i < ZEPI_USM_SHARDS && !block; i++)
        block = zepi_usm_shard_get_pending(&heap->shards[(own + i) % ZEPI_USM_SHARDS], list, desc);
    if (!block)
        return NULL;
    pool_count(pool, desc->size_bytes);
    return block->address;
}

bool zepi_usm_pool_trim(struct zepi_usm_pool *pool, size_t keep_bytes)
{
    bool is_any = false;
    for (uint32_t i = 0; i < pool->heap_count; i++) {
        for (unsigned at = 0; at < ZEPI_USM_SHARDS; at++)
            is_any = shard_collect(&pool->heaps[i].shards[at], keep_bytes, 0, NULL) || is_any;
    }
    return is_any;
}

static bool shard_end_use(struct zepi_usm_shard *shard)
{
    zepi_mutex_lock(&shard->mutex);
    const bool was_used = shard->was_used;
    shard->was_used = false;
    zepi_mutex_unlock(&shard->mutex);
    return was_used;
}

void zepi_usm_pool_trim_unused(struct zepi_usm_pool *pool)
{
    for (uint32_t i = 0; i < pool->heap_count; i++) {
        for (unsigned at = 0; at < ZEPI_USM_SHARDS; at++) {
            struct zepi_usm_shard *shard = &pool->heaps[i].shards[at];
            if (!shard_end_use(shard))
                shard_collect(shard, threshold_of(shard), 0, NULL);
        }
    }
}

// ---- Blocks ----

void zepi_usm_shard_begin_dedicated(struct zepi_usm_shard *shard, struct zepi_usm_region *region,
                                    size_t size_bytes)
{
    struct zepi_usm_block *block = &region->blocks[0];
    zepi_mutex_lock(&shard->mutex);
    zepi_usm_block_begin_locked(block, size_bytes);
    block->epoch = zepi_sync_epoch(zepi_sync_of(shard->heap->pool->context));
    zepi_mutex_unlock(&shard->mutex);
    pool_count(shard->heap->pool, size_bytes);
}

void *zepi_usm_shard_get(struct zepi_usm_shard *shard, unsigned size_class, size_t size_bytes)
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
    shard_push_or_pend_and_unlock(shard, region, block, use);
    if (is_released(pool))
        shard_collect(shard, 0, 0, NULL);
    return ZEPI_SUCCESS;
}
