// SPDX-License-Identifier: MIT
//
// Ranges and rectangles around 0, 2^32 and 2^64, and around the end of an allocation: each
// operation is taken or refused as numbers of 128 bits say. Nothing is executed.
#include "gear_fixture.h"
#include "test_ranges.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#define ROUNDS 60000
#define ALLOCATION ((size_t)3 << 20)

static struct test_places places;
static uint64_t seed = 1;
static unsigned outcomes[2]; // refused, taken

static void set_up(void)
{
    uint8_t *memory;
    setenv("ZE_CPU_EXECUTE", "0", 1);
    gear_set_up();
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, ALLOCATION, 0,
                              (void **)&memory));
    places = test_places_around(memory, ALLOCATION);
}

static void tear_down(void)
{
    cr_assert_gt(outcomes[0], ROUNDS / 100);
    cr_assert_gt(outcomes[1], ROUNDS / 100);
    TEST_OK(zepi.usm_free(gear.context, (void *)places.list[0].address));
    gear_tear_down();
}

TestSuite(ranges, .init = set_up, .fini = tear_down);

static void expect(const char *name, zepi_result_t result, bool is_taken, struct test_place place,
                   size_t size)
{
    cr_assert_eq(result, is_taken ? ZEPI_SUCCESS : ZEPI_ERROR_INVALID_SIZE,
                 "%s of %#zx bytes at %#zx: %s", name, size, (size_t)place.address,
                 result == ZEPI_SUCCESS ? "taken" : zepi.last_error(NULL));
    outcomes[is_taken]++;
}

Test(ranges, are_copied_filled_and_hinted_at_where_they_can_be)
{
    static const uint8_t pattern[8];
    uint8_t *const anywhere = (uint8_t *)4096;
    for (int round = 0; round < ROUNDS; round++) {
        const struct test_place place = test_place_draw(&seed, &places);
        const size_t size = test_place_number(&seed, place);
        uint8_t *const memory = (uint8_t *)place.address;
        const bool fits = size == 0 || test_range_fits(place, size);
        const bool is_everywhere =
            size == 0 || test_range_fits((struct test_place){4096, SIZE_MAX}, size);
        expect("copy to", zepi.queue_copy(gear.queue, memory, anywhere, size, TEST_NO_WAIT, NULL),
               fits && is_everywhere, place, size);
        expect("copy from", zepi.queue_copy(gear.queue, anywhere, memory, size, TEST_NO_WAIT, NULL),
               fits && is_everywhere, place, size);
        expect("fill", zepi.queue_fill(gear.queue, memory, pattern, 8, size, TEST_NO_WAIT, NULL),
               fits && size % 8 == 0, place, size);
        expect("prefetch", zepi.queue_prefetch(gear.queue, memory, size, TEST_NO_WAIT, NULL), fits,
               place, size);
        expect("advice", zepi.queue_advise(gear.queue, memory, size, ZEPI_ADVICE_BIAS_CACHED, NULL),
               fits, place, size);
    }
}

Test(ranges, are_recorded_where_they_can_be)
{
    static const uint8_t pattern[3];
    const zepi_graph_wait_list_t no_wait = {NULL, 0};
    uint8_t *const anywhere = (uint8_t *)4096;
    zepi_graph_t graph;
    TEST_OK(zepi.graph_create(gear.context, gear.device, 0, &graph));
    for (int round = 0; round < ROUNDS / 10; round++) {
        const struct test_place place = test_place_draw(&seed, &places);
        const size_t size = test_place_number(&seed, place);
        uint8_t *const memory = (uint8_t *)place.address;
        const bool fits = size > 0 && test_range_fits(place, size);
        const bool is_everywhere = test_range_fits((struct test_place){4096, SIZE_MAX}, size);
        expect("copy to", zepi.graph_add_copy(graph, memory, anywhere, size, no_wait, NULL),
               fits && is_everywhere, place, size);
        expect("copy from", zepi.graph_add_copy(graph, anywhere, memory, size, no_wait, NULL),
               fits && is_everywhere, place, size);
        expect("fill", zepi.graph_add_fill(graph, memory, pattern, 3, size, no_wait, NULL),
               fits && size % 3 == 0, place, size);
    }
    TEST_OK(zepi.release(graph));
}

Test(ranges, of_rectangles_are_copied_where_they_can_be)
{
    for (int round = 0; round < ROUNDS; round++) {
        const struct test_place place = test_place_draw(&seed, &places);
        const struct test_place other = test_place_draw(&seed, &places);
        struct test_rect rects[2] = {0};
        size_t region[3];
        for (int i = 0; i < 3; i++) {
            region[i] = test_place_number(&seed, place);
            rects[0].origin[i] =
                test_place_number(&seed, place) % 3 ? 0 : test_place_number(&seed, place);
        }
        rects[0].row_pitch =
            test_place_number(&seed, place) % 3 ? 0 : test_place_number(&seed, place);
        rects[0].slice_pitch =
            test_place_number(&seed, place) % 3 ? 0 : test_place_number(&seed, place);
        bool is_taken = region[0] == 0 || region[1] == 0 || region[2] == 0;
        if (!is_taken)
            is_taken = test_rect_is_sound(&rects[0], region) &&
                       test_rect_is_sound(&rects[1], region) &&
                       test_range_fits(place, test_rect_end(&rects[0], region)) &&
                       test_range_fits(other, test_rect_end(&rects[1], region));
        zepi_rect_t own[2];
        for (int i = 0; i < 2; i++)
            own[i] = (zepi_rect_t){{rects[i].origin[0], rects[i].origin[1], rects[i].origin[2]},
                                   rects[i].row_pitch,
                                   rects[i].slice_pitch};
        const bool is_to = round % 2;
        const zepi_result_t result = zepi.queue_copy_rect(
            gear.queue, (void *)(is_to ? place : other).address, &own[!is_to],
            (void *)(is_to ? other : place).address, &own[is_to], region, TEST_NO_WAIT, NULL);
        cr_assert_eq(
            result, is_taken ? ZEPI_SUCCESS : ZEPI_ERROR_INVALID_SIZE,
            "round %d: %#zx x %#zx x %#zx from %#zx, %#zx, %#zx with pitches %#zx, %#zx at "
            "%#zx and dense at %#zx: %s",
            round, region[0], region[1], region[2], rects[0].origin[0], rects[0].origin[1],
            rects[0].origin[2], rects[0].row_pitch, rects[0].slice_pitch, (size_t)place.address,
            (size_t)other.address, result == ZEPI_SUCCESS ? "taken" : zepi.last_error(NULL));
        outcomes[is_taken]++;
    }
}
