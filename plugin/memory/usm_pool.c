// SPDX-License-Identifier: MIT
#include "memory/usm_pool.h"

#include "core/alloc.h"
#include "core/options.h"
#include "core/stats.h"
#include "device/context.h"
#include "ze/ze.h"

#define SLAB_BLOCKS 64
#define SLAB_MOST_BYTES ((size_t)2 << 20) // if no block is longer
#define SLAB_MOST_SHIFT 16                // longer blocks have a slab each
#define IDLE_BYTES ((size_t)4 << 20)      // of a shard, kept without a block in use

// ---- Memory of the driver ----

static size_t slab_bytes_of(const struct zepi_usm_pool *pool, unsigned shift)
{
    size_t bytes = (size_t)(shift > SLAB_MOST_SHIFT ? 1 : SLAB_BLOCKS) << shift;
    if (shift <= SLAB_MOST_SHIFT && bytes > SLAB_MOST_BYTES)
        bytes = SLAB_MOST_BYTES;
    while (bytes < ZEPI_USM_GRANULE_BYTES || bytes < pool->least_driver_bytes)
        bytes *= 2;
    return bytes;
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
    zepi_usm_pool_unreserve(pool, size_bytes);
    return result;
}

zepi_result_t zepi_usm_region_allocate(const struct zepi_usm_region_desc *desc,
                                       uint32_t block_count, size_t alignment_bytes,
                                       const void *next, struct zepi_usm_attempts *attempts,
                                       struct zepi_usm_region **out_region, void **out_memory)
{
    struct zepi_usm_pool *pool = desc->pool;
    struct zepi_usm_region_desc placed = *desc;
    void *memory;
    struct zepi_usm_region *region = zepi_usm_region_get(block_count);
    if (!region)
        return zepi_fail_no_memory();
    if (!zepi_usm_pool_reserve(pool, desc->size_bytes, attempts)) {
        zepi_usm_region_put(region);
        return zepi_fail(ZEPI_ERROR_OUT_OF_DEVICE_MEMORY,
                         "%zu bytes of memory: more than the pool may have", desc->size_bytes);
    }
    zepi_result_t result =
        zepi_usm_driver_allocate(pool->context, desc->device, desc->kind, pool->contents,
                                 desc->size_bytes, alignment_bytes, next, attempts, &memory);
    if (result != ZEPI_SUCCESS)
        goto fail;
    placed.base = (uintptr_t)memory;
    zepi_usm_region_fill(region, &placed);
    const bool is_aligned = alignment_bytes == 0 || placed.base % alignment_bytes == 0;
    switch (is_aligned ? zepi_usm_table_add(placed.base, desc->size_bytes, region)
                       : ZEPI_USM_NOT_ALONE) {
    case ZEPI_USM_ENTERED:
        if (desc->kind == ZEPI_USM_DEVICE)
            zepi_stats_note_memory((int64_t)desc->size_bytes);
        *out_region = region;
        *out_memory = memory;
        return ZEPI_SUCCESS;
    case ZEPI_USM_NOT_ALONE:
        // The driver knows it.
        zepi_usm_pool_unreserve(pool, desc->size_bytes);
        zepi_usm_region_put(region);
        *out_region = NULL;
        *out_memory = memory;
        return ZEPI_SUCCESS;
    case ZEPI_USM_NO_MEMORY:
        break;
    }
    zepi_ze.zeMemFree(pool->context->ze, memory);
    result = zepi_fail_no_memory();

fail:
    zepi_usm_pool_unreserve(pool, desc->size_bytes);
    zepi_usm_region_put(region);
    return result;
}

bool zepi_usm_shard_grow(struct zepi_usm_shard *shard, unsigned size_class,
                         struct zepi_usm_attempts *attempts)
{
    const unsigned shift = size_class + ZEPI_USM_LEAST_SHIFT;
    const size_t block_bytes = (size_t)1 << shift;
    struct zepi_usm_heap *heap = shard->heap;
    struct zepi_usm_pool *pool = heap->pool;
    const struct zepi_usm_region_desc desc = {.size_bytes = slab_bytes_of(pool, shift),
                                              .shift = shift,
                                              .context = pool->context,
                                              .device = heap->device,
                                              .kind = heap->kind,
                                              .pool = pool,
                                              .shard = shard,
                                              .is_counted = shard->is_counted};
    const size_t alignment_bytes = block_bytes < ZEPI_USM_GRANULE_BYTES ? ZEPI_USM_GRANULE_BYTES
                                   : block_bytes > ZEPI_USM_MOST_ALIGNMENT_BYTES
                                       ? ZEPI_USM_MOST_ALIGNMENT_BYTES
                                       : block_bytes;
    struct zepi_usm_region *slab;
    void *memory;
    if (atomic_load_explicit(&heap->is_off, memory_order_relaxed))
        return false;
    const zepi_result_t result =
        zepi_usm_region_allocate(&desc, (uint32_t)(desc.size_bytes >> shift), alignment_bytes, NULL,
                                 attempts, &slab, &memory);
    // A driver that does not align, or whose addresses look like another's, will do so again.
    if (result == ZEPI_ERROR_INVALID_VALUE || (result == ZEPI_SUCCESS && !slab))
        atomic_store_explicit(&heap->is_off, true, memory_order_relaxed);
    if (result == ZEPI_SUCCESS && !slab)
        zepi_ze.zeMemFree(pool->context->ze, memory);
    if (result != ZEPI_SUCCESS || !slab)
        return false;
    zepi_mutex_lock(&shard->mutex);
    zepi_usm_shard_link_locked(shard, slab);
    zepi_mutex_unlock(&shard->mutex);
    return true;
}

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

bool zepi_usm_pool_reserve(struct zepi_usm_pool *pool, size_t size_bytes,
                           struct zepi_usm_attempts *attempts)
{
    const size_t maximum = atomic_load_explicit(&pool->maximum_bytes, memory_order_relaxed);
    size_t after = counter_add(&pool->reserved_bytes, size_bytes);
    // Idle slabs may make room, or memory that commands still use.
    while (after > maximum && size_bytes <= maximum && attempts->of_pool < 2) {
        zepi_sync_poll(zepi_sync_of(pool->context),
                       attempts->of_pool++ > 0 ? ZEPI_RECLAIM_TIMEOUT_NS : 0);
        zepi_usm_pool_trim(pool, maximum);
        after = atomic_load_explicit(&pool->reserved_bytes, memory_order_relaxed);
    }
    if (after > maximum) {
        zepi_usm_pool_unreserve(pool, size_bytes);
        return false;
    }
    counter_raise_to(&pool->reserved_high_bytes, after);
    return true;
}

void zepi_usm_pool_unreserve(struct zepi_usm_pool *pool, size_t size_bytes)
{
    // Release: a thread that finds a released pool empty uses it anew.
    atomic_fetch_sub_explicit(&pool->reserved_bytes, size_bytes, memory_order_release);
}

void zepi_usm_pool_count(struct zepi_usm_pool *pool, size_t size_bytes)
{
    counter_raise_to(&pool->used_high_bytes, counter_add(&pool->used_bytes, size_bytes));
}

void zepi_usm_pool_discount(struct zepi_usm_pool *pool, size_t size_bytes)
{
    atomic_fetch_sub_explicit(&pool->used_bytes, size_bytes, memory_order_relaxed);
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

// The driver's memory in the pool beyond `keep_bytes`.
static size_t pool_excess_bytes(const struct zepi_usm_pool *pool, size_t keep_bytes)
{
    const size_t reserved = atomic_load_explicit(&pool->reserved_bytes, memory_order_relaxed);
    return reserved > keep_bytes ? reserved - keep_bytes : 0;
}

// Unlocks the shard and frees `gone`, and idle slabs while the pool has more than `keep_bytes` and
// the shard more than `idle_bytes` of them; 0: any. False: there was nothing to free.
static bool shard_unlock_and_free(struct zepi_usm_shard *shard, struct zepi_usm_region *gone,
                                  size_t keep_bytes, size_t idle_bytes)
{
    for (const struct zepi_usm_region *region = gone; region; region = region->next)
        keep_bytes += atomic_load_explicit(&region->size_bytes, memory_order_relaxed);
    size_t excess_bytes = pool_excess_bytes(shard->heap->pool, keep_bytes);
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

zepi_result_t zepi_usm_shard_flush_and_unlock(struct zepi_usm_shard *shard,
                                              struct zepi_usm_region *slab)
{
    const bool is_gone = zepi_usm_shard_place_locked(shard, slab);
    if (is_gone)
        slab->next = NULL;
    shard_unlock_and_free(shard, is_gone ? slab : NULL, threshold_of(shard), IDLE_BYTES);
    return ZEPI_SUCCESS;
}

// ---- Pending memory ----

static size_t dedicated_bytes(struct zepi_usm_block *block)
{
    return atomic_load_explicit(&zepi_usm_block_region(block)->size_bytes, memory_order_relaxed);
}

// Takes out blocks whose use is over; of dedicated allocations those beyond `keep_bytes` in the
// pool. *out_left: a use that is not over.
static struct zepi_usm_block *get_over_locked(struct zepi_usm_shard *shard, unsigned list,
                                              size_t keep_bytes, struct zepi_use *out_left)
{
    struct zepi_usm_pool *pool = shard->heap->pool;
    struct zepi_sync *sync = zepi_sync_of(pool->context);
    const bool is_idle = zepi_sync_is_idle(sync);
    size_t excess_bytes = list == ZEPI_USM_DEDICATED ? pool_excess_bytes(pool, keep_bytes) : 1;
    struct zepi_usm_block *taken = NULL;
    struct zepi_usm_block **link = &shard->pending[list];
    if (is_idle && list != ZEPI_USM_DEDICATED) {
        taken = *link;
        *link = NULL;
    }
    while (*link) {
        struct zepi_usm_block *block = *link;
        const bool is_over = is_idle || zepi_use_is_over(sync, &block->freed);
        if (!is_over)
            *out_left = block->freed;
        if (!is_over || excess_bytes == 0) {
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
            shard->pending[list] ? get_over_locked(shard, list, keep_bytes, &left) : NULL;
        while (next) {
            struct zepi_usm_block *block = next;
            struct zepi_usm_region *region = zepi_usm_block_region(block);
            next = block->next;
            is_any = true;
            if (list != ZEPI_USM_DEDICATED)
                zepi_usm_slab_push_locked(region, block);
            if (list == ZEPI_USM_DEDICATED || zepi_usm_shard_place_locked(shard, region)) {
                region->next = gone;
                gone = region;
            }
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
    shard_collect(shard, threshold_of(shard), IDLE_BYTES, &use);
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
    shard->deferred.bytes = dedicated_bytes(block);
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
                                                  struct zepi_usm_block *block,
                                                  struct zepi_timeline *busy)
{
    const uint64_t since = block->epoch;
    const struct zepi_use use = {zepi_sync_now_from(busy->sync, busy, since), since};
    return shard_push_or_pend_and_unlock(shard, slab, block, use);
}

bool zepi_usm_pool_add_dedicated(struct zepi_usm_pool *pool, struct zepi_usm_region *region,
                                 struct zepi_use use)
{
    struct zepi_usm_heap *heap = zepi_usm_pool_heap(
        pool, atomic_load_explicit(&region->device, memory_order_relaxed),
        (zepi_usm_kind_t)atomic_load_explicit(&region->kind, memory_order_relaxed));
    if (!heap)
        return false;
    struct zepi_usm_shard *shard = &heap->shards[zepi_thread_shard() % ZEPI_USM_SHARDS];
    zepi_mutex_lock(&shard->mutex);
    shard_pend_and_unlock(shard, ZEPI_USM_DEDICATED, &region->blocks[0], use);
    return true;
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

static struct zepi_usm_block *shard_get_pending(struct zepi_usm_shard *shard, unsigned list,
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
    if (block)
        *link = block->next;
    if (block && list != ZEPI_USM_DEDICATED)
        zepi_usm_block_begin_locked(block, desc->size_bytes);
    zepi_mutex_unlock(&shard->mutex);
    return block;
}

void *zepi_usm_pool_get_pending(struct zepi_usm_pool *pool, const struct zepi_usm_alloc_desc *desc,
                                struct zepi_point *out_freed)
{
    const unsigned list = zepi_usm_pool_has_blocks(pool, desc)
                              ? zepi_usm_class_of(zepi_usm_block_bytes(desc))
                              : ZEPI_USM_DEDICATED;
    struct zepi_usm_heap *heap = zepi_usm_pool_heap(pool, desc->device, desc->kind);
    struct zepi_usm_block *block = NULL;
    const unsigned own = zepi_thread_shard();
    for (unsigned i = 0; heap && i < ZEPI_USM_SHARDS && !block; i++)
        block = shard_get_pending(&heap->shards[(own + i) % ZEPI_USM_SHARDS], list, desc);
    if (!block)
        return NULL;
    *out_freed = block->freed.point;
    if (list == ZEPI_USM_DEDICATED)
        zepi_usm_region_unclaim(zepi_usm_block_region(block), desc->size_bytes);
    if (pool != zepi_usm_pools_of(pool->context)->own)
        zepi_usm_pool_count(pool, desc->size_bytes);
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

void zepi_usm_shard_close(struct zepi_usm_shard *shard)
{
    zepi_mutex_lock(&shard->mutex);
    struct zepi_usm_region *idle = zepi_usm_shard_close_locked(shard);
    zepi_mutex_unlock(&shard->mutex);
    usm_regions_free(idle);
}

// ---- Blocks ----

void *zepi_usm_shard_get(struct zepi_usm_shard *shard, unsigned size_class, size_t size_bytes)
{
    zepi_mutex_lock(&shard->mutex);
    zepi_usm_shard_drop_full_locked(shard, size_class);
    void *memory = zepi_usm_shard_get_locked(
        shard, size_class, size_bytes, zepi_sync_epoch(zepi_sync_of(shard->heap->pool->context)));
    zepi_mutex_unlock(&shard->mutex);
    if (memory && shard->is_counted)
        zepi_usm_pool_count(shard->heap->pool, size_bytes);
    return memory;
}

bool zepi_usm_shard_put(struct zepi_usm_shard *shard, struct zepi_usm_region *slab,
                        uintptr_t address, struct zepi_point freed)
{
    struct zepi_usm_pool *pool = shard->heap->pool;
    zepi_mutex_lock(&shard->mutex);
    const size_t size_bytes = zepi_usm_region_room(slab, (const void *)address);
    struct zepi_usm_block *block = zepi_usm_shard_end_locked(shard, slab, address);
    if (!block) {
        zepi_mutex_unlock(&shard->mutex);
        return false;
    }
    if (shard->is_counted)
        zepi_usm_pool_discount(pool, size_bytes);
    shard_push_or_pend_and_unlock(shard, slab, block,
                                  freed.timeline
                                      ? zepi_use_until(freed)
                                      : zepi_use_now(zepi_sync_of(pool->context), block->epoch));
    return true;
}
