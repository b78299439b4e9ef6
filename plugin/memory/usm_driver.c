// SPDX-License-Identifier: MIT
#include "memory/usm_driver.h"

#include "device/device.h"
#include "ze/ze.h"

#include <string.h>

static ze_result_t ask_driver(const struct zepi_usm_heap *heap,
                              const struct zepi_usm_region_desc *desc, void **out_memory)
{
    const ze_context_handle_t context = heap->pool->context->ze;
    const ze_device_handle_t device = heap->device ? heap->device->ze : NULL;
    const ze_device_mem_alloc_desc_t device_desc = {
        .stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, .pNext = desc->next};
    const ze_host_mem_alloc_desc_t host_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC,
                                                .pNext = heap->kind == ZEPI_USM_HOST ? desc->next
                                                                                     : NULL};
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

zepi_result_t zepi_usm_driver_allocate(const struct zepi_usm_heap *heap,
                                       const struct zepi_usm_region_desc *desc, void **out_memory)
{
    static const char *const functions[] = {[ZEPI_USM_HOST] = "zeMemAllocHost",
                                            [ZEPI_USM_DEVICE] = "zeMemAllocDevice",
                                            [ZEPI_USM_SHARED] = "zeMemAllocShared"};
    struct zepi_context *context = heap->pool->context;
    const bool is_dedicated = desc->shift == ZEPI_USM_WHOLE_SHIFT;
    unsigned attempt = 0;
    ze_result_t ze;
    do
        ze = ask_driver(heap, desc, out_memory);
    while ((is_dedicated || attempt == 0) && zepi_context_reclaim(context, ze, &attempt));
    zepi_result_t result = zepi_check_ze(ze, functions[heap->kind]);
    if (result != ZEPI_SUCCESS || !heap->pool->is_zeroed)
        return result;
    result = write_zeros(heap, *out_memory, desc->size_bytes);
    if (result != ZEPI_SUCCESS)
        zepi_ze.zeMemFree(context->ze, *out_memory);
    return result;
}

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
