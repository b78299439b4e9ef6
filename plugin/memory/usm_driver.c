// SPDX-License-Identifier: MIT
#include "memory/usm_driver.h"

#include "core/stats.h"
#include "device/device.h"
#include "ze/ze.h"

#include <string.h>

// ---- The driver ----

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

static ze_result_t ask_driver(const struct zepi_usm_heap *heap,
                              const struct zepi_usm_region_desc *desc, const void *next,
                              void **out_memory)
{
    const ze_context_handle_t context = heap->pool->context->ze;
    const ze_device_handle_t device = heap->device ? heap->device->ze : NULL;
    const ze_device_mem_alloc_desc_t device_desc = {
        .stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, .pNext = next};
    const ze_host_mem_alloc_desc_t host_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC,
                                                .pNext = heap->kind == ZEPI_USM_HOST ? next : NULL};
    if (heap->kind == ZEPI_USM_HOST)
        return zepi_ze.zeMemAllocHost(context, &host_desc, desc->size_bytes, desc->alignment_bytes,
                                      out_memory);
    if (heap->kind == ZEPI_USM_DEVICE)
        return zepi_ze.zeMemAllocDevice(context, &device_desc, desc->size_bytes,
                                        desc->alignment_bytes, device, out_memory);
    return zepi_ze.zeMemAllocShared(context, &device_desc, &host_desc, desc->size_bytes,
                                    desc->alignment_bytes, device, out_memory);
}

static zepi_result_t write_zeros(const struct zepi_usm_heap *heap, void *memory, size_t size_bytes)
{
    struct zepi_context *context = heap->pool->context;
    if (heap->kind == ZEPI_USM_DEVICE)
        return (*zepi_usm_write_of(context))(context, heap->device, memory, NULL, size_bytes);
    memset(memory, 0, size_bytes);
    return ZEPI_SUCCESS;
}

static zepi_result_t driver_allocate(const struct zepi_usm_heap *heap,
                                     const struct zepi_usm_region_desc *desc, void **out_memory)
{
    static const char *const functions[] = {[ZEPI_USM_HOST] = "zeMemAllocHost",
                                            [ZEPI_USM_DEVICE] = "zeMemAllocDevice",
                                            [ZEPI_USM_SHARED] = "zeMemAllocShared"};
    struct zepi_context *context = heap->pool->context;
    const bool is_dedicated = desc->shift == ZEPI_USM_WHOLE_SHIFT;
    ze_relaxed_allocation_limits_exp_desc_t relaxed;
    ze_external_memory_export_desc_t export_desc = {
        .stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC, .flags = desc->export_types};
    unsigned attempt = 0;
    ze_result_t ze;
    zepi_result_t result =
        relax_size_limit(context, heap->device, desc->size_bytes, &relaxed, &export_desc.pNext);
    if (result != ZEPI_SUCCESS)
        return result;
    const void *next = desc->export_types ? &export_desc : export_desc.pNext;
    do
        ze = ask_driver(heap, desc, next, out_memory);
    while ((is_dedicated || attempt == 0) && zepi_context_reclaim(context, ze, &attempt));
    result = zepi_check_ze(ze, functions[heap->kind]);
    if (result != ZEPI_SUCCESS || !heap->pool->is_zeroed)
        return result;
    result = write_zeros(heap, *out_memory, desc->size_bytes);
    if (result != ZEPI_SUCCESS)
        zepi_ze.zeMemFree(context->ze, *out_memory);
    return result;
}

// ---- Regions ----

#define SET(member, value) atomic_store_explicit(&region->member, (value), memory_order_relaxed)
static struct zepi_usm_block *region_block_at(struct zepi_usm_region *region, uintptr_t address)
{
    return &region->blocks[zepi_usm_region_slot(region, address)];
}

void zepi_usm_region_fill(struct zepi_usm_region *region, const struct zepi_usm_region_desc *desc,
                          struct zepi_usm_shard *shard, uintptr_t base)
{
    static _Atomic uint64_t numbers;
    const uint32_t count = region->block_capacity;
    const struct zepi_usm_heap *heap = shard->heap;
    struct zepi_context *context = heap->pool->context;
    SET(base, base);
    SET(size_bytes, desc->size_bytes);
    SET(shift, desc->shift);
    SET(ze, context->ze);
    SET(context, context);
    SET(platform, context->platform);
    SET(device, heap->device);
    SET(kind, (int)heap->kind);
    SET(number, atomic_fetch_add_explicit(&numbers, count, memory_order_relaxed));
    SET(pool, heap->pool);
    SET(shard, shard);
    SET(quick, heap->pool->is_counted || desc->shift == ZEPI_USM_WHOLE_SHIFT ? NULL : shard);
    SET(export_types, desc->export_types);
    region->first_free = region_block_at(region, base);
    region->hold_count = ZEPI_USM_UNLINKED;
    for (uint32_t i = 0; i < count; i++) {
        const uintptr_t address = base + ((uintptr_t)i << desc->shift);
        struct zepi_usm_block *block = region_block_at(region, address);
        atomic_store_explicit(&block->end, 0, memory_order_relaxed);
        atomic_store_explicit(&block->serial, 0, memory_order_relaxed);
        block->address = (void *)address;
        block->next =
            i + 1 < count ? region_block_at(region, address + ((uintptr_t)1 << desc->shift)) : NULL;
    }
}

static void pool_unreserve(struct zepi_usm_pool *pool, size_t size_bytes)
{
    // Release: a thread that finds a released pool empty uses it anew.
    atomic_fetch_sub_explicit(&pool->reserved_bytes, size_bytes, memory_order_release);
}

bool zepi_usm_pool_reserve(struct zepi_usm_pool *pool, size_t size_bytes)
{
    const size_t maximum = atomic_load_explicit(&pool->maximum_bytes, memory_order_relaxed);
    size_t before = atomic_load_explicit(&pool->reserved_bytes, memory_order_relaxed);
    do
        if (size_bytes > maximum || before > maximum - size_bytes)
            return false;
    while (!atomic_compare_exchange_weak_explicit(&pool->reserved_bytes, &before,
                                                  before + size_bytes, memory_order_relaxed,
                                                  memory_order_relaxed));
    zepi_usm_raise_to(&pool->reserved_high_bytes, before + size_bytes);
    return true;
}

zepi_result_t zepi_usm_region_allocate(struct zepi_usm_shard *shard,
                                       const struct zepi_usm_region_desc *desc,
                                       struct zepi_usm_region **out_region, void **out_memory)
{
    const struct zepi_usm_heap *heap = shard->heap;
    struct zepi_usm_pool *pool = heap->pool;
    const bool is_dedicated = desc->shift == ZEPI_USM_WHOLE_SHIFT;
    const bool is_plain = is_dedicated && !desc->export_types;
    enum zepi_usm_entry entry = ZEPI_USM_NOT_ALONE;
    void *memory;
    struct zepi_usm_region *region =
        zepi_usm_region_get(is_dedicated ? 1 : (uint32_t)(desc->size_bytes >> desc->shift));
    zepi_result_t result = region ? driver_allocate(heap, desc, &memory) : zepi_fail_no_memory();
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
    if (entry == ZEPI_USM_NOT_ALONE && is_plain) {
        // The driver knows it.
        *out_region = NULL;
        *out_memory = memory;
    } else {
        zepi_ze.zeMemFree(pool->context->ze, memory);
        result = entry == ZEPI_USM_NO_MEMORY
                     ? zepi_fail_no_memory()
                     : zepi_fail(ZEPI_ERROR_UNSUPPORTED, "the driver's memory at %p is not aligned",
                                 memory);
    }

unreserve:
    pool_unreserve(pool, desc->size_bytes);
    if (region)
        zepi_usm_region_put(region);
    return result;
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

zepi_result_t zepi_usm_driver_room(const struct zepi_context *context, const void *memory,
                                   size_t *out_bytes)
{
    void *start = NULL;
    size_t size_bytes = 0;
    const zepi_result_t result =
        ZEPI_ZE(zeMemGetAddressRange, context->ze, memory, &start, &size_bytes);
    *out_bytes = size_bytes - ((uintptr_t)memory - (uintptr_t)start);
    return result;
}
