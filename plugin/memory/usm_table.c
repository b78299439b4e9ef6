// SPDX-License-Identifier: MIT
#include "memory/usm_table.h"

#include "core/alloc.h"
#include "core/unload.h"

_Atomic(struct zepi_usm_leaf *) zepi_usm_root[1u << ZEPI_USM_ROOT_BITS];

atomic_uint_fast64_t zepi_usm_generations;

static _Atomic(struct zepi_usm_leaf *) *leaf_entry(uintptr_t address)
{
    const uint32_t granule = (uint32_t)(address >> ZEPI_USM_GRANULE_SHIFT);
    return &zepi_usm_root[granule >> ZEPI_USM_LEAF_BITS];
}

static _Atomic(struct zepi_usm_region *) *region_entry(struct zepi_usm_leaf *leaf,
                                                       uintptr_t address)
{
    const uint32_t granule = (uint32_t)(address >> ZEPI_USM_GRANULE_SHIFT);
    return &leaf->regions[granule & ((1u << ZEPI_USM_LEAF_BITS) - 1)];
}

static _Atomic(struct zepi_usm_leaf *) leaves; // owned

static void unload_leaves(void)
{
    struct zepi_usm_leaf *next = atomic_exchange_explicit(&leaves, NULL, memory_order_acquire);
    while (next) {
        struct zepi_usm_leaf *leaf = next;
        next = leaf->next_of_all;
        zepi_free(leaf);
    }
}

static void note_leaf(struct zepi_usm_leaf *leaf)
{
    zepi_at_unload(ZEPI_UNLOAD_USM, unload_leaves);
    leaf->next_of_all = atomic_load_explicit(&leaves, memory_order_relaxed);
    // Release: the thread that unloads sees this one's writes.
    while (!atomic_compare_exchange_weak_explicit(&leaves, &leaf->next_of_all, leaf,
                                                  memory_order_release, memory_order_relaxed))
        ;
}

static struct zepi_usm_leaf *find_or_create_leaf(uintptr_t address)
{
    _Atomic(struct zepi_usm_leaf *) *entry = leaf_entry(address);
    struct zepi_usm_leaf *leaf = atomic_load_explicit(entry, memory_order_acquire);
    if (leaf)
        return leaf;
    struct zepi_usm_leaf *made = zepi_allocate(1, sizeof(*made));
    if (!made)
        return NULL;
    // Release: a thread that finds the leaf sees it empty, not unwritten.
    if (!atomic_compare_exchange_strong_explicit(entry, &leaf, made, memory_order_acq_rel,
                                                 memory_order_acquire)) {
        zepi_free(made);
        return leaf;
    }
    note_leaf(made);
    return made;
}

enum zepi_usm_entry zepi_usm_table_add(uintptr_t address, size_t size_bytes,
                                       struct zepi_usm_region *region)
{
    if (address % ZEPI_USM_GRANULE_BYTES != 0)
        return ZEPI_USM_NOT_ALONE;
    for (size_t at = 0; at < size_bytes; at += ZEPI_USM_GRANULE_BYTES) {
        struct zepi_usm_leaf *leaf = find_or_create_leaf(address + at);
        struct zepi_usm_region *none = NULL;
        // Release: a thread that finds the region sees its kind.
        if (leaf &&
            atomic_compare_exchange_strong_explicit(region_entry(leaf, address + at), &none, region,
                                                    memory_order_release, memory_order_relaxed))
            continue;
        zepi_usm_table_remove(address, at);
        return leaf ? ZEPI_USM_NOT_ALONE : ZEPI_USM_NO_MEMORY;
    }
    return ZEPI_USM_ENTERED;
}

void zepi_usm_table_remove(uintptr_t address, size_t size_bytes)
{
    for (size_t at = 0; at < size_bytes; at += ZEPI_USM_GRANULE_BYTES) {
        struct zepi_usm_leaf *leaf =
            atomic_load_explicit(leaf_entry(address + at), memory_order_acquire);
        atomic_store_explicit(region_entry(leaf, address + at), NULL, memory_order_relaxed);
    }
    atomic_fetch_add_explicit(&zepi_usm_generations, 1, memory_order_relaxed);
}
