// SPDX-License-Identifier: MIT
#include "memory/usm_pool.h"

#include "core/alloc.h"
#include "core/options.h"
#include "device/context.h"
#include "ze/ze.h"

#define SLAB_BLOCKS 64
#define SLAB_MOST_BYTES ((size_t)2 << 20) // if no block is longer
#define SLAB_MOST_SHIFT 16                // longer blocks have a slab each
#define IDLE_BYTES ((size_t)4 << 20)      // of a shard, kept without a block in use

// ---- Slabs ----

static size_t slab_bytes_of(const struct zepi_usm_pool *pool, unsigned shift)
{
    size_t bytes = (size_t)(shift > SLAB_MOST_SHIFT ? 1 : SLAB_BLOCKS) << shift;
    if (shift <= SLAB_MOST_SHIFT && bytes > SLAB_MOST_BYTES)
        bytes = SLAB_MOST_BYTES;
    while (bytes < ZEPI_USM_GRANULE_BYTES || bytes < pool->least_driver_bytes)
        bytes *= 2;
    return bytes;
}

// The end of every list of slabs: no block is ever had from it.
static struct zepi_usm_region no_slab;

static struct zepi_usm_region **shard_first_slab_of(struct zepi_usm_shard *shard,
                                                    const struct zepi_usm_region *slab)
{
    const unsigned shift = atomic_load_explicit(&slab->shift, memory_order_relaxed);
    return &shard->first[shift - ZEPI_USM_LEAST_SHIFT];
}

// The bytes that a slab which is not the first of its class adds to the shard's idle bytes.
static size_t slab_idle_bytes(const struct zepi_usm_region *slab)
{
    return slab->hold_count == 0 ? atomic_load_explicit(&slab->size_bytes, memory_order_relaxed)
                                 : 0;
}

// Behind the first: that one is used up first.
static void shard_link_slab_locked(struct zepi_usm_shard *shard, struct zepi_usm_region *slab)
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

static void shard_unlink_slab_locked(struct zepi_usm_shard *shard, struct zepi_usm_region *slab)
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

zepi_result_t zepi_usm_region_free(struct zepi_usm_region *region)
{
    struct zepi_usm_pool *pool = atomic_load_explicit(&region->pool, memory_order_relaxed);
    const uintptr_t base = atomic_load_explicit(&region->base, memory_order_relaxed);
    const size_t size_bytes = atomic_load_explicit(&region->size_bytes, memory_order_relaxed);
    zepi_usm_table_remove(base);
    zepi_usm_region_give(region);
    const zepi_result_t result = ZEPI_ZE(zeMemFree, pool->context->ze, (void *)base);
    zepi_usm_pool_unreserve(pool, size_bytes);
    return result;
}

static bool fill_slab(struct zepi_usm_shard *shard, unsigned shift, size_t size_bytes,
                      struct zepi_usm_attempts *attempts, struct zepi_usm_region *slab)
{
    struct zepi_usm_heap *heap = shard->heap;
    struct zepi_usm_pool *pool = heap->pool;
    const size_t block_bytes = (size_t)1 << shift;
    const size_t alignment_bytes = block_bytes < ZEPI_USM_GRANULE_BYTES ? ZEPI_USM_GRANULE_BYTES
                                   : block_bytes > ZEPI_USM_MOST_ALIGNMENT_BYTES
                                       ? ZEPI_USM_MOST_ALIGNMENT_BYTES
                                       : block_bytes;
    void *memory;
    const zepi_result_t result =
        zepi_usm_driver_allocate(pool->context, heap->device, heap->kind, pool->contents,
                                 size_bytes, alignment_bytes, NULL, attempts, &memory);
    // A driver that does not align, or whose addresses look like another's, will do so again.
    if (result == ZEPI_ERROR_INVALID_VALUE)
        atomic_store_explicit(&heap->is_off, true, memory_order_relaxed);
    if (result != ZEPI_SUCCESS)
        return false;
    zepi_usm_region_fill(slab, &(struct zepi_usm_region_desc){.base = (uintptr_t)memory,
                                                              .size_bytes = size_bytes,
                                                              .shift = shift,
                                                              .context = pool->context,
                                                              .device = heap->device,
                                                              .kind = heap->kind,
                                                              .pool = pool,
                                                              .shard = shard,
                                                              .is_counted = shard->is_counted});
    const enum zepi_usm_entry entry = (uintptr_t)memory % alignment_bytes == 0
                                          ? zepi_usm_table_add((uintptr_t)memory, size_bytes, slab)
                                          : ZEPI_USM_NOT_ALONE;
    if (entry == ZEPI_USM_ENTERED)
        return true;
    if (entry == ZEPI_USM_NOT_ALONE)
        atomic_store_explicit(&heap->is_off, true, memory_order_relaxed);
    zepi_ze.zeMemFree(pool->context->ze, memory);
    return false;
}

bool zepi_usm_shard_grow(struct zepi_usm_shard *shard, unsigned size_class,
                         struct zepi_usm_attempts *attempts)
{
    const unsigned shift = size_class + ZEPI_USM_LEAST_SHIFT;
    struct zepi_usm_pool *pool = shard->heap->pool;
    const size_t size_bytes = slab_bytes_of(pool, shift);
    if (atomic_load_explicit(&shard->heap->is_off, memory_order_relaxed))
        return false;
    struct zepi_usm_region *slab = zepi_usm_region_take((uint32_t)(size_bytes >> shift));
    if (!slab)
        return false;
    const bool is_reserved = zepi_usm_pool_reserve(pool, size_bytes, attempts);
    if (is_reserved && fill_slab(shard, shift, size_bytes, attempts, slab)) {
        zepi_mutex_lock(&shard->mutex);
        shard_link_slab_locked(shard, slab);
        zepi_mutex_unlock(&shard->mutex);
        return true;
    }
    if (is_reserved)
        zepi_usm_pool_unreserve(pool, size_bytes);
    zepi_usm_region_give(slab);
    return false;
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

static struct zepi_usm_region *shard_collect_slabs_locked(struct zepi_usm_shard *shard,
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
                shard_unlink_slab_locked(shard, slab);
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

static void usm_regions_free(struct zepi_usm_region *first)
{
    while (first) {
        struct zepi_usm_region *slab = first;
        first = slab->next;
        zepi_usm_region_free(slab);
    }
}

static bool shard_trim(struct zepi_usm_shard *shard, size_t *excess_bytes)
{
    zepi_mutex_lock(&shard->mutex);
    struct zepi_usm_region *idle = shard_collect_slabs_locked(shard, excess_bytes);
    zepi_mutex_unlock(&shard->mutex);
    usm_regions_free(idle);
    return idle != NULL;
}

// The driver's memory in the pool beyond `keep_bytes`.
static size_t pool_excess_bytes(const struct zepi_usm_pool *pool, size_t keep_bytes)
{
    const size_t reserved = atomic_load_explicit(&pool->reserved_bytes, memory_order_relaxed);
    return reserved > keep_bytes ? reserved - keep_bytes : 0;
}

static void shard_unlock_settled(struct zepi_usm_shard *shard, struct zepi_usm_region *slab)
{
    if (zepi_usm_slab_is_unsettled(slab))
        zepi_usm_shard_settle_locked(shard, slab);
    else
        zepi_mutex_unlock(&shard->mutex);
}

static void settle_deferred_order(struct zepi_deferred *deferred);

static void defer_order(struct zepi_usm_pool *pool)
{
    pool->order.deferred.run = settle_deferred_order;
    zepi_defer(pool->context, &pool->order.deferred);
}

// Blocks that were freed in the order of queues that have got there go back to their slabs;
// allocations alone go to the driver while the pool has more than `keep_bytes`. False: none do.
static bool pool_settle_order(struct zepi_usm_pool *pool, size_t keep_bytes)
{
    struct zepi_usm_block *blocks;
    struct zepi_usm_block *alone;
    const bool is_left = zepi_usm_order_take_over(&pool->order, pool_excess_bytes(pool, keep_bytes),
                                                  &blocks, &alone);
    const bool is_any = blocks || alone;
    while (blocks) {
        struct zepi_usm_block *block = blocks;
        struct zepi_usm_region *slab = zepi_usm_table_find((uintptr_t)block->address);
        struct zepi_usm_shard *shard = atomic_load_explicit(&slab->shard, memory_order_relaxed);
        blocks = block->next;
        zepi_mutex_lock(&shard->mutex);
        zepi_usm_slab_push_locked(slab, block);
        shard_unlock_settled(shard, slab);
    }
    while (alone) {
        struct zepi_usm_region *region = zepi_usm_order_region(alone);
        alone = alone->next;
        zepi_usm_region_free(region);
    }
    if (is_left)
        defer_order(pool);
    return is_any;
}

// Queues have got to where they were when memory was freed.
static void settle_deferred_order(struct zepi_deferred *deferred)
{
    struct zepi_usm_order *order =
        (struct zepi_usm_order *)((char *)deferred - offsetof(struct zepi_usm_order, deferred));
    struct zepi_usm_pool *pool =
        (struct zepi_usm_pool *)((char *)order - offsetof(struct zepi_usm_pool, order));
    zepi_usm_order_end_deferred(order);
    pool_settle_order(pool, atomic_load_explicit(&pool->threshold_bytes, memory_order_relaxed));
}

bool zepi_usm_pool_trim(struct zepi_usm_pool *pool, size_t keep_bytes)
{
    bool is_any = pool_settle_order(pool, keep_bytes);
    size_t excess_bytes = pool_excess_bytes(pool, keep_bytes);
    for (uint32_t i = 0; i < pool->heap_count; i++) {
        for (unsigned at = 0; at < ZEPI_USM_SHARDS && excess_bytes > 0; at++)
            is_any = shard_trim(&pool->heaps[i].shards[at], &excess_bytes) || is_any;
    }
    return is_any;
}

static void shard_shrink_locked(struct zepi_usm_shard *shard)
{
    const struct zepi_usm_pool *pool = shard->heap->pool;
    const size_t reserved = atomic_load_explicit(&pool->reserved_bytes, memory_order_relaxed);
    const size_t threshold = atomic_load_explicit(&pool->threshold_bytes, memory_order_relaxed);
    size_t excess_bytes = shard->idle_bytes - IDLE_BYTES;
    if (reserved <= threshold)
        excess_bytes = 0;
    else if (reserved - threshold < excess_bytes)
        excess_bytes = reserved - threshold;
    struct zepi_usm_region *idle = shard_collect_slabs_locked(shard, &excess_bytes);
    zepi_mutex_unlock(&shard->mutex);
    usm_regions_free(idle);
}

// ---- The life of a shard ----

void zepi_usm_shard_init(struct zepi_usm_shard *shard, struct zepi_usm_heap *heap, bool is_counted)
{
    shard->heap = heap;
    shard->is_counted = is_counted;
    for (unsigned size_class = 0; size_class < ZEPI_USM_CLASSES; size_class++)
        shard->first[size_class] = &no_slab;
}

void zepi_usm_shard_close(struct zepi_usm_shard *shard)
{
    struct zepi_usm_region *idle = NULL;
    zepi_mutex_lock(&shard->mutex);
    shard->is_closed = true;
    for (unsigned size_class = 0; size_class < ZEPI_USM_CLASSES; size_class++) {
        while (shard->first[size_class] != &no_slab) {
            struct zepi_usm_region *slab = shard->first[size_class];
            shard_unlink_slab_locked(shard, slab);
            if (slab->hold_count != ZEPI_USM_UNLINKED)
                continue;
            atomic_store_explicit(&slab->shard, NULL, memory_order_relaxed);
            slab->next = idle;
            idle = slab;
        }
    }
    zepi_mutex_unlock(&shard->mutex);
    usm_regions_free(idle);
}

// ---- Blocks ----

void zepi_usm_shard_settle_locked(struct zepi_usm_shard *shard, struct zepi_usm_region *slab)
{
    const bool is_over = shard->is_closed && slab->hold_count == ZEPI_USM_UNLINKED;
    if (shard->is_closed) {
        if (is_over)
            atomic_store_explicit(&slab->shard, NULL, memory_order_relaxed);
        zepi_mutex_unlock(&shard->mutex);
        if (is_over)
            zepi_usm_region_free(slab);
        return;
    }
    if (slab->hold_count < 0)
        shard_link_slab_locked(shard, slab);
    else if (slab->previous)
        shard->idle_bytes += slab_idle_bytes(slab);
    if (shard->idle_bytes > IDLE_BYTES)
        shard_shrink_locked(shard);
    else
        zepi_mutex_unlock(&shard->mutex);
}

void *zepi_usm_shard_take(struct zepi_usm_shard *shard, unsigned size_class, size_t size_bytes)
{
    zepi_mutex_lock(&shard->mutex);
    struct zepi_usm_region *full = shard->first[size_class];
    while (full != &no_slab && !full->first_free) {
        shard_unlink_slab_locked(shard, full);
        full = shard->first[size_class];
    }
    void *memory = zepi_usm_shard_take_locked(
        shard, size_class, size_bytes, zepi_sync_epoch(zepi_sync_of(shard->heap->pool->context)));
    zepi_mutex_unlock(&shard->mutex);
    if (memory && shard->is_counted)
        zepi_usm_pool_count(shard->heap->pool, size_bytes);
    return memory;
}

bool zepi_usm_shard_give(struct zepi_usm_shard *shard, struct zepi_usm_region *slab,
                         uintptr_t address)
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
    zepi_usm_shard_push_or_defer_locked(shard, slab, block);
    return true;
}

struct zepi_usm_block *zepi_usm_shard_end(struct zepi_usm_shard *shard,
                                          struct zepi_usm_region *slab, uintptr_t address)
{
    zepi_mutex_lock(&shard->mutex);
    const size_t size_bytes = zepi_usm_region_room(slab, (const void *)address);
    struct zepi_usm_block *block = zepi_usm_shard_end_locked(shard, slab, address);
    zepi_mutex_unlock(&shard->mutex);
    if (block && shard->is_counted)
        zepi_usm_pool_discount(shard->heap->pool, size_bytes);
    return block;
}

// The commands that might use the sealed blocks are complete. Those that were freed since wait in
// their turn.
static void give_sealed_blocks(struct zepi_deferred *deferred)
{
    struct zepi_usm_region *slab =
        (struct zepi_usm_region *)((char *)deferred - offsetof(struct zepi_usm_region, deferred));
    struct zepi_usm_shard *shard = atomic_load_explicit(&slab->shard, memory_order_relaxed);
    struct zepi_context *context = shard->heap->pool->context;
    zepi_mutex_lock(&shard->mutex);
    struct zepi_usm_block *next = slab->sealed;
    struct zepi_usm_block *since = slab->open;
    slab->sealed = slab->open = NULL;
    while (next) {
        struct zepi_usm_block *block = next;
        next = block->next;
        zepi_usm_slab_push_locked(slab, block);
    }
    while (since) {
        struct zepi_usm_block *block = since;
        since = block->next;
        if (!zepi_sync_next(zepi_sync_of(context), NULL, block->stamp).timeline) {
            zepi_usm_slab_push_locked(slab, block);
        } else {
            block->next = slab->sealed;
            slab->sealed = block;
        }
    }
    const bool is_sealed = slab->sealed != NULL;
    shard_unlock_settled(shard, slab);
    if (is_sealed)
        zepi_defer(context, deferred);
}

void zepi_usm_shard_push_or_defer_locked(struct zepi_usm_shard *shard, struct zepi_usm_region *slab,
                                         struct zepi_usm_block *block)
{
    struct zepi_context *context = shard->heap->pool->context;
    if (!zepi_sync_next(zepi_sync_of(context), NULL, block->stamp).timeline) {
        zepi_usm_slab_push_locked(slab, block);
        shard_unlock_settled(shard, slab);
        return;
    }
    block->next = slab->open;
    slab->open = block;
    const bool is_first = !slab->sealed;
    if (is_first) {
        slab->sealed = slab->open;
        slab->open = NULL;
        // All of it: more of its blocks will follow without a word.
        slab->deferred.bytes = atomic_load_explicit(&slab->size_bytes, memory_order_relaxed);
        slab->deferred.run = give_sealed_blocks;
    }
    zepi_mutex_unlock(&shard->mutex);
    if (is_first)
        zepi_defer(context, &slab->deferred);
}

// ---- In the order of queues ----

void zepi_usm_pool_add_to_order(struct zepi_usm_pool *pool, struct zepi_usm_block *block,
                                struct zepi_point freed)
{
    const struct zepi_usm_region *region = zepi_usm_table_find((uintptr_t)block->address);
    const unsigned shift = atomic_load_explicit(&region->shift, memory_order_relaxed);
    const bool is_alone = shift == ZEPI_USM_WHOLE_SHIFT;
    const size_t size_bytes = is_alone
                                  ? atomic_load_explicit(&region->size_bytes, memory_order_relaxed)
                                  : (size_t)1 << shift;
    block->freed = freed;
    if (zepi_usm_order_add(&pool->order,
                           is_alone ? ZEPI_USM_ORDER_ALONE : shift - ZEPI_USM_LEAST_SHIFT, block,
                           size_bytes))
        defer_order(pool);
}

void *zepi_usm_pool_take_from_order(struct zepi_usm_pool *pool, const struct zepi_usm_wish *wish,
                                    struct zepi_point *out_freed)
{
    const size_t block_bytes =
        wish->size_bytes > wish->alignment_bytes ? wish->size_bytes : wish->alignment_bytes;
    const bool is_pooled = block_bytes <= pool->most_bytes &&
                           wish->alignment_bytes <= ZEPI_USM_MOST_ALIGNMENT_BYTES &&
                           zepi_usm_pool_heap(pool, wish->device, wish->kind);
    struct zepi_usm_block *block = zepi_usm_order_take(
        &pool->order, is_pooled ? zepi_usm_class_of(block_bytes) : ZEPI_USM_ORDER_ALONE, wish);
    if (!block)
        return NULL;
    *out_freed = block->freed;
    if (!is_pooled) {
        zepi_usm_region_unclaim(zepi_usm_order_region(block), wish->size_bytes);
        if (pool != zepi_usm_pools_of(pool->context)->own)
            zepi_usm_pool_count(pool, wish->size_bytes);
        return block->address;
    }
    const struct zepi_usm_region *slab = zepi_usm_table_find((uintptr_t)block->address);
    struct zepi_usm_shard *shard = atomic_load_explicit(&slab->shard, memory_order_relaxed);
    zepi_mutex_lock(&shard->mutex);
    zepi_usm_block_begin_locked(block, wish->size_bytes);
    zepi_mutex_unlock(&shard->mutex);
    if (shard->is_counted)
        zepi_usm_pool_count(pool, wish->size_bytes);
    return block->address;
}
