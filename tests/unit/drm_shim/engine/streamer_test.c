// SPDX-License-Identifier: MIT
#include "engine/streamer.h"

#include "engine/control.h"
#include "gpu_fixture.h"
#include "log.h"

#include <criterion/criterion.h>
#include <string.h>
#include <time.h>

#define RESULT 0x8000u // where the tests' commands write
#define OTHER 0x8100u

static struct gpu gpu;
static struct shim_streamer streamer;
static struct batch batch;

static void set_up(void)
{
    gpu = gpu_create();
    shim_streamer_init(&streamer, gpu.space, SHIM_FAMILY_XE2, 1);
    batch = batch_at(&gpu, 0);
}

static void tear_down(void)
{
    gpu_destroy(&gpu);
}

TestSuite(streamer, .init = set_up, .fini = tear_down);

static enum shim_progress run(void)
{
    shim_streamer_begin(&streamer, batch.address);
    return shim_streamer_run(&streamer);
}

// Runs on until it no longer waits.
static enum shim_progress finish(void)
{
    enum shim_progress progress = SHIM_WAITS;
    while (progress == SHIM_WAITS)
        progress = shim_streamer_run(&streamer);
    return progress;
}

static void set_register(uint32_t offset, uint32_t value)
{
    BATCH(&batch, 0x22u << 23 | 1, offset, value);
}

Test(streamer, stores_values_of_four_and_eight_bytes)
{
    batch_store(&batch, gpu_address(RESULT), 0x12345678);
    BATCH(&batch, 0x20u << 23 | 1u << 21 | 3, LOW(gpu_address(OTHER)), HIGH(gpu_address(OTHER)), 1,
          2);
    batch_end(&batch);
    cr_assert_eq(run(), SHIM_ENDED);
    cr_assert_eq(*gpu_word(&gpu, RESULT), 0x12345678);
    cr_assert_eq(*gpu_word(&gpu, OTHER), 1);
    cr_assert_eq(*gpu_word(&gpu, OTHER + 4), 2);
}

Test(streamer, waits_at_a_semaphore_until_memory_has_the_value)
{
    batch_wait(&batch, gpu_address(OTHER), 5);
    batch_store(&batch, gpu_address(RESULT), 1);
    batch_end(&batch);
    cr_assert_eq(run(), SHIM_WAITS);
    cr_assert_eq(streamer.awaited, gpu_word(&gpu, OTHER));
    *gpu_word(&gpu, OTHER) = 4;
    cr_assert_eq(shim_streamer_run(&streamer), SHIM_WAITS);
    cr_assert_eq(*gpu_word(&gpu, RESULT), 0);
    *gpu_word(&gpu, OTHER) = 5;
    cr_assert_eq(shim_streamer_run(&streamer), SHIM_ENDED);
    cr_assert_eq(*gpu_word(&gpu, RESULT), 1);
}

Test(streamer, takes_commands_that_are_written_while_it_waits_in_front_of_them)
{
    batch_wait(&batch, gpu_address(OTHER), 1);
    cr_assert_eq(run(), SHIM_WAITS);
    batch_store(&batch, gpu_address(RESULT), 7);
    batch_end(&batch);
    *gpu_word(&gpu, OTHER) = 1;
    cr_assert_eq(shim_streamer_run(&streamer), SHIM_ENDED);
    cr_assert_eq(*gpu_word(&gpu, RESULT), 7);
}

Test(streamer, returns_from_a_nested_batch_and_not_from_a_chained_one)
{
    struct batch nested = batch_at(&gpu, 0x1000), chained = batch_at(&gpu, 0x2000);
    batch_store(&nested, gpu_address(RESULT), 1);
    batch_end(&nested);
    batch_store(&chained, gpu_address(RESULT + 8), 3);
    batch_end(&chained);
    BATCH(&batch, 0x31u << 23 | 1u << 22 | 1, LOW(nested.address), HIGH(nested.address));
    batch_store(&batch, gpu_address(RESULT + 4), 2);
    BATCH(&batch, 0x31u << 23 | 1, LOW(chained.address), HIGH(chained.address));
    batch_store(&batch, gpu_address(RESULT + 12), 4);
    cr_assert_eq(run(), SHIM_ENDED);
    const uint32_t expected[4] = {1, 2, 3, 0};
    cr_assert_arr_eq(gpu_word(&gpu, RESULT), expected, sizeof(expected));
}

Test(streamer, fails_loudly_at_a_command_that_it_does_not_know)
{
    const uint32_t unknown[] = {
        0x3fu << 23,              // of MI
        0x7bff0000,               // of the render engine
        0x2u << 29 | 0x7fu << 22, // of the copy engine
        0x1u << 29,               // of no engine
    };
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        batch = batch_at(&gpu, 0);
        BATCH(&batch, unknown[i], 0, 0);
        batch_store(&batch, gpu_address(RESULT), 1);
        cr_assert_eq(run(), SHIM_FAILED, "command 0x%08x", unknown[i]);
        cr_assert_eq(shim_error_count(), i + 1);
        cr_assert_eq(*gpu_word(&gpu, RESULT), 0);
    }
}

Test(streamer, fails_at_memory_that_is_not_bound)
{
    batch_store(&batch, GPU_BASE + GPU_BYTES, 1);
    cr_assert_eq(run(), SHIM_FAILED);
    batch.address = GPU_BASE + GPU_BYTES;
    cr_assert_eq(run(), SHIM_FAILED);
    cr_assert_eq(shim_error_count(), 2);
}

Test(streamer, does_not_read_behind_the_end_of_a_binding)
{
    batch = batch_at(&gpu, GPU_BYTES - 8);
    BATCH(&batch, 0x20u << 23 | 2, LOW(gpu_address(RESULT)));
    cr_assert_eq(run(), SHIM_FAILED);
    batch = batch_at(&gpu, 0);
    BATCH(&batch, 0x20u << 23 | 0, 0, 0); // shorter than the command is
    cr_assert_eq(run(), SHIM_FAILED);
}

Test(streamer, calculates_with_its_registers)
{
    set_register(0x2600, 40);
    set_register(0x2604, 0);
    set_register(0x2608, 2);
    set_register(0x260c, 0);
    // A = R0, B = R1, add, R2 = the sum
    BATCH(&batch, 0x1au << 23 | 3, 0x080u << 20 | 0x20u << 10 | 0, 0x080u << 20 | 0x21u << 10 | 1,
          0x100u << 20, 0x180u << 20 | 2u << 10 | 0x31);
    BATCH(&batch, 0x24u << 23 | 2, 0x2610, LOW(gpu_address(RESULT)), HIGH(gpu_address(RESULT)));
    batch_end(&batch);
    cr_assert_eq(run(), SHIM_ENDED);
    cr_assert_eq(*gpu_word(&gpu, RESULT), 42);
}

Test(streamer, changes_memory_by_atomic_operations)
{
    *gpu_word(&gpu, RESULT) = 41;
    BATCH(&batch, 0x2fu << 23 | 0x05u << 8 | 1, LOW(gpu_address(RESULT)),
          HIGH(gpu_address(RESULT))); // increment
    batch_end(&batch);
    cr_assert_eq(run(), SHIM_ENDED);
    cr_assert_eq(*gpu_word(&gpu, RESULT), 42);
}

Test(streamer, passes_over_commands_by_predicate)
{
    set_register(0x2418, 0);
    BATCH(&batch, 0x01u << 23 | 3);
    batch_store(&batch, gpu_address(RESULT), 1);
    BATCH(&batch, 0x01u << 23 | 4);
    batch_store(&batch, gpu_address(OTHER), 2);
    BATCH(&batch, 0x01u << 23);
    batch_end(&batch);
    cr_assert_eq(run(), SHIM_ENDED);
    cr_assert_eq(*gpu_word(&gpu, RESULT), 0);
    cr_assert_eq(*gpu_word(&gpu, OTHER), 2);
}

Test(streamer, copies_rows_across_bindings)
{
    static uint8_t more[4096];
    cr_assert(shim_address_space_bind(gpu.space, GPU_BASE + GPU_BYTES, sizeof(more), more, false));
    const uint64_t to = GPU_BASE + GPU_BYTES - 8, from = gpu_address(RESULT);
    for (uint8_t i = 0; i < 64; i++)
        ((uint8_t *)gpu_word(&gpu, RESULT))[i] = i;
    // MEM_COPY of 2 rows of 12 bytes, each 16 behind the other
    BATCH(&batch, 2u << 29 | 0x5au << 22 | 1u << 17 | 8, 11, 1, 15, 15, LOW(from), HIGH(from),
          LOW(to), HIGH(to), 0);
    batch_end(&batch);
    cr_assert_eq(run(), SHIM_ENDED);
    const uint8_t *end = (const uint8_t *)gpu.memory + GPU_BYTES - 8;
    const uint8_t first[] = {0, 1, 2, 3, 4, 5, 6, 7}, second[] = {8, 9, 10, 11, 0, 0, 0, 0, 16, 17};
    cr_assert_arr_eq(end, first, sizeof(first));
    cr_assert_arr_eq(more, second, sizeof(second));
}

Test(streamer, fills_with_patterns)
{
    const uint64_t to = gpu_address(RESULT);
    // XY_FAST_COLOR_BLT of 4 bytes a pixel, 3 x 2 pixels, pitch 32
    BATCH(&batch, 2u << 29 | 0x44u << 22 | 2u << 19 | 14, 31, 0, 2u << 16 | 3, LOW(to), HIGH(to), 0,
          0xabcd1234, 0, 0, 0, 0, 0, 0, 0, 0);
    batch_end(&batch);
    cr_assert_eq(run(), SHIM_ENDED);
    const uint32_t row[4] = {0xabcd1234, 0xabcd1234, 0xabcd1234, 0};
    cr_assert_arr_eq(gpu_word(&gpu, RESULT), row, sizeof(row));
    cr_assert_arr_eq(gpu_word(&gpu, RESULT + 32), row, sizeof(row));
}

// XY_BLOCK_COPY_BLT of 4 bytes a pixel, 3 x 2 pixels, from a linear surface of 12 bytes a row to
// the third slice of a tiled one, which lies as a linear one does.
static void add_slice_copy(uint32_t offsets)
{
    const uint64_t to = gpu_address(RESULT), from = gpu_address(RESULT + 4096);
    BATCH(&batch, 2u << 29 | 0x41u << 22 | 2u << 19 | 20, 3u << 30 | (32 / 4 - 1), 0, 2u << 16 | 3,
          LOW(to), HIGH(to), offsets, 0, 12 - 1, LOW(from), HIGH(from), 0, 0, 0, 0, 0,
          2u << 29 | 2 << 14 | 1, 4 / 4 << 4, 2u << 21, 1u << 29 | 2 << 14 | 1, 0, 0);
    batch_end(&batch);
}

Test(streamer, copies_to_slices_of_tiled_surfaces)
{
    for (uint32_t i = 0; i < 6; i++)
        gpu_word(&gpu, RESULT + 4096)[i] = 100 + i;
    add_slice_copy(0);
    cr_assert_eq(run(), SHIM_ENDED);
    const uint32_t *slice = gpu_word(&gpu, RESULT + 2 * 4 * 32);
    for (uint32_t y = 0; y < 2; y++)
        for (uint32_t x = 0; x < 3; x++)
            cr_assert_eq(slice[8 * y + x], 100 + 3 * y + x);
    cr_assert_eq(slice[3], 0);
}

Test(streamer, refuses_what_it_does_not_know_of_surfaces)
{
    add_slice_copy(1);
    cr_assert_eq(run(), SHIM_FAILED);
    batch = batch_at(&gpu, 0);
    // XY_FAST_COLOR_BLT of a tiled surface
    BATCH(&batch, 2u << 29 | 0x44u << 22 | 2u << 19 | 14, 3u << 30 | 7, 0, 2u << 16 | 3,
          LOW(gpu_address(RESULT)), HIGH(gpu_address(RESULT)), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    batch_end(&batch);
    cr_assert_eq(run(), SHIM_FAILED);
}

static struct shim_walker seen;

static bool note(struct shim_address_space *space, const struct shim_walker *walker)
{
    (void)space;
    seen = *walker;
    return true;
}

static void expect_sizes_and_payload(enum shim_family family)
{
    const struct shim_walker_head head = {.indirect_length = 64,
                                          .indirect_start = 0x40,
                                          .has_inline_data = 1,
                                          .makes_local_ids = 1,
                                          .simd = 2,
                                          .local_x = 7,
                                          .local_y = 3,
                                          .groups = {3, 2, 1}};
    const struct shim_walker_tail tail = {
        .descriptor = {.kernel_start = 0x80, .threads = 5, .slm_size = 3},
        .result = {.operation = SHIM_RESULT_VALUE,
                   .address = {LOW(gpu_address(RESULT)), HIGH(gpu_address(RESULT))},
                   .value = {9}},
        .inline_data = {1, 2, 3, 4, 5, 6, 7, 8}};
    gpu_kernel = note;
    shim_streamer_init(&streamer, gpu.space, family, 1);
    BATCH(&batch, 0x61010000 | 14, LOW(gpu_address(0x4000)) | 1, HIGH(gpu_address(0x4000)), 0, 0, 0,
          0, 0, 0, 0, LOW(gpu_address(0x5000)) | 1, HIGH(gpu_address(0x5000)), 0, 0, 0, 0);
    batch_walker_of(&batch, family, head, &tail);
    batch_end(&batch);
    cr_assert_eq(run(), SHIM_ENDED);
    cr_assert_eq(seen.start, gpu_address(0x5080));
    cr_assert_eq(seen.indirect, (uint8_t *)gpu_word(&gpu, 0x4040));
    cr_assert_eq(seen.indirect_size, 64);
    cr_assert_eq(seen.inline_size, 32);
    cr_assert_eq(seen.inline_data[28], 8);
    cr_assert_eq(seen.simd, 32);
    cr_assert(seen.has_local);
    cr_assert_eq(seen.threads, 5);
    cr_assert_eq(seen.slm_bytes, 4096);
    const uint32_t groups[3] = {3, 2, 1}, local[3] = {8, 4, 1};
    cr_assert_arr_eq(seen.groups, groups, sizeof(groups));
    cr_assert_arr_eq(seen.local, local, sizeof(local));
    cr_assert_eq(*gpu_word(&gpu, RESULT), 9);
}

Test(streamer, gives_a_kernel_its_sizes_and_payload)
{
    expect_sizes_and_payload(SHIM_FAMILY_XE2);
}

Test(streamer, gives_a_kernel_its_sizes_and_payload_on_xe_hp)
{
    expect_sizes_and_payload(SHIM_FAMILY_XE_HP);
}

// Four times: of the start twice, of the end twice. Xe2 writes 64 bits, families before it 32.
static void expect_times(enum shim_family family, uint32_t size_bytes)
{
    const struct shim_walker_head head = {.groups = {1, 1, 1}};
    const struct shim_walker_tail tail = {
        .result = {.operation = SHIM_RESULT_TIME,
                   .address = {LOW(gpu_address(RESULT)), HIGH(gpu_address(RESULT))}}};
    shim_streamer_init(&streamer, gpu.space, family, 1);
    batch_walker_of(&batch, family, head, &tail);
    batch_end(&batch);
    cr_assert_eq(run(), SHIM_ENDED);
    const uint32_t start = *gpu_word(&gpu, RESULT);
    cr_assert_eq(*gpu_word(&gpu, RESULT + size_bytes), start);
    const uint32_t end = *gpu_word(&gpu, RESULT + 2 * size_bytes);
    cr_assert_gt(end, start);
    cr_assert_eq(*gpu_word(&gpu, RESULT + 3 * size_bytes), end);
    cr_assert_eq(*gpu_word(&gpu, RESULT + 4 * size_bytes), 0);
}

Test(streamer, writes_times_of_64_bits)
{
    expect_times(SHIM_FAMILY_XE2, 8);
}

Test(streamer, writes_times_of_32_bits_on_xe_hp)
{
    expect_times(SHIM_FAMILY_XE_HP, 4);
}

Test(streamer, refuses_a_walker_of_another_family)
{
    const struct shim_walker_head head = {.groups = {1, 1, 1}};
    const struct shim_walker_tail tail = {.result = {.operation = SHIM_RESULT_NONE}};
    batch_walker_of(&batch, SHIM_FAMILY_XE_HP, head, &tail);
    batch_end(&batch);
    cr_assert_eq(run(), SHIM_FAILED);
}

static uint32_t time_at_first_build;
static unsigned builds;

static void note_build(const struct shim_walker *walker)
{
    cr_assert_eq(walker->start, gpu_address(0x5080));
    if (builds++ == 0)
        time_at_first_build = *gpu_word(&gpu, RESULT);
}

// A fill of several kernels notes the time at its beginning.
Test(streamer, has_kernels_built_before_a_time_that_is_taken_in_front_of_them)
{
    gpu_kernel_prepare = note_build;
    BATCH(&batch, 0x24u << 23 | 2, 0x2358, LOW(gpu_address(RESULT)), HIGH(gpu_address(RESULT)));
    BATCH(&batch, 0x61010000 | 14, 0, 0, 0, 0, 0, 0, 0, 0, 0, LOW(gpu_address(0x5000)) | 1,
          HIGH(gpu_address(0x5000)), 0, 0, 0, 0);
    batch_walker(&batch, gpu_address(OTHER), 9);
    batch.words[batch.count - 40 + 19] = 0x80; // the first instruction
    batch_end(&batch);
    cr_assert_eq(run(), SHIM_ENDED);
    cr_assert_eq(builds, 2, "once ahead, once at its start");
    cr_assert_eq(time_at_first_build, 0);
    cr_assert_neq(*gpu_word(&gpu, RESULT), 0);
}

Test(streamer, reads_group_counts_from_registers_in_an_indirect_launch)
{
    gpu_kernel = note;
    for (uint32_t i = 0; i < 3; i++)
        set_register(0x2500 + 4 * i, 10 + i);
    batch_walker(&batch, gpu_address(RESULT), 1);
    batch.words[batch.count - 40] |= 1u << 10;
    batch_end(&batch);
    cr_assert_eq(run(), SHIM_ENDED);
    const uint32_t groups[3] = {10, 11, 12};
    cr_assert_arr_eq(seen.groups, groups, sizeof(groups));
}

Test(streamer, goes_on_while_a_kernel_takes_time_up_to_a_barrier)
{
    drm_shim_set_kernel_us(20000);
    batch_walker(&batch, gpu_address(RESULT), 1);
    batch_store(&batch, gpu_address(OTHER), 1); // not behind the barrier
    batch_barrier(&batch);
    batch_store(&batch, gpu_address(OTHER + 4), 1);
    batch_end(&batch);
    cr_assert_eq(run(), SHIM_WAITS);
    cr_assert_eq(*gpu_word(&gpu, OTHER), 1);
    cr_assert_eq(*gpu_word(&gpu, OTHER + 4), 0);
    cr_assert_eq(*gpu_word(&gpu, RESULT), 0);
    cr_assert_eq(finish(), SHIM_ENDED);
    cr_assert_eq(*gpu_word(&gpu, RESULT), 1);
    cr_assert_eq(*gpu_word(&gpu, OTHER + 4), 1);
}

Test(streamer, ends_a_batch_when_its_kernels_are_over)
{
    drm_shim_set_kernel_us(5000);
    for (uint32_t i = 0; i < 100; i++) // more than there is room for at once
        batch_walker(&batch, gpu_address(RESULT + 8 * i), 1);
    batch_end(&batch);
    cr_assert_eq(run(), SHIM_WAITS);
    cr_assert_eq(streamer.walkers.count, SHIM_WALKERS_MAXIMUM);
    cr_assert_eq(finish(), SHIM_ENDED);
    for (uint32_t i = 0; i < 100; i++)
        cr_assert_eq(*gpu_word(&gpu, RESULT + 8 * i), 1);
}

static bool refuse(struct shim_address_space *space, const struct shim_walker *walker)
{
    (void)space;
    (void)walker;
    return false;
}

Test(streamer, fails_where_a_kernel_cannot_be_executed)
{
    gpu_kernel = refuse;
    batch_walker(&batch, gpu_address(RESULT), 1);
    batch_end(&batch);
    cr_assert_eq(run(), SHIM_FAILED);
    cr_assert_eq(*gpu_word(&gpu, RESULT), 0);
}

Test(streamer, comes_back_from_commands_that_never_end)
{
    BATCH(&batch, 0x31u << 23 | 1, LOW(batch.address), HIGH(batch.address));
    cr_assert_eq(run(), SHIM_GOES_ON);
}
