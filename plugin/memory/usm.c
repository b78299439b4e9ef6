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

// An allocation of the driver's for this one. It begins with a granule, for the table.
static zepi_result_t allocate_dedicated(struct zepi_usm_heap *heap,
                                        const struct zepi_usm_alloc_desc *wanted, void **out_memory)
{
    const struct zepi_usm_pool *pool = heap->pool;
    const struct zepi_context *context = pool->context;
    struct zepi_usm_shard *shard = &heap->shards[zepi_thread_shard() % ZEPI_USM_SHARDS];
    const bool is_aligned = wanted->alignment_bytes >= ZEPI_USM_GRANULE_BYTES;
    struct zepi_usm_region_desc desc = {
        .size_bytes = wanted->size_bytes < pool->least_driver_bytes ? pool->least_driver_bytes
                                                                    : wanted->size_bytes,
        .shift = ZEPI_USM_WHOLE_SHIFT,
        .alignment_bytes = is_aligned ? wanted->alignment_bytes : ZEPI_USM_GRANULE_BYTES,
        .export_types = wanted->export_types};
    ze_relaxed_allocation_limits_exp_desc_t relaxed;
    struct zepi_usm_region *region;
    void *memory;
    zepi_result_t result =
        relax_size_limit(context, wanted->device, desc.size_bytes, &relaxed, &desc.next);
    if (result != ZEPI_SUCCESS)
        return result;
    const ze_external_memory_export_desc_t export_desc = {
        .stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC,
        .pNext = desc.next,
        .flags = wanted->export_types};
    if (wanted->export_types)
        desc.next = &export_desc;
    result = zepi_usm_region_allocate(shard, &desc, &region, &memory);
    if (result == ZEPI_ERROR_INVALID_VALUE && !is_aligned) { // quirk alignment-refused
        desc.alignment_bytes = wanted->alignment_bytes;
        result = zepi_usm_region_allocate(shard, &desc, &region, &memory);
    }
    if (result != ZEPI_SUCCESS)
        return result;
    if (!region && wanted->export_types) {
        zepi_ze.zeMemFree(context->ze, memory);
        return zepi_fail(ZEPI_ERROR_UNSUPPORTED, "the driver's memory at %p is not aligned",
                         memory);
    }
    if (region)
        zepi_usm_shard_begin_dedicated(shard, region, wanted->size_bytes);
    *out_memory = memory;
    return ZEPI_SUCCESS;
}

// The calling thread's free blocks, a slab more, or another thread's free blocks. NULL: none.
static void *usm_heap_get_block(struct zepi_usm_heap *heap, const struct zepi_usm_alloc_desc *desc)
{
    const size_t size_bytes = desc->size_bytes;
    const unsigned size_class = zepi_usm_class_of(zepi_usm_block_bytes(desc));
    struct zepi_usm_shard *own = &heap->shards[zepi_thread_shard() % ZEPI_USM_SHARDS];
    void *memory = zepi_usm_shard_get(own, size_class, size_bytes);
    // Freed memory whose commands are complete comes before more of the driver's.
    if (!memory && zepi_usm_shard_collect(own))
        memory = zepi_usm_shard_get(own, size_class, size_bytes);
    if (!memory && zepi_sync_poll(zepi_sync_of(heap->pool->context), 0)) {
        zepi_usm_shard_collect(own);
        memory = zepi_usm_shard_get(own, size_class, size_bytes);
    }
    while (!memory && zepi_usm_shard_grow(own, size_class))
        memory = zepi_usm_shard_get(own, size_class, size_bytes);
    for (unsigned i = 0; i < ZEPI_USM_SHARDS && !memory; i++)
        memory = zepi_usm_shard_get(&heap->shards[i], size_class, size_bytes);
    return memory;
}

// Pending memory, or an allocation that is kept. NULL: there is none.
static void *usm_get_pending(struct zepi_usm_pool *pool, const struct zepi_usm_alloc_desc *desc)
{
    // Without dependencies: blocks whose use is over have gone back, unless the pool keeps them.
    if (desc->export_types ||
        (!desc->dependencies &&
         atomic_load_explicit(&pool->threshold_bytes, memory_order_relaxed) == 0))
        return NULL;
    void *memory = zepi_usm_pool_get_pending(pool, desc);
    // Before more of the driver's, as in usm_heap_get_block.
    if (!memory && desc->dependencies && desc->size_bytes > pool->most_bytes &&
        zepi_sync_poll(zepi_sync_of(pool->context), 0))
        memory = zepi_usm_pool_get_pending(pool, desc);
    return memory;
}

zepi_result_t zepi_usm_pool_allocate(struct zepi_usm_pool *pool,
                                     const struct zepi_usm_alloc_desc *desc, void **out_memory)
{
    struct zepi_usm_heap *heap = zepi_usm_pool_heap(pool, desc->device, desc->kind);
    void *memory = usm_get_pending(pool, desc);
    if (!memory && zepi_usm_pool_has_blocks(pool, desc))
        memory = usm_heap_get_block(heap, desc);
    if (!memory)
        return allocate_dedicated(heap, desc, out_memory);
    *out_memory = memory;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_usm_check_desc(const struct zepi_context *context,
                                  const struct zepi_usm_alloc_desc *desc)
{
    uint32_t index;
    if (desc->kind != ZEPI_USM_HOST && desc->kind != ZEPI_USM_DEVICE &&
        desc->kind != ZEPI_USM_SHARED)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "kind %d of USM is none of host, device and shared", (int)desc->kind);
    if (desc->kind == ZEPI_USM_HOST && desc->device)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "host memory belongs to no device: "
                                                   "expected NULL");
    if (desc->device || desc->kind == ZEPI_USM_DEVICE) {
        const zepi_result_t result = zepi_context_check_device(context, desc->device, &index);
        if (result != ZEPI_SUCCESS)
            return result;
    }
    if (desc->size_bytes == 0)
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE, "an allocation of 0 bytes");
    if (desc->alignment_bytes & (desc->alignment_bytes - 1))
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "the alignment is %zu, expected a power of two or 0",
                         desc->alignment_bytes);
    return ZEPI_SUCCESS;
}

static __attribute__((noinline)) zepi_result_t
allocate_any(zepi_context_t context, zepi_device_t device, zepi_usm_kind_t kind, size_t size_bytes,
             size_t alignment_bytes, void **out_memory)
{
    const struct zepi_usm_alloc_desc desc = {.device = device,
                                             .kind = kind,
                                             .size_bytes = size_bytes,
                                             .alignment_bytes = alignment_bytes};
    zepi_result_t result = zepi_check_object(context, &zepi_context_type);
    if (result == ZEPI_SUCCESS)
        result = zepi_usm_check_desc(context, &desc);
    if (result == ZEPI_SUCCESS && !out_memory)
        result = zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the output for the memory is NULL");
    return result == ZEPI_SUCCESS
               ? zepi_usm_pool_allocate(zepi_usm_pools_of(context)->own, &desc, out_memory)
               : result;
}

// The shard is another thread's at this moment, or its first slab has no free block.
static __attribute__((noinline, cold)) zepi_result_t
allocate_slowly(struct zepi_usm_shard *shard, size_t size_bytes, void **out_memory)
{
    const struct zepi_usm_heap *heap = shard->heap;
    return allocate_any(heap->pool->context, heap->device, heap->kind, size_bytes,
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
    if (__builtin_expect(!heap || kind == ZEPI_USM_SHARED, 0))
        return allocate_any(context, device, kind, size_bytes, alignment_bytes, out_memory);
    struct zepi_usm_shard *shard = &heap->shards[zepi_thread_shard() % ZEPI_USM_SHARDS];
    if (__builtin_expect(!zepi_mutex_try_lock(&shard->mutex), 0))
        return allocate_slowly(shard, size_bytes, out_memory);
    void *memory = zepi_usm_shard_get_locked(shard, zepi_usm_class_of(size_bytes), size_bytes,
                                             zepi_sync_epoch(zepi_sync_of(context)));
    if (__builtin_expect(!memory, 0))
        return allocate_more(shard, size_bytes, out_memory);
    *out_memory = memory;
    zepi_mutex_unlock(&shard->mutex);
    return ZEPI_SUCCESS;
}

// Memory of the driver's that is in no table.
struct untracked {
    struct zepi_deferred deferred;
    ze_context_handle_t ze; // borrowed
    void *memory;
};

static void free_untracked(struct zepi_deferred *deferred)
{
    struct untracked *untracked = (struct untracked *)deferred;
    zepi_ze.zeMemFree(untracked->ze, untracked->memory);
    zepi_free(untracked);
}

static zepi_result_t put_untracked(struct zepi_context *context, void *memory)
{
    void *base = NULL;
    size_t size_bytes = 0;
    // The driver names the mistake with memory that is not its own.
    if (zepi_sync_is_idle(zepi_sync_of(context)) ||
        zepi_ze.zeMemGetAddressRange(context->ze, memory, &base, &size_bytes) !=
            ZE_RESULT_SUCCESS ||
        base != memory)
        return ZEPI_ZE(zeMemFree, context->ze, memory);
    struct untracked *untracked = zepi_allocate(1, sizeof(*untracked));
    if (!untracked)
        return zepi_fail_no_memory();
    *untracked = (struct untracked){.deferred = {.bytes = size_bytes, .run = free_untracked},
                                    .ze = context->ze,
                                    .memory = memory};
    zepi_defer(context, &untracked->deferred);
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

zepi_result_t zepi_usm_put_at(struct zepi_context *context, void *memory, struct zepi_point freed)
{
    struct zepi_usm_region *region = zepi_usm_table_find((uintptr_t)memory);
    if (!region || !zepi_usm_region_has(region, memory) ||
        atomic_load_explicit(&region->platform, memory_order_relaxed) != context->platform)
        return put_untracked(context, memory);
    if (!zepi_options()->usm_pool || zepi_point_is_reached(freed))
        freed.timeline = NULL;
    if (atomic_load_explicit(&region->ze, memory_order_relaxed) != context->ze)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "%p is memory of another context", memory);
    return zepi_usm_block_put(region, memory, freed);
}

zepi_result_t zepi_usm_put(struct zepi_context *context, void *memory)
{
    return zepi_usm_put_at(context, memory, (struct zepi_point){NULL, 0});
}

static __attribute__((noinline)) zepi_result_t free_any(zepi_context_t context, void *memory)
{
    const zepi_result_t result = zepi_check_object(context, &zepi_context_type);
    if (result != ZEPI_SUCCESS)
        return result;
    if (!memory)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the memory is NULL");
    return zepi_usm_put(context, memory);
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
        region ? atomic_load_explicit(&region->quick, memory_order_relaxed) : NULL;
    if (__builtin_expect(!shard || !zepi_mutex_try_lock(&shard->mutex), 0))
        return free_any(context, memory);
    struct zepi_usm_block *block = zepi_usm_shard_end_locked(shard, region, (uintptr_t)memory);
    if (__builtin_expect(!block, 0))
        return fail_free_of_nothing(context, memory, shard);
    if (!zepi_sync_is_idle(zepi_sync_of(context)))
        return zepi_usm_shard_push_busy_and_unlock(shard, region, block);
    zepi_usm_slab_push_locked(region, block);
    if (zepi_usm_slab_is_due(region))
        return zepi_usm_shard_flush_and_unlock(shard, region);
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

static_assert((int)ZEPI_USM_HOST == ZE_MEMORY_TYPE_HOST &&
                  (int)ZEPI_USM_DEVICE == ZE_MEMORY_TYPE_DEVICE &&
                  (int)ZEPI_USM_SHARED == ZE_MEMORY_TYPE_SHARED,
              "kinds of USM have Level Zero's values");

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
    // Drivers may have more kinds.
    if (properties.type <= ZE_MEMORY_TYPE_SHARED)
        info.kind = (zepi_usm_kind_t)properties.type;
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
