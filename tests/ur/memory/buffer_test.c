// SPDX-License-Identifier: MIT
// Buffers: copies, rectangles, parts, host pointers, native memory, kernels on two devices.
#include "ur_fixture.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define SIZE 4096

TestSuite(buffer, .init = ur_set_up, .fini = ur_tear_down);
TestSuite(buffer_of_two, .init = ur_set_up_two, .fini = ur_tear_down);

static void set_up_two_discrete(void)
{
    setenv("ZE_CPU_INTEGRATED", "0", 1);
    ur_set_up_two();
}

TestSuite(buffer_that_moves, .init = set_up_two_discrete, .fini = ur_tear_down);

static ur_mem_handle_t create(ur_mem_flags_t flags, size_t size, void *host)
{
    const ur_buffer_properties_t properties = {.stype = UR_STRUCTURE_TYPE_BUFFER_PROPERTIES,
                                               .pHost = host};
    ur_mem_handle_t buffer;
    UR_OK(urMemBufferCreate(gear.context, flags, size, host ? &properties : NULL, &buffer));
    return buffer;
}

static void write(ur_mem_handle_t buffer, const void *bytes, size_t size)
{
    UR_OK(urEnqueueMemBufferWrite(gear.queue, buffer, true, 0, size, bytes, 0, NULL, NULL));
}

static void read(ur_mem_handle_t buffer, void *bytes, size_t size)
{
    UR_OK(urEnqueueMemBufferRead(gear.queue, buffer, true, 0, size, bytes, 0, NULL, NULL));
}

static void count_up(unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(i * 5 + i / 256);
}

static void check_copies(void)
{
    unsigned char bytes[SIZE];
    unsigned char back[SIZE];
    ur_mem_handle_t first = create(UR_MEM_FLAG_READ_WRITE, SIZE, NULL);
    ur_mem_handle_t second = create(UR_MEM_FLAG_READ_WRITE, SIZE, NULL);
    const uint32_t pattern = 0x01020304;
    count_up(bytes, SIZE);
    write(first, bytes, SIZE);
    UR_OK(urEnqueueMemBufferFill(gear.queue, second, &pattern, 4, 0, SIZE, 0, NULL, NULL));
    UR_OK(urEnqueueMemBufferCopy(gear.queue, first, second, 100, 1000, 500, 0, NULL, NULL));
    UR_OK(urEnqueueMemBufferFill(gear.queue, second, &pattern, 2, 2000, 4, 0, NULL, NULL));
    read(second, back, SIZE);
    for (size_t i = 0; i < SIZE; i++) {
        const unsigned char *filled = (const unsigned char *)&pattern;
        const unsigned char expected = i >= 1000 && i < 1500   ? bytes[i - 900]
                                       : i >= 2000 && i < 2004 ? filled[i % 2]
                                                               : filled[i % 4];
        cr_assert_eq(back[i], expected, "byte %zu", i);
    }
    UR_OK(urMemRelease(first));
    UR_OK(urMemRelease(second));
}

Test(buffer, is_written_copied_filled_and_read)
{
    check_copies();
}

Test(buffer_of_two, is_written_copied_filled_and_read)
{
    check_copies();
}

Test(buffer, commands_follow_their_wait_lists_and_have_events)
{
    ur_queue_handle_t queue = ur_queue(gear.device, UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    ur_mem_handle_t buffer = create(UR_MEM_FLAG_READ_WRITE, 16, NULL);
    static const ur_command_t types[] = {UR_COMMAND_MEM_BUFFER_FILL, UR_COMMAND_MEM_BUFFER_WRITE,
                                         UR_COMMAND_MEM_BUFFER_COPY, UR_COMMAND_MEM_BUFFER_READ};
    ur_event_handle_t events[4];
    const uint32_t one = 1;
    const uint32_t two = 2;
    uint32_t back[4] = {0};
    UR_OK(urEnqueueMemBufferFill(queue, buffer, &one, 4, 0, 16, 0, NULL, &events[0]));
    UR_OK(urEnqueueMemBufferWrite(queue, buffer, false, 4, 4, &two, 1, &events[0], &events[1]));
    UR_OK(urEnqueueMemBufferCopy(queue, buffer, buffer, 4, 12, 4, 1, &events[1], &events[2]));
    UR_OK(urEnqueueMemBufferRead(queue, buffer, true, 0, 16, back, 1, &events[2], &events[3]));
    cr_assert_eq(back[0], 1);
    cr_assert_eq(back[1], 2);
    cr_assert_eq(back[2], 1);
    cr_assert_eq(back[3], 2);
    for (int i = 0; i < 4; i++) {
        ur_command_t type;
        UR_OK(urEventGetInfo(events[i], UR_EVENT_INFO_COMMAND_TYPE, sizeof(type), &type, NULL));
        cr_assert_eq(type, types[i]);
        UR_OK(urEventRelease(events[i]));
    }
    UR_OK(urMemRelease(buffer));
    UR_OK(urQueueRelease(queue));
}

// The result of the commands, byte by byte. Pitches of 0 are dense.
struct rect {
    ur_rect_offset_t origin;
    size_t row_pitch;
    size_t slice_pitch;
};

static size_t place(const struct rect *rect, ur_rect_region_t region, uint64_t x, uint64_t y,
                    uint64_t z)
{
    const size_t row = rect->row_pitch ? rect->row_pitch : region.width;
    const size_t slice = rect->slice_pitch ? rect->slice_pitch : row * region.height;
    return (rect->origin.z + z) * slice + (rect->origin.y + y) * row + rect->origin.x + x;
}

static void copy_on_the_host(unsigned char *to, const struct rect *to_rect,
                             const unsigned char *from, const struct rect *from_rect,
                             ur_rect_region_t region)
{
    for (uint64_t z = 0; z < region.depth; z++) {
        for (uint64_t y = 0; y < region.height; y++) {
            for (uint64_t x = 0; x < region.width; x++)
                to[place(to_rect, region, x, y, z)] = from[place(from_rect, region, x, y, z)];
        }
    }
}

static const struct {
    ur_rect_region_t region;
    struct rect from;
    struct rect to;
} rects[] = {
    {{8, 1, 1}, {{3, 0, 0}, 0, 0}, {{5, 0, 0}, 0, 0}},
    {{8, 4, 1}, {{3, 2, 0}, 20, 0}, {{0, 0, 0}, 0, 0}},
    {{8, 4, 3}, {{3, 2, 1}, 20, 200}, {{5, 1, 2}, 32, 320}},
    {{1, 5, 2}, {{7, 0, 0}, 9, 90}, {{0, 0, 0}, 1, 5}},
    {{16, 2, 5}, {{0, 0, 0}, 16, 32}, {{16, 0, 0}, 64, 128}},
    {{13, 3, 2}, {{1, 1, 1}, 0, 0}, {{2, 2, 2}, 0, 0}},
};

static void check_rects(void)
{
    unsigned char bytes[SIZE];
    unsigned char start[SIZE];
    unsigned char expected[SIZE];
    unsigned char back[SIZE];
    ur_mem_handle_t first = create(UR_MEM_FLAG_READ_WRITE, SIZE, NULL);
    ur_mem_handle_t second = create(UR_MEM_FLAG_READ_WRITE, SIZE, NULL);
    count_up(bytes, SIZE);
    memset(start, 0xee, SIZE);
    write(first, bytes, SIZE);
    for (size_t i = 0; i < sizeof(rects) / sizeof(rects[0]); i++) {
        const struct rect *from = &rects[i].from;
        const struct rect *to = &rects[i].to;
        memcpy(expected, start, SIZE);
        copy_on_the_host(expected, to, bytes, from, rects[i].region);

        write(second, start, SIZE);
        UR_OK(urEnqueueMemBufferCopyRect(gear.queue, first, second, from->origin, to->origin,
                                         rects[i].region, from->row_pitch, from->slice_pitch,
                                         to->row_pitch, to->slice_pitch, 0, NULL, NULL));
        read(second, back, SIZE);
        cr_assert_eq(memcmp(back, expected, SIZE), 0, "copy %zu", i);

        write(second, start, SIZE);
        UR_OK(urEnqueueMemBufferWriteRect(
            gear.queue, second, true, to->origin, from->origin, rects[i].region, to->row_pitch,
            to->slice_pitch, from->row_pitch, from->slice_pitch, bytes, 0, NULL, NULL));
        read(second, back, SIZE);
        cr_assert_eq(memcmp(back, expected, SIZE), 0, "write %zu", i);

        memcpy(back, start, SIZE);
        UR_OK(urEnqueueMemBufferReadRect(gear.queue, first, true, from->origin, to->origin,
                                         rects[i].region, from->row_pitch, from->slice_pitch,
                                         to->row_pitch, to->slice_pitch, back, 0, NULL, NULL));
        cr_assert_eq(memcmp(back, expected, SIZE), 0, "read %zu", i);
    }
    UR_OK(urMemRelease(first));
    UR_OK(urMemRelease(second));
}

Test(buffer, rectangles_go_where_their_pitches_say)
{
    check_rects();
}

Test(buffer_of_two, rectangles_go_where_their_pitches_say)
{
    check_rects();
}

Test(buffer, part_is_a_window_that_keeps_the_whole)
{
    unsigned char bytes[SIZE];
    unsigned char back[SIZE];
    ur_mem_handle_t whole = create(UR_MEM_FLAG_READ_WRITE, SIZE, NULL);
    ur_mem_handle_t part;
    const ur_buffer_region_t region = {
        .stype = UR_STRUCTURE_TYPE_BUFFER_REGION, .origin = 1024, .size = 256};
    size_t size;
    count_up(bytes, SIZE);
    write(whole, bytes, SIZE);
    UR_OK(urMemBufferPartition(whole, UR_MEM_FLAG_READ_WRITE, UR_BUFFER_CREATE_TYPE_REGION, &region,
                               &part));
    UR_OK(urMemGetInfo(part, UR_MEM_INFO_SIZE, sizeof(size), &size, NULL));
    cr_assert_eq(size, 256);
    read(part, back, 256);
    cr_assert_eq(memcmp(back, bytes + 1024, 256), 0);
    memset(back, 0x77, 256);
    write(part, back, 256);
    read(whole, back, SIZE);
    for (size_t i = 0; i < SIZE; i++)
        cr_assert_eq(back[i], i >= 1024 && i < 1280 ? 0x77 : bytes[i]);
    UR_OK(urMemRelease(whole));
    read(part, back, 256);
    cr_assert_eq(back[255], 0x77);
    UR_OK(urMemRelease(part));
}

// The USM has the bytes that a part wrote after the release of its whole, too.
Test(buffer, part_that_goes_last_writes_back_to_usm)
{
    const unsigned char pattern = 0x77;
    const ur_buffer_region_t region = {
        .stype = UR_STRUCTURE_TYPE_BUFFER_REGION, .origin = 1024, .size = 256};
    unsigned char *host;
    ur_mem_handle_t part;
    UR_OK(urUSMHostAlloc(gear.context, NULL, NULL, SIZE, (void **)&host));
    count_up(host, SIZE);
    ur_mem_handle_t whole =
        create(UR_MEM_FLAG_READ_WRITE | UR_MEM_FLAG_USE_HOST_POINTER, SIZE, host);
    UR_OK(urMemBufferPartition(whole, UR_MEM_FLAG_READ_WRITE, UR_BUFFER_CREATE_TYPE_REGION, &region,
                               &part));
    UR_OK(urMemRelease(whole));
    UR_OK(urEnqueueMemBufferFill(gear.queue, part, &pattern, 1, 0, 256, 0, NULL, NULL));
    UR_OK(urMemRelease(part));
    for (size_t i = 0; i < SIZE; i++)
        cr_assert_eq(host[i], i >= 1024 && i < 1280 ? pattern : (unsigned char)(i * 5 + i / 256),
                     "byte %zu", i);
    ur_free(host);
}

// sum = first half + second half, in place of the whole's third quarter.
Test(buffer, parts_are_arguments_of_kernels)
{
    enum { ITEMS = 64 };
    ur_kernel_handle_t add = ur_kernel("vector_add", "vector_add");
    float numbers[4 * ITEMS];
    ur_mem_handle_t parts[3];
    for (int i = 0; i < 4 * ITEMS; i++)
        numbers[i] = (float)i;
    ur_mem_handle_t whole = create(UR_MEM_FLAG_READ_WRITE | UR_MEM_FLAG_ALLOC_COPY_HOST_POINTER,
                                   sizeof(numbers), numbers);
    for (size_t i = 0; i < 3; i++) {
        const ur_buffer_region_t region = {.stype = UR_STRUCTURE_TYPE_BUFFER_REGION,
                                           .origin = i * ITEMS * sizeof(float),
                                           .size = ITEMS * sizeof(float)};
        UR_OK(urMemBufferPartition(whole, UR_MEM_FLAG_READ_WRITE, UR_BUFFER_CREATE_TYPE_REGION,
                                   &region, &parts[i]));
    }
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_MEM(0, parts[0]), UR_MEM(1, parts[1]),
                                                        UR_MEM(2, parts[2])};
    UR_OK(ur_launch(gear.queue, add, ITEMS, 3, arguments, 0, NULL, NULL));
    memset(numbers, 0, sizeof(numbers));
    read(whole, numbers, sizeof(numbers));
    for (int i = 0; i < ITEMS; i++) {
        cr_assert_eq(numbers[2 * ITEMS + i], (float)(2 * i + ITEMS));
        cr_assert_eq(numbers[3 * ITEMS + i], (float)(3 * ITEMS + i));
    }
    for (int i = 0; i < 3; i++)
        UR_OK(urMemRelease(parts[i]));
    UR_OK(urMemRelease(whole));
    UR_OK(urKernelRelease(add));
}

Test(buffer, begins_with_what_the_host_pointer_has)
{
    static const ur_mem_flags_t flags[] = {
        UR_MEM_FLAG_USE_HOST_POINTER, UR_MEM_FLAG_ALLOC_COPY_HOST_POINTER,
        UR_MEM_FLAG_ALLOC_COPY_HOST_POINTER | UR_MEM_FLAG_ALLOC_HOST_POINTER};
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        unsigned char bytes[SIZE];
        unsigned char back[SIZE];
        count_up(bytes, SIZE);
        ur_mem_handle_t buffer = create(UR_MEM_FLAG_READ_WRITE | flags[i], SIZE, bytes);
        read(buffer, back, SIZE);
        cr_assert_eq(memcmp(back, bytes, SIZE), 0);
        UR_OK(urMemRelease(buffer));
    }
}

Test(buffer_of_two, is_worked_on_by_two_devices_in_turn)
{
    enum { ITEMS = 300 };
    ur_queue_handle_t queues[] = {gear.queue, ur_queue(gear.devices[1], 0)};
    ur_program_handle_t program = ur_executable("twenty_kernels");
    ur_kernel_handle_t add_3;
    ur_mem_handle_t buffer = create(UR_MEM_FLAG_READ_WRITE, ITEMS * sizeof(int32_t), NULL);
    int32_t numbers[ITEMS] = {0};
    ur_event_handle_t before = NULL;
    UR_OK(urKernelCreate(program, "add_3", &add_3));
    write(buffer, numbers, sizeof(numbers));
    for (int i = 0; i < 10; i++) {
        const ur_exp_kernel_arg_properties_t argument = UR_MEM(0, buffer);
        ur_event_handle_t after;
        UR_OK(ur_launch(queues[i % 2], add_3, ITEMS, 1, &argument, before ? 1 : 0,
                        before ? &before : NULL, &after));
        if (before)
            UR_OK(urEventRelease(before));
        before = after;
    }
    UR_OK(urEnqueueMemBufferRead(queues[0], buffer, true, 0, sizeof(numbers), numbers, 1, &before,
                                 NULL));
    for (int i = 0; i < ITEMS; i++)
        cr_assert_eq(numbers[i], 30);
    UR_OK(urEventRelease(before));
    UR_OK(urMemRelease(buffer));
    UR_OK(urKernelRelease(add_3));
    UR_OK(urProgramRelease(program));
    UR_OK(urQueueRelease(queues[1]));
}

// A kernel of another context works on the buffer, which is released while it runs: pointers are
// the same in all contexts of a platform.
Test(buffer, serves_a_kernel_of_another_context)
{
    enum { ITEMS = 1000 };
    ur_context_handle_t own = gear.context;
    ur_context_handle_t other;
    ur_queue_handle_t queue;
    int32_t numbers[ITEMS] = {0};
    ur_mem_handle_t buffer = create(UR_MEM_FLAG_READ_WRITE, sizeof(numbers), NULL);
    write(buffer, numbers, sizeof(numbers));
    UR_OK(urContextCreate(1, &gear.device, NULL, &other));
    UR_OK(urQueueCreate(other, gear.device, NULL, &queue));
    gear.context = other; // the fixture's functions mean this one
    ur_kernel_handle_t add = ur_kernel("twenty_kernels", "add_3");
    ur_kernel_handle_t spin = ur_kernel("spin", "spin");
    gear.context = own;
    const ur_exp_kernel_arg_properties_t argument = UR_MEM(0, buffer);
    UR_OK(ur_launch(queue, add, ITEMS, 1, &argument, 0, NULL, NULL));
    UR_OK(urQueueFinish(queue));
    read(buffer, numbers, sizeof(numbers));
    for (int i = 0; i < ITEMS; i++)
        cr_assert_eq(numbers[i], 3);
    const uint32_t rounds = 20000000;
    const ur_exp_kernel_arg_properties_t spinning[] = {UR_VALUE(0, rounds), UR_MEM(1, buffer)};
    const uint64_t freed_before = ze_cpu.get_count("zeMemFree");
    UR_OK(ur_launch(queue, spin, 1, 2, spinning, 0, NULL, NULL));
    UR_OK(urMemRelease(buffer));
    UR_OK(urQueueFinish(gear.queue)); // its own context's queues are idle
    cr_assert_eq(ze_cpu.get_count("zeMemFree"), freed_before);
    UR_OK(urQueueFinish(queue));
    UR_OK(urKernelRelease(add));
    UR_OK(urKernelRelease(spin));
    UR_OK(urQueueRelease(queue));
    UR_OK(urContextRelease(other));
}

// A second context of the device, with a queue and a buffer, beside a buffer of the gear's context.
struct two_contexts {
    ur_context_handle_t other;
    ur_queue_handle_t queue;
    ur_mem_handle_t buffer, others;
};

static struct two_contexts open_contexts(size_t size)
{
    struct two_contexts two = {.buffer = create(UR_MEM_FLAG_READ_WRITE, size, NULL)};
    UR_OK(urContextCreate(1, &gear.device, NULL, &two.other));
    UR_OK(urQueueCreate(two.other, gear.device, NULL, &two.queue));
    UR_OK(urMemBufferCreate(two.other, UR_MEM_FLAG_READ_WRITE, size, NULL, &two.others));
    return two;
}

// The buffer of the gear's context is gone.
static void close_contexts(const struct two_contexts *two)
{
    UR_OK(urMemRelease(two->others));
    UR_OK(urQueueRelease(two->queue));
    UR_OK(urContextRelease(two->other));
}

Test(buffer, serves_commands_of_another_context)
{
    unsigned char bytes[SIZE], back[SIZE];
    const struct two_contexts two = open_contexts(SIZE);
    const ur_rect_offset_t origin = {0}, right = {8, 0, 0};
    const ur_rect_region_t column = {8, SIZE / 64, 1};
    void *mapped;
    count_up(bytes, SIZE);
    UR_OK(urEnqueueMemBufferWrite(two.queue, two.buffer, false, 0, SIZE, bytes, 0, NULL, NULL));
    UR_OK(urEnqueueMemBufferCopy(two.queue, two.buffer, two.others, 0, 0, SIZE, 0, NULL, NULL));
    UR_OK(urEnqueueMemBufferFill(two.queue, two.buffer, "", 1, 0, SIZE, 0, NULL, NULL));
    UR_OK(urEnqueueMemBufferCopyRect(two.queue, two.others, two.buffer, origin, right, column, 64,
                                     0, 64, 0, 0, NULL, NULL));
    UR_OK(urEnqueueMemBufferMap(two.queue, two.buffer, true, UR_MAP_FLAG_READ | UR_MAP_FLAG_WRITE,
                                64, 64, 0, NULL, NULL, &mapped));
    cr_assert_eq(memcmp((char *)mapped + 8, bytes + 64, 8), 0);
    memset(mapped, 77, 8);
    UR_OK(urEnqueueMemUnmap(two.queue, two.buffer, mapped, 0, NULL, NULL));
    UR_OK(urEnqueueMemBufferRead(two.queue, two.buffer, true, 0, SIZE, back, 0, NULL, NULL));
    for (size_t i = 0; i < SIZE; i++) {
        const unsigned char expected = i % 64 >= 8 && i % 64 < 16 ? bytes[i - 8]
                                       : i >= 64 && i < 72        ? 77
                                                                  : 0;
        cr_assert_eq(back[i], expected, "byte %zu is %u", i, back[i]);
    }
    UR_OK(urMemRelease(two.buffer));
    close_contexts(&two);
}

// Its context alone knows where its contents are.
Test(buffer_that_moves, is_refused_by_commands_of_another_context)
{
    test_ze_cpu_require();
    unsigned char bytes[SIZE] = {0};
    const struct two_contexts two = open_contexts(SIZE);
    UR_FAILS_SAYING(
        urEnqueueMemBufferWrite(two.queue, two.buffer, true, 0, SIZE, bytes, 0, NULL, NULL),
        UR_RESULT_ERROR_INVALID_MEM_OBJECT, "another context");
    UR_FAILS(urEnqueueMemBufferCopy(two.queue, two.others, two.buffer, 0, 0, 1, 0, NULL, NULL),
             UR_RESULT_ERROR_INVALID_MEM_OBJECT);
    UR_OK(urMemRelease(two.buffer));
    close_contexts(&two);
}

// Its own context, whose queues are idle, knows nothing of the commands. Neither does it of those
// that copy from a map's memory.
Test(buffer, stays_until_commands_of_another_context_are_complete)
{
    enum { BYTES = 1 << 20 };
    static unsigned char back[BYTES];
    test_ze_cpu_require();
    const struct two_contexts two = open_contexts(BYTES);
    const struct host_event gate = host_event_make();
    void *mapped;
    UR_OK(urEnqueueMemBufferMap(gear.queue, two.buffer, true, UR_MAP_FLAG_WRITE_INVALIDATE_REGION,
                                0, BYTES, 0, NULL, NULL, &mapped));
    memset(mapped, 9, BYTES);
    const uint64_t freed_before = ze_cpu.get_count("zeMemFree");
    UR_OK(urEnqueueMemUnmap(two.queue, two.buffer, mapped, 1, &gate.event, NULL));
    UR_OK(urEnqueueMemBufferCopy(two.queue, two.buffer, two.others, 0, 0, BYTES, 0, NULL, NULL));
    UR_OK(urMemRelease(two.buffer));
    UR_OK(urQueueFinish(gear.queue));
    const uint64_t freed = ze_cpu.get_count("zeMemFree");
    host_event_signal(&gate);
    UR_OK(urEnqueueMemBufferRead(two.queue, two.others, true, 0, BYTES, back, 0, NULL, NULL));
    cr_assert_eq(freed, freed_before);
    for (size_t i = 0; i < BYTES; i++)
        cr_assert_eq(back[i], 9, "byte %zu is %u", i, back[i]);
    UR_OK(urQueueFinish(two.queue));
    host_event_release(&gate);
    close_contexts(&two);
}

Test(buffer, serves_command_buffers_of_another_context)
{
    const ur_exp_command_buffer_desc_t desc = {.stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_DESC,
                                               .isInOrder = true};
    unsigned char bytes[SIZE], back[SIZE];
    ur_exp_command_buffer_handle_t commands;
    const struct two_contexts two = open_contexts(SIZE);
    count_up(bytes, SIZE);
    write(two.buffer, bytes, SIZE);
    UR_OK(urCommandBufferCreateExp(two.other, gear.device, &desc, &commands));
    UR_OK(urCommandBufferAppendMemBufferFillExp(commands, two.buffer, "", 1, 8, 8, 0, NULL, 0, NULL,
                                                NULL, NULL, NULL));
    UR_OK(urCommandBufferAppendMemBufferCopyExp(commands, two.buffer, two.others, 0, 0, SIZE, 0,
                                                NULL, 0, NULL, NULL, NULL, NULL));
    UR_OK(urCommandBufferFinalizeExp(commands));
    UR_OK(urMemRelease(two.buffer));
    UR_OK(urEnqueueCommandBufferExp(two.queue, commands, 0, NULL, NULL));
    UR_OK(urEnqueueMemBufferRead(two.queue, two.others, true, 0, SIZE, back, 0, NULL, NULL));
    for (size_t i = 0; i < SIZE; i++)
        cr_assert_eq(back[i], i >= 8 && i < 16 ? 0 : bytes[i], "byte %zu is %u", i, back[i]);
    UR_OK(urCommandBufferReleaseExp(commands));
    close_contexts(&two);
}

// The memory goes when no command can use it any more.
Test(buffer, may_be_released_while_commands_use_it)
{
    enum { ROUNDS = 100 };
    ur_kernel_handle_t spin = ur_kernel("spin", "spin");
    const uint32_t rounds = 200000;
    for (int i = 0; i < ROUNDS; i++) {
        ur_mem_handle_t buffer = create(UR_MEM_FLAG_READ_WRITE, 64 * sizeof(uint32_t), NULL);
        const ur_exp_kernel_arg_properties_t arguments[] = {UR_VALUE(0, rounds), UR_MEM(1, buffer)};
        UR_OK(ur_launch(gear.queue, spin, 64, 2, arguments, 0, NULL, NULL));
        UR_OK(urMemRelease(buffer));
    }
    UR_OK(urQueueFinish(gear.queue));
    UR_OK(urKernelRelease(spin));
}

Test(buffer, around_native_memory_is_that_memory)
{
    for (int is_owned = 0; is_owned < 2; is_owned++) {
        const ur_mem_native_properties_t properties = {
            .stype = UR_STRUCTURE_TYPE_MEM_NATIVE_PROPERTIES, .isNativeHandleOwned = is_owned};
        char *memory = ur_shared(256);
        ur_mem_handle_t buffer;
        ur_native_handle_t native;
        UR_OK(urMemBufferCreateWithNativeHandle((ur_native_handle_t)memory, gear.context,
                                                &properties, &buffer));
        UR_OK(urMemGetNativeHandle(buffer, gear.device, &native));
        cr_assert_eq(native, (ur_native_handle_t)memory);
        write(buffer, "hello", 6);
        cr_assert_str_eq(memory, "hello");
        UR_OK(urMemRelease(buffer));
        UR_OK(urQueueFinish(gear.queue));
        if (!is_owned)
            ur_free(memory);
    }
}

Test(buffer, hands_out_memory_that_kernels_and_copies_take)
{
    ur_mem_handle_t buffer = create(UR_MEM_FLAG_READ_WRITE, 64, NULL);
    ur_native_handle_t native;
    char back[64];
    UR_OK(urMemGetNativeHandle(buffer, NULL, &native));
    UR_OK(urEnqueueUSMMemcpy(gear.queue, true, (void *)native, "through the pointer", 20, 0, NULL,
                             NULL));
    read(buffer, back, 20);
    cr_assert_str_eq(back, "through the pointer");
    UR_OK(urMemRelease(buffer));
}
