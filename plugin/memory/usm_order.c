// SPDX-License-Identifier: MIT
#include "memory/usm_order.h"

static size_t region_bytes_of(struct zepi_usm_block *block)
{
    return atomic_load_explicit(&zepi_usm_order_region(block)->size_bytes, memory_order_relaxed);
}

// The caller defers `deferred` unless it is deferred already.
static bool begin_deferred_locked(struct zepi_usm_order *order, uint64_t weight)
{
    const bool is_first = !order->is_deferred;
    if (is_first)
        order->deferred.bytes = weight;
    order->is_deferred = true;
    return is_first;
}

bool zepi_usm_order_add(struct zepi_usm_order *order, unsigned list, struct zepi_usm_block *block,
                        size_t size_bytes)
{
    zepi_mutex_lock(&order->mutex);
    block->next = order->first[list];
    order->first[list] = block;
    const bool is_first = block->freed.timeline && begin_deferred_locked(order, size_bytes);
    zepi_mutex_unlock(&order->mutex);
    return is_first;
}

static bool is_in_past(const struct zepi_usm_past *past, struct zepi_point point)
{
    for (uint32_t i = 0; past && i < past->count; i++) {
        if (zepi_point_covers(past->points[i], point))
            return true;
    }
    return false;
}

static bool fits(struct zepi_usm_block *block, const struct zepi_usm_wish *wish, bool is_alone)
{
    // Blocks of a class are long enough, and aligned.
    const struct zepi_usm_region *region =
        is_alone ? zepi_usm_order_region(block) : zepi_usm_table_find((uintptr_t)block->address);
    const size_t size_bytes = is_alone ? region_bytes_of(block) : wish->size_bytes;
    // Relaxed: the region changes only while it is in no table.
    return atomic_load_explicit(&region->device, memory_order_relaxed) == wish->device &&
           atomic_load_explicit(&region->kind, memory_order_relaxed) == (int)wish->kind &&
           size_bytes >= wish->size_bytes &&
           size_bytes - wish->size_bytes <= wish->size_bytes / 4 &&
           (!is_alone || wish->alignment_bytes == 0 ||
            (uintptr_t)block->address % wish->alignment_bytes == 0) &&
           (zepi_point_is_reached(block->freed) || is_in_past(wish->past, block->freed));
}

struct zepi_usm_block *zepi_usm_order_take(struct zepi_usm_order *order, unsigned list,
                                           const struct zepi_usm_wish *wish)
{
    zepi_mutex_lock(&order->mutex);
    struct zepi_usm_block **link = &order->first[list];
    while (*link && !fits(*link, wish, list == ZEPI_USM_ORDER_ALONE))
        link = &(*link)->next;
    struct zepi_usm_block *block = *link;
    if (block)
        *link = block->next;
    zepi_mutex_unlock(&order->mutex);
    return block;
}

bool zepi_usm_order_take_over(struct zepi_usm_order *order, size_t excess_bytes,
                              struct zepi_usm_block **out_blocks, struct zepi_usm_block **out_alone)
{
    uint64_t weight = 0;
    *out_blocks = *out_alone = NULL;
    zepi_mutex_lock(&order->mutex);
    for (unsigned list = 0; list < ZEPI_USM_ORDER_LISTS; list++) {
        const bool is_alone = list == ZEPI_USM_ORDER_ALONE;
        struct zepi_usm_block **out = is_alone ? out_alone : out_blocks;
        struct zepi_usm_block **link = &order->first[list];
        while (*link) {
            struct zepi_usm_block *block = *link;
            const bool is_over = zepi_point_is_reached(block->freed);
            const size_t size_bytes = is_alone ? region_bytes_of(block) : 1;
            if (!is_over)
                weight += size_bytes;
            if (!is_over || (is_alone && excess_bytes == 0)) {
                link = &block->next;
                continue;
            }
            if (is_alone)
                excess_bytes -= size_bytes < excess_bytes ? size_bytes : excess_bytes;
            *link = block->next;
            block->next = *out;
            *out = block;
        }
    }
    const bool is_first = weight > 0 && begin_deferred_locked(order, weight);
    zepi_mutex_unlock(&order->mutex);
    return is_first;
}

void zepi_usm_order_end_deferred(struct zepi_usm_order *order)
{
    zepi_mutex_lock(&order->mutex);
    order->is_deferred = false;
    zepi_mutex_unlock(&order->mutex);
}
