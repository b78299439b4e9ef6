// SPDX-License-Identifier: MIT
#include "engine/streamer.h"

#include "control.h"
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
    shim_streamer_init(&streamer, gpu.space, shim_product_find("bmg"), 1);
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
    const struct shim_mi_load_register_imm load = {
        .length = 1, .opcode = SHIM_MI_LOAD_REGISTER_IMM, .at = offset, .value = value};
    BATCH_COMMAND(&batch, load);
}

Test(streamer, stores_values_of_four_and_eight_bytes)
{
    batch_store(&batch, gpu_address(RESULT), 0x12345678);
    const struct shim_mi_store_data_imm quad = {
        .length = 3,
        .is_quad = 1,
        .opcode = SHIM_MI_STORE_DATA_IMM,
        .address = {LOW(gpu_address(OTHER)), HIGH(gpu_address(OTHER))},
        .value = {1, 2}};
    BATCH_COMMAND(&batch, quad);
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

static void add_jump(uint64_t address, bool returns)
{
    const struct shim_mi_batch_buffer_start start = {.length = 1,
                                                     .is_second_level = returns,
                                                     .opcode = SHIM_MI_BATCH_BUFFER_START,
                                                     .address = {LOW(address), HIGH(address)}};
    BATCH_COMMAND(&batch, start);
}

Test(streamer, returns_from_a_nested_batch_and_not_from_a_chained_one)
{
    struct batch nested = batch_at(&gpu, 0x1000), chained = batch_at(&gpu, 0x2000);
    batch_store(&nested, gpu_address(RESULT), 1);
    batch_end(&nested);
    batch_store(&chained, gpu_address(RESULT + 8), 3);
    batch_end(&chained);
    add_jump(nested.address, true);
    batch_store(&batch, gpu_address(RESULT + 4), 2);
    add_jump(chained.address, false);
    batch_store(&batch, gpu_address(RESULT + 12), 4);
    cr_assert_eq(run(), SHIM_ENDED);
    const uint32_t expected[4] = {1, 2, 3, 0};
    cr_assert_arr_eq(gpu_word(&gpu, RESULT), expected, sizeof(expected));
}

Test(streamer, fails_loudly_at_a_command_that_it_does_not_know)
{
    const union {
        struct shim_mi_head mi;
        struct shim_render_head render;
        struct shim_blitter_head blitter;
        uint32_t word;
    } unknown[] = {
        {.mi = {.opcode = 0x3f}},
        {.render = {.opcode = 0x7bff}},
        {.blitter = {.opcode = 0x7f, .type = SHIM_TYPE_BLITTER}},
        {.mi = {.type = 1}},
    };
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        batch = batch_at(&gpu, 0);
        BATCH(&batch, unknown[i].word, 0, 0);
        batch_store(&batch, gpu_address(RESULT), 1);
        cr_assert_eq(run(), SHIM_FAILED, "command 0x%08x", unknown[i].word);
        cr_assert_eq(drm_shim_errors(), i + 1);
        cr_assert_eq(*gpu_word(&gpu, RESULT), 0);
    }
}

Test(streamer, fails_at_memory_that_is_not_bound)
{
    batch_store(&batch, GPU_BASE + GPU_BYTES, 1);
    cr_assert_eq(run(), SHIM_FAILED);
    batch.address = GPU_BASE + GPU_BYTES;
    cr_assert_eq(run(), SHIM_FAILED);
    cr_assert_eq(drm_shim_errors(), 2);
}

Test(streamer, does_not_read_behind_the_end_of_a_binding)
{
    batch = batch_at(&gpu, GPU_BYTES - 8);
    struct shim_mi_head store = {.length = 2, .opcode = SHIM_MI_STORE_DATA_IMM};
    BATCH_COMMAND(&batch, store);
    BATCH(&batch, LOW(gpu_address(RESULT)));
    cr_assert_eq(run(), SHIM_FAILED);
    batch = batch_at(&gpu, 0);
    store.length = 0; // shorter than the command is
    BATCH_COMMAND(&batch, store);
    BATCH(&batch, 0, 0);
    cr_assert_eq(run(), SHIM_FAILED);
}

static void add_register_store(uint32_t at)
{
    const struct shim_mi_register_mem store = {
        .length = 2,
        .opcode = SHIM_MI_STORE_REGISTER_MEM,
        .at = at,
        .address = {LOW(gpu_address(RESULT)), HIGH(gpu_address(RESULT))}};
    BATCH_COMMAND(&batch, store);
}

Test(streamer, calculates_with_its_registers)
{
    set_register(0x2600, 40);
    set_register(0x2604, 0);
    set_register(0x2608, 2);
    set_register(0x260c, 0);
    const struct {
        struct shim_mi_head head;
        struct shim_alu_instruction instructions[4];
    } sum = {{.length = 3, .opcode = SHIM_MI_MATH},
             {{.operation = SHIM_ALU_LOAD, .first = SHIM_ALU_SOURCE_A, .second = 0},
              {.operation = SHIM_ALU_LOAD, .first = SHIM_ALU_SOURCE_B, .second = 1},
              {.operation = SHIM_ALU_ADD},
              {.operation = SHIM_ALU_STORE, .first = 2, .second = SHIM_ALU_ACCUMULATOR}}};
    BATCH_COMMAND(&batch, sum);
    add_register_store(0x2610);
    batch_end(&batch);
    cr_assert_eq(run(), SHIM_ENDED);
    cr_assert_eq(*gpu_word(&gpu, RESULT), 42);
}

// Memory at an address in a register, plus a number, to memory at another.
Test(streamer, calculates_with_memory_at_addresses_in_registers)
{
    set_register(0x2600, LOW(gpu_address(OTHER)));
    set_register(0x2604, HIGH(gpu_address(OTHER)));
    set_register(0x2608, LOW(gpu_address(RESULT)));
    set_register(0x260c, HIGH(gpu_address(RESULT)));
    set_register(0x2610, 2);
    set_register(0x2614, 1);
    *gpu_word(&gpu, OTHER) = 40;
    *gpu_word(&gpu, OTHER + 4) = 4;
    const struct {
        struct shim_mi_head head;
        struct shim_alu_instruction instructions[8];
    } sum = {{.length = 7, .opcode = SHIM_MI_MATH},
             {{.operation = SHIM_ALU_LOAD_MEMORY, .first = 3, .second = 0},
              {.operation = SHIM_ALU_FENCE_READS},
              {.operation = SHIM_ALU_LOAD, .first = SHIM_ALU_SOURCE_A, .second = 3},
              {.operation = SHIM_ALU_LOAD, .first = SHIM_ALU_SOURCE_B, .second = 2},
              {.operation = SHIM_ALU_ADD},
              {.operation = SHIM_ALU_STORE, .first = 4, .second = SHIM_ALU_ACCUMULATOR},
              {.operation = SHIM_ALU_STORE_MEMORY, .first = 1, .second = 4},
              {.operation = SHIM_ALU_FENCE_WRITES}}};
    BATCH_COMMAND(&batch, sum);
    batch_end(&batch);
    cr_assert_eq(run(), SHIM_ENDED);
    cr_assert_eq(*gpu_word(&gpu, RESULT), 42);
    cr_assert_eq(*gpu_word(&gpu, RESULT + 4), 5);
}

Test(streamer, changes_memory_by_atomic_operations)
{
    *gpu_word(&gpu, RESULT) = 41;
    const struct shim_mi_atomic increment = {
        .length = 1,
        .operation = SHIM_ATOMIC_INCREMENT,
        .opcode = SHIM_MI_ATOMIC,
        .address = {LOW(gpu_address(RESULT)), HIGH(gpu_address(RESULT))}};
    batch_add(&batch, 3, (const uint32_t *)(const void *)&increment); // it has no data
    batch_end(&batch);
    cr_assert_eq(run(), SHIM_ENDED);
    cr_assert_eq(*gpu_word(&gpu, RESULT), 42);
}

static void add_predicate(uint32_t mode)
{
    const struct shim_mi_set_predicate predicate = {.mode = mode & 15,
                                                    .opcode = SHIM_MI_SET_PREDICATE};
    BATCH_COMMAND(&batch, predicate);
}

Test(streamer, passes_over_commands_by_predicate)
{
    set_register(0x2418, 0);
    add_predicate(3);
    batch_store(&batch, gpu_address(RESULT), 1);
    add_predicate(4);
    batch_store(&batch, gpu_address(OTHER), 2);
    add_predicate(0);
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
    const struct shim_mem_copy copy = {.length = 8,
                                       .is_matrix = 1,
                                       .opcode = SHIM_MEM_COPY,
                                       .type = SHIM_TYPE_BLITTER,
                                       .width = 12 - 1,
                                       .height = 2 - 1,
                                       .from_pitch = 16 - 1,
                                       .to_pitch = 16 - 1,
                                       .from = {LOW(from), HIGH(from)},
                                       .to = {LOW(to), HIGH(to)}};
    BATCH_COMMAND(&batch, copy);
    batch_end(&batch);
    cr_assert_eq(run(), SHIM_ENDED);
    const uint8_t *end = (const uint8_t *)gpu.memory + GPU_BYTES - 8;
    const uint8_t first[] = {0, 1, 2, 3, 4, 5, 6, 7}, second[] = {8, 9, 10, 11, 0, 0, 0, 0, 16, 17};
    cr_assert_arr_eq(end, first, sizeof(first));
    cr_assert_arr_eq(more, second, sizeof(second));
}

#define FOUR_BYTES 2 // a size of pixels

// 3 x 2 pixels of four bytes
static void add_color_fill(uint64_t to, struct shim_blt_pitch pitch)
{
    const struct shim_xy_fast_color_blt fill = {.length = 14,
                                                .pixel_size = FOUR_BYTES,
                                                .opcode = SHIM_XY_FAST_COLOR_BLT,
                                                .type = SHIM_TYPE_BLITTER,
                                                .pitch = pitch,
                                                .end = {3, 2},
                                                .to = {LOW(to), HIGH(to)},
                                                .color = {0xabcd1234}};
    BATCH_COMMAND(&batch, fill);
}

Test(streamer, fills_with_patterns)
{
    const uint64_t to = gpu_address(RESULT);
    add_color_fill(to, (struct shim_blt_pitch){.pitch = 32 - 1});
    batch_end(&batch);
    cr_assert_eq(run(), SHIM_ENDED);
    const uint32_t row[4] = {0xabcd1234, 0xabcd1234, 0xabcd1234, 0};
    cr_assert_arr_eq(gpu_word(&gpu, RESULT), row, sizeof(row));
    cr_assert_arr_eq(gpu_word(&gpu, RESULT + 32), row, sizeof(row));
}

// XY_BLOCK_COPY_BLT of 4 bytes a pixel, 3 x 2 pixels, from a linear surface of 12 bytes a row to
// the third slice of a tiled one, which lies as a linear one does.
static void add_slice_copy(uint32_t offset)
{
    const uint64_t to = gpu_address(RESULT), from = gpu_address(RESULT + 4096);
    const struct shim_blt_surface surface = {.height = 2 - 1, .width = 3 - 1};
    struct shim_xy_block_copy_blt copy = {.length = 20,
                                          .pixel_size = FOUR_BYTES,
                                          .opcode = SHIM_XY_BLOCK_COPY_BLT,
                                          .type = SHIM_TYPE_BLITTER,
                                          .to_pitch = {.pitch = 32 / 4 - 1, .tiling = 3},
                                          .end = {3, 2},
                                          .to = {LOW(to), HIGH(to)},
                                          .to_offsets = {.x = offset & 0x3fff},
                                          .from_pitch = {.pitch = 12 - 1},
                                          .from = {LOW(from), HIGH(from)},
                                          .to_surface = surface,
                                          .from_surface = surface};
    copy.to_surface.slice_distance = 4 / 4;
    copy.to_surface.slice = 2;
    BATCH_COMMAND(&batch, copy);
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
    add_color_fill(gpu_address(RESULT), (struct shim_blt_pitch){.pitch = 8 - 1, .tiling = 3});
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

static struct shim_base_address base_at(uint64_t address)
{
    return (struct shim_base_address){
        .is_set = 1, .low_page = LOW(address) >> 12, .high = HIGH(address)};
}

static void add_bases(void)
{
    const struct shim_state_base_address bases = {.length = sizeof(bases) / sizeof(uint32_t) - 2,
                                                  .opcode = SHIM_STATE_BASE_ADDRESS,
                                                  .general = base_at(gpu_address(0x4000)),
                                                  .instruction = base_at(gpu_address(0x5000))};
    BATCH_COMMAND(&batch, bases);
}

static void expect_sizes_and_payload(const struct shim_product *product)
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
    shim_streamer_init(&streamer, gpu.space, product, 1);
    add_bases();
    batch_walker_of(&batch, product->family, head, &tail);
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
    expect_sizes_and_payload(shim_product_find("bmg"));
}

Test(streamer, gives_a_kernel_its_sizes_and_payload_on_xe_hp)
{
    expect_sizes_and_payload(shim_product_find("dg2"));
}

// Its descriptor lies in memory, and the payload counts from the base of indirect objects.
Test(streamer, gives_a_kernel_its_sizes_and_payload_on_gen12lp)
{
    const struct shim_state_base_address bases = {.length = sizeof(bases) / sizeof(uint32_t) - 2,
                                                  .opcode = SHIM_STATE_BASE_ADDRESS,
                                                  .surface = base_at(gpu_address(0x3000)),
                                                  .dynamic = base_at(gpu_address(0x4000)),
                                                  .indirect = base_at(gpu_address(0x6000)),
                                                  .instruction = base_at(gpu_address(0x5000))};
    const struct shim_media_interface_descriptor_load load = {
        .length = 2, .opcode = SHIM_MEDIA_INTERFACE_DESCRIPTOR_LOAD, .size = 64, .start = 0x100};
    const struct shim_gpgpu_walker walker = {.length = SHIM_WALKER_WORDS_GEN12LP - 2,
                                             .opcode = SHIM_GPGPU_WALKER,
                                             .descriptor = 1,
                                             .indirect_length = 96,
                                             .indirect_start = 0x40,
                                             .simd = 1,
                                             .groups_x = 3,
                                             .groups_y = 2,
                                             .groups_z = 1,
                                             .execution_mask = 0xff};
    const struct shim_gen12lp_descriptor descriptor = {.kernel_start = 0x80,
                                                       .sampler_table = 0x20,
                                                       .binding_table = 0x40,
                                                       .threads = 5,
                                                       .slm_size = 3};
    memcpy(gpu_word(&gpu, 0x4120), &descriptor, sizeof(descriptor));
    gpu_kernel = note;
    shim_streamer_init(&streamer, gpu.space, shim_product_find("tgl"), 1);
    BATCH_COMMAND(&batch, bases);
    BATCH_COMMAND(&batch, load);
    BATCH_COMMAND(&batch, walker);
    batch_end(&batch);
    cr_assert_eq(run(), SHIM_ENDED);
    cr_assert_eq(seen.start, gpu_address(0x5080));
    cr_assert_eq(seen.indirect, (uint8_t *)gpu_word(&gpu, 0x6040));
    cr_assert_eq(seen.indirect_size, 96);
    cr_assert_eq(seen.inline_size, 0);
    cr_assert_eq(seen.simd, 16);
    cr_assert_eq(seen.mask, 0xff);
    cr_assert_eq(seen.threads, 5);
    cr_assert_eq(seen.register_bytes, 32);
    cr_assert(seen.begins_at_payload);
    cr_assert_eq(seen.slm_bytes, 4096);
    cr_assert_eq(seen.binding_table, gpu_address(0x3040));
    cr_assert_eq(seen.sampler_table, gpu_address(0x4020));
    const uint32_t groups[3] = {3, 2, 1};
    cr_assert_arr_eq(seen.groups, groups, sizeof(groups));
}

// Four times: of the start twice, of the end twice. Xe2 writes 64 bits, families before it 32.
static void expect_times(const struct shim_product *product, uint32_t size_bytes)
{
    const struct shim_walker_head head = {.groups = {1, 1, 1}};
    const struct shim_walker_tail tail = {
        .result = {.operation = SHIM_RESULT_TIME,
                   .address = {LOW(gpu_address(RESULT)), HIGH(gpu_address(RESULT))}}};
    shim_streamer_init(&streamer, gpu.space, product, 1);
    batch_walker_of(&batch, product->family, head, &tail);
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
    expect_times(shim_product_find("bmg"), 8);
}

Test(streamer, writes_times_of_32_bits_on_xe_hp)
{
    expect_times(shim_product_find("dg2"), 4);
}

Test(streamer, refuses_a_walker_of_another_family)
{
    const struct shim_walker_head head = {.groups = {1, 1, 1}};
    const struct shim_walker_tail tail = {.result = {.operation = SHIM_RESULT_NONE}};
    batch_walker_of(&batch, SHIM_FAMILY_XE_HP, head, &tail);
    batch_end(&batch);
    cr_assert_eq(run(), SHIM_FAILED);
}

// ---- Tiles ----

static unsigned runs_of_group[8];

static bool count_groups(struct shim_address_space *space, const struct shim_walker *walker)
{
    (void)space;
    cr_assert_eq(walker->groups[walker->part.dimension], 8);
    for (uint32_t i = 0; i < 8; i++)
        runs_of_group[i] += i - walker->part.first < walker->part.count;
    return true;
}

// A walker of 8 groups in partitions of that many, behind which each tile waits for the other and
// stores its number where its results lie.
static void add_partitioned(uint32_t groups)
{
    const struct shim_walker_head head = {.is_partitioned = 1,
                                          .partition_dimension = 2,
                                          .partition_groups = groups,
                                          .groups = {1, 8, 1}};
    const struct shim_walker_tail tail = {
        .result = {.operation = SHIM_RESULT_VALUE,
                   .address = {LOW(gpu_address(RESULT)), HIGH(gpu_address(RESULT))},
                   .value = {9}}};
    const struct shim_mi_atomic arrive = {
        .length = 1,
        .operation = SHIM_ATOMIC_INCREMENT,
        .opcode = SHIM_MI_ATOMIC,
        .address = {LOW(gpu_address(OTHER + 64)), HIGH(gpu_address(OTHER + 64))}};
    const struct shim_mi_register_mem store = {
        .length = 2,
        .adds_partition = 1,
        .opcode = SHIM_MI_STORE_REGISTER_MEM,
        .at = SHIM_REGISTER_PARTITION,
        .address = {LOW(gpu_address(OTHER)), HIGH(gpu_address(OTHER))}};
    gpu_kernel = count_groups;
    batch_walker_of(&batch, SHIM_FAMILY_XE_HP, head, &tail);
    batch_barrier(&batch);
    batch_add(&batch, 3, (const uint32_t *)(const void *)&arrive); // it has no data
    batch_wait(&batch, gpu_address(OTHER + 64), 2);
    BATCH_COMMAND(&batch, store);
    batch_end(&batch);
}

static void init_tile(struct shim_streamer *tile, uint32_t number)
{
    shim_streamer_init(tile, gpu.space, shim_product_find("pvc"), 1 + number);
    shim_registers_write(&tile->registers, SHIM_REGISTER_PARTITION, number);
    shim_registers_write(&tile->registers, SHIM_REGISTER_PARTITION_DISTANCE, 16);
    shim_streamer_begin(tile, batch.address);
}

// The second one comes first.
static void run_tiles(void)
{
    static struct shim_streamer tiles[2];
    for (uint32_t i = 0; i < 2; i++)
        init_tile(&tiles[i], i);
    cr_assert_eq(shim_streamer_run(&tiles[1]), SHIM_WAITS, "for the other tile");
    cr_assert_eq(shim_streamer_run(&tiles[0]), SHIM_ENDED);
    cr_assert_eq(shim_streamer_run(&tiles[1]), SHIM_ENDED);
}

Test(streamer, tiles_execute_their_parts_and_each_has_its_results)
{
    static const unsigned once[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    add_partitioned(4);
    run_tiles();
    cr_assert_arr_eq(runs_of_group, once, sizeof(once));
    cr_assert_eq(*gpu_word(&gpu, RESULT), 9);
    cr_assert_eq(*gpu_word(&gpu, RESULT + 8), 9);
    cr_assert_eq(*gpu_word(&gpu, OTHER), 0);
    cr_assert_eq(*gpu_word(&gpu, OTHER + 16), 1);
}

Test(streamer, groups_that_are_in_no_part_are_not_executed)
{
    static const unsigned some[8] = {1, 1, 1, 1, 1, 1};
    add_partitioned(3);
    run_tiles();
    cr_assert_arr_eq(runs_of_group, some, sizeof(some));
}

// Behind the last group: a kernel that one tile executes alone.
Test(streamer, a_tile_without_groups_executes_nothing)
{
    static const unsigned once[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    add_partitioned(8);
    run_tiles();
    cr_assert_arr_eq(runs_of_group, once, sizeof(once));
    cr_assert_eq(*gpu_word(&gpu, RESULT + 8), 9);
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
    add_register_store(0x2358);
    add_bases();
    batch_walker_of(&batch, SHIM_FAMILY_XE2, (struct shim_walker_head){.groups = {1, 1, 1}},
                    &(struct shim_walker_tail){.descriptor = {.kernel_start = 0x80}});
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
    batch_walker_of(&batch, SHIM_FAMILY_XE2, (struct shim_walker_head){.is_indirect = 1},
                    &(struct shim_walker_tail){.result = {.operation = SHIM_RESULT_NONE}});
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
    add_jump(batch.address, false);
    cr_assert_eq(run(), SHIM_GOES_ON);
}
