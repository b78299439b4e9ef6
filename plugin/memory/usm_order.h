// SPDX-License-Identifier: MIT
#ifndef ZEPI_MEMORY_USM_ORDER_H
#define ZEPI_MEMORY_USM_ORDER_H

#include "core/mutex.h"
#include "memory/usm_region.h"

// Memory that was freed in the order of a queue. Commands before that moment may still use it. An
// allocation after the moment, in the same queue or by an event, may have it at once; all others
// once the moment is over. Blocks of slabs stay counted as in use by their slab meanwhile;
// allocations of the driver that a pool keeps for reuse lie here, too.

#define ZEPI_USM_ORDER_LISTS 16 // one for each class of blocks, and one for allocations alone
#define ZEPI_USM_ORDER_ALONE (ZEPI_USM_ORDER_LISTS - 1)

// A pool's. Zeroed memory is empty.
struct zepi_usm_order {
    struct zepi_mutex mutex; // guards the members below; nothing is called under it
    struct zepi_usm_block *first[ZEPI_USM_ORDER_LISTS]; // freed last
    // Asks for a look at moments that are over. In the context's list of deferred_free.h if
    // `is_deferred`.
    struct zepi_deferred deferred;
    bool is_deferred;
};

// The moments that an allocation in the order of a queue comes after.
#define ZEPI_USM_PAST_POINTS 9
struct zepi_usm_past {
    uint32_t count;
    struct zepi_point points[ZEPI_USM_PAST_POINTS];
};

// The properties of a wanted block.
struct zepi_usm_wish {
    const struct zepi_usm_past *past; // NULL: only blocks whose moment is over
    struct zepi_device *device;
    zepi_usm_kind_t kind;
    size_t size_bytes;
    size_t alignment_bytes;
    // For other interfaces: 0, or an allocation of the driver's alone, which goes back to it.
    ze_external_memory_type_flags_t export_types;
};

// The region of an allocation alone.
static inline struct zepi_usm_region *zepi_usm_order_region(struct zepi_usm_block *block)
{
    return (struct zepi_usm_region *)((char *)block - offsetof(struct zepi_usm_region, blocks));
}

// Adds a block without an allocation, with `block->freed`. True: the caller defers
// `order->deferred`, whose `weight` is set.
bool zepi_usm_order_add(struct zepi_usm_order *order, unsigned list, struct zepi_usm_block *block,
                        size_t size_bytes);

// Takes out a block that fits the wish; of allocations alone, one that is at most a quarter longer.
// NULL: there is none.
struct zepi_usm_block *zepi_usm_order_take(struct zepi_usm_order *order, unsigned list,
                                           const struct zepi_usm_wish *wish);

// Takes out the blocks whose moment is over, linked by `next`: of slabs all, in *out_blocks, of
// allocations alone `excess_bytes` or a little more, in *out_alone. True: the caller defers
// `order->deferred`, as others are left.
bool zepi_usm_order_take_over(struct zepi_usm_order *order, size_t excess_bytes,
                              struct zepi_usm_block **out_blocks,
                              struct zepi_usm_block **out_alone);

// `order->deferred` is not in its list any more.
void zepi_usm_order_end_deferred(struct zepi_usm_order *order);

#endif
