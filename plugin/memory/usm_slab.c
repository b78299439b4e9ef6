// SPDX-License-Identifier: MIT
#include "memory/usm_slab.h"

// The end of every list of slabs: no block is ever had from it.
static struct zepi_usm_region no_slab;

static struct zepi_usm_region **shard_first_slab_of(struct zepi_usm_shard *shard,
                                                    const struct zepi_usm_region *slab)
{
    return &shard->first[zepi_usm_slab_class(slab)];
}

// The bytes that a slab which is not the first of its class adds to the shard's idle bytes.
static size_t slab_idle_bytes(const struct zepi_usm_region *slab)
{
    return slab->hold_count == 0 ? atomic_load_explicit(&slab->size_bytes, memory_order_relaxed)
                                 : 0;
}

void zepi_usm_shard_link_locked(struct zepi_usm_shard *shard, struct zepi_usm_region *slab)
{
    struct zepi_usm_region **first = shard_first_slab_of(shard, slab);
    slab->hold_count -= ZEPI_USM_UNLINKED;
    if (*first == &no_slab) {
        slab->previous = NULL;
        slab->next = &no_slab;
        slab->hold_count++;
        *first = slab;
        return;
    }
    slab->previous = *first;
    slab->next = (*first)->next;
    slab->previous->next = slab;
    if (slab->next != &no_slab)
        slab->next->previous = slab;
    shard->idle_bytes += slab_idle_bytes(slab);
}

static void shard_unlink_locked(struct zepi_usm_shard *shard, struct zepi_usm_region *slab)
{
    struct zepi_usm_region *next = slab->next;
    if (next != &no_slab)
        next->previous = slab->previous;
    if (slab->previous) {
        slab->previous->next = next;
        shard->idle_bytes -= slab_idle_bytes(slab);
    } else {
        *shard_first_slab_of(shard, slab) = next;
        slab->hold_count--;
        if (next != &no_slab) {
            shard->idle_bytes -= slab_idle_bytes(next);
            next->hold_count++;
        }
    }
    slab->hold_count += ZEPI_USM_UNLINKED;
}

void zepi_usm_shard_drop_full_locked(struct zepi_usm_shard *shard, unsigned size_class)
{
    struct zepi_usm_region *full = shard->first[size_class];
    while (full != &no_slab && !full->first_free) {
        shard_unlink_locked(shard, full);
        full = shard->first[size_class];
    }
}

bool zepi_usm_shard_place_locked(struct zepi_usm_shard *shard, struct zepi_usm_region *slab)
{
    if (shard->is_closed) {
        if (slab->hold_count != ZEPI_USM_UNLINKED)
            return false;
        atomic_store_explicit(&slab->shard, NULL, memory_order_relaxed);
        return true;
    }
    if (slab->hold_count < 0)
        zepi_usm_shard_link_locked(shard, slab);
    else if (slab->previous)
        shard->idle_bytes += slab_idle_bytes(slab);
    return false;
}

// Chains a slab without a block in use, which was unlinked, before `chain`.
static struct zepi_usm_region *chain_idle_slab(struct zepi_usm_region *slab,
                                               struct zepi_usm_region *chain)
{
    // No block comes back to it any more.
    atomic_store_explicit(&slab->shard, NULL, memory_order_relaxed);
    slab->next = chain;
    return slab;
}

struct zepi_usm_region *zepi_usm_shard_get_idle_locked(struct zepi_usm_shard *shard,
                                                       size_t *excess_bytes)
{
    struct zepi_usm_region *idle = NULL;
    for (unsigned size_class = 0; size_class < ZEPI_USM_CLASSES; size_class++) {
        struct zepi_usm_region *slab = shard->first[size_class];
        while (slab != &no_slab && *excess_bytes > 0) {
            struct zepi_usm_region *next = slab->next;
            if (slab->hold_count == (slab->previous ? 0 : 1)) {
                const size_t bytes = atomic_load_explicit(&slab->size_bytes, memory_order_relaxed);
                *excess_bytes -= bytes < *excess_bytes ? bytes : *excess_bytes;
                shard_unlink_locked(shard, slab);
                idle = chain_idle_slab(slab, idle);
            }
            slab = next;
        }
    }
    return idle;
}

void zepi_usm_shard_init(struct zepi_usm_shard *shard, struct zepi_usm_heap *heap, bool is_counted)
{
    shard->heap = heap;
    shard->is_counted = is_counted;
    for (unsigned size_class = 0; size_class < ZEPI_USM_CLASSES; size_class++)
        shard->first[size_class] = &no_slab;
}

struct zepi_usm_region *zepi_usm_shard_close_locked(struct zepi_usm_shard *shard)
{
    struct zepi_usm_region *idle = NULL;
    shard->is_closed = true;
    for (unsigned size_class = 0; size_class < ZEPI_USM_CLASSES; size_class++) {
        while (shard->first[size_class] != &no_slab) {
            struct zepi_usm_region *slab = shard->first[size_class];
            shard_unlink_locked(shard, slab);
            if (slab->hold_count == ZEPI_USM_UNLINKED)
                idle = chain_idle_slab(slab, idle);
        }
    }
    return idle;
}
