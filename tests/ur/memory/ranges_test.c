// SPDX-License-Identifier: MIT
//
// Ranges and rectangles around 0, 2^32 and 2^64, around the end of an allocation and of a buffer:
// each operation is taken or refused as numbers of 128 bits say. Nothing is executed.
#include "test_ranges.h"
#include "ur_fixture.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ROUNDS 30000
#define BYTES ((size_t)3 << 20)
#define NO_WAIT 0, NULL, NULL
#define NOT_AFTER 0, NULL, 0, NULL, NULL, NULL, NULL

static const struct test_place anywhere = {4096, SIZE_MAX};
static struct test_places places;
static ur_mem_handle_t buffer;
static ur_exp_command_buffer_handle_t commands;
static uint64_t seed = 1;
static unsigned outcomes[2]; // refused, taken

static void set_up(void)
{
    const ur_exp_command_buffer_desc_t desc = {.stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_DESC};
    setenv("ZE_CPU_EXECUTE", "0", 1);
    ur_set_up();
    uint8_t *memory = ur_shared(BYTES);
    places = test_places_around(memory, BYTES);
    UR_OK(urMemBufferCreate(gear.context, UR_MEM_FLAG_READ_WRITE, BYTES, NULL, &buffer));
    UR_OK(urCommandBufferCreateExp(gear.context, gear.device, &desc, &commands));
}

static void tear_down(void)
{
    cr_assert_gt(outcomes[0], ROUNDS / 100);
    cr_assert_gt(outcomes[1], ROUNDS / 100);
    UR_OK(urCommandBufferReleaseExp(commands));
    UR_OK(urMemRelease(buffer));
    ur_free((void *)places.list[0].address);
    ur_tear_down();
}

TestSuite(ranges, .init = set_up, .fini = tear_down);
TestSuite(ranges_executed, .init = ur_set_up, .fini = ur_tear_down);

static size_t draw_seldom(struct test_place place)
{
    return test_place_number(&seed, place) % 3 ? 0 : test_place_number(&seed, place);
}

static void expect(const char *name, ur_result_t result, bool is_taken, struct test_place place,
                   const size_t numbers[8])
{
    cr_assert_eq(result, is_taken ? UR_RESULT_SUCCESS : UR_RESULT_ERROR_INVALID_SIZE,
                 "%s at %#zx of %#zx, %#zx, %#zx: %d, %s\n(%#zx, %#zx, %#zx; %#zx, %#zx)", name,
                 (size_t)place.address, numbers[0], numbers[1], numbers[2], (int)result,
                 result == UR_RESULT_SUCCESS ? "taken" : ur_last_error(), numbers[3], numbers[4],
                 numbers[5], numbers[6], numbers[7]);
    outcomes[is_taken]++;
}

Test(ranges, are_copied_filled_and_hinted_at_where_they_can_be)
{
    static const uint8_t pattern[8];
    for (int round = 0; round < ROUNDS; round++) {
        const struct test_place place = test_place_draw(&seed, &places);
        const size_t size = test_place_number(&seed, place), numbers[8] = {size};
        uint8_t *const memory = (uint8_t *)place.address, *const other = (uint8_t *)4096;
        const bool fits = size > 0 && test_range_fits(place, size);
        const bool fits_both = fits && test_range_fits(anywhere, size);
        expect("copy to", urEnqueueUSMMemcpy(gear.queue, false, memory, other, size, NO_WAIT),
               fits_both, place, numbers);
        expect("copy from", urEnqueueUSMMemcpy(gear.queue, false, other, memory, size, NO_WAIT),
               fits_both, place, numbers);
        for (size_t bytes = 3; bytes <= 8; bytes += 5)
            expect("fill", urEnqueueUSMFill(gear.queue, memory, bytes, pattern, size, NO_WAIT),
                   fits && size % bytes == 0, place, numbers);
        expect("prefetch", urEnqueueUSMPrefetch(gear.queue, memory, size, 0, NO_WAIT), fits, place,
               numbers);
        expect("advice",
               urEnqueueUSMAdvise(gear.queue, memory, size, UR_USM_ADVICE_FLAG_BIAS_CACHED, NULL),
               fits, place, numbers);
    }
}

Test(ranges, are_recorded_where_they_can_be)
{
    static const uint8_t pattern[8];
    for (int round = 0; round < ROUNDS / 10; round++) {
        const struct test_place place = test_place_draw(&seed, &places);
        const size_t size = test_place_number(&seed, place), numbers[8] = {size};
        uint8_t *const memory = (uint8_t *)place.address, *const other = (uint8_t *)4096;
        const bool fits = size > 0 && test_range_fits(place, size);
        const bool fits_both = fits && test_range_fits(anywhere, size);
        expect("recorded copy to",
               urCommandBufferAppendUSMMemcpyExp(commands, memory, other, size, NOT_AFTER),
               fits_both, place, numbers);
        expect("recorded copy from",
               urCommandBufferAppendUSMMemcpyExp(commands, other, memory, size, NOT_AFTER),
               fits_both, place, numbers);
        for (size_t bytes = 3; bytes <= 8; bytes += 5)
            expect(
                "recorded fill",
                urCommandBufferAppendUSMFillExp(commands, memory, pattern, bytes, size, NOT_AFTER),
                fits && size % bytes == 0, place, numbers);
        expect("recorded prefetch",
               urCommandBufferAppendUSMPrefetchExp(commands, memory, size, 0, NOT_AFTER), fits,
               place, numbers);
    }
}

Test(ranges, of_buffers_are_copied_where_they_can_be)
{
    static const uint8_t pattern[8];
    const struct test_place whole = {0, BYTES};
    for (int round = 0; round < ROUNDS; round++) {
        const struct test_place place = test_place_draw(&seed, &places);
        const size_t offset = test_place_number(&seed, whole),
                     size = test_place_number(&seed, place);
        const size_t numbers[8] = {offset, size};
        uint8_t *const memory = (uint8_t *)place.address;
        const bool fits = size > 0 && (test_wide)offset + size <= BYTES;
        const bool fits_both = fits && test_range_fits(place, size);
        expect("read",
               urEnqueueMemBufferRead(gear.queue, buffer, false, offset, size, memory, NO_WAIT),
               fits_both, place, numbers);
        expect("write",
               urEnqueueMemBufferWrite(gear.queue, buffer, false, offset, size, memory, NO_WAIT),
               fits_both, place, numbers);
        expect("fill",
               urEnqueueMemBufferFill(gear.queue, buffer, pattern, 8, offset, size, NO_WAIT),
               fits && size % 8 == 0 && offset % 8 == 0, place, numbers);
        expect("recorded read",
               urCommandBufferAppendMemBufferReadExp(commands, buffer, offset, size, memory,
                                                     NOT_AFTER),
               fits_both, place, numbers);
        if (round % 64 == 0)
            UR_OK(urQueueFinish(gear.queue));
    }
}

// Rows of `width` bytes, `pitch` bytes apart.
static bool rows_fit(struct test_place place, size_t pitch, size_t width, size_t height)
{
    return pitch >= width && width > 0 && height > 0 &&
           test_range_fits(place, (test_wide)pitch * (height - 1) + width);
}

Test(ranges, of_rows_are_copied_and_filled_where_they_can_be)
{
    static const uint8_t pattern[8];
    for (int round = 0; round < ROUNDS; round++) {
        const struct test_place place = test_place_draw(&seed, &places);
        const size_t width = test_place_number(&seed, place),
                     height = test_place_number(&seed, place);
        const size_t pitch =
            test_place_number(&seed, place) % 2 ? width : test_place_number(&seed, place);
        const size_t numbers[8] = {pitch, width, height};
        const size_t region[3] = {width, height, 1};
        const struct test_rect rect = {.row_pitch = pitch}, dense = {.row_pitch = width};
        void *const memory = (void *)place.address;
        const bool fits = rows_fit(place, pitch, width, height);
        const bool is_sound = fits && test_rect_is_sound(&rect, region);
        const test_wide bytes = (test_wide)width * height;
        expect("copy of rows",
               urEnqueueUSMMemcpy2D(gear.queue, false, memory, pitch, (void *)4096, width, width,
                                    height, NO_WAIT),
               is_sound && rows_fit(anywhere, width, width, height) &&
                   test_rect_is_sound(&dense, region),
               place, numbers);
        expect("fill of rows",
               urEnqueueUSMFill2D(gear.queue, memory, pitch, 1, pattern, width, height, NO_WAIT),
               fits && bytes <= SIZE_MAX && (is_sound || pitch == width || height == 1), place,
               numbers);
    }
}

static bool may_be_copied(const struct test_rect *rect, const size_t region[3],
                          struct test_place place)
{
    return test_rect_is_sound(rect, region) &&
           test_range_fits(place, test_rect_end(rect, region)) &&
           rect->slice_pitch % (size_t)test_rect_row(rect, region) == 0;
}

Test(ranges, of_rectangles_are_copied_where_they_can_be)
{
    const struct test_place whole = {0, BYTES};
    for (int round = 0; round < ROUNDS; round++) {
        const struct test_place place = test_place_draw(&seed, &places);
        struct test_rect rects[2] = {0};
        size_t region[3];
        for (int i = 0; i < 3; i++)
            region[i] = test_place_number(&seed, place);
        // Gaps in the buffer or in the host's memory.
        struct test_rect *const odd = &rects[round % 2];
        for (int i = 0; i < 3; i++)
            odd->origin[i] = draw_seldom(place);
        odd->row_pitch = draw_seldom(place);
        odd->slice_pitch =
            odd->row_pitch ? odd->row_pitch * draw_seldom(place) : draw_seldom(place);
        const size_t numbers[8] = {region[0],      region[1],       region[2],
                                   odd->origin[0], odd->origin[1],  odd->origin[2],
                                   odd->row_pitch, odd->slice_pitch};
        const bool is_taken = region[0] > 0 && region[1] > 0 && region[2] > 0 &&
                              may_be_copied(&rects[0], region, whole) &&
                              may_be_copied(&rects[1], region, place);
        const ur_rect_region_t box = {region[0], region[1], region[2]};
        ur_rect_offset_t origins[2];
        for (int i = 0; i < 2; i++)
            origins[i] =
                (ur_rect_offset_t){rects[i].origin[0], rects[i].origin[1], rects[i].origin[2]};
        void *const memory = (void *)place.address;
        expect("read of a rectangle",
               urEnqueueMemBufferReadRect(
                   gear.queue, buffer, false, origins[0], origins[1], box, rects[0].row_pitch,
                   rects[0].slice_pitch, rects[1].row_pitch, rects[1].slice_pitch, memory, NO_WAIT),
               is_taken, place, numbers);
        expect("write of a rectangle",
               urEnqueueMemBufferWriteRect(
                   gear.queue, buffer, false, origins[0], origins[1], box, rects[0].row_pitch,
                   rects[0].slice_pitch, rects[1].row_pitch, rects[1].slice_pitch, memory, NO_WAIT),
               is_taken, place, numbers);
        expect("recorded read of a rectangle",
               urCommandBufferAppendMemBufferReadRectExp(commands, buffer, origins[0], origins[1],
                                                         box, rects[0].row_pitch,
                                                         rects[0].slice_pitch, rects[1].row_pitch,
                                                         rects[1].slice_pitch, memory, NOT_AFTER),
               is_taken, place, numbers);
    }
}
