// SPDX-License-Identifier: MIT
#ifndef ZEPI_MEMORY_USM_REGION_H
#define ZEPI_MEMORY_USM_REGION_H

#include "core/object.h"
#include "memory/usm_table.h"
#include "sync/deferred.h"

struct zepi_context;
struct zepi_device;
struct zepi_platform;
struct zepi_usm_pool;
struct zepi_usm_shard;

// The record of one allocation of the driver: a slab that is cut into blocks of a power of two
// bytes, or a dedicated one, whose only block is one allocation of the host's. It lies beside the
// memory, which the host may not be able to reach, and is itself never given back before the plugin
// is unloaded: a thread that finds a pointer to it may look.

#define ZEPI_USM_UNLINKED INT32_MIN // counted more in a slab that is in no list
#define ZEPI_USM_WHOLE_SHIFT 63     // one block, however long

struct zepi_usm_block {
    _Atomic uintptr_t end;   // of the bytes asked for; 0: free
    _Atomic uint32_t serial; // of the allocation; written under the shard's mutex
    uint32_t slot;           // of the block in its region; never another
    // Under the shard's mutex.
    struct zepi_usm_block *next; // free one, or a pending one
    void *address;
    uint64_t epoch;        // of the allocation (zepi_sync_epoch)
    struct zepi_use freed; // of a pending one: the commands that may still use it
};

struct zepi_usm_region {
    // The fields that readers see without a lock. They change only while the region is in no table.
    _Atomic uintptr_t base; // 0: no memory
    atomic_size_t size_bytes;
    atomic_uint shift;               // of a block's length
    uint32_t block_mask;             // never another, as the next
    uint32_t block_capacity;         // a power of two, and never another
    _Atomic(ze_context_handle_t) ze; // borrowed, as all that follow
    _Atomic(struct zepi_context *) context;
    _Atomic(struct zepi_platform *) platform;
    _Atomic(struct zepi_device *) device; // NULL: none
    atomic_int kind;
    _Atomic uint64_t number; // of the first block, which no other has
    _Atomic(struct zepi_usm_pool *) pool;
    _Atomic(struct zepi_usm_shard *) shard; // NULL: it goes back to the driver
    _Atomic(struct zepi_usm_shard *) quick; // the shard of a slab whose pool does not count
    // Under the shard's mutex.
    struct zepi_usm_block *first_free;
    // Each block in use holds the slab, and so does its list if it is the first there. In no list
    // it has ZEPI_USM_UNLINKED more. So one comparison after a push tells a slab that is idle, or
    // was full, from all others (zepi_usm_slab_is_due).
    int32_t hold_count;
    struct zepi_deferred deferred; // of a dedicated one that was freed while commands might use it
    struct zepi_usm_region *next;  // of its class, or without memory
    struct zepi_usm_region *previous;
    struct zepi_usm_region *next_of_all;
    atomic_uint export_types;       // that the driver's memory was made for; else 0
    struct zepi_usm_block blocks[]; // each in its slot
};

static inline struct zepi_usm_region *zepi_usm_block_region(struct zepi_usm_block *block)
{
    return (struct zepi_usm_region *)((char *)(block - block->slot) -
                                      offsetof(struct zepi_usm_region, blocks));
}

// The slot of the block that the address is in. An address outside of the region gets one of its
// slots, too.
static inline uint32_t zepi_usm_region_slot(const struct zepi_usm_region *region, uintptr_t address)
{
    // Relaxed: the table, or the shard's mutex, ordered it.
    return (uint32_t)(address >> atomic_load_explicit(&region->shift, memory_order_relaxed)) &
           region->block_mask;
}

// A region without memory, for `block_count` blocks (a power of two), or NULL without memory (not
// noted).
struct zepi_usm_region *zepi_usm_region_get(uint32_t block_count);
// Gives back one that is in no table.
void zepi_usm_region_put(struct zepi_usm_region *region);

struct zepi_usm_region_desc {
    size_t size_bytes;
    unsigned shift; // of a block's length
    size_t alignment_bytes;
    ze_external_memory_type_flags_t export_types;
};
static inline bool zepi_usm_region_is_dedicated(const struct zepi_usm_region *region)
{
    return atomic_load_explicit(&region->shift, memory_order_relaxed) == ZEPI_USM_WHOLE_SHIFT;
}

// The newest region that was ever made: the others follow by `next_of_all`.
struct zepi_usm_region *zepi_usm_regions(void);

// The region of this driver's context that the address is in; NULL: none, or it is unknown.
static inline struct zepi_usm_region *zepi_usm_region_find(ze_context_handle_t ze,
                                                           const void *address)
{
    struct zepi_usm_region *region = zepi_usm_table_find((uintptr_t)address);
    // Relaxed here and below: the table ordered it.
    return region && atomic_load_explicit(&region->ze, memory_order_relaxed) == ze ? region : NULL;
}

// The region of an address, if it is the context's: null for one of another context, even where
// both have the same context of the driver.
static inline struct zepi_usm_region *zepi_usm_region_find_own(const struct zepi_context *context,
                                                               const void *address)
{
    struct zepi_usm_region *region = zepi_usm_table_find((uintptr_t)address);
    return region && atomic_load_explicit(&region->context, memory_order_relaxed) == context
               ? region
               : NULL;
}

// The end of the allocation that the address is in, or of the one before it; 0: none.
static inline uintptr_t zepi_usm_region_end(const struct zepi_usm_region *region,
                                            const void *address)
{
    const uint32_t slot = zepi_usm_region_slot(region, (uintptr_t)address);
    return atomic_load_explicit(&region->blocks[slot].end, memory_order_relaxed);
}

// The bytes from the address to the end of the allocation that it is in; 0: in none.
static inline size_t zepi_usm_region_room(const struct zepi_usm_region *region, const void *address)
{
    const uintptr_t end = zepi_usm_region_end(region, address);
    return __builtin_expect(end > (uintptr_t)address, 1) ? end - (uintptr_t)address : 0;
}

// Whether the address is in the region's memory at all.
static inline bool zepi_usm_region_has(const struct zepi_usm_region *region, const void *address)
{
    return (uintptr_t)address - atomic_load_explicit(&region->base, memory_order_relaxed) <
           atomic_load_explicit(&region->size_bytes, memory_order_relaxed);
}

// The values of usm_get_info for the address. False: it is in no allocation.
bool zepi_usm_region_describe(const struct zepi_usm_region *region, const void *address,
                              zepi_usm_info_t *out_info);

#endif
