// SPDX-License-Identifier: MIT
#include "gear_fixture.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// A device that addresses 64 MiB of an allocation, unless it is asked for more.
static void set_up_limited(void)
{
    setenv("ZE_CPU_MAX_ALLOCATION", "64", 1);
    setenv("OverrideMaxMemAllocSizeMb", "64", 1); // of Intel's driver
    gear_set_up();
}

static void set_up_large(void)
{
    setenv("ZEPI_LARGE_ALLOCATIONS", "on", 1);
    set_up_limited();
}

TestSuite(usm_limited, .init = set_up_limited, .fini = gear_tear_down);
TestSuite(usm_large, .init = set_up_large, .fini = gear_tear_down);
TestSuite(usm, .init = gear_set_up, .fini = gear_tear_down);
TestSuite(copy, .init = gear_set_up, .fini = gear_tear_down);

static zepi_usm_info_t info_of(const void *address)
{
    zepi_usm_info_t info = {.size = sizeof(info)};
    TEST_OK(zepi.usm_get_info(gear.context, address, &info));
    return info;
}

Test(usm, of_each_kind_knows_what_it_is)
{
    static const zepi_usm_kind_t kinds[] = {ZEPI_USM_HOST, ZEPI_USM_DEVICE, ZEPI_USM_SHARED};
    for (int i = 0; i < 3; i++) {
        uint8_t *memory;
        TEST_OK(zepi.usm_allocate(gear.context, kinds[i] == ZEPI_USM_HOST ? NULL : gear.device,
                                  kinds[i], 1000, 256, (void **)&memory));
        cr_assert_eq((uintptr_t)memory % 256, 0);
        const zepi_usm_info_t info = info_of(memory + 999);
        cr_assert_eq(info.kind, kinds[i]);
        cr_assert_eq(info.base, memory);
        cr_assert_geq(info.size_bytes, 1000);
        cr_assert_eq(info.device, kinds[i] == ZEPI_USM_HOST ? NULL : gear.device);
        TEST_OK(zepi.usm_free(gear.context, memory));
    }
    int local;
    cr_assert_eq(info_of(&local).kind, ZEPI_USM_UNKNOWN);
}

Test(usm, refuses_what_cannot_be)
{
    void *memory = NULL;
    zepi_context_t context = gear.context;
    TEST_FAILS_SAYING(zepi.usm_allocate(context, NULL, ZEPI_USM_HOST, 0, 0, &memory),
                      ZEPI_ERROR_INVALID_SIZE, "0 bytes");
    TEST_FAILS_SAYING(zepi.usm_allocate(context, NULL, ZEPI_USM_HOST, 8, 24, &memory),
                      ZEPI_ERROR_INVALID_VALUE, "power of two");
    TEST_FAILS(zepi.usm_allocate(context, NULL, ZEPI_USM_DEVICE, 8, 0, &memory),
               ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(zepi.usm_allocate(context, gear.device, ZEPI_USM_HOST, 8, 0, &memory),
               ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.usm_allocate(context, gear.device, (zepi_usm_kind_t)9, 8, 0, &memory),
               ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.usm_allocate(context, gear.device, ZEPI_USM_DEVICE, 8, 0, NULL),
               ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS_SAYING(
        zepi.usm_allocate(context, gear.device, ZEPI_USM_DEVICE, SIZE_MAX / 2, 0, &memory),
        ZEPI_ERROR_OUT_OF_DEVICE_MEMORY, "at most");
    cr_assert_null(memory);
    TEST_FAILS(zepi.usm_free(context, NULL), ZEPI_ERROR_INVALID_VALUE);
    int local;
    TEST_FAILS(zepi.usm_free(context, &local), ZEPI_ERROR_INVALID_VALUE);
}

#define MIB ((size_t)1 << 20)

static uint64_t limit(void)
{
    zepi_device_info_t info = {.size = sizeof(info)};
    TEST_OK(zepi.device_get_info(gear.device, &info));
    return info.max_allocation_bytes;
}

Test(usm_limited, is_refused_beyond_the_limit_and_the_error_names_the_option)
{
    void *memory;
    cr_assert_eq(limit(), 64 * MIB);
    TEST_FAILS_SAYING(
        zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_DEVICE, 65 * MIB, 0, &memory),
        ZEPI_ERROR_OUT_OF_DEVICE_MEMORY, "ZEPI_LARGE_ALLOCATIONS=on");
}

Test(usm_large, goes_beyond_the_limit)
{
    void *memory;
    static const zepi_usm_kind_t kinds[] = {ZEPI_USM_HOST, ZEPI_USM_DEVICE, ZEPI_USM_SHARED};
    for (int i = 0; i < 3; i++) {
        TEST_OK(zepi.usm_allocate(gear.context, kinds[i] == ZEPI_USM_HOST ? NULL : gear.device,
                                  kinds[i], 65 * MIB, 0, &memory));
        TEST_OK(zepi.usm_free(gear.context, memory));
    }
    cr_assert_gt(limit(), 64 * MIB);
    TEST_FAILS(
        zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_DEVICE, limit() + 1, 0, &memory),
        ZEPI_ERROR_OUT_OF_DEVICE_MEMORY);
}

Test(copy, moves_bytes_between_all_kinds_of_memory)
{
    enum { SIZE = 10007 };
    uint8_t *memory[4];
    TEST_OK(zepi.usm_allocate(gear.context, NULL, ZEPI_USM_HOST, SIZE, 0, (void **)&memory[0]));
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_DEVICE, SIZE, 0,
                              (void **)&memory[1]));
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, SIZE, 0,
                              (void **)&memory[2]));
    memory[3] = malloc(SIZE);
    for (int i = 0; i < SIZE; i++)
        memory[3][i] = (uint8_t)(i * 7);
    // Plain memory to host, device, shared and back into the middle of plain memory.
    uint8_t *back = calloc(1, SIZE);
    TEST_OK(zepi.queue_copy(gear.queue, memory[0], memory[3], SIZE, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_copy(gear.queue, memory[1], memory[0], SIZE, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_copy(gear.queue, memory[2], memory[1], SIZE, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_copy(gear.queue, back + 3, memory[2] + 3, SIZE - 5, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    cr_assert_eq(memcmp(back + 3, memory[3] + 3, SIZE - 5), 0);
    cr_assert_eq(back[0], 0);
    cr_assert_eq(back[SIZE - 2], 0);
    for (int i = 0; i < 3; i++)
        TEST_OK(zepi.usm_free(gear.context, memory[i]));
    free(memory[3]);
    free(back);
}

// The same rectangle, byte by byte.
static void copy_box(uint8_t *to, const zepi_rect_t *to_rect, const uint8_t *from,
                     const zepi_rect_t *from_rect, const size_t region[3])
{
    for (size_t z = 0; z < region[2]; z++) {
        for (size_t y = 0; y < region[1]; y++) {
            for (size_t x = 0; x < region[0]; x++)
                to[to_rect->origin_bytes[0] + x +
                   (to_rect->origin_bytes[1] + y) * to_rect->row_pitch_bytes +
                   (to_rect->origin_bytes[2] + z) * to_rect->slice_pitch_bytes] =
                    from[from_rect->origin_bytes[0] + x +
                         (from_rect->origin_bytes[1] + y) * from_rect->row_pitch_bytes +
                         (from_rect->origin_bytes[2] + z) * from_rect->slice_pitch_bytes];
        }
    }
}

Test(copy, of_boxes_of_any_shape_moves_the_same_bytes_as_a_loop)
{
    enum { SIZE = 1 << 16 };
    uint8_t *from;
    uint8_t *to;
    uint8_t *expected = malloc(SIZE);
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, SIZE, 0, (void **)&from));
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, SIZE, 0, (void **)&to));
    srand(5);
    for (int i = 0; i < SIZE; i++)
        from[i] = (uint8_t)rand();
    for (int round = 0; round < 50; round++) {
        const size_t region[3] = {1 + rand() % 20, 1 + rand() % 8, 1 + rand() % 4};
        zepi_rect_t rects[2];
        for (int i = 0; i < 2; i++) {
            for (int at = 0; at < 3; at++)
                rects[i].origin_bytes[at] = rand() % 4;
            rects[i].row_pitch_bytes = region[0] + 4 + rand() % 10;
            rects[i].slice_pitch_bytes = rects[i].row_pitch_bytes * (region[1] + 4 + rand() % 3);
        }
        memset(to, round, SIZE);
        memset(expected, round, SIZE);
        copy_box(expected, &rects[0], from, &rects[1], region);
        TEST_OK(zepi.queue_copy_rect(gear.queue, to, &rects[0], from, &rects[1], region,
                                     TEST_NO_WAIT, NULL));
        TEST_OK(zepi.queue_finish(gear.queue));
        cr_assert_eq(memcmp(to, expected, SIZE), 0, "round %d", round);
    }
    zepi_rect_t narrow = {.row_pitch_bytes = 7};
    zepi_rect_t plain = {0};
    const size_t region[3] = {8, 2, 1};
    TEST_FAILS_SAYING(
        zepi.queue_copy_rect(gear.queue, to, &plain, from, &narrow, region, TEST_NO_WAIT, NULL),
        ZEPI_ERROR_INVALID_SIZE, "row pitch is 7 bytes, expected at least 8");
    TEST_OK(zepi.usm_free(gear.context, from));
    TEST_OK(zepi.usm_free(gear.context, to));
    free(expected);
}

#define FAR_PITCH ((size_t)1 << 20)
#define FAR_ROWS 4097 // 4 GiB and a row

// Untouched pages cost nothing.
static uint8_t *map_far_rows(void)
{
    void *rows = mmap(NULL, FAR_ROWS * FAR_PITCH, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    cr_assert_neq(rows, MAP_FAILED);
    return rows;
}

Test(copy, rows_may_be_more_than_4_gib_apart)
{
    uint8_t *from = map_far_rows(), *to = map_far_rows();
    zepi_rect_t rect = {.row_pitch_bytes = FAR_PITCH};
    size_t region[3] = {16, FAR_ROWS, 1};
    for (size_t row = 0; row < FAR_ROWS; row++)
        memset(from + row * FAR_PITCH, (int)(row % 251), 16);
    TEST_OK(zepi.queue_copy_rect(gear.queue, to, &rect, from, &rect, region, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    for (size_t row = 0; row < FAR_ROWS; row++)
        cr_assert_eq(memcmp(to + row * FAR_PITCH, from + row * FAR_PITCH, 16), 0, "row %zu", row);
    // Slices are another matter.
    const size_t slice = FAR_ROWS * FAR_PITCH;
    const zepi_rect_t dense = {0};
    rect.origin_bytes[2] = 1;
    TEST_FAILS_SAYING(
        zepi.queue_copy_rect(gear.queue, to, &rect, from, &dense, region, TEST_NO_WAIT, NULL),
        ZEPI_ERROR_INVALID_SIZE, "slice pitch of 4296015872 bytes is beyond 32 bits");
    rect = (zepi_rect_t){.row_pitch_bytes = FAR_PITCH, .slice_pitch_bytes = slice};
    region[1] = region[2] = 2;
    TEST_FAILS_SAYING(
        zepi.queue_copy_rect(gear.queue, to, &dense, from, &rect, region, TEST_NO_WAIT, NULL),
        ZEPI_ERROR_INVALID_SIZE, "slice pitch of 4296015872 bytes is beyond 32 bits");
    rect.row_pitch_bytes = (size_t)1 << 32;
    rect.slice_pitch_bytes = 0;
    region[2] = 1;
    TEST_FAILS_SAYING(
        zepi.queue_copy_rect(gear.queue, to, &dense, from, &rect, region, TEST_NO_WAIT, NULL),
        ZEPI_ERROR_INVALID_SIZE, "row pitch of 4294967296 bytes is beyond 32 bits");
    munmap(from, slice);
    munmap(to, slice);
}

Test(copy, boxes_end_within_the_address_space)
{
    static uint8_t memory[64], other[64];
    const zepi_rect_t dense = {0};
    zepi_rect_t rect = {.row_pitch_bytes = UINT32_MAX};
    size_t region[3] = {1, UINT32_MAX, 1};
    TEST_FAILS_SAYING(
        zepi.queue_copy_rect(gear.queue, memory, &dense, other, &rect, region, TEST_NO_WAIT, NULL),
        ZEPI_ERROR_INVALID_SIZE, "past the end of memory");
    rect.origin_bytes[1] = UINT32_MAX;
    TEST_FAILS_SAYING(
        zepi.queue_copy_rect(gear.queue, memory, &dense, other, &rect, region, TEST_NO_WAIT, NULL),
        ZEPI_ERROR_INVALID_SIZE, "source rectangle is too large");
    region[1] = 1;
    for (int i = 0; i < 3; i++) {
        rect = dense;
        rect.origin_bytes[i] = SIZE_MAX;
        TEST_FAILS(zepi.queue_copy_rect(gear.queue, memory, &rect, other, &dense, region,
                                        TEST_NO_WAIT, NULL),
                   ZEPI_ERROR_INVALID_SIZE);
    }
}

Test(copy, fills_with_patterns_of_every_size)
{
    enum { SIZE = 4096 };
    uint8_t *memory;
    uint8_t pattern[256];
    TEST_OK(
        zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, SIZE, 0, (void **)&memory));
    for (int i = 0; i < 256; i++)
        pattern[i] = (uint8_t)(i + 1);
    for (size_t size = 1; size <= 128; size *= 2) {
        memset(memory, 0, SIZE);
        TEST_OK(zepi.queue_fill(gear.queue, memory, pattern, size, SIZE / 2, TEST_NO_WAIT, NULL));
        TEST_OK(zepi.queue_finish(gear.queue));
        for (size_t i = 0; i < SIZE / 2; i++)
            cr_assert_eq(memory[i], pattern[i % size], "pattern of %zu, byte %zu", size, i);
        cr_assert_eq(memory[SIZE / 2], 0);
    }
    TEST_FAILS_SAYING(zepi.queue_fill(gear.queue, memory, pattern, 3, 9, TEST_NO_WAIT, NULL),
                      ZEPI_ERROR_INVALID_SIZE, "power of two");
    TEST_FAILS(zepi.queue_fill(gear.queue, memory, pattern, 256, 256, TEST_NO_WAIT, NULL),
               ZEPI_ERROR_INVALID_SIZE);
    TEST_FAILS_SAYING(zepi.queue_fill(gear.queue, memory, pattern, 4, 6, TEST_NO_WAIT, NULL),
                      ZEPI_ERROR_INVALID_SIZE, "multiple");
    TEST_FAILS(zepi.queue_fill(gear.queue, memory, NULL, 4, 8, TEST_NO_WAIT, NULL),
               ZEPI_ERROR_INVALID_VALUE);
    TEST_OK(zepi.usm_free(gear.context, memory));
}

Test(copy, of_nothing_completes_and_of_nowhere_is_refused)
{
    zepi_event_t event;
    uint8_t byte = 1;
    TEST_OK(zepi.queue_copy(gear.queue, NULL, NULL, 0, TEST_NO_WAIT, &event));
    TEST_OK(zepi.event_wait(1, &event, UINT64_MAX));
    TEST_OK(zepi.release(event));
    TEST_FAILS_SAYING(zepi.queue_copy(gear.queue, NULL, &byte, 1, TEST_NO_WAIT, NULL),
                      ZEPI_ERROR_INVALID_VALUE, "destination is NULL");
    TEST_FAILS(zepi.queue_copy(gear.queue, &byte, NULL, 1, TEST_NO_WAIT, NULL),
               ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.queue_copy(gear.queue, &byte, &byte, SIZE_MAX, TEST_NO_WAIT, NULL),
               ZEPI_ERROR_INVALID_SIZE);
}

// 1000 bytes, of a block that has 1024.
static void *allocate_1000(zepi_usm_kind_t kind)
{
    void *memory;
    TEST_OK(zepi.usm_allocate(gear.context, kind == ZEPI_USM_HOST ? NULL : gear.device, kind, 1000,
                              0, &memory));
    return memory;
}

#define PAST_THE_END(call, sizes) TEST_FAILS_SAYING(call, ZEPI_ERROR_INVALID_SIZE, sizes)

Test(copy, past_the_end_of_an_allocation_is_refused)
{
    static const zepi_usm_kind_t kinds[] = {ZEPI_USM_HOST, ZEPI_USM_DEVICE, ZEPI_USM_SHARED};
    uint8_t plain[2048] = {0};
    zepi_event_t event = NULL;
    for (int i = 0; i < 3; i++) {
        uint8_t *memory = allocate_1000(kinds[i]);
        uint8_t *inside = memory + 300;
        PAST_THE_END(zepi.queue_copy(gear.queue, memory, plain, 1001, TEST_NO_WAIT, &event),
                     "the destination is 1001 bytes");
        test_expect_text("its allocation has 1000 there", "queue_copy", __FILE__, __LINE__);
        PAST_THE_END(zepi.queue_copy(gear.queue, plain, inside, 701, TEST_NO_WAIT, &event),
                     "its allocation has 700 there");
        PAST_THE_END(zepi.queue_fill(gear.queue, inside, plain, 1, 701, TEST_NO_WAIT, &event),
                     "the destination is 701 bytes");
        PAST_THE_END(zepi.queue_prefetch(gear.queue, inside, 701, TEST_NO_WAIT, &event),
                     "the memory is 701 bytes");
        PAST_THE_END(zepi.queue_advise(gear.queue, memory, 1001, ZEPI_ADVICE_SET_READ_MOSTLY, NULL),
                     "its allocation has 1000 there");
        cr_assert_null(event);
        TEST_OK(zepi.queue_copy(gear.queue, inside, plain, 700, TEST_NO_WAIT, NULL));
        TEST_OK(zepi.queue_copy(gear.queue, plain, memory, 1000, TEST_NO_WAIT, NULL));
        TEST_OK(zepi.queue_fill(gear.queue, inside, plain, 1, 700, TEST_NO_WAIT, NULL));
        TEST_OK(zepi.queue_finish(gear.queue));
        TEST_OK(zepi.usm_free(gear.context, memory));
    }
    TEST_FAILS(zepi.queue_copy(NULL, plain, plain, 1, TEST_NO_WAIT, NULL),
               ZEPI_ERROR_INVALID_OBJECT);
}

Test(copy, of_boxes_past_the_end_of_an_allocation_is_refused)
{
    uint8_t *memory = allocate_1000(ZEPI_USM_SHARED);
    uint8_t plain[2048] = {0};
    const zepi_rect_t whole = {0};
    // 3 slices of 4 rows of 10 bytes: the last byte is number 2 * 200 + 3 * 20 + 10.
    zepi_rect_t rect = {.row_pitch_bytes = 20, .slice_pitch_bytes = 200};
    size_t region[3] = {10, 4, 3};
    for (size_t z = 0; z <= 2; z++) {
        rect.origin_bytes[2] = z;
        rect.origin_bytes[0] = z == 2 ? 130 : 0;
        TEST_OK(zepi.queue_copy_rect(gear.queue, memory, &rect, plain, &whole, region, TEST_NO_WAIT,
                                     NULL));
    }
    rect.origin_bytes[0]++;
    PAST_THE_END(
        zepi.queue_copy_rect(gear.queue, memory, &rect, plain, &whole, region, TEST_NO_WAIT, NULL),
        "the destination is 1001 bytes");
    PAST_THE_END(
        zepi.queue_copy_rect(gear.queue, plain, &whole, memory, &rect, region, TEST_NO_WAIT, NULL),
        "its allocation has 1000 there");
    // More than any memory.
    rect.slice_pitch_bytes = SIZE_MAX / 2;
    PAST_THE_END(
        zepi.queue_copy_rect(gear.queue, memory, &rect, plain, &whole, region, TEST_NO_WAIT, NULL),
        "too large");
    TEST_OK(zepi.queue_finish(gear.queue));
    TEST_OK(zepi.usm_free(gear.context, memory));
}

Test(copy, hints_are_taken_and_complete)
{
    void *memory;
    zepi_event_t event;
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, 8192, 0, &memory));
    TEST_OK(zepi.queue_prefetch(gear.queue, memory, 8192, TEST_NO_WAIT, &event));
    TEST_OK(zepi.event_wait(1, &event, UINT64_MAX));
    TEST_OK(zepi.release(event));
    TEST_OK(zepi.queue_advise(gear.queue, memory, 8192, ZEPI_ADVICE_SET_READ_MOSTLY, &event));
    TEST_OK(zepi.event_wait(1, &event, UINT64_MAX));
    TEST_OK(zepi.release(event));
    TEST_FAILS_SAYING(zepi.queue_advise(gear.queue, memory, 8192, (zepi_advice_t)99, NULL),
                      ZEPI_ERROR_INVALID_VALUE, "99");
    TEST_OK(zepi.usm_free(gear.context, memory));
}

// Nothing is known of memory that zepi did not make: the driver is asked once for each copy what it
// is, a variable's or the host's.
Test(copy, of_plain_host_memory_asks_the_driver)
{
    char plain[64] = "plain";
    char *usm = gear_allocate(sizeof(plain));
    ze_cpu.reset_counts();
    for (int i = 0; i < 3; i++) {
        TEST_OK(zepi.queue_copy(gear.queue, usm, plain, sizeof(plain), TEST_NO_WAIT, NULL));
        TEST_OK(zepi.queue_copy(gear.queue, plain, usm, sizeof(plain), TEST_NO_WAIT, NULL));
        TEST_OK(zepi.queue_finish(gear.queue));
    }
    cr_assert_eq(ze_cpu.get_count("zeMemGetAddressRange"), 0);
    cr_assert_eq(ze_cpu.get_count("zeMemGetAllocProperties"), 6);
    cr_assert_str_eq(usm, "plain");
    TEST_OK(zepi.usm_free(gear.context, usm));
}
