// SPDX-License-Identifier: MIT
#ifndef ZEPI_MEMORY_USM_TABLE_H
#define ZEPI_MEMORY_USM_TABLE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

// Which region of USM an address may be in: a table of the whole process over 48 bits of address,
// in granules. The first granules of a region lead to it at once. The rest of a large one has no
// entries, so that it costs no more to add and remove than a small one: bit sets of three levels
// find where the last region before a granule begins, as in a van Emde Boas tree. Regions begin
// with a granule, so that no two share one. What follows the end of a region in its last granule
// may be of another host. A lookup takes no lock, changes have one: leaves stay until the plugin is
// unloaded.

#define ZEPI_USM_GRANULE_SHIFT 16 // 64 KiB
#define ZEPI_USM_GRANULE_BYTES ((size_t)1 << ZEPI_USM_GRANULE_SHIFT)
#define ZEPI_USM_ENTRIES 32u // of a region: those of a slab of 2 MiB
#define ZEPI_USM_LEAF_BITS 14
#define ZEPI_USM_ROOT_BITS (48 - ZEPI_USM_GRANULE_SHIFT - ZEPI_USM_LEAF_BITS)

struct zepi_usm_region;

struct zepi_usm_leaf {
    _Atomic(struct zepi_usm_region *) regions[1u << ZEPI_USM_LEAF_BITS];
    atomic_uint_least32_t ends[1u << ZEPI_USM_LEAF_BITS]; // where a region begins: its last granule
    // A bit for each granule in which a region begins, for each word of these with a bit, and so
    // on.
    atomic_uint_least64_t begins[1u << (ZEPI_USM_LEAF_BITS - 6)];
    atomic_uint_least64_t begins_1[1u << (ZEPI_USM_LEAF_BITS - 12)];
    atomic_uint_least64_t begins_2[1];
};

// Pages of it that were never read take no memory.
extern _Atomic(struct zepi_usm_leaf *) zepi_usm_root[1u << ZEPI_USM_ROOT_BITS];

enum zepi_usm_entry {
    ZEPI_USM_ENTERED,
    ZEPI_USM_NOT_ALONE, // not at the beginning of a granule, or 48 bits are another's, too
    ZEPI_USM_NO_MEMORY, // not noted
};

// Enters a region that begins at `address`, `size_bytes` long.
enum zepi_usm_entry zepi_usm_table_add(uintptr_t address, size_t size_bytes,
                                       struct zepi_usm_region *region);
// Removes the region that begins at `address`, before its memory goes back to the driver, which may
// hand it out again. Raises the version.
void zepi_usm_table_remove(uintptr_t address);

// How often memory went back to a driver. While this stays the same, an address that the table
// knows is in the same memory.
extern atomic_uint_fast64_t zepi_usm_versions;
static inline uint64_t zepi_usm_version(void)
{
    // Relaxed: memory at an address that was freed comes to this thread through the driver, after
    // the version.
    return atomic_load_explicit(&zepi_usm_versions, memory_order_relaxed);
}

// The region that begins last before a granule without an entry, if it reaches it.
struct zepi_usm_region *zepi_usm_table_find_before(uint32_t granule);

// The region that the address may be in, as far as its granule tells; NULL: none.
static inline struct zepi_usm_region *zepi_usm_table_find(uintptr_t address)
{
    const uint32_t granule = (uint32_t)(address >> ZEPI_USM_GRANULE_SHIFT);
    // Acquire, twice: leaves and regions were written before the pointers to them.
    struct zepi_usm_leaf *leaf =
        atomic_load_explicit(&zepi_usm_root[granule >> ZEPI_USM_LEAF_BITS], memory_order_acquire);
    struct zepi_usm_region *region =
        leaf ? atomic_load_explicit(&leaf->regions[granule & ((1u << ZEPI_USM_LEAF_BITS) - 1)],
                                    memory_order_acquire)
             : NULL;
    return __builtin_expect(region != NULL, 1) ? region : zepi_usm_table_find_before(granule);
}

#endif
