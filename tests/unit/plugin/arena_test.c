// SPDX-License-Identifier: MIT
#include "core/arena.h"

#include <criterion/criterion.h>
#include <stdalign.h>
#include <stdint.h>
#include <string.h>

static bool has_bytes(const unsigned char *piece, size_t size_bytes, unsigned char value)
{
    for (size_t i = 0; i < size_bytes; i++) {
        if (piece[i] != value)
            return false;
    }
    return true;
}

Test(arena, pieces_are_zeroed_aligned_and_apart)
{
    static const size_t sizes[] = {1, 16, 400, 0, 17, 1000, 100000, 3, 32768, 500};
    enum { COUNT = 500, SIZES = sizeof(sizes) / sizeof(sizes[0]) };
    struct zepi_arena arena = {0};
    unsigned char *pieces[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        pieces[i] = zepi_arena_allocate(&arena, sizes[i % SIZES]);
        cr_assert_not_null(pieces[i]);
        cr_assert_eq((uintptr_t)pieces[i] % alignof(max_align_t), 0);
        cr_assert(has_bytes(pieces[i], sizes[i % SIZES], 0), "piece %zu is not zeroed", i);
        memset(pieces[i], (int)(i % 255 + 1), sizes[i % SIZES]);
    }
    for (size_t i = 0; i < COUNT; i++)
        cr_expect(has_bytes(pieces[i], sizes[i % SIZES], (unsigned char)(i % 255 + 1)),
                  "piece %zu was written to", i);
    zepi_arena_finish(&arena);
}

Test(arena, the_last_piece_is_given_back_and_zeroed_again)
{
    struct zepi_arena arena = {0};
    zepi_arena_allocate(&arena, 100);
    unsigned char *last = zepi_arena_allocate(&arena, 50);
    memset(last, 0xff, 50);
    zepi_arena_give_back(&arena, last, 50);
    unsigned char *next = zepi_arena_allocate(&arena, 60);
    cr_expect_eq(next, last);
    cr_expect(has_bytes(next, 60, 0));
    zepi_arena_finish(&arena);
}

Test(arena, a_piece_before_the_last_one_stays)
{
    struct zepi_arena arena = {0};
    unsigned char *first = zepi_arena_allocate(&arena, 100);
    unsigned char *last = zepi_arena_allocate(&arena, 50);
    memset(first, 1, 100);
    memset(last, 2, 50);
    zepi_arena_give_back(&arena, first, 100);
    cr_assert_not_null(zepi_arena_allocate(&arena, 200));
    cr_expect(has_bytes(first, 100, 1));
    cr_expect(has_bytes(last, 50, 2));
    zepi_arena_finish(&arena);
}

Test(arena, a_size_beyond_all_memory_is_refused)
{
    struct zepi_arena arena = {0};
    cr_expect_null(zepi_arena_allocate(&arena, SIZE_MAX));
    cr_expect_null(zepi_arena_allocate(&arena, (size_t)PTRDIFF_MAX + 1));
    cr_expect_not_null(zepi_arena_allocate(&arena, 8));
    zepi_arena_finish(&arena);
    cr_expect_null(arena.blocks);
}
