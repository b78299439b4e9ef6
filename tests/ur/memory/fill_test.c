// SPDX-License-Identifier: MIT
// Fills: patterns of any size, whole and in rows.
#include "ur_fixture.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Lists that do not keep the order.
static void set_up_older(void)
{
    setenv("ZEPI_NEWER_FUNCTIONS", "off", 1);
    ur_set_up();
}

TestSuite(fill, .init = ur_set_up, .fini = ur_tear_down);
TestSuite(fill_older, .init = set_up_older, .fini = ur_tear_down);

static void *allocate(ur_usm_type_t kind, size_t size)
{
    void *memory = NULL;
    if (kind == UR_USM_TYPE_HOST)
        UR_OK(urUSMHostAlloc(gear.context, NULL, NULL, size, &memory));
    else if (kind == UR_USM_TYPE_DEVICE)
        UR_OK(urUSMDeviceAlloc(gear.context, gear.device, NULL, NULL, size, &memory));
    else
        UR_OK(urUSMSharedAlloc(gear.context, gear.device, NULL, NULL, size, &memory));
    return memory;
}

// The pattern may change as soon as the call is back.
Test(fill, has_patterns_of_any_size)
{
    static const size_t patterns[] = {1, 2, 3, 4, 5, 8, 12, 16, 24, 64, 100, 128, 256, 1000};
    for (ur_usm_type_t kind = UR_USM_TYPE_HOST; kind <= UR_USM_TYPE_SHARED; kind++) {
        unsigned char *memory = allocate(kind, 8192);
        for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
            const size_t size = patterns[i] * 7;
            unsigned char pattern[1000];
            unsigned char before[1000];
            unsigned char back[8192];
            for (size_t k = 0; k < patterns[i]; k++)
                pattern[k] = (unsigned char)(k * 3 + i);
            memcpy(before, pattern, sizeof(before));
            const unsigned char zero = 0;
            UR_OK(urEnqueueUSMFill(gear.queue, memory, 1, &zero, 8192, 0, NULL, NULL));
            UR_OK(urEnqueueUSMFill(gear.queue, memory + 8, patterns[i], pattern, size, 0, NULL,
                                   NULL));
            memset(pattern, 0xff, sizeof(pattern));
            UR_OK(urEnqueueUSMMemcpy(gear.queue, true, back, memory, 8192, 0, NULL, NULL));
            for (size_t k = 0; k < 8192; k++) {
                const unsigned char expected =
                    k < 8 || k >= 8 + size ? 0 : before[(k - 8) % patterns[i]];
                cr_assert_eq(back[k], expected, "pattern %zu, byte %zu", patterns[i], k);
            }
        }
        ur_free(memory);
    }
}

Test(fill, is_in_rows_and_nothing_between_them)
{
    enum { PITCH = 48, ROWS = 7, WIDTH = 20 };
    for (size_t pattern_size = 1; pattern_size <= 4; pattern_size *= 2) {
        unsigned char *memory = ur_shared((size_t)PITCH * ROWS);
        const unsigned char pattern[4] = {1, 2, 3, 4};
        UR_OK(urEnqueueUSMFill2D(gear.queue, memory, PITCH, pattern_size, pattern, WIDTH, ROWS, 0,
                                 NULL, NULL));
        UR_OK(urQueueFinish(gear.queue));
        for (size_t i = 0; i < (size_t)PITCH * ROWS; i++)
            cr_assert_eq(memory[i], i % PITCH < WIDTH ? pattern[i % PITCH % pattern_size] : 0);
        ur_free(memory);
    }
}

// Patterns that no row has whole go on in the next one.
Test(fill, is_in_rows_with_every_pattern_that_fits_all_of_them)
{
    static const struct {
        size_t pattern, width, height;
    } fills[] = {{8, 4, 2},    {8, 20, 6},   {16, 20, 4},  {64, 12, 16},
                 {256, 8, 96}, {128, 32, 4}, {32, 31, 64}, {4, 6, 2}};
    for (int order = 0; order < 2; order++) {
        ur_queue_handle_t queue =
            ur_queue(gear.device, order ? UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0);
        for (size_t i = 0; i < sizeof(fills) / sizeof(fills[0]); i++) {
            const size_t pitch = fills[i].width + 5;
            const size_t size = pitch * fills[i].height;
            unsigned char *memory = ur_shared(size);
            unsigned char pattern[256];
            ur_event_handle_t event;
            for (size_t k = 0; k < sizeof(pattern); k++)
                pattern[k] = (unsigned char)(k + 1);
            UR_OK(urEnqueueUSMFill2D(queue, memory, pitch, fills[i].pattern, pattern,
                                     fills[i].width, fills[i].height, 0, NULL, &event));
            memset(pattern, 0, sizeof(pattern)); // it is the caller's again
            UR_OK(urEventWait(1, &event));
            UR_OK(urEventRelease(event));
            for (size_t k = 0; k < size; k++) {
                const size_t at = k / pitch * fills[i].width + k % pitch;
                const unsigned char expected = (unsigned char)(at % fills[i].pattern + 1);
                cr_assert_eq(memory[k], k % pitch < fills[i].width ? expected : 0,
                             "fill %zu, byte %zu", i, k);
            }
            ur_free(memory);
        }
        UR_OK(urQueueRelease(queue));
    }
    ur_bool_t is_supported;
    UR_OK(urContextGetInfo(gear.context, UR_CONTEXT_INFO_USM_FILL2D_SUPPORT, sizeof(is_supported),
                           &is_supported, NULL));
    cr_assert(is_supported);
}

// What the driver has no command for is copies, each of what the one before wrote. The first one is
// late, and the others have time to come too early.
static void fill_late(size_t pattern_size, size_t width, size_t pitch)
{
    enum { ROWS = 12 };
    const unsigned char pattern[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    ur_queue_handle_t queue = ur_queue(gear.device, UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    unsigned char *memory = ur_shared(ROWS * pitch);
    const struct host_event host = host_event_make();
    ur_event_handle_t event;
    if (pitch == width)
        UR_OK(urEnqueueUSMFill(queue, memory, pattern_size, pattern, ROWS * width, 1, &host.event,
                               &event));
    else
        UR_OK(urEnqueueUSMFill2D(queue, memory, pitch, pattern_size, pattern, width, ROWS, 1,
                                 &host.event, &event));
    UR_OK(urQueueFlush(queue));
    usleep(20000);
    host_event_signal(&host);
    UR_OK(urEventWait(1, &event));
    for (size_t i = 0; i < ROWS * pitch; i++) {
        const size_t at = i / pitch * width + i % pitch;
        cr_assert_eq(memory[i], i % pitch < width ? pattern[at % pattern_size] : 0,
                     "pattern %zu, byte %zu", pattern_size, i);
    }
    UR_OK(urQueueFinish(queue));
    UR_OK(urEventRelease(event));
    UR_OK(urQueueRelease(queue));
    host_event_release(&host);
    ur_free(memory);
}

Test(fill, is_in_order_however_late_its_first_copy_is)
{
    fill_late(12, 12, 12);
    fill_late(8, 24, 30);
    fill_late(16, 8, 11);
}

Test(fill_older, is_in_order_however_late_its_first_copy_is)
{
    fill_late(12, 12, 12);
    fill_late(8, 24, 30);
    fill_late(16, 8, 11);
}

// Whether the times are most of what a fill takes.
static bool has_most_of_the_time(ur_queue_flags_t order, size_t pitch)
{
    enum { WIDTH = 12, ROWS = 4000000 };
    const unsigned char pattern[WIDTH] = {1, 2, 3};
    ur_queue_handle_t queue = ur_queue(gear.device, UR_QUEUE_FLAG_PROFILING_ENABLE | order);
    unsigned char *memory = ur_shared(ROWS * pitch);
    ur_event_handle_t event;
    UR_OK(urEnqueueUSMFill(queue, memory, 1, pattern, ROWS * pitch, 0, NULL, NULL));
    UR_OK(urQueueFinish(queue));
    const uint64_t before = ur_now_ns();
    if (pitch == WIDTH)
        UR_OK(
            urEnqueueUSMFill(queue, memory, WIDTH, pattern, (size_t)ROWS * WIDTH, 0, NULL, &event));
    else
        UR_OK(urEnqueueUSMFill2D(queue, memory, pitch, 4, pattern, WIDTH, ROWS, 0, NULL, &event));
    UR_OK(urEventWait(1, &event));
    const uint64_t elapsed = ur_now_ns() - before;
    const uint64_t submitted = ur_time_of(event, UR_PROFILING_INFO_COMMAND_SUBMIT);
    const uint64_t begun = ur_time_of(event, UR_PROFILING_INFO_COMMAND_START);
    const uint64_t ended = ur_time_of(event, UR_PROFILING_INFO_COMMAND_END);
    cr_assert(submitted <= begun && begun <= ended, "%" PRIu64 ", %" PRIu64 ", %" PRIu64, submitted,
              begun, ended);
    cr_assert_leq(ended - begun, elapsed);
    UR_OK(urEventRelease(event));
    UR_OK(urQueueRelease(queue));
    ur_free(memory);
    return ended - begun > elapsed * 3 / 4;
}

// A busy machine may take longer to come back from a wait.
static void expect_times(ur_queue_flags_t order, size_t pitch)
{
    bool has_times = false;
    for (int attempt = 0; attempt < 10 && !has_times; attempt++)
        has_times = has_most_of_the_time(order, pitch);
    cr_assert(has_times, "order %u, pitch %zu", (unsigned)order, pitch);
}

Test(fill, has_the_times_of_all_its_copies)
{
    expect_times(0, 12);
    expect_times(0, 16);
    expect_times(UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE, 12);
    expect_times(UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE, 16);
}

// Quirk forgotten-rectangles.
Test(fill, in_rows_of_foreign_memory_comes_behind_a_barrier)
{
    enum { PITCH = 16 };
    const unsigned char pattern[4] = {1, 2, 3, 4};
    unsigned char *memory = malloc(2 * PITCH);
    ze_cpu.reset_counts();
    UR_OK(urEnqueueUSMFill2D(gear.queue, memory, PITCH, 4, pattern, 8, 2, 0, NULL, NULL));
    // And one between its two copies.
    cr_assert_eq(ze_cpu.get_count("zeCommandListAppendBarrier"), 2);
    UR_OK(urQueueFinish(gear.queue));
    for (size_t i = 0; i < 8; i++)
        cr_assert_eq(memory[PITCH + i], pattern[i % 4]);
    free(memory);
}
