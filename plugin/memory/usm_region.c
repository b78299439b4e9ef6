// SPDX-License-Identifier: MIT
#include "memory/usm_region.h"

#include "core/alloc.h"
#include "core/mutex.h"
#include "core/unload.h"
#include "device/context.h"

// More blocks than any slab has.
#define CAPACITIES 32
#define SERIAL_BITS 29

static struct zepi_mutex mutex; // guards the free regions; nothing is called under it
static struct zepi_usm_region *free_regions[CAPACITIES]; // by the power of two of their blocks
static _Atomic(struct zepi_usm_region *) regions;        // owned

struct zepi_usm_region *zepi_usm_regions(void)
{
    return atomic_load_explicit(&regions, memory_order_acquire);
}

static void unload_regions(void)
{
    struct zepi_usm_region *next = atomic_exchange_explicit(&regions, NULL, memory_order_acquire);
    while (next) {
        struct zepi_usm_region *region = next;
        next = region->next_of_all;
        zepi_free(region);
    }
}

static struct zepi_usm_region *usm_region_create(uint32_t block_count)
{
    struct zepi_usm_region *region =
        zepi_allocate(1, sizeof(*region) + block_count * sizeof(region->blocks[0]));
    if (!region)
        return NULL;
    region->block_capacity = block_count;
    region->block_mask = block_count - 1;
    for (uint32_t i = 0; i < block_count; i++)
        region->blocks[i].slot = i;
    zepi_at_unload(ZEPI_UNLOAD_REGIONS, unload_regions);
    region->next_of_all = atomic_load_explicit(&regions, memory_order_relaxed);
    // Release: a thread that walks along the list sees this one's writes.
    while (!atomic_compare_exchange_weak_explicit(&regions, &region->next_of_all, region,
                                                  memory_order_release, memory_order_relaxed))
        ;
    return region;
}

struct zepi_usm_region *zepi_usm_region_get(uint32_t block_count)
{
    struct zepi_usm_region **first = &free_regions[__builtin_ctz(block_count)];
    zepi_mutex_lock(&mutex);
    struct zepi_usm_region *region = *first;
    if (region)
        *first = region->next;
    zepi_mutex_unlock(&mutex);
    return region ? region : usm_region_create(block_count);
}

void zepi_usm_region_put(struct zepi_usm_region *region)
{
    struct zepi_usm_region **first = &free_regions[__builtin_ctz(region->block_capacity)];
    atomic_store_explicit(&region->context, NULL, memory_order_relaxed);
    atomic_store_explicit(&region->base, 0, memory_order_relaxed);
    zepi_mutex_lock(&mutex);
    region->next = *first;
    *first = region;
    zepi_mutex_unlock(&mutex);
}

#define GET(member) atomic_load_explicit(&region->member, memory_order_relaxed)

bool zepi_usm_region_describe(const struct zepi_usm_region *region, const void *address,
                              zepi_usm_info_t *out_info)
{
    const uintptr_t end = zepi_usm_region_end(region, address);
    const uintptr_t base = GET(base);
    const unsigned shift = GET(shift);
    const uintptr_t index = ((uintptr_t)address - base) >> shift;
    if (end <= (uintptr_t)address || index >= region->block_capacity)
        return false;
    out_info->kind = (zepi_usm_kind_t)GET(kind);
    out_info->base = (void *)(base + (index << shift));
    out_info->size_bytes = end - (base + (index << shift));
    out_info->device = GET(device);
    // Drivers count from one, and do not come that far. No lock: the shard may be gone.
    const uint64_t serial = GET(blocks[zepi_usm_region_slot(region, (uintptr_t)address)].serial) &
                            ((UINT64_C(1) << SERIAL_BITS) - 1);
    out_info->id = UINT64_C(1) << 63 | (GET(number) + index) << SERIAL_BITS | serial;
    return true;
}
