// SPDX-License-Identifier: MIT
#include "memory/usm_table.h"

#include "core/alloc.h"
#include "core/mutex.h"
#include "core/unload.h"

_Atomic(struct zepi_usm_leaf *) zepi_usm_root[1u << ZEPI_USM_ROOT_BITS];

atomic_uint_fast64_t zepi_usm_versions;

// Guards changes; nothing is called under it.
static struct zepi_mutex mutex;

// ---- Bit sets ----

#define LEVELS 3

// A bit of a level tells that a word of the level below it is not 0. Changed under the mutex, and
// read without it: what a reader looks for, the begin of a region that it knows to live, stays
// there, and none lies between it and the address that the reader asks for.
struct bit_set {
    atomic_uint_least64_t *levels[LEVELS];
};

#define LAST_OF_LEAF ((1u << ZEPI_USM_LEAF_BITS) - 1)

// Leaves in which regions begin.
static atomic_uint_least64_t root_bits[1u << (ZEPI_USM_ROOT_BITS - 6)];
static atomic_uint_least64_t root_bits_1[1u << (ZEPI_USM_ROOT_BITS - 12)];
static atomic_uint_least64_t root_bits_2[1];
static const struct bit_set root_set = {{root_bits, root_bits_1, root_bits_2}};

// Granules of a leaf in which regions begin.
static struct bit_set leaf_set(struct zepi_usm_leaf *leaf)
{
    return (struct bit_set){{leaf->begins, leaf->begins_1, leaf->begins_2}};
}

static void add_bit_locked(struct bit_set set, uint32_t index)
{
    for (unsigned i = 0; i < LEVELS; i++, index >>= 6)
        // Release: a thread that sees the bit sees the entries.
        atomic_fetch_or_explicit(&set.levels[i][index >> 6], (uint64_t)1 << (index & 63),
                                 memory_order_release);
}

// True: the set is empty now.
static bool remove_bit_locked(struct bit_set set, uint32_t index)
{
    for (unsigned i = 0; i < LEVELS; i++, index >>= 6) {
        const uint64_t bit = (uint64_t)1 << (index & 63);
        if (atomic_fetch_and_explicit(&set.levels[i][index >> 6], ~bit, memory_order_release) !=
            bit)
            return false;
    }
    return true;
}

static uint32_t highest_bit(uint64_t word)
{
    return 63 ^ (uint32_t)__builtin_clzll(word);
}

// The last bit at or before the index. False: there is none.
static bool find_bit(struct bit_set set, uint32_t index, uint32_t *out_index)
{
    uint64_t word = 0;
    unsigned i = 0;
    // The bits up to this index, and above the first level those before it.
    for (uint64_t below = ~(uint64_t)0 >> (63 - (index & 63)); i < LEVELS; i++) {
        word = atomic_load_explicit(&set.levels[i][index >> 6], memory_order_acquire) & below;
        if (word)
            break;
        index >>= 6;
        below = ((uint64_t)1 << (index & 63)) - 1;
    }
    while (word) {
        index = (index & ~63u) | highest_bit(word);
        if (i == 0) {
            *out_index = index;
            return true;
        }
        // 0: another thread removes the last bit.
        index <<= 6;
        word = atomic_load_explicit(&set.levels[--i][index >> 6], memory_order_acquire);
    }
    return false;
}

// ---- Leaves ----

static struct zepi_usm_leaf *leaf_at(uint32_t number)
{
    return atomic_load_explicit(&zepi_usm_root[number], memory_order_acquire);
}

static void unload_leaves(void)
{
    for (uint32_t i = 0; i < 1u << ZEPI_USM_ROOT_BITS; i++) {
        struct zepi_usm_leaf *leaf = leaf_at(i);
        if (!leaf)
            continue;
        atomic_store_explicit(&zepi_usm_root[i], NULL, memory_order_relaxed);
        zepi_free(leaf);
    }
}

static struct zepi_usm_leaf *find_or_create_leaf(uint32_t number)
{
    _Atomic(struct zepi_usm_leaf *) *entry = &zepi_usm_root[number];
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
    zepi_at_unload(ZEPI_UNLOAD_USM, unload_leaves);
    return made;
}

// ---- Lookups ----

// Where the last region at or before the granule begins. False: none does.
static bool find_begin(uint32_t granule, uint32_t *out_begin)
{
    uint32_t number = granule >> ZEPI_USM_LEAF_BITS;
    uint32_t at = granule & LAST_OF_LEAF;
    struct zepi_usm_leaf *leaf = leaf_at(number);
    if (!leaf || !find_bit(leaf_set(leaf), at, &at)) {
        if (number == 0 || !find_bit(root_set, number - 1, &number))
            return false;
        leaf = leaf_at(number);
        if (!find_bit(leaf_set(leaf), LAST_OF_LEAF, &at))
            return false;
    }
    *out_begin = number << ZEPI_USM_LEAF_BITS | at;
    return true;
}

static uint32_t end_of(uint32_t begin)
{
    return atomic_load_explicit(&leaf_at(begin >> ZEPI_USM_LEAF_BITS)->ends[begin & LAST_OF_LEAF],
                                memory_order_relaxed);
}

static _Atomic(struct zepi_usm_region *) *region_entry(uint32_t granule)
{
    return &leaf_at(granule >> ZEPI_USM_LEAF_BITS)->regions[granule & LAST_OF_LEAF];
}

struct zepi_usm_region *zepi_usm_table_find_before(uint32_t granule)
{
    uint32_t begin;
    if (!find_begin(granule, &begin) || end_of(begin) < granule)
        return NULL;
    return atomic_load_explicit(region_entry(begin), memory_order_acquire);
}

// ---- Changes ----

static void write_entries_locked(uint32_t begin, uint32_t end, struct zepi_usm_region *region)
{
    for (uint32_t i = 0; i <= end - begin && i < ZEPI_USM_ENTRIES; i++)
        // Release: a thread that finds the region sees its kind.
        atomic_store_explicit(region_entry(begin + i), region, memory_order_release);
}

enum zepi_usm_entry zepi_usm_table_add(uintptr_t address, size_t size_bytes,
                                       struct zepi_usm_region *region)
{
    if (address % ZEPI_USM_GRANULE_BYTES != 0)
        return ZEPI_USM_NOT_ALONE;
    const uint32_t begin = (uint32_t)(address >> ZEPI_USM_GRANULE_SHIFT);
    const uint32_t end = (uint32_t)((address + size_bytes - 1) >> ZEPI_USM_GRANULE_SHIFT);
    struct zepi_usm_leaf *leaf = find_or_create_leaf(begin >> ZEPI_USM_LEAF_BITS);
    // Entries may lie in the next leaf, too.
    const uint32_t last = end - begin < ZEPI_USM_ENTRIES ? end : begin + ZEPI_USM_ENTRIES - 1;
    if (!leaf || !find_or_create_leaf(last >> ZEPI_USM_LEAF_BITS))
        return ZEPI_USM_NO_MEMORY;
    uint32_t before;
    zepi_mutex_lock(&mutex);
    // All regions that begin up to its last granule end before its first one.
    const bool is_alone = !find_begin(end, &before) || end_of(before) < begin;
    if (is_alone) {
        atomic_store_explicit(&leaf->ends[begin & LAST_OF_LEAF], end, memory_order_relaxed);
        write_entries_locked(begin, end, region);
        add_bit_locked(leaf_set(leaf), begin & LAST_OF_LEAF);
        add_bit_locked(root_set, begin >> ZEPI_USM_LEAF_BITS);
    }
    zepi_mutex_unlock(&mutex);
    return is_alone ? ZEPI_USM_ENTERED : ZEPI_USM_NOT_ALONE;
}

void zepi_usm_table_remove(uintptr_t address)
{
    const uint32_t begin = (uint32_t)(address >> ZEPI_USM_GRANULE_SHIFT);
    struct zepi_usm_leaf *leaf = leaf_at(begin >> ZEPI_USM_LEAF_BITS);
    zepi_mutex_lock(&mutex);
    if (remove_bit_locked(leaf_set(leaf), begin & LAST_OF_LEAF))
        remove_bit_locked(root_set, begin >> ZEPI_USM_LEAF_BITS);
    write_entries_locked(begin, end_of(begin), NULL);
    zepi_mutex_unlock(&mutex);
    atomic_fetch_add_explicit(&zepi_usm_versions, 1, memory_order_relaxed);
}
