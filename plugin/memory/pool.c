// SPDX-License-Identifier: MIT
#include "memory/pool.h"

#include "core/alloc.h"
#include "core/list.h"
#include "core/options.h"
#include "device/context.h"

// A slab's blocks are counted in 32 bits, and known one by one.
#define DRIVER_MOST_BYTES ((size_t)1 << 30)

// ---- Memory of pools ----

// The context's own pool has no shared memory, and does not count.
static uint32_t heap_count_of_pool(const struct zepi_context *context, const void *user)
{
    return 1 + context->device_count * (user ? 2 : 1);
}

static void pool_open_shards(struct zepi_usm_pool *pool)
{
    for (uint32_t i = 0; i < pool->heap_count; i++) {
        for (unsigned at = 0; at < ZEPI_USM_SHARDS; at++)
            pool->heaps[i].shards[at].is_closed = false;
    }
}

static size_t least_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

// One that is empty.
static void usm_pool_init_empty(struct zepi_usm_pool *pool, const struct zepi_usm_pool_desc *desc,
                                void *user)
{
    pool->most_bytes =
        zepi_options()->usm_pool ? least_size(desc->most_bytes, ZEPI_USM_POOLED_BYTES) : 0;
    pool->least_driver_bytes = least_size(desc->least_driver_bytes, DRIVER_MOST_BYTES);
    pool->contents = desc->contents;
    // Relaxed: no other thread knows it yet.
    atomic_store_explicit(&pool->user, user, memory_order_relaxed);
    atomic_store_explicit(&pool->used_high_bytes, 0, memory_order_relaxed);
    atomic_store_explicit(&pool->reserved_high_bytes, 0, memory_order_relaxed);
    atomic_store_explicit(&pool->maximum_bytes,
                          desc->maximum_bytes > 0 ? desc->maximum_bytes : SIZE_MAX,
                          memory_order_relaxed);
    atomic_store_explicit(&pool->threshold_bytes, desc->threshold_bytes, memory_order_relaxed);
    pool_open_shards(pool);
}

static struct zepi_usm_pool *usm_pool_allocate(struct zepi_context *context, const void *user)
{
    const uint32_t heap_count = heap_count_of_pool(context, user);
    const size_t size = sizeof(struct zepi_usm_pool) + heap_count * sizeof(struct zepi_usm_heap);
    struct zepi_usm_pool *pool = zepi_sys_allocate_lines(size);
    if (!pool)
        return NULL;
    memset(pool, 0, size);
    pool->context = context;
    pool->heap_count = heap_count;
    for (uint32_t i = 0; i < heap_count; i++) {
        struct zepi_usm_heap *heap = &pool->heaps[i];
        heap->pool = pool;
        const uint32_t device_count = context->device_count;
        heap->kind = i < device_count    ? ZEPI_USM_DEVICE
                     : i == device_count ? ZEPI_USM_HOST
                                         : ZEPI_USM_SHARED;
        if (heap->kind != ZEPI_USM_HOST)
            heap->device = context->devices[i < device_count ? i : i - device_count - 1];
        for (unsigned at = 0; at < ZEPI_USM_SHARDS; at++)
            zepi_usm_shard_init(&heap->shards[at], heap, user != NULL);
    }
    return pool;
}

// Released pools that are looked at for one without memory. Those behind them come later.
#define RELEASED_LOOKS 8

static void add_released_pool_locked(struct zepi_usm_pools *pools, struct zepi_usm_pool *pool)
{
    pool->next_released = NULL;
    if (pools->released_last)
        pools->released_last->next_released = pool;
    else
        pools->released = pool;
    pools->released_last = pool;
}

// One that was released and is empty, or NULL. All with a user have as many heaps.
static struct zepi_usm_pool *take_released_pool(struct zepi_context *context)
{
    struct zepi_usm_pools *pools = zepi_usm_pools_of(context);
    struct zepi_usm_pool *found = NULL;
    zepi_mutex_lock(&pools->mutex);
    for (unsigned look = 0; look < RELEASED_LOOKS && pools->released && !found; look++) {
        struct zepi_usm_pool *pool = pools->released;
        pools->released = pool->next_released;
        pools->released_last = pools->released ? pools->released_last : NULL;
        // Acquire: the writes of the thread that gave its last memory back.
        if (atomic_load_explicit(&pool->reserved_bytes, memory_order_acquire) == 0)
            found = pool;
        else
            add_released_pool_locked(pools, pool);
    }
    zepi_mutex_unlock(&pools->mutex);
    return found;
}

// One with a user counts, and has shared memory.
static zepi_result_t usm_pool_create(struct zepi_context *context,
                                     const struct zepi_usm_pool_desc *desc, void *user,
                                     struct zepi_usm_pool **out_pool)
{
    struct zepi_usm_pool *pool = user ? take_released_pool(context) : NULL;
    if (pool) {
        usm_pool_init_empty(pool, desc, user);
        *out_pool = pool;
        return ZEPI_SUCCESS;
    }
    pool = usm_pool_allocate(context, user);
    if (!pool)
        return zepi_fail_no_memory();
    usm_pool_init_empty(pool, desc, user);
    pool->next = atomic_load_explicit(&zepi_usm_pools_of(context)->first, memory_order_relaxed);
    // Release: a thread that walks along the list sees this one's writes.
    while (!atomic_compare_exchange_weak_explicit(&zepi_usm_pools_of(context)->first, &pool->next,
                                                  pool, memory_order_release, memory_order_relaxed))
        ;
    *out_pool = pool;
    return ZEPI_SUCCESS;
}

// Memory in use stays in use until it is freed.
static void usm_pool_release(struct zepi_usm_pool *pool)
{
    atomic_store_explicit(&pool->user, NULL, memory_order_relaxed);
    atomic_store_explicit(&pool->threshold_bytes, 0, memory_order_relaxed);
    for (uint32_t i = 0; i < pool->heap_count; i++) {
        for (unsigned at = 0; at < ZEPI_USM_SHARDS; at++)
            zepi_usm_shard_close(&pool->heaps[i].shards[at]);
    }
    zepi_usm_pool_trim(pool, 0);
    struct zepi_usm_pools *pools = zepi_usm_pools_of(pool->context);
    zepi_mutex_lock(&pools->mutex);
    add_released_pool_locked(pools, pool);
    zepi_mutex_unlock(&pools->mutex);
}

// ---- Handles ----

// A device's.
struct zepi_device_pools {
    struct zepi_device_pools *next;
    struct zepi_device *device;     // borrowed
    struct zepi_pool *default_pool; // owned
    struct zepi_pool *current;      // borrowed; NULL: the default pool
};

static void pool_destroy(void *object)
{
    struct zepi_pool *pool = object;
    struct zepi_usm_pools *pools = zepi_usm_pools_of(pool->context);
    zepi_mutex_lock(&pools->mutex);
    for (struct zepi_device_pools *at = pools->device_pools; at; at = at->next)
        at->current = at->current == pool ? NULL : at->current;
    zepi_mutex_unlock(&pools->mutex);
    if (pool->usm)
        usm_pool_release(pool->usm);
    if (!pool->is_default)
        zepi_release(pool->context);
}

ZEPI_DEFINE_TYPE(pool, pool_destroy);

static zepi_result_t pool_make(struct zepi_context *context, struct zepi_device *device,
                               const struct zepi_usm_pool_desc *desc, bool is_default,
                               struct zepi_pool **out_pool)
{
    struct zepi_pool *pool = zepi_object_create(&zepi_pool_type);
    if (!pool)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    pool->context = is_default ? context : zepi_retain(context);
    pool->device = device;
    pool->is_default = is_default;
    const zepi_result_t result = usm_pool_create(context, desc, pool, &pool->usm);
    if (result == ZEPI_SUCCESS)
        *out_pool = pool;
    else
        zepi_release(pool);
    return result;
}

zepi_result_t zepi_pool_make(struct zepi_context *context, struct zepi_device *device,
                             const struct zepi_usm_pool_desc *desc, struct zepi_pool **out_pool)
{
    return pool_make(context, device, desc, false, out_pool);
}

static void device_pools_destroy(struct zepi_device_pools *pools)
{
    zepi_release(pools->default_pool);
    zepi_free(pools);
}

static struct zepi_device_pools *find_device_pools_locked(const struct zepi_usm_pools *pools,
                                                          const struct zepi_device *device)
{
    struct zepi_device_pools *at = pools->device_pools;
    while (at && at->device != device)
        at = at->next;
    return at;
}

static zepi_result_t device_pools_make(struct zepi_context *context, struct zepi_device *device,
                                       struct zepi_device_pools **out_pools)
{
    const struct zepi_usm_pool_desc desc = {.most_bytes = ZEPI_USM_POOLED_BYTES};
    struct zepi_device_pools *pools = zepi_allocate(1, sizeof(*pools));
    if (!pools)
        return zepi_fail_no_memory();
    pools->device = device;
    const zepi_result_t result = pool_make(context, device, &desc, true, &pools->default_pool);
    if (result == ZEPI_SUCCESS)
        *out_pools = pools;
    else
        device_pools_destroy(pools);
    return result;
}

// The device's, which stays as long as the context.
static zepi_result_t find_or_create_device_pools(struct zepi_context *context,
                                                 struct zepi_device *device,
                                                 struct zepi_device_pools **out_pools)
{
    struct zepi_usm_pools *pools = zepi_usm_pools_of(context);
    struct zepi_device_pools *made = NULL;
    zepi_mutex_lock(&pools->mutex);
    struct zepi_device_pools *found = find_device_pools_locked(pools, device);
    zepi_mutex_unlock(&pools->mutex);
    if (!found) {
        const zepi_result_t result = device_pools_make(context, device, &made);
        if (result != ZEPI_SUCCESS)
            return result;
        zepi_mutex_lock(&pools->mutex);
        found = find_device_pools_locked(pools, device);
        if (!found) {
            made->next = pools->device_pools;
            pools->device_pools = found = made;
            made = NULL;
        }
        zepi_mutex_unlock(&pools->mutex);
        if (made)
            device_pools_destroy(made);
    }
    *out_pools = found;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_pool_get_default(struct zepi_context *context, struct zepi_device *device,
                                    struct zepi_pool **out_pool)
{
    struct zepi_device_pools *pools;
    const zepi_result_t result = find_or_create_device_pools(context, device, &pools);
    if (result == ZEPI_SUCCESS)
        *out_pool = pools->default_pool;
    return result;
}

zepi_result_t zepi_pool_get_current(struct zepi_context *context, struct zepi_device *device,
                                    struct zepi_pool **out_pool)
{
    struct zepi_device_pools *pools;
    const zepi_result_t result = find_or_create_device_pools(context, device, &pools);
    if (result != ZEPI_SUCCESS)
        return result;
    zepi_mutex_lock(&zepi_usm_pools_of(context)->mutex);
    *out_pool = pools->current ? pools->current : pools->default_pool;
    zepi_mutex_unlock(&zepi_usm_pools_of(context)->mutex);
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_pool_set_current(struct zepi_context *context, struct zepi_device *device,
                                    struct zepi_pool *pool)
{
    struct zepi_device_pools *pools;
    const zepi_result_t result = find_or_create_device_pools(context, device, &pools);
    if (result != ZEPI_SUCCESS)
        return result;
    zepi_mutex_lock(&zepi_usm_pools_of(context)->mutex);
    pools->current = pool;
    zepi_mutex_unlock(&zepi_usm_pools_of(context)->mutex);
    return ZEPI_SUCCESS;
}

void zepi_pool_trim(struct zepi_pool *pool, size_t keep_bytes)
{
    // Freed memory whose commands are complete is not in use.
    zepi_sync_poll(zepi_sync_of(pool->context), 0);
    zepi_usm_pool_trim(pool->usm, keep_bytes);
}

// ---- The context's part ----

static zepi_result_t usm_init(struct zepi_context *context)
{
    return usm_pool_create(context,
                           &(struct zepi_usm_pool_desc){.most_bytes = ZEPI_USM_POOLED_BYTES}, NULL,
                           &zepi_usm_pools_of(context)->own);
}

// Gives the driver all memory that is not in use.
static bool usm_reclaim(struct zepi_context *context, uint64_t timeout_ns)
{
    struct zepi_usm_pool *pool =
        atomic_load_explicit(&zepi_usm_pools_of(context)->first, memory_order_acquire);
    bool is_any = false;
    (void)timeout_ns;
    for (; pool; pool = pool->next)
        is_any = zepi_usm_pool_trim(pool, 0) || is_any;
    return is_any;
}

// Memory that the host did not free goes with the context, unless each allocation is to be the
// driver's alone: then tools that look for leaks find it there.
static void finish_regions(struct zepi_context *context)
{
    for (struct zepi_usm_region *region = zepi_usm_regions(); region;
         region = region->next_of_all) {
        if (atomic_load_explicit(&region->context, memory_order_relaxed) != context)
            continue;
        if (zepi_options()->usm_pool) {
            zepi_usm_region_free(region);
            continue;
        }
        zepi_usm_table_remove(atomic_load_explicit(&region->base, memory_order_relaxed));
        zepi_usm_region_give(region);
    }
}

static void usm_finish(struct zepi_context *context)
{
    struct zepi_device_pools *device_pools = zepi_usm_pools_of(context)->device_pools;
    struct zepi_usm_pool *next =
        atomic_load_explicit(&zepi_usm_pools_of(context)->first, memory_order_acquire);
    zepi_usm_pools_of(context)->device_pools = NULL;
    while (device_pools) {
        struct zepi_device_pools *pools = device_pools;
        device_pools = pools->next;
        device_pools_destroy(pools);
    }
    if (next)
        finish_regions(context);
    while (next) {
        struct zepi_usm_pool *pool = next;
        next = pool->next;
        zepi_sys_free(pool);
    }
}

ZEPI_DEFINE_CONTEXT_PART(ZEPI_PART_USM, .size_bytes = sizeof(struct zepi_usm_pools),
                         .init = usm_init, .finish = usm_finish, .reclaim = usm_reclaim);
