// SPDX-License-Identifier: MIT
#include "memory/pool.h"

#include "core/alloc.h"
#include "core/options.h"
#include "core/sys.h"
#include "device/context.h"
#include "device/device.h"
#include "memory/usm_driver.h"

// A slab's blocks are counted in 32 bits, and known one by one.
#define DRIVER_MOST_BYTES ((size_t)1 << 30)

// ---- Memory of pools ----

static uint32_t count_devices(uint32_t count, struct zepi_device *const *devices)
{
    uint32_t all = count;
    for (uint32_t i = 0; i < count; i++)
        all += count_devices(devices[i]->sub_device_count, devices[i]->sub_devices);
    return all;
}

static void usm_pool_add_heap(struct zepi_usm_pool *pool, struct zepi_device *device,
                              zepi_usm_kind_t kind)
{
    struct zepi_usm_heap *heap = &pool->heaps[pool->heap_count++];
    heap->pool = pool;
    heap->device = device;
    heap->kind = kind;
    for (unsigned i = 0; i < ZEPI_USM_SHARDS; i++)
        zepi_usm_shard_init(&heap->shards[i], heap);
}

// A context of a device is its sub-devices' context, too.
static void usm_pool_add_devices(struct zepi_usm_pool *pool, uint32_t count,
                                 struct zepi_device *const *devices)
{
    for (uint32_t i = 0; i < count; i++) {
        usm_pool_add_heap(pool, devices[i], ZEPI_USM_DEVICE);
        usm_pool_add_heap(pool, devices[i], ZEPI_USM_SHARED);
        usm_pool_add_devices(pool, devices[i]->sub_device_count, devices[i]->sub_devices);
    }
}

static struct zepi_usm_pool *usm_pool_allocate(struct zepi_context *context, bool is_counted)
{
    const uint32_t device_count = count_devices(context->device_count, context->devices);
    const size_t size =
        sizeof(struct zepi_usm_pool) + 2 * (device_count + 1) * sizeof(struct zepi_usm_heap);
    struct zepi_usm_pool *pool = zepi_sys_allocate_lines(size);
    if (!pool)
        return NULL;
    memset(pool, 0, size);
    pool->context = context;
    pool->is_counted = is_counted;
    usm_pool_add_devices(pool, context->device_count, context->devices);
    usm_pool_add_heap(pool, NULL, ZEPI_USM_HOST);
    usm_pool_add_heap(pool, NULL, ZEPI_USM_SHARED);
    struct zepi_usm_pools *pools = zepi_usm_pools_of(context);
    pool->next = atomic_load_explicit(&pools->first, memory_order_relaxed);
    // Release: a thread that walks along the list sees this one's writes.
    while (!atomic_compare_exchange_weak_explicit(&pools->first, &pool->next, pool,
                                                  memory_order_release, memory_order_relaxed))
        ;
    return pool;
}

static size_t least_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

// Prepares a pool without memory, from which no thread allocates.
static void usm_pool_open(struct zepi_usm_pool *pool, const struct zepi_usm_pool_desc *desc)
{
    pool->most_bytes =
        zepi_options()->usm_pool ? least_size(desc->most_bytes, ZEPI_USM_POOLED_BYTES) : 0;
    pool->least_driver_bytes = least_size(desc->least_driver_bytes, DRIVER_MOST_BYTES);
    pool->is_zeroed = desc->is_zeroed;
    atomic_store_explicit(&pool->used_high_bytes, 0, memory_order_relaxed);
    atomic_store_explicit(&pool->reserved_high_bytes, 0, memory_order_relaxed);
    atomic_store_explicit(&pool->maximum_bytes,
                          desc->maximum_bytes > 0 ? desc->maximum_bytes : SIZE_MAX,
                          memory_order_relaxed);
    atomic_store_explicit(&pool->threshold_bytes, desc->threshold_bytes, memory_order_relaxed);
}

// A pool that was released and has no memory, or NULL.
static struct zepi_usm_pool *get_released_pool(struct zepi_usm_pools *pools)
{
    zepi_mutex_lock(&pools->mutex);
    struct zepi_usm_pool **link = &pools->released;
    // Acquire: the writes of the thread that gave its last memory back.
    while (*link && atomic_load_explicit(&(*link)->reserved_bytes, memory_order_acquire) > 0)
        link = &(*link)->next_released;
    struct zepi_usm_pool *pool = *link;
    if (pool)
        *link = pool->next_released;
    zepi_mutex_unlock(&pools->mutex);
    return pool;
}

// A pool with a user counts its bytes.
static zepi_result_t usm_pool_create(struct zepi_context *context,
                                     const struct zepi_usm_pool_desc *desc, void *user,
                                     struct zepi_usm_pool **out_pool)
{
    // Default pools are made under the lock.
    struct zepi_usm_pool *pool =
        user && !desc->is_default ? get_released_pool(zepi_usm_pools_of(context)) : NULL;
    if (!pool)
        pool = usm_pool_allocate(context, user != NULL);
    if (!pool)
        return zepi_fail_no_memory();
    usm_pool_open(pool, desc);
    atomic_store_explicit(&pool->user, user, memory_order_relaxed);
    *out_pool = pool;
    return ZEPI_SUCCESS;
}

// Memory in use stays in use until it is freed, and then goes back to the driver.
static void usm_pool_release(struct zepi_usm_pool *pool)
{
    struct zepi_usm_pools *pools = zepi_usm_pools_of(pool->context);
    atomic_store_explicit(&pool->user, NULL, memory_order_relaxed);
    atomic_store_explicit(&pool->threshold_bytes, 0, memory_order_relaxed);
    zepi_usm_pool_trim(pool, ZEPI_USM_ALL_SHARDS, 0);
    zepi_mutex_lock(&pools->mutex);
    pool->next_released = pools->released;
    pools->released = pool;
    zepi_mutex_unlock(&pools->mutex);
}

// ---- Handles ----

// The pools of a device of the context.
struct zepi_device_pools {
    struct zepi_pool *default_pool; // owned; NULL: not made yet
    struct zepi_pool *current;      // borrowed; NULL: the default pool
};

static void pool_destroy(void *object)
{
    struct zepi_pool *pool = object;
    struct zepi_usm_pools *pools = zepi_usm_pools_of(pool->context);
    zepi_mutex_lock(&pools->mutex);
    for (uint32_t i = 0; i < pool->context->device_count; i++) {
        if (pools->of_devices[i].current == pool)
            pools->of_devices[i].current = NULL;
    }
    zepi_mutex_unlock(&pools->mutex);
    usm_pool_release(pool->usm);
    if (!pool->is_default)
        zepi_release(pool->context);
}

ZEPI_DEFINE_TYPE(pool, pool_destroy);

zepi_result_t zepi_pool_make(struct zepi_context *context, struct zepi_device *device,
                             const struct zepi_usm_pool_desc *desc, struct zepi_pool **out_pool)
{
    struct zepi_pool *pool = zepi_object_create(&zepi_pool_type);
    if (!pool)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    const zepi_result_t result = usm_pool_create(context, desc, pool, &pool->usm);
    if (result != ZEPI_SUCCESS) {
        zepi_object_discard(pool);
        return result;
    }
    pool->context = desc->is_default ? context : zepi_retain(context);
    pool->device = device;
    pool->is_default = desc->is_default;
    *out_pool = pool;
    return ZEPI_SUCCESS;
}

static struct zepi_device_pools *device_pools_of(const struct zepi_context *context,
                                                 const struct zepi_device *device)
{
    return &zepi_usm_pools_of(context)->of_devices[zepi_context_device_index(context, device)];
}

zepi_result_t zepi_pool_get_default(struct zepi_context *context, struct zepi_device *device,
                                    struct zepi_pool **out_pool)
{
    static const struct zepi_usm_pool_desc desc = {.most_bytes = ZEPI_USM_POOLED_BYTES,
                                                   .is_default = true};
    struct zepi_device_pools *pools = device_pools_of(context, device);
    struct zepi_mutex *mutex = &zepi_usm_pools_of(context)->mutex;
    zepi_result_t result = ZEPI_SUCCESS;
    zepi_mutex_lock(mutex);
    if (!pools->default_pool)
        // A pool of all devices serves their parts, too.
        result = zepi_pool_make(context, NULL, &desc, &pools->default_pool);
    if (result == ZEPI_SUCCESS)
        *out_pool = pools->default_pool;
    zepi_mutex_unlock(mutex);
    return result;
}

zepi_result_t zepi_pool_get_current(struct zepi_context *context, struct zepi_device *device,
                                    struct zepi_pool **out_pool)
{
    struct zepi_usm_pools *pools = zepi_usm_pools_of(context);
    zepi_mutex_lock(&pools->mutex);
    struct zepi_pool *current = device_pools_of(context, device)->current;
    zepi_mutex_unlock(&pools->mutex);
    if (!current)
        return zepi_pool_get_default(context, device, out_pool);
    *out_pool = current;
    return ZEPI_SUCCESS;
}

void zepi_pool_set_current(struct zepi_context *context, const struct zepi_device *device,
                           struct zepi_pool *pool)
{
    struct zepi_usm_pools *pools = zepi_usm_pools_of(context);
    zepi_mutex_lock(&pools->mutex);
    device_pools_of(context, device)->current = pool;
    zepi_mutex_unlock(&pools->mutex);
}

void zepi_pool_trim(struct zepi_pool *pool, size_t keep_bytes)
{
    // Freed memory whose commands are complete is not in use.
    zepi_sync_poll(zepi_sync_of(pool->context), 0);
    zepi_usm_pool_trim(pool->usm, ZEPI_USM_ALL_SHARDS, keep_bytes);
}

// ---- The component ----

static zepi_result_t usm_init(struct zepi_context *context)
{
    struct zepi_usm_pools *pools = zepi_usm_pools_of(context);
    pools->of_devices = zepi_allocate(context->device_count, sizeof(pools->of_devices[0]));
    if (!pools->of_devices)
        return zepi_fail_no_memory();
    return usm_pool_create(context,
                           &(struct zepi_usm_pool_desc){.most_bytes = ZEPI_USM_POOLED_BYTES}, NULL,
                           &pools->own);
}

// Gives the driver all memory that is not in use.
static bool usm_reclaim(struct zepi_context *context, uint64_t timeout_ns)
{
    struct zepi_usm_pool *pool =
        atomic_load_explicit(&zepi_usm_pools_of(context)->first, memory_order_acquire);
    bool is_any = false;
    (void)timeout_ns;
    for (; pool; pool = pool->next)
        is_any = zepi_usm_pool_trim(pool, ZEPI_USM_ALL_SHARDS, 0) || is_any;
    return is_any;
}

#define UNUSED_NS ((uint64_t)1000000000)

void zepi_usm_trim_unused(struct zepi_context *context)
{
    struct zepi_usm_pools *pools = zepi_usm_pools_of(context);
    const uint64_t now_ns = zepi_clock_ns();
    // Relaxed: it orders nothing. Of several threads, more than one may look.
    if (now_ns - atomic_load_explicit(&pools->looked_ns, memory_order_relaxed) < UNUSED_NS)
        return;
    atomic_store_explicit(&pools->looked_ns, now_ns, memory_order_relaxed);
    struct zepi_usm_pool *pool = atomic_load_explicit(&pools->first, memory_order_acquire);
    for (; pool; pool = pool->next)
        zepi_usm_pool_trim(pool, ZEPI_USM_UNUSED_SHARDS,
                           atomic_load_explicit(&pool->threshold_bytes, memory_order_relaxed));
    // The second begins at the end of the look: one that takes longer is not repeated at once.
    atomic_store_explicit(&pools->looked_ns, zepi_clock_ns(), memory_order_relaxed);
}

// Memory that the host did not free goes with the context, unless ZEPI_USM_POOL is off: then tools
// that look for leaks find it.
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
        zepi_usm_region_put(region);
    }
}

static void usm_finish(struct zepi_context *context)
{
    struct zepi_usm_pools *pools = zepi_usm_pools_of(context);
    struct zepi_usm_pool *next = atomic_load_explicit(&pools->first, memory_order_acquire);
    for (uint32_t i = 0; pools->of_devices && i < context->device_count; i++)
        zepi_release(pools->of_devices[i].default_pool);
    zepi_free(pools->of_devices);
    if (next)
        finish_regions(context);
    while (next) {
        struct zepi_usm_pool *pool = next;
        next = pool->next;
        zepi_sys_free(pool);
    }
}

ZEPI_DEFINE_COMPONENT(ZEPI_COMPONENT_USM, .size_bytes = sizeof(struct zepi_usm_pools),
                      .init = usm_init, .finish = usm_finish, .reclaim = usm_reclaim);
