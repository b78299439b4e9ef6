// SPDX-License-Identifier: MIT
#include "memory/buffer_contents.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define SIZE 1000
#define PLACE(number) ZEPI_BUFFER_LOCATION(number)

static struct zepi_buffer_contents make(uint64_t places)
{
    struct zepi_buffer_contents contents;
    cr_assert(zepi_buffer_contents_init(&contents, SIZE, places));
    return contents;
}

static void add(struct zepi_buffer_contents *contents, uint32_t place, size_t begin, size_t end)
{
    cr_assert(zepi_buffer_contents_add(contents, place, begin, end));
}

static void set(struct zepi_buffer_contents *contents, uint32_t place, size_t begin, size_t end)
{
    cr_assert(zepi_buffer_contents_set(contents, place, begin, end));
}

// The locations that have all of the bytes.
static uint64_t locations_of(const struct zepi_buffer_contents *contents, size_t begin, size_t end)
{
    uint64_t locations = UINT64_MAX;
    size_t range_begin = 0;
    for (uint32_t i = 0; i < contents->count; i++) {
        const struct zepi_buffer_range *range = &contents->ranges[i];
        if (range_begin < end && range->end_bytes > begin)
            locations &= range->locations;
        range_begin = range->end_bytes;
    }
    return locations;
}

Test(buffer_contents, what_is_written_is_in_one_place)
{
    struct zepi_buffer_contents contents = make(PLACE(1) | PLACE(2));
    set(&contents, 3, 100, 200);
    cr_assert_eq(locations_of(&contents, 100, 200), PLACE(3));
    cr_assert_eq(locations_of(&contents, 0, 100), PLACE(1) | PLACE(2));
    cr_assert_eq(locations_of(&contents, 200, SIZE), PLACE(1) | PLACE(2));
    cr_assert_eq(locations_of(&contents, 99, 101), 0);
    set(&contents, 1, 0, SIZE);
    cr_assert_eq(contents.count, 1);
    cr_assert_eq(locations_of(&contents, 0, SIZE), PLACE(1));
    zepi_buffer_contents_finish(&contents);
}

Test(buffer_contents, finds_what_a_place_lacks_and_another_has)
{
    struct zepi_buffer_contents contents = make(0);
    struct zepi_buffer_stale_range gap;
    cr_assert(!zepi_buffer_contents_find_stale(&contents, 2, 0, SIZE, &gap), "no place has it");
    set(&contents, 1, 100, 300);
    set(&contents, 2, 200, 250);
    cr_assert(zepi_buffer_contents_find_stale(&contents, 2, 150, SIZE, &gap));
    cr_assert(gap.begin_bytes == 150 && gap.end_bytes == 200 && gap.locations == PLACE(1));
    add(&contents, 2, gap.begin_bytes, gap.end_bytes);
    cr_assert(zepi_buffer_contents_find_stale(&contents, 2, 150, 260, &gap));
    cr_assert(gap.begin_bytes == 250 && gap.end_bytes == 260);
    add(&contents, 2, 250, 260);
    cr_assert(!zepi_buffer_contents_find_stale(&contents, 2, 150, 260, &gap));
    zepi_buffer_contents_finish(&contents);
}

Test(buffer_contents, small_writes_do_not_make_the_list_grow)
{
    struct zepi_buffer_contents contents = make(PLACE(1) | PLACE(2));
    for (size_t i = 0; i < SIZE - 1; i += 2)
        set(&contents, 1, i, i + 1);
    cr_assert_leq(contents.count, 130, "%u ranges", contents.count);
    cr_assert(locations_of(&contents, 0, SIZE) & PLACE(1));
    for (size_t i = 0; i < SIZE - 1; i += 2)
        cr_assert_eq(locations_of(&contents, i, i + 1), PLACE(1));
    zepi_buffer_contents_finish(&contents);
}

// Against a list with an entry for each byte.
Test(buffer_contents, are_those_of_a_simple_list_after_any_changes)
{
    struct zepi_buffer_contents contents = make(PLACE(0));
    uint64_t bytes[SIZE];
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = PLACE(0);
    srand(5);
    for (int round = 0; round < 300; round++) {
        const size_t begin = (size_t)rand() % 10 * 100;
        const size_t end = begin + 100 * (1 + (size_t)rand() % (10 - begin / 100));
        const uint32_t place = (uint32_t)rand() % 4;
        const bool is_write = rand() % 2 == 0;
        for (size_t i = begin; i < end; i++)
            bytes[i] = is_write ? PLACE(place) : bytes[i] | PLACE(place);
        if (is_write)
            set(&contents, place, begin, end);
        else
            add(&contents, place, begin, end);
        for (size_t i = 0; i < SIZE; i++)
            cr_assert_eq(locations_of(&contents, i, i + 1), bytes[i], "byte %zu in round %d", i,
                         round);
    }
    zepi_buffer_contents_finish(&contents);
}
