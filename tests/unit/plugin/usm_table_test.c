// SPDX-License-Identifier: MIT
#include "memory/usm_table.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#define GRANULE ZEPI_USM_GRANULE_BYTES
#define LEAF (GRANULE << ZEPI_USM_LEAF_BITS)

// The table never reads what it points to.
static struct zepi_usm_region *region(uintptr_t number)
{
    return (struct zepi_usm_region *)(number * 64);
}

Test(usm_table, knows_every_granule_of_a_region_and_none_beside_it)
{
    const uintptr_t base = 100 * GRANULE;
    cr_assert_eq(zepi_usm_table_add(base, 2 * GRANULE + 1, region(1)), ZEPI_USM_ENTERED);
    cr_assert_eq(zepi_usm_table_find(base), region(1));
    cr_assert_eq(zepi_usm_table_find(base + 2 * GRANULE), region(1));
    cr_assert_eq(zepi_usm_table_find(base + 3 * GRANULE - 1), region(1),
                 "the rest of the last granule leads to the region, which knows its end");
    cr_assert_null(zepi_usm_table_find(base - 1));
    cr_assert_null(zepi_usm_table_find(base + 3 * GRANULE));
    zepi_usm_table_remove(base);
    for (uintptr_t at = base; at < base + 3 * GRANULE; at += GRANULE)
        cr_assert_null(zepi_usm_table_find(at));
}

Test(usm_table, a_region_may_lie_over_the_end_of_a_leaf)
{
    const uintptr_t base = 3 * LEAF - 2 * GRANULE;
    cr_assert_eq(zepi_usm_table_add(base, 5 * GRANULE, region(2)), ZEPI_USM_ENTERED);
    for (uintptr_t at = base; at < base + 5 * GRANULE; at += GRANULE)
        cr_assert_eq(zepi_usm_table_find(at), region(2));
    zepi_usm_table_remove(base);
    cr_assert_null(zepi_usm_table_find(3 * LEAF));
}

Test(usm_table, regions_share_no_granule)
{
    const uintptr_t base = 50 * GRANULE;
    cr_assert_eq(zepi_usm_table_add(base + 16, GRANULE, region(1)), ZEPI_USM_NOT_ALONE);
    cr_assert_eq(zepi_usm_table_add(base + 2 * GRANULE, GRANULE, region(2)), ZEPI_USM_ENTERED);
    // The third granule is taken: the first two are given back.
    cr_assert_eq(zepi_usm_table_add(base, 4 * GRANULE, region(3)), ZEPI_USM_NOT_ALONE);
    cr_assert_null(zepi_usm_table_find(base));
    cr_assert_null(zepi_usm_table_find(base + GRANULE));
    cr_assert_eq(zepi_usm_table_find(base + 2 * GRANULE), region(2));
    cr_assert_null(zepi_usm_table_find(base + 3 * GRANULE));
    zepi_usm_table_remove(base + 2 * GRANULE);
}

Test(usm_table, addresses_whose_first_48_bits_are_equal_share_no_granule)
{
    const uintptr_t base = 7 * GRANULE;
    cr_assert_eq(zepi_usm_table_add(base, GRANULE, region(1)), ZEPI_USM_ENTERED);
    cr_assert_eq(zepi_usm_table_add(base + ((uintptr_t)1 << 48), GRANULE, region(2)),
                 ZEPI_USM_NOT_ALONE);
    cr_assert_eq(zepi_usm_table_find(base), region(1));
    zepi_usm_table_remove(base);
}

Test(usm_table, begins_a_generation_when_memory_goes_back)
{
    const uint64_t before = zepi_usm_version();
    cr_assert_eq(zepi_usm_table_add(9 * GRANULE, GRANULE, region(1)), ZEPI_USM_ENTERED);
    cr_assert_eq(zepi_usm_version(), before);
    zepi_usm_table_remove(9 * GRANULE);
    cr_assert_eq(zepi_usm_version(), before + 1);
}

// Against a list with an entry for each granule.
Test(usm_table, is_a_simple_list_after_any_changes)
{
    enum { GRANULES = 64 };
    const uintptr_t base = 8 * LEAF - GRANULES / 2 * GRANULE;
    uintptr_t owners[GRANULES] = {0};
    size_t lengths[GRANULES] = {0};
    srand(7);
    for (uintptr_t round = 1; round < 2000; round++) {
        const size_t at = (size_t)rand() % GRANULES;
        const size_t length = 1 + (size_t)rand() % (GRANULES - at);
        const uintptr_t address = base + at * GRANULE;
        bool is_free = true;
        if (lengths[at] > 0) {
            zepi_usm_table_remove(address);
            for (size_t i = at; i < at + lengths[at]; i++)
                owners[i] = 0;
            lengths[at] = 0;
        }
        for (size_t i = at; i < at + length; i++)
            is_free = is_free && owners[i] == 0;
        cr_assert_eq(zepi_usm_table_add(address, length * GRANULE, region(round)),
                     is_free ? ZEPI_USM_ENTERED : ZEPI_USM_NOT_ALONE, "round %zu", (size_t)round);
        for (size_t i = at; is_free && i < at + length; i++)
            owners[i] = round;
        lengths[at] = is_free ? length : 0;
        for (size_t i = 0; i < GRANULES; i++)
            cr_assert_eq(zepi_usm_table_find(base + i * GRANULE + 5),
                         owners[i] ? region(owners[i]) : NULL, "granule %zu in round %zu", i,
                         (size_t)round);
    }
}

Test(usm_table, regions_of_any_size_are_found_from_each_of_their_leaves)
{
    const uintptr_t base = 20 * LEAF + 5 * GRANULE;
    const size_t bytes = 64 * LEAF; // 64 GiB
    cr_assert_eq(zepi_usm_table_add(base, bytes, region(1)), ZEPI_USM_ENTERED);
    cr_assert_eq(zepi_usm_table_add(base + bytes, GRANULE, region(2)), ZEPI_USM_ENTERED);
    cr_assert_eq(zepi_usm_table_add(base - GRANULE, GRANULE, region(3)), ZEPI_USM_ENTERED);
    for (uintptr_t at = base; at < base + bytes; at += LEAF / 3)
        cr_assert_eq(zepi_usm_table_find(at), region(1), "at %zx", (size_t)at);
    cr_assert_eq(zepi_usm_table_find(base + bytes - 1), region(1));
    cr_assert_eq(zepi_usm_table_find(base + bytes), region(2));
    cr_assert_eq(zepi_usm_table_find(base - 1), region(3));
    cr_assert_eq(zepi_usm_table_add(base + 40 * LEAF, GRANULE, region(4)), ZEPI_USM_NOT_ALONE);
    cr_assert_eq(zepi_usm_table_add(base - 4 * LEAF, 5 * LEAF, region(4)), ZEPI_USM_NOT_ALONE);
    zepi_usm_table_remove(base);
    cr_assert_null(zepi_usm_table_find(base + bytes / 2));
    zepi_usm_table_remove(base + bytes);
    zepi_usm_table_remove(base - GRANULE);
    cr_assert_null(zepi_usm_table_find(base + bytes));
}

// A thread that knows a region finds it from all of its addresses, whatever others add and remove.
struct neighbours {
    uintptr_t base;
    atomic_bool is_over;
};

static void *change_neighbours(void *argument)
{
    struct neighbours *neighbours = argument;
    unsigned seed = 3;
    while (!atomic_load(&neighbours->is_over)) {
        // On both sides of it, which ends 20 leaves on.
        const uintptr_t number = (uintptr_t)rand_r(&seed) % 200;
        const uintptr_t at = number < 100 ? neighbours->base + 20 * LEAF + number * GRANULE
                                          : neighbours->base - (number - 99) * GRANULE;
        if (zepi_usm_table_add(at, GRANULE, region(9)) == ZEPI_USM_ENTERED)
            zepi_usm_table_remove(at);
    }
    return NULL;
}

Test(usm_table, a_region_is_found_while_others_come_and_go)
{
    struct neighbours neighbours = {.base = 200 * LEAF + 77 * GRANULE};
    const size_t bytes = 20 * LEAF;
    cr_assert_eq(zepi_usm_table_add(neighbours.base, bytes, region(5)), ZEPI_USM_ENTERED);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, change_neighbours, &neighbours), 0);
    unsigned seed = 11;
    for (int i = 0; i < 200000; i++) {
        const uintptr_t at = neighbours.base + (uintptr_t)rand_r(&seed) * 16 % bytes;
        cr_assert_eq(zepi_usm_table_find(at), region(5), "look %d", i);
    }
    atomic_store(&neighbours.is_over, true);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    zepi_usm_table_remove(neighbours.base);
}
