// SPDX-License-Identifier: MIT
//
// Which ranges and rectangles of memory can be, reckoned in 128 bits, for tests that hand ranges
// around 2^32, 2^64 and 0 to an interface.
#ifndef ZEPI_TESTS_SUPPORT_TEST_RANGES_H
#define ZEPI_TESTS_SUPPORT_TEST_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 test_wide;

// Memory that an operation may touch. No byte of it is touched: the driver does not execute.
struct test_place {
    uintptr_t address;
    // From the address to the end of the allocation; SIZE_MAX: not zepi's, so that only the end of
    // the address space is one.
    size_t room;
};

// The operation touches `size` bytes from the place on, or all bytes before such an end.
static inline bool test_range_fits(struct test_place place, test_wide size)
{
    return size <= place.room && place.address + size <= UINTPTR_MAX;
}

struct test_rect {
    size_t origin[3]; // bytes, rows, slices
    size_t row_pitch; // 0: without gaps
    size_t slice_pitch;
};

static inline test_wide test_rect_row(const struct test_rect *rect, const size_t region[3])
{
    return rect->row_pitch ? rect->row_pitch : region[0];
}

static inline test_wide test_rect_slice(const struct test_rect *rect, const size_t region[3])
{
    return rect->slice_pitch ? rect->slice_pitch : test_rect_row(rect, region) * region[1];
}

// Products of numbers beyond 64 bits stay below the end of 128: at most three of 2^64 times 2^64
// are added, the last of them, rows of dense slices, capped.
static inline test_wide test_rect_end(const struct test_rect *rect, const size_t region[3])
{
    const test_wide row = test_rect_row(rect, region), slice = test_rect_slice(rect, region);
    const test_wide rows = (test_wide)rect->origin[1] + region[1] - 1;
    const test_wide slices = (test_wide)rect->origin[2] + region[2] - 1;
    if (slices > 0 && (slice > UINT64_MAX || slices * slice > UINT64_MAX))
        return (test_wide)1 << 65;
    if (rows > 0 && (rows > UINT64_MAX || rows * row > UINT64_MAX))
        return (test_wide)1 << 65;
    return (test_wide)rect->origin[0] + region[0] + rows * row + slices * slice;
}

// Rows and slices do not overlap, and Level Zero's 32 bits hold the numbers. The region is not
// empty.
static inline bool test_rect_is_sound(const struct test_rect *rect, const size_t region[3])
{
    const test_wide row = test_rect_row(rect, region), slice = test_rect_slice(rect, region);
    const bool is_single = region[2] == 1 && rect->origin[2] == 0;
    for (int i = 0; i < 3; i++) {
        if (rect->origin[i] > UINT32_MAX || region[i] > UINT32_MAX)
            return false;
    }
    return row >= region[0] && slice >= row * region[1] && row <= UINT32_MAX &&
           (is_single || slice <= UINT32_MAX);
}

// A number near 0, 2^32, 2^63 or 2^64, or near `near`; small ones are the most frequent.
static inline size_t test_range_number(uint64_t *seed, size_t near)
{
    static const size_t middles[] = {
        2, 2, 16, 64, (size_t)1 << 31, (size_t)1 << 32, (size_t)1 << 63, SIZE_MAX - 2};
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    const unsigned draw = (unsigned)(*seed >> 33);
    const size_t middle = draw % 9 == 8 ? near : middles[draw % 9];
    return middle + draw / 16 % 5 - 2;
}

// The places of a test: where memory of zepi's begins and near its end, and memory that is not
// zepi's near 0, 2^32 and 2^64.
struct test_places {
    struct test_place list[8];
};

static inline struct test_places test_places_around(const void *memory, size_t size_bytes)
{
    const uintptr_t begin = (uintptr_t)memory;
    return (struct test_places){{
        {begin, size_bytes},
        {begin + size_bytes - 64, 64},
        {1, SIZE_MAX},
        {((size_t)1 << 32) - 8, SIZE_MAX},
        {(size_t)1 << 32, SIZE_MAX},
        {SIZE_MAX - ((size_t)1 << 33), SIZE_MAX},
        {SIZE_MAX - 64, SIZE_MAX},
        {SIZE_MAX, SIZE_MAX},
    }};
}

static inline struct test_place test_place_draw(uint64_t *seed, const struct test_places *places)
{
    return places->list[test_range_number(seed, 0) % 8];
}

// A number that may be near the end of the place.
static inline size_t test_place_number(uint64_t *seed, struct test_place place)
{
    return test_range_number(seed, place.room == SIZE_MAX ? 0 - place.address : place.room);
}

#endif
