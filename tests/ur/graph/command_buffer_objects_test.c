// SPDX-License-Identifier: MIT
// What command buffers keep: values, memory objects and kernels, until the last execution is over.
#include "command_buffer_fixture.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

TestSuite(command_buffer_objects, .init = cb_set_up, .fini = cb_tear_down);

Test(command_buffer_objects, keeps_copies_of_what_it_was_given)
{
    ur_kernel_handle_t store = ur_kernel("arguments", "store_values");
    struct {
        int8_t first;
        int64_t second;
    } pair = {6, 7};
    int8_t a = 1;
    int16_t b = 2;
    int32_t c = 3;
    int64_t d = 4;
    float e = 5;
    int32_t f[4] = {1, 2, 3, 4};
    int64_t *out = ur_shared(8 * sizeof(int64_t));
    uint8_t pattern[3] = {1, 2, 3}, *bytes = ur_shared(9);
    ur_exp_kernel_arg_properties_t arguments[] = {
        UR_VALUE(0, a), UR_VALUE(1, b), UR_VALUE(2, c),    UR_VALUE(3, d),
        UR_VALUE(4, e), UR_VALUE(5, f), UR_VALUE(6, pair), UR_POINTER(7, out)};
    size_t items = 1;
    sync_point_t wait[] = {0};
    buffer_t buffer = cb_make(FREE);
    UR_OK(urCommandBufferAppendUSMFillExp(buffer, bytes, pattern, 3, 9, 0, NULL, 0, NULL, &wait[0],
                                          NULL, NULL));
    UR_OK(urCommandBufferAppendKernelLaunchWithArgsExp(buffer, store, 1, NULL, &items, NULL, 8,
                                                       arguments, 0, NULL, 1, wait, 0, NULL, NULL,
                                                       NULL, NULL));
    UR_OK(urCommandBufferFinalizeExp(buffer));
    UR_OK(urKernelRelease(store));
    memset(pattern, 0, sizeof(pattern));
    memset(&pair, 0, sizeof(pair));
    memset(arguments, 0, sizeof(arguments));
    memset(f, 0, sizeof(f));
    a = 0, b = 0, c = 0, d = 0, e = 0, items = 0, wait[0] = 99;
    cb_run(gear.queue, buffer);
    UR_OK(urQueueFinish(gear.queue));
    const int64_t expected[] = {1, 2, 3, 4, 0x40a00000, 4321, 6, 7};
    for (int i = 0; i < 8; i++)
        cr_assert_eq(out[i], expected[i], "value %d is %lld", i, (long long)out[i]);
    for (int i = 0; i < 9; i++)
        cr_assert_eq(bytes[i], i % 3 + 1);
    UR_OK(urCommandBufferReleaseExp(buffer));
    ur_free(out);
    ur_free(bytes);
}

Test(command_buffer_objects, copies_fills_and_reads_buffers_that_the_host_has_released)
{
    enum { BYTES = 64 };
    ur_queue_handle_t queue = ur_queue(gear.device, UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    ur_mem_handle_t source = cb_make_mem(BYTES), target = cb_make_mem(BYTES);
    const ur_buffer_region_t region = {
        .stype = UR_STRUCTURE_TYPE_BUFFER_REGION, .origin = 16, .size = 32};
    ur_mem_handle_t part;
    UR_OK(urMemBufferPartition(target, 0, UR_BUFFER_CREATE_TYPE_REGION, &region, &part));
    uint8_t in[BYTES], out[BYTES], byte = 0xee;
    buffer_t buffer = cb_make(FREE);
    sync_point_t written, filled, copied;
    UR_OK(urCommandBufferAppendMemBufferWriteExp(buffer, source, 0, BYTES, in, 0, NULL, 0, NULL,
                                                 &written, NULL, NULL));
    UR_OK(urCommandBufferAppendMemBufferFillExp(buffer, target, &byte, 1, 0, BYTES, 0, NULL, 0,
                                                NULL, &filled, NULL, NULL));
    const sync_point_t both[] = {written, filled};
    UR_OK(urCommandBufferAppendMemBufferCopyExp(buffer, source, part, 8, 4, 20, 2, both, 0, NULL,
                                                &copied, NULL, NULL));
    UR_OK(urCommandBufferAppendMemBufferReadExp(buffer, target, 0, BYTES, out, 1, &copied, 0, NULL,
                                                NULL, NULL, NULL));
    UR_OK(urCommandBufferFinalizeExp(buffer));
    UR_OK(urMemRelease(source));
    UR_OK(urMemRelease(target));
    UR_OK(urMemRelease(part));
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < BYTES; i++)
            in[i] = (uint8_t)(i + 100 * round);
        cb_run(queue, buffer);
        UR_OK(urQueueFinish(queue));
        for (int i = 0; i < BYTES; i++)
            cr_assert_eq(out[i], i >= 20 && i < 40 ? i - 12 + 100 * round : 0xee);
    }
    UR_OK(urCommandBufferReleaseExp(buffer));
    UR_OK(urQueueRelease(queue));
}

Test(command_buffer_objects, copies_rectangles)
{
    // 4 by 3 by 2 bytes, inside 8 by 4 by 2 of the host and 6 by 5 by 3 of a buffer.
    enum { HOST = 8 * 4 * 2, DEVICE = 6 * 5 * 3 };
    const ur_rect_region_t region = {4, 3, 2};
    const ur_rect_offset_t host_at = {3, 1, 0}, first_at = {1, 2, 1}, second_at = {2, 0, 0};
    ur_mem_handle_t first = cb_make_mem(DEVICE), second = cb_make_mem(DEVICE);
    uint8_t in[HOST], out[HOST] = {0};
    for (int i = 0; i < HOST; i++)
        in[i] = (uint8_t)(i + 1);
    buffer_t buffer = cb_make(IN_ORDER);
    UR_OK(urCommandBufferAppendMemBufferWriteRectExp(buffer, first, first_at, host_at, region, 6,
                                                     30, 8, 32, in, 0, NULL, 0, NULL, NULL, NULL,
                                                     NULL));
    UR_OK(urCommandBufferAppendMemBufferCopyRectExp(buffer, first, second, first_at, second_at,
                                                    region, 6, 30, 6, 30, 0, NULL, 0, NULL, NULL,
                                                    NULL, NULL));
    UR_OK(urCommandBufferAppendMemBufferReadRectExp(buffer, second, second_at, host_at, region, 6,
                                                    30, 8, 32, out, 0, NULL, 0, NULL, NULL, NULL,
                                                    NULL));
    UR_OK(urCommandBufferFinalizeExp(buffer));
    UR_OK(urMemRelease(first));
    UR_OK(urMemRelease(second));
    cb_run(gear.queue, buffer);
    UR_OK(urQueueFinish(gear.queue));
    for (int i = 0; i < HOST; i++) {
        const bool is_inside = i % 8 >= 3 && i % 8 < 7 && i / 8 % 4 >= 1;
        cr_assert_eq(out[i], is_inside ? in[i] : 0, "byte %d is %u", i, out[i]);
    }
    UR_OK(urCommandBufferReleaseExp(buffer));
}

// Rows of the host that are more than 4 GiB apart altogether, and dense in the buffer.
Test(command_buffer_objects, copies_rows_of_a_large_pitch)
{
    enum { ROWS = 4097, WIDTH = 16 };
    const size_t pitch = (size_t)1 << 20;
    const ur_rect_region_t region = {WIDTH, ROWS, 1}, slices = {WIDTH, 2, 2};
    const ur_rect_offset_t at = {0, 0, 0};
    uint8_t *in = mmap(NULL, ROWS * pitch, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    cr_assert_neq((void *)in, MAP_FAILED);
    for (size_t row = 0; row < ROWS; row++)
        memset(in + row * pitch, (int)(row % 251), WIDTH);
    uint8_t *out = malloc(ROWS * WIDTH);
    ur_mem_handle_t mem = cb_make_mem(ROWS * WIDTH);
    buffer_t buffer = cb_make(IN_ORDER);
    UR_OK(urCommandBufferAppendMemBufferWriteRectExp(buffer, mem, at, at, region, 0, 0, pitch, 0,
                                                     in, 0, NULL, 0, NULL, NULL, NULL, NULL));
    UR_OK(urCommandBufferAppendMemBufferReadExp(buffer, mem, 0, ROWS * WIDTH, out, 0, NULL, 0, NULL,
                                                NULL, NULL, NULL));
    // What cannot be recorded is refused at once.
    UR_FAILS_SAYING(urCommandBufferAppendMemBufferWriteRectExp(buffer, mem, at, at, slices, 0, 0,
                                                               pitch, ROWS * pitch, in, 0, NULL, 0,
                                                               NULL, NULL, NULL, NULL),
                    UR_RESULT_ERROR_INVALID_SIZE, "slice pitch");
    UR_OK(urCommandBufferFinalizeExp(buffer));
    cb_run(gear.queue, buffer);
    UR_OK(urQueueFinish(gear.queue));
    for (size_t row = 0; row < ROWS; row++)
        cr_assert_eq(memcmp(out + row * WIDTH, in + row * pitch, WIDTH), 0, "row %zu", row);
    UR_OK(urMemRelease(mem));
    UR_OK(urCommandBufferReleaseExp(buffer));
    free(out);
    munmap(in, ROWS * pitch);
}

Test(command_buffer_objects, launches_on_memory_objects_that_it_keeps)
{
    enum { BYTES = ITEMS * sizeof(float) };
    // No other command uses `b`.
    ur_mem_handle_t a = cb_make_mem(BYTES), b = cb_make_mem(BYTES), sum = cb_make_mem(BYTES);
    ur_mem_handle_t later[4];
    const float seven = 7, five = 5, nine = 9;
    float out[ITEMS];
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_MEM(0, a), UR_MEM(1, b), UR_MEM(2, sum)};
    UR_OK(urEnqueueMemBufferFill(gear.queue, b, &five, 4, 0, BYTES, 0, NULL, NULL));
    UR_OK(urQueueFinish(gear.queue));
    buffer_t buffer = cb_make(FREE);
    sync_point_t filled;
    UR_OK(urCommandBufferAppendMemBufferFillExp(buffer, a, &seven, sizeof(seven), 0,
                                                ITEMS * sizeof(float), 0, NULL, 0, NULL, &filled,
                                                NULL, NULL));
    const sync_point_t added =
        cb_append_launch(buffer, cb_add, ITEMS, 3, arguments, AFTER(filled), NULL);
    UR_OK(urCommandBufferAppendMemBufferReadExp(buffer, sum, 0, sizeof(out), out, 1, &added, 0,
                                                NULL, NULL, NULL, NULL));
    UR_OK(urCommandBufferFinalizeExp(buffer));
    UR_OK(urMemRelease(a));
    UR_OK(urMemRelease(b));
    UR_OK(urMemRelease(sum));
    // Memory that was freed too early is in one of these now.
    for (int i = 0; i < 4; i++) {
        later[i] = cb_make_mem(BYTES);
        UR_OK(urEnqueueMemBufferFill(gear.queue, later[i], &nine, 4, 0, BYTES, 0, NULL, NULL));
    }
    cb_run(gear.queue, buffer);
    UR_OK(urQueueFinish(gear.queue));
    cb_expect(out, 12);
    for (int i = 0; i < 4; i++)
        UR_OK(urMemRelease(later[i]));
    UR_OK(urCommandBufferReleaseExp(buffer));
}

Test(command_buffer_objects, the_last_release_waits_for_what_runs)
{
    ur_kernel_handle_t spin = ur_kernel("spin", "spin");
    ur_queue_handle_t queue = ur_queue(gear.device, UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    const uint32_t rounds = 20000000;
    uint32_t *out = ur_shared(2 * sizeof(uint32_t));
    const ur_exp_kernel_arg_properties_t first[] = {UR_VALUE(0, rounds), UR_POINTER(1, out)};
    const ur_exp_kernel_arg_properties_t second[] = {UR_VALUE(0, rounds), UR_POINTER(1, out + 1)};
    buffer_t buffer = cb_make(FREE);
    cb_append_launch(buffer, spin, 1, 2, first, AT_ONCE, NULL);
    cb_append_launch(buffer, spin, 1, 2, second, AT_ONCE, NULL);
    UR_OK(urCommandBufferFinalizeExp(buffer));
    UR_OK(urCommandBufferRetainExp(buffer));
    cb_run(queue, buffer);
    UR_OK(urCommandBufferReleaseExp(buffer));
    UR_OK(urKernelRelease(spin));
    UR_OK(urCommandBufferReleaseExp(buffer));
    cr_assert_neq(out[0], 0);
    cr_assert_eq(out[1], out[0]);
    UR_OK(urQueueRelease(queue));
    ur_free(out);
}

// Its events do not pile up, whatever the host waits for.
Test(command_buffer_objects, forgets_executions_that_are_over)
{
    ur_queue_handle_t queue = ur_queue(gear.device, UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    float *a = cb_floats(ITEMS);
    buffer_t buffer = cb_make(FREE);
    cb_append_fill(buffer, a, 1, AT_ONCE);
    UR_OK(urCommandBufferFinalizeExp(buffer));
    uint64_t events = 0;
    for (int i = 0; i < 1000; i++) {
        cb_run(queue, buffer);
        UR_OK(urQueueFinish(queue));
        if (i == 9)
            events = ze_cpu.get_count("zeEventCreate");
    }
    cr_assert_eq(ze_cpu.get_count("zeEventCreate"), events);
    UR_OK(urCommandBufferReleaseExp(buffer));
    UR_OK(urQueueRelease(queue));
    ur_free(a);
}

// For lack of memory the context gives back what it can, and the driver is asked once more.
Test(command_buffer_objects, gets_lists_from_what_the_context_gives_back)
{
    float *a = cb_floats(ITEMS);
    UR_OK(urQueueRelease(ur_queue(gear.device, UR_QUEUE_FLAG_PROFILING_ENABLE)));
    buffer_t buffer = cb_make(FREE);
    cb_append_fill(buffer, a, 3, AT_ONCE);
    const uint64_t destroyed = ze_cpu.get_count("zeCommandListDestroy");
    cr_assert_eq(ze_cpu.set_fail("zeCommandListCreate:1:ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY"), 0);
    UR_OK(urCommandBufferFinalizeExp(buffer));
    cr_assert_gt(ze_cpu.get_count("zeCommandListDestroy"), destroyed);
    cb_run(gear.queue, buffer);
    UR_OK(urQueueFinish(gear.queue));
    cb_expect(a, 3);
    UR_OK(urCommandBufferReleaseExp(buffer));
    ur_free(a);
}
