// SPDX-License-Identifier: MIT
#include "memory/usm.h"

#include "core/alloc.h"
#include "core/list.h"
#include "core/options.h"
#include "core/stats.h"
#include "device/context.h"
#include "device/device.h"
#include "device/platform.h"
#include "memory/virtual_memory.h"
#include "ze/ze.h"

static zepi_result_t check_device(const struct zepi_context *context, zepi_device_t device,
                                  zepi_usm_kind_t kind)
{
    uint32_t index;
    switch (kind) {
    case ZEPI_USM_HOST:
        return device ? zepi_fail(ZEPI_ERROR_INVALID_VALUE, "host memory belongs to no device: "
                                                            "expected NULL")
                      : ZEPI_SUCCESS;
    case ZEPI_USM_SHARED:
        return device ? zepi_context_check_device(context, device, &index) : ZEPI_SUCCESS;
    case ZEPI_USM_DEVICE:
        return zepi_context_check_device(context, device, &index);
    case ZEPI_USM_UNKNOWN:
        break;
    }
    return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "kind %d of USM is none of host, device and shared",
                     (int)kind);
}

// Memory of the host beyond the limit of a device is for those that are compiled for it.
static bool may_relax_for_all(const struct zepi_context *context, size_t size_bytes)
{
    bool may_relax = false;
    for (uint32_t i = 0; i < context->device_count; i++) {
        const struct zepi_device *device = context->devices[i];
        const uint64_t limit_bytes = device->properties.maxMemAllocSize;
        if (limit_bytes == 0 || size_bytes <= limit_bytes)
            continue;
        if (!device->has_large_allocations)
            return false;
        may_relax = true;
    }
    return may_relax;
}

// Drivers refuse allocations above a limit unless they are asked in this way.
static zepi_result_t relax_size_limit(const struct zepi_context *context, zepi_device_t device,
                                      size_t size_bytes,
                                      ze_relaxed_allocation_limits_exp_desc_t *relaxed,
                                      const void **out_next)
{
    *out_next = NULL;
    if (device ? size_bytes <= device->properties.maxMemAllocSize ||
                     device->properties.maxMemAllocSize == 0
               : !may_relax_for_all(context, size_bytes))
        return ZEPI_SUCCESS;
    if (device && size_bytes > device->max_allocation_bytes)
        return zepi_fail(ZEPI_ERROR_OUT_OF_DEVICE_MEMORY,
                         "%zu bytes of memory: the device allocates at most %llu at once%s",
                         size_bytes, (unsigned long long)device->max_allocation_bytes,
                         size_bytes <= device->global_memory_bytes
                             ? " (ZEPI_LARGE_ALLOCATIONS=on may allow more)"
                             : "");
    *relaxed = (ze_relaxed_allocation_limits_exp_desc_t){
        .stype = ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC,
        .flags = ZE_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE};
    *out_next = relaxed;
    return ZEPI_SUCCESS;
}

// An allocation of the driver's for this one alone. It begins with a granule, for the table.
static zepi_result_t allocate_alone(struct zepi_usm_pool *pool, const struct zepi_usm_wish *wish,
                                    struct zepi_usm_region *region,
                                    struct zepi_usm_attempts *attempts, void **out_memory)
{
    struct zepi_device *device = wish->device;
    const zepi_usm_kind_t kind = wish->kind;
    const size_t size_bytes = wish->size_bytes;
    const size_t alignment_bytes = wish->alignment_bytes;
    struct zepi_context *context = pool->context;
    const bool is_least = size_bytes < pool->least_driver_bytes;
    const size_t driver_bytes = is_least ? pool->least_driver_bytes : size_bytes;
    ze_relaxed_allocation_limits_exp_desc_t relaxed;
    const void *next;
    void *memory;
    zepi_result_t result = relax_size_limit(context, device, driver_bytes, &relaxed, &next);
    if (result != ZEPI_SUCCESS)
        return result;
    const ze_external_memory_export_desc_t export_desc = {
        .stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC,
        .pNext = next,
        .flags = wish->export_types};
    if (wish->export_types)
        next = &export_desc;
    if (!zepi_usm_pool_reserve(pool, driver_bytes, attempts))
        return zepi_fail(ZEPI_ERROR_OUT_OF_DEVICE_MEMORY,
                         "%zu bytes of memory: more than the pool may have", driver_bytes);
    const bool is_aligned = alignment_bytes >= ZEPI_USM_GRANULE_BYTES;
    result = zepi_usm_driver_allocate(context, device, kind, pool->contents, driver_bytes,
                                      is_aligned ? alignment_bytes : ZEPI_USM_GRANULE_BYTES, next,
                                      attempts, &memory);
    if (result == ZEPI_ERROR_INVALID_VALUE && !is_aligned) // quirk alignment-refused
        result = zepi_usm_driver_allocate(context, device, kind, pool->contents, driver_bytes,
                                          alignment_bytes, next, attempts, &memory);
    if (result != ZEPI_SUCCESS) {
        zepi_usm_pool_unreserve(pool, driver_bytes);
        return result;
    }
    zepi_usm_region_fill(
        region, &(struct zepi_usm_region_desc){.base = (uintptr_t)memory,
                                               .size_bytes = driver_bytes,
                                               .shift = ZEPI_USM_WHOLE_SHIFT,
                                               .context = context,
                                               .device = device,
                                               .kind = kind,
                                               .pool = pool,
                                               .used_bytes = size_bytes,
                                               .export_types = wish->export_types,
                                               .stamp = zepi_sync_epoch(zepi_sync_of(context))});
    switch (zepi_usm_table_add((uintptr_t)memory, driver_bytes, region)) {
    case ZEPI_USM_ENTERED:
        if (kind == ZEPI_USM_DEVICE)
            zepi_stats_note_memory((int64_t)driver_bytes);
        if (pool != zepi_usm_pools_of(context)->own)
            zepi_usm_pool_count(pool, size_bytes);
        break;
    case ZEPI_USM_NOT_ALONE:
        zepi_usm_pool_unreserve(pool, driver_bytes);
        if (wish->export_types) {
            zepi_ze.zeMemFree(context->ze, memory);
            return zepi_fail(ZEPI_ERROR_UNSUPPORTED, "the driver's memory at %p is not aligned",
                             memory);
        }
        // The driver knows it.
        zepi_usm_region_give(region);
        break;
    case ZEPI_USM_NO_MEMORY:
        zepi_ze.zeMemFree(context->ze, memory);
        zepi_usm_pool_unreserve(pool, driver_bytes);
        return zepi_fail_no_memory();
    }
    *out_memory = memory;
    return ZEPI_SUCCESS;
}

// The calling thread's free blocks, a slab more, or another thread's free blocks. NULL: none.
static void *usm_heap_take_block(struct zepi_usm_heap *heap, size_t block_bytes, size_t size_bytes,
                                 struct zepi_usm_attempts *attempts)
{
    const unsigned size_class = zepi_usm_class_of(block_bytes);
    struct zepi_usm_shard *own = &heap->shards[zepi_thread_shard() % ZEPI_USM_SHARDS];
    void *memory = zepi_usm_shard_take(own, size_class, size_bytes);
    // Freed memory whose commands are complete comes before more of the driver's.
    if (!memory && zepi_usm_shard_collect(own))
        memory = zepi_usm_shard_take(own, size_class, size_bytes);
    if (!memory && zepi_sync_poll(zepi_sync_of(heap->pool->context), 0)) {
        zepi_usm_shard_collect(own);
        memory = zepi_usm_shard_take(own, size_class, size_bytes);
    }
    while (!memory && zepi_usm_shard_grow(own, size_class, attempts))
        memory = zepi_usm_shard_take(own, size_class, size_bytes);
    for (unsigned i = 0; i < ZEPI_USM_SHARDS && !memory; i++)
        memory = zepi_usm_shard_take(&heap->shards[i], size_class, size_bytes);
    return memory;
}

// Pending memory, or an allocation that is kept. NULL: there is none.
static void *usm_take_pending(struct zepi_usm_pool *pool, const struct zepi_usm_wish *wish,
                              struct zepi_point *out_freed)
{
    // Without a past: blocks whose use is over have gone back, unless the pool keeps them.
    if (!wish->past && atomic_load_explicit(&pool->threshold_bytes, memory_order_relaxed) == 0)
        return NULL;
    void *memory = zepi_usm_pool_take_pending(pool, wish, out_freed);
    // Before more of the driver's, as in usm_heap_take_block.
    if (!memory && wish->past && wish->size_bytes > pool->most_bytes &&
        zepi_sync_poll(zepi_sync_of(pool->context), 0))
        memory = zepi_usm_pool_take_pending(pool, wish, out_freed);
    return memory;
}

zepi_result_t zepi_usm_allocate_after(struct zepi_usm_pool *pool, const struct zepi_usm_wish *wish,
                                      void **out_memory, struct zepi_point *out_freed)
{
    const size_t size_bytes = wish->size_bytes;
    const size_t alignment_bytes = wish->alignment_bytes;
    struct zepi_usm_attempts attempts = {0, 0};
    zepi_result_t result = check_device(pool->context, wish->device, wish->kind);
    if (result != ZEPI_SUCCESS)
        return result;
    if (!out_memory)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the output for the memory is NULL");
    if (size_bytes == 0)
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE, "an allocation of 0 bytes");
    if (alignment_bytes & (alignment_bytes - 1))
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "the alignment is %zu, expected a power of two or 0", alignment_bytes);
    *out_freed = (struct zepi_point){NULL, 0};
    void *memory = wish->export_types ? NULL : usm_take_pending(pool, wish, out_freed);
    // Blocks are aligned to their length.
    const size_t block_bytes = size_bytes > alignment_bytes ? size_bytes : alignment_bytes;
    struct zepi_usm_heap *heap = !memory && !wish->export_types &&
                                         block_bytes <= pool->most_bytes &&
                                         alignment_bytes <= ZEPI_USM_MOST_ALIGNMENT_BYTES
                                     ? zepi_usm_pool_heap(pool, wish->device, wish->kind)
                                     : NULL;
    if (heap)
        memory = usm_heap_take_block(heap, block_bytes, size_bytes, &attempts);
    if (memory) {
        *out_memory = memory;
        return ZEPI_SUCCESS;
    }
    struct zepi_usm_region *region = zepi_usm_region_take(1);
    if (!region)
        return zepi_fail_no_memory();
    result = allocate_alone(pool, wish, region, &attempts, out_memory);
    if (result != ZEPI_SUCCESS)
        zepi_usm_region_give(region);
    return result;
}

zepi_result_t zepi_usm_allocate_from(struct zepi_usm_pool *pool, zepi_device_t device,
                                     zepi_usm_kind_t kind, size_t size_bytes,
                                     size_t alignment_bytes, void **out_memory)
{
    const struct zepi_usm_wish wish = {.device = device,
                                       .kind = kind,
                                       .size_bytes = size_bytes,
                                       .alignment_bytes = alignment_bytes};
    struct zepi_point freed;
    return zepi_usm_allocate_after(pool, &wish, out_memory, &freed);
}

static __attribute__((noinline)) zepi_result_t
allocate_any(zepi_context_t context, zepi_device_t device, zepi_usm_kind_t kind, size_t size_bytes,
             size_t alignment_bytes, void **out_memory)
{
    const zepi_result_t result = zepi_check_object(context, &zepi_context_type);
    return result == ZEPI_SUCCESS
               ? zepi_usm_allocate_from(zepi_usm_pools_of(context)->own, device, kind, size_bytes,
                                        alignment_bytes, out_memory)
               : result;
}

// The shard is another thread's at this moment, or its first slab has no free block.
static __attribute__((noinline, cold)) zepi_result_t
allocate_slowly(struct zepi_usm_shard *shard, size_t size_bytes, void **out_memory)
{
    const struct zepi_usm_heap *heap = shard->heap;
    return zepi_usm_allocate_from(heap->pool, heap->device, heap->kind, size_bytes,
                                  (size_t)1 << ZEPI_USM_LEAST_SHIFT, out_memory);
}

static __attribute__((noinline, cold)) zepi_result_t
allocate_more(struct zepi_usm_shard *shard, size_t size_bytes, void **out_memory)
{
    zepi_mutex_unlock(&shard->mutex);
    return allocate_slowly(shard, size_bytes, out_memory);
}

// Unusual cases leave here and in zepi_usm_free by a tail call before anything has happened, so
// that both save no registers.
zepi_result_t zepi_usm_allocate(zepi_context_t context, zepi_device_t device, zepi_usm_kind_t kind,
                                size_t size_bytes, size_t alignment_bytes, void **out_memory)
{
    // Every block is aligned to the length of the shortest.
    if (__builtin_expect(alignment_bytes != 0, 0) &&
        (alignment_bytes & (alignment_bytes - 1) || alignment_bytes >> ZEPI_USM_LEAST_SHIFT > 1))
        return allocate_any(context, device, kind, size_bytes, alignment_bytes, out_memory);
    if (__builtin_expect(!zepi_object_is(context, &zepi_context_type) || !out_memory ||
                             size_bytes - 1 >= zepi_usm_pools_of(context)->own->most_bytes,
                         0))
        return allocate_any(context, device, kind, size_bytes, alignment_bytes, out_memory);
    struct zepi_usm_heap *heap = zepi_usm_pools_of(context)->own->heaps; // of the first device
    if (__builtin_expect(heap->device != device || kind != ZEPI_USM_DEVICE, 0))
        heap = zepi_usm_pool_heap(zepi_usm_pools_of(context)->own, device, kind);
    if (__builtin_expect(!heap, 0))
        return allocate_any(context, device, kind, size_bytes, alignment_bytes, out_memory);
    struct zepi_usm_shard *shard = &heap->shards[zepi_thread_shard() % ZEPI_USM_SHARDS];
    if (__builtin_expect(!zepi_mutex_try_lock(&shard->mutex), 0))
        return allocate_slowly(shard, size_bytes, out_memory);
    void *memory = zepi_usm_shard_take_locked(shard, zepi_usm_class_of(size_bytes), size_bytes,
                                              zepi_sync_epoch(zepi_sync_of(context)));
    if (__builtin_expect(!memory, 0))
        return allocate_more(shard, size_bytes, out_memory);
    *out_memory = memory;
    zepi_mutex_unlock(&shard->mutex);
    return ZEPI_SUCCESS;
}

static zepi_result_t fail_no_allocation(const void *memory)
{
    return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "%p is not where an allocation begins, or was freed",
                     memory);
}

// Another interface may have the memory: it is for no other allocation.
static bool is_exportable(const struct zepi_usm_region *region)
{
    return atomic_load_explicit(&region->export_types, memory_order_relaxed) != 0;
}

// No command uses it.
static zepi_result_t region_free_or_keep(struct zepi_usm_region *region)
{
    struct zepi_usm_pool *pool = atomic_load_explicit(&region->pool, memory_order_relaxed);
    if (!zepi_options()->usm_pool || is_exportable(region) ||
        atomic_load_explicit(&pool->reserved_bytes, memory_order_relaxed) >
            atomic_load_explicit(&pool->threshold_bytes, memory_order_relaxed))
        return zepi_usm_region_free(region);
    return zepi_usm_pool_add_alone(pool, region, (struct zepi_use){0})
               ? ZEPI_SUCCESS
               : zepi_usm_region_free(region);
}

static void free_deferred_region(struct zepi_deferred *deferred)
{
    region_free_or_keep(
        (struct zepi_usm_region *)((char *)deferred - offsetof(struct zepi_usm_region, deferred)));
}

static zepi_result_t free_alone(struct zepi_usm_region *region, void *memory,
                                struct zepi_point freed)
{
    struct zepi_usm_pool *pool = atomic_load_explicit(&region->pool, memory_order_relaxed);
    struct zepi_context *context = pool->context;
    const size_t size_bytes = zepi_usm_region_room(region, memory);
    if (!zepi_usm_region_claim(region, (uintptr_t)memory))
        return fail_no_allocation(memory);
    if (pool != zepi_usm_pools_of(context)->own)
        zepi_usm_pool_discount(pool, size_bytes);
    struct zepi_sync *sync = zepi_sync_of(context);
    struct zepi_use use = zepi_use_until(freed);
    if (freed.timeline && !is_exportable(region) && zepi_usm_pool_add_alone(pool, region, use))
        return ZEPI_SUCCESS;
    if (!freed.timeline)
        use = zepi_use_now(sync, region->blocks[0].stamp);
    if (!use.point.timeline)
        return region_free_or_keep(region);
    region->deferred.bytes = atomic_load_explicit(&region->size_bytes, memory_order_relaxed);
    region->deferred.run = free_deferred_region;
    zepi_defer_until(sync, use, &region->deferred);
    return ZEPI_SUCCESS;
}

// Memory of the driver's that is in no table.
struct unknown {
    struct zepi_deferred deferred;
    ze_context_handle_t ze; // borrowed
    void *memory;
};

static void free_unknown_address(struct zepi_deferred *deferred)
{
    struct unknown *unknown = (struct unknown *)deferred;
    zepi_ze.zeMemFree(unknown->ze, unknown->memory);
    zepi_free(unknown);
}

static zepi_result_t give_unknown_address(struct zepi_context *context, void *memory)
{
    void *base = NULL;
    size_t size_bytes = 0;
    // The driver names the mistake with memory that is not its own.
    if (!zepi_sync_next(zepi_sync_of(context), NULL, 0).timeline ||
        zepi_ze.zeMemGetAddressRange(context->ze, memory, &base, &size_bytes) !=
            ZE_RESULT_SUCCESS ||
        base != memory)
        return ZEPI_ZE(zeMemFree, context->ze, memory);
    struct unknown *unknown = zepi_allocate(1, sizeof(*unknown));
    if (!unknown)
        return zepi_fail_no_memory();
    *unknown = (struct unknown){.deferred = {.bytes = size_bytes, .run = free_unknown_address},
                                .ze = context->ze,
                                .memory = memory};
    zepi_defer(context, &unknown->deferred);
    return ZEPI_SUCCESS;
}

bool zepi_usm_may_be_freed(const struct zepi_context *context, const void *memory)
{
    const struct zepi_usm_region *region = zepi_usm_table_find((uintptr_t)memory);
    zepi_usm_info_t info = {.kind = ZEPI_USM_UNKNOWN};
    if (!region || !zepi_usm_region_has(region, memory) ||
        atomic_load_explicit(&region->platform, memory_order_relaxed) != context->platform)
        return true;
    return atomic_load_explicit(&region->ze, memory_order_relaxed) == context->ze &&
           zepi_usm_region_describe(region, memory, &info) && info.base == memory;
}

zepi_result_t zepi_usm_give_at(struct zepi_context *context, void *memory, struct zepi_point freed)
{
    struct zepi_usm_region *region = zepi_usm_table_find((uintptr_t)memory);
    if (!region || !zepi_usm_region_has(region, memory) ||
        atomic_load_explicit(&region->platform, memory_order_relaxed) != context->platform)
        return give_unknown_address(context, memory);
    if (!zepi_options()->usm_pool || zepi_point_is_reached(freed))
        freed.timeline = NULL;
    if (atomic_load_explicit(&region->ze, memory_order_relaxed) != context->ze)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "%p is memory of another context", memory);
    struct zepi_usm_shard *shard = atomic_load_explicit(&region->shard, memory_order_relaxed);
    if (!shard)
        return free_alone(region, memory, freed);
    return zepi_usm_shard_give(shard, region, (uintptr_t)memory, freed)
               ? ZEPI_SUCCESS
               : fail_no_allocation(memory);
}

zepi_result_t zepi_usm_give(struct zepi_context *context, void *memory)
{
    return zepi_usm_give_at(context, memory, (struct zepi_point){NULL, 0});
}

static __attribute__((noinline)) zepi_result_t free_any(zepi_context_t context, void *memory)
{
    const zepi_result_t result = zepi_check_object(context, &zepi_context_type);
    if (result != ZEPI_SUCCESS)
        return result;
    if (!memory)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the memory is NULL");
    return zepi_usm_give(context, memory);
}

static __attribute__((noinline, cold)) zepi_result_t usm_slab_settle(struct zepi_usm_shard *shard,
                                                                     struct zepi_usm_region *slab)
{
    zepi_usm_shard_settle_locked(shard, slab);
    return ZEPI_SUCCESS;
}

// No allocation of the shard, which is locked, begins at the address.
static __attribute__((noinline, cold)) zepi_result_t
fail_free_of_nothing(zepi_context_t context, void *memory, struct zepi_usm_shard *shard)
{
    zepi_mutex_unlock(&shard->mutex);
    return free_any(context, memory);
}

zepi_result_t zepi_usm_free(zepi_context_t context, void *memory)
{
    if (__builtin_expect(!zepi_object_is(context, &zepi_context_type), 0))
        return free_any(context, memory);
    struct zepi_usm_region *region = zepi_usm_region_find_own(context, memory);
    struct zepi_usm_shard *shard =
        region ? atomic_load_explicit(&region->uncounted, memory_order_relaxed) : NULL;
    if (__builtin_expect(!shard || !zepi_mutex_try_lock(&shard->mutex), 0))
        return free_any(context, memory);
    struct zepi_usm_block *block = zepi_usm_shard_end_locked(shard, region, (uintptr_t)memory);
    if (__builtin_expect(!block, 0))
        return fail_free_of_nothing(context, memory, shard);
    struct zepi_timeline *busy = zepi_sync_first_busy(zepi_sync_of(context));
    if (busy)
        return zepi_usm_shard_push_busy_locked(shard, region, block, busy);
    zepi_usm_slab_push_locked(region, block);
    if (zepi_usm_slab_is_unsettled(region))
        return usm_slab_settle(shard, region);
    zepi_mutex_unlock(&shard->mutex);
    return ZEPI_SUCCESS;
}

void *zepi_usm_pool_user_of(const struct zepi_context *context, const void *address)
{
    const struct zepi_usm_region *region = zepi_usm_region_find(context->ze, address);
    if (!region || zepi_usm_region_room(region, address) == 0)
        return NULL;
    struct zepi_usm_pool *pool = atomic_load_explicit(&region->pool, memory_order_relaxed);
    return atomic_load_explicit(&pool->user, memory_order_relaxed);
}

static zepi_usm_kind_t usm_kind_of(ze_memory_type_t type)
{
    switch ((int)type) {
    case ZE_MEMORY_TYPE_HOST:
        return ZEPI_USM_HOST;
    case ZE_MEMORY_TYPE_DEVICE:
        return ZEPI_USM_DEVICE;
    case ZE_MEMORY_TYPE_SHARED:
        return ZEPI_USM_SHARED;
    default:
        return ZEPI_USM_UNKNOWN;
    }
}

zepi_result_t zepi_usm_get_info(zepi_context_t context, const void *address,
                                zepi_usm_info_t *out_info)
{
    zepi_usm_info_t info = {.kind = ZEPI_USM_UNKNOWN};
    const struct zepi_usm_region *region = zepi_usm_region_find(context->ze, address);
    if (region && zepi_usm_region_has(region, address)) {
        zepi_usm_region_describe(region, address, &info);
        return zepi_copy_info(out_info, &info, sizeof(info));
    }
    ze_memory_allocation_properties_t properties = {
        .stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
    ze_device_handle_t device = NULL;
    zepi_result_t result =
        ZEPI_ZE(zeMemGetAllocProperties, context->ze, address, &properties, &device);
    if (result != ZEPI_SUCCESS)
        return result;
    info.kind = usm_kind_of(properties.type);
    info.id = properties.id;
    if (info.kind != ZEPI_USM_UNKNOWN) {
        result = ZEPI_ZE(zeMemGetAddressRange, context->ze, address, &info.base, &info.size_bytes);
        if (result != ZEPI_SUCCESS)
            return result;
        if (info.kind != ZEPI_USM_HOST)
            info.device = zepi_device_find(context->devices, context->device_count, device);
    }
    return zepi_copy_info(out_info, &info, sizeof(info));
}

size_t zepi_usm_room(struct zepi_context *context, const void *address, size_t size_bytes)
{
    const struct zepi_usm_region *region = zepi_usm_region_find(context->ze, address);
    return region && zepi_usm_region_has(region, address)
               ? zepi_usm_region_room(region, address)
               : zepi_mappings_room(context, address, size_bytes);
}

bool zepi_usm_is_inside_any(struct zepi_context *context, const void *address, size_t size_bytes)
{
    return size_bytes <= zepi_usm_room(context, address, size_bytes);
}
