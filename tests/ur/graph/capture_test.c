// SPDX-License-Identifier: MIT
// Queues in capture mode: nothing is executed, and the graph replays what was enqueued.
#include "capture_fixture.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <level_zero/ze_api.h>
#include <string.h>

TestSuite(capture, .init = cb_set_up, .fini = cb_tear_down);

// memory: a = 1, b = a, sum = a + b, total += sum. Events for queues of any order.
static void enqueue_sums(ur_queue_handle_t queue, float *memory)
{
    float *a = memory, *b = a + ITEMS, *sum = b + ITEMS, *total = sum + ITEMS;
    ur_event_handle_t filled, copied, added;
    cap_fill(queue, a, 1, NULL, &filled);
    cap_copy(queue, b, a, filled, &copied);
    cap_add(queue, sum, a, b, copied, &added);
    cap_add(queue, total, total, sum, added, NULL);
    UR_OK(urEventRelease(filled));
    UR_OK(urEventRelease(copied));
    UR_OK(urEventRelease(added));
}

static void check_sums(ur_queue_flags_t flags)
{
    ur_queue_handle_t queue = ur_queue(gear.device, flags);
    float *memory = cb_floats(4 * ITEMS);
    graph_t graph = cap_begin(queue);
    enqueue_sums(queue, memory);
    cap_end(queue, graph);
    UR_OK(urQueueFinish(queue));
    cb_expect(memory, 0);
    executable_t executable = cap_instantiate(graph);
    for (int i = 1; i <= 3; i++) {
        cap_run(queue, executable);
        cb_expect(memory + 2 * ITEMS, 2);
        cb_expect(memory + 3 * ITEMS, 2 * (float)i);
    }
    // The queue executes again.
    cap_fill(queue, memory, 7, NULL, NULL);
    UR_OK(urQueueFinish(queue));
    cb_expect(memory, 7);
    cap_destroy(graph, executable);
    UR_OK(urQueueRelease(queue));
    ur_free(memory);
}

Test(capture, replays_what_was_enqueued_to_a_queue_that_keeps_the_order)
{
    check_sums(0);
    check_sums(UR_QUEUE_FLAG_PROFILING_ENABLE);
}

Test(capture, replays_what_was_enqueued_to_a_queue_of_any_order)
{
    check_sums(ANY_ORDER);
    check_sums(ANY_ORDER | UR_QUEUE_FLAG_PROFILING_ENABLE);
}

Test(capture, makes_the_graph_if_there_is_none)
{
    float *memory = cb_floats(ITEMS);
    graph_t graph, asked;
    bool is_empty;
    UR_OK(urQueueBeginGraphCaptureExp(gear.queue));
    UR_OK(urQueueGetGraphExp(gear.queue, &asked));
    cap_fill(gear.queue, memory, 3, NULL, NULL);
    UR_OK(urQueueEndGraphCaptureExp(gear.queue, &graph));
    cr_assert_eq(graph, asked);
    UR_OK(urGraphIsEmptyExp(graph, &is_empty));
    cr_assert_not(is_empty);
    executable_t executable = cap_instantiate(graph);
    cap_run(gear.queue, executable);
    cb_expect(memory, 3);
    cap_destroy(graph, executable);
    ur_free(memory);
}

// a on one queue; b and c from it on two others; their sum on the first.
static void enqueue_fork(ur_queue_handle_t queues[3], float *memory)
{
    float *a = memory, *b = a + ITEMS, *c = b + ITEMS, *sum = c + ITEMS;
    ur_event_handle_t begun, joined[2];
    cap_fill(queues[0], a, 2, NULL, &begun);
    cap_add(queues[1], b, a, a, begun, NULL);
    cap_add(queues[2], c, a, a, begun, &joined[1]);
    cr_assert(cap_is_on(queues[1]) && cap_is_on(queues[2]));
    // Without a wait list the queue stays in the capture.
    UR_OK(urEnqueueEventsWaitWithBarrier(queues[1], 0, NULL, NULL));
    cap_add(queues[1], b, b, a, NULL, &joined[0]);
    UR_OK(urEnqueueEventsWaitWithBarrier(queues[0], 2, joined, NULL));
    cap_add(queues[0], sum, b, c, NULL, NULL);
    UR_OK(urEventRelease(begun));
    for (int i = 0; i < 2; i++)
        UR_OK(urEventRelease(joined[i]));
}

static void check_fork(ur_queue_flags_t flags)
{
    ur_queue_handle_t queues[3];
    float *memory = cb_floats(4 * ITEMS);
    for (int i = 0; i < 3; i++)
        queues[i] = ur_queue(gear.device, i == 1 ? flags ^ ANY_ORDER : flags);
    graph_t graph = cap_begin(queues[0]), asked;
    enqueue_fork(queues, memory);
    UR_OK(urQueueGetGraphExp(queues[2], &asked));
    cr_assert_eq(asked, graph);
    cap_end(queues[0], graph);
    for (int i = 0; i < 3; i++) {
        cr_assert_not(cap_is_on(queues[i]));
        UR_OK(urQueueFinish(queues[i]));
    }
    cb_expect(memory, 0);
    executable_t executable = cap_instantiate(graph);
    for (int i = 0; i < 3; i++) {
        memset(memory, 0, 4 * ITEMS * sizeof(float));
        cap_run(queues[i], executable);
        cb_expect(memory + ITEMS, 6);
        cb_expect(memory + 3 * ITEMS, 10);
    }
    cap_destroy(graph, executable);
    for (int i = 0; i < 3; i++)
        UR_OK(urQueueRelease(queues[i]));
    ur_free(memory);
}

Test(capture, takes_in_queues_that_wait_for_its_events)
{
    check_fork(0);
    check_fork(ANY_ORDER);
}

// Two executions at once of two executable graphs: one after the other, as of one.
Test(capture, is_instantiated_more_than_once)
{
    float *memory = cb_floats(2 * ITEMS);
    ur_queue_handle_t other = ur_queue(gear.device, ANY_ORDER);
    cap_fill(gear.queue, memory, 1, NULL, NULL);
    UR_OK(urQueueFinish(gear.queue));
    graph_t graph = cap_begin(gear.queue);
    cap_add(gear.queue, memory + ITEMS, memory + ITEMS, memory, NULL, NULL);
    cap_end(gear.queue, graph);
    executable_t first = cap_instantiate(graph), second = cap_instantiate(graph);
    cr_assert_neq(first, second);
    for (int i = 0; i < 20; i++) {
        UR_OK(urEnqueueGraphExp(gear.queue, first, 0, NULL, NULL));
        UR_OK(urEnqueueGraphExp(other, second, 0, NULL, NULL));
    }
    UR_OK(urQueueFinish(gear.queue));
    UR_OK(urQueueFinish(other));
    cb_expect(memory + ITEMS, 40);
    UR_OK(urGraphExecutableGraphDestroyExp(first));
    cap_destroy(graph, second);
    UR_OK(urQueueRelease(other));
    ur_free(memory);
}

Test(capture, is_executed_between_other_commands)
{
    float *memory = cb_floats(2 * ITEMS);
    ur_event_handle_t filled, done;
    ur_queue_handle_t queue = ur_queue(gear.device, ANY_ORDER);
    graph_t graph = cap_begin(queue);
    cap_add(queue, memory + ITEMS, memory, memory, NULL, NULL);
    cap_end(queue, graph);
    executable_t executable = cap_instantiate(graph);
    cap_fill(queue, memory, 4, NULL, &filled);
    UR_OK(urEnqueueGraphExp(queue, executable, 1, &filled, &done));
    cap_copy(queue, memory, memory + ITEMS, done, NULL);
    UR_OK(urQueueFinish(queue));
    cb_expect(memory, 8);
    ur_command_t type;
    UR_OK(urEventGetInfo(done, UR_EVENT_INFO_COMMAND_TYPE, sizeof(type), &type, NULL));
    cr_assert_eq(type, UR_COMMAND_ENQUEUE_GRAPH_EXP);
    UR_OK(urEventRelease(filled));
    UR_OK(urEventRelease(done));
    cap_destroy(graph, executable);
    UR_OK(urQueueRelease(queue));
    ur_free(memory);
}

// What the host signals later, outside of the graph.
Test(capture, waits_for_events_from_outside)
{
    float *memory = cb_floats(ITEMS);
    ur_bool_t is_empty;
    struct host_event host = host_event_make();
    graph_t graph = cap_begin(gear.queue);
    cap_fill(gear.queue, memory, 5, host.event, NULL);
    cap_end(gear.queue, graph);
    executable_t executable = cap_instantiate(graph);
    UR_OK(urEnqueueGraphExp(gear.queue, executable, 0, NULL, NULL));
    UR_OK(urQueueGetInfo(gear.queue, UR_QUEUE_INFO_EMPTY, sizeof(is_empty), &is_empty, NULL));
    cr_assert_not(is_empty);
    cb_expect_unwritten(memory);
    host_event_signal(&host);
    UR_OK(urQueueFinish(gear.queue));
    cb_expect(memory, 5);
    cap_fill(gear.queue, memory, 0, NULL, NULL);
    cap_run(gear.queue, executable);
    cb_expect(memory, 5);
    cap_destroy(graph, executable);
    host_event_release(&host);
    ur_free(memory);
}

// The event is of a command that the queue has from before the capture.
Test(capture, waits_for_what_its_queue_had_before)
{
    float *memory = cb_floats(ITEMS);
    struct host_event host = host_event_make();
    ur_queue_handle_t queue = ur_queue(gear.device, 0);
    ur_event_handle_t before;
    UR_OK(urEnqueueEventsWaitWithBarrier(queue, 1, &host.event, &before));
    graph_t graph = cap_begin(queue);
    cap_fill(queue, memory, 5, before, NULL);
    cap_end(queue, graph);
    UR_OK(urEventRelease(before));
    executable_t executable = cap_instantiate(graph);
    UR_OK(urEnqueueGraphExp(gear.queue, executable, 0, NULL, NULL));
    cb_expect_unwritten(memory);
    host_event_signal(&host);
    UR_OK(urQueueFinish(gear.queue));
    cb_expect(memory, 5);
    UR_OK(urQueueRelease(queue));
    cap_run(gear.queue, executable);
    cap_destroy(graph, executable);
    host_event_release(&host);
    ur_free(memory);
}

// ---- Commands of each kind ----

// Patterns that the driver has no command for, rows of a rectangle, hints.
static void check_usm(ur_queue_flags_t flags)
{
    enum { PITCH = 32, WIDTH = 12, HEIGHT = 5 };
    ur_queue_handle_t queue = ur_queue(gear.device, flags);
    unsigned char *memory = ur_shared(4096), *copy = memory + 1024, *rows = memory + 2048;
    static const char three[] = "abc";
    static const unsigned char eight[] = {1, 2, 3, 4, 5, 6, 7, 8};
    ur_event_handle_t filled, copied;
    graph_t graph = cap_begin(queue);
    UR_OK(urEnqueueUSMFill(queue, memory, 3, three, 300, 0, NULL, &filled));
    UR_OK(urEnqueueUSMMemcpy2D(queue, false, copy, PITCH, memory, 3, 3, 10, 1, &filled, &copied));
    // A row has one and a half patterns; then the last bytes of the graph.
    UR_OK(urEnqueueUSMFill2D(queue, rows, PITCH, sizeof(eight), eight, WIDTH, 2 * HEIGHT, 1,
                             &copied, NULL));
    UR_OK(urEnqueueUSMPrefetch(queue, memory, 300, UR_USM_MIGRATION_FLAG_HOST_TO_DEVICE, 0, NULL,
                               NULL));
    UR_OK(urEnqueueUSMAdvise(queue, memory, 300, UR_USM_ADVICE_FLAG_SET_READ_MOSTLY, NULL));
    cap_end(queue, graph);
    cr_assert_eq(memory[0], 0);
    executable_t executable = cap_instantiate(graph);
    cap_run(queue, executable);
    for (int i = 0; i < 300; i++)
        cr_assert_eq(memory[i], (unsigned char)three[i % 3]);
    for (int i = 0; i < 10 * PITCH - PITCH + 3; i++)
        cr_assert_eq(copy[i], i % PITCH < 3 ? (unsigned char)three[i % PITCH] : 0);
    for (int i = 0; i < 2 * HEIGHT * WIDTH; i++)
        cr_assert_eq(rows[i / WIDTH * PITCH + i % WIDTH], eight[i % 8], "byte %d", i);
    UR_OK(urEventRelease(filled));
    UR_OK(urEventRelease(copied));
    cap_destroy(graph, executable);
    UR_OK(urQueueRelease(queue));
    ur_free(memory);
}

Test(capture, takes_copies_fills_and_hints_of_usm)
{
    check_usm(0);
    check_usm(ANY_ORDER);
}

// The buffers are released before the graph is executed; the graph keeps them.
Test(capture, takes_commands_on_buffers)
{
    const size_t bytes = ITEMS * sizeof(float);
    const ur_rect_offset_t origin = {0};
    const ur_rect_region_t region = {bytes, 1, 1};
    float *memory = cb_floats(3 * ITEMS);
    ur_mem_handle_t in = cb_make_mem(bytes), out = cb_make_mem(bytes);
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_MEM(0, in), UR_MEM(1, in),
                                                        UR_MEM(2, out)};
    graph_t graph = cap_begin(gear.queue);
    UR_OK(urEnqueueMemBufferWrite(gear.queue, in, false, 0, bytes, memory, 0, NULL, NULL));
    UR_OK(ur_launch(gear.queue, cb_add, ITEMS, 3, arguments, 0, NULL, NULL));
    UR_OK(urEnqueueMemBufferRead(gear.queue, out, false, 0, bytes, memory + ITEMS, 0, NULL, NULL));
    UR_OK(urEnqueueMemBufferCopy(gear.queue, out, in, 0, 0, bytes, 0, NULL, NULL));
    UR_OK(urEnqueueMemBufferReadRect(gear.queue, in, false, origin, origin, region, 0, 0, 0, 0,
                                     memory + 2 * ITEMS, 0, NULL, NULL));
    cap_end(gear.queue, graph);
    UR_OK(urMemRelease(in));
    UR_OK(urMemRelease(out));
    executable_t executable = cap_instantiate(graph);
    for (int i = 1; i <= 3; i++) {
        for (int j = 0; j < ITEMS; j++)
            memory[j] = (float)i;
        cap_run(gear.queue, executable);
        cb_expect(memory + ITEMS, 2 * (float)i);
        cb_expect(memory + 2 * ITEMS, 2 * (float)i);
    }
    cap_destroy(graph, executable);
    ur_free(memory);
}

static ur_mem_handle_t make_filled_mem(float value)
{
    ur_mem_handle_t mem = cb_make_mem(ITEMS * sizeof(float));
    UR_OK(urEnqueueMemBufferFill(gear.queue, mem, &value, sizeof(value), 0, ITEMS * sizeof(float),
                                 0, NULL, NULL));
    return mem;
}

// Each execution brings the bytes to where the host sees them.
Test(capture, takes_maps_of_buffers)
{
    const size_t bytes = ITEMS * sizeof(float);
    float *memory = cb_floats(ITEMS);
    ur_mem_handle_t mem = make_filled_mem(9);
    void *seen;
    graph_t graph = cap_begin(gear.queue);
    UR_OK(urEnqueueMemBufferWrite(gear.queue, mem, false, 0, bytes, memory, 0, NULL, NULL));
    UR_OK(urEnqueueMemBufferMap(gear.queue, mem, false, UR_MAP_FLAG_READ, 0, bytes, 0, NULL, NULL,
                                &seen));
    cap_end(gear.queue, graph);
    executable_t executable = cap_instantiate(graph);
    for (int i = 1; i <= 3; i++) {
        for (int j = 0; j < ITEMS; j++)
            memory[j] = (float)i;
        cap_run(gear.queue, executable);
        cb_expect(seen, (float)i);
    }
    UR_OK(urEnqueueMemUnmap(gear.queue, mem, seen, 0, NULL, NULL));
    UR_OK(urMemRelease(mem));
    // The graph has both.
    cap_run(gear.queue, executable);
    cap_destroy(graph, executable);
    ur_free(memory);
}

// And what the host wrote there to the buffer.
Test(capture, takes_unmaps_of_buffers)
{
    const size_t bytes = ITEMS * sizeof(float);
    float *memory = cb_floats(ITEMS);
    ur_mem_handle_t mem = make_filled_mem(9);
    void *seen;
    UR_OK(urEnqueueMemBufferMap(gear.queue, mem, true, UR_MAP_FLAG_WRITE, 0, bytes, 0, NULL, NULL,
                                &seen));
    cb_expect(seen, 9);
    for (int i = 0; i < ITEMS; i++)
        ((float *)seen)[i] = 4;
    graph_t graph = cap_begin(gear.queue);
    UR_OK(urEnqueueMemUnmap(gear.queue, mem, seen, 0, NULL, NULL));
    UR_OK(urEnqueueMemBufferRead(gear.queue, mem, false, 0, bytes, memory, 0, NULL, NULL));
    cap_end(gear.queue, graph);
    UR_OK(urMemRelease(mem));
    executable_t executable = cap_instantiate(graph);
    cap_run(gear.queue, executable);
    cb_expect(memory, 4);
    cap_destroy(graph, executable);
    ur_free(memory);
}

struct native_copy {
    float *to;
    const float *from;
    ze_result_t result;
};

static void record_native(ur_queue_handle_t queue, void *data)
{
    struct native_copy *copy = data;
    ur_native_handle_t list;
    __typeof__(zeCommandListAppendMemoryCopy) *append;
    *(void **)&append =
        dlsym(dlopen("libze_loader.so.1", RTLD_NOW), "zeCommandListAppendMemoryCopy");
    UR_OK(urQueueGetNativeHandle(queue, NULL, &list));
    copy->result = append((ze_command_list_handle_t)list, copy->to, copy->from,
                          ITEMS * sizeof(float), NULL, 0, NULL);
}

static void check_native(ur_queue_flags_t flags)
{
    ur_queue_handle_t queue = ur_queue(gear.device, flags);
    float *a = cb_floats(3 * ITEMS), *b = a + ITEMS, *sum = b + ITEMS;
    struct native_copy copy = {b, a, ZE_RESULT_ERROR_UNKNOWN};
    ur_event_handle_t filled, copied;
    ur_native_handle_t list;
    graph_t graph = cap_begin(queue);
    cap_fill(queue, a, 6, NULL, &filled);
    UR_FAILS(urQueueGetNativeHandle(queue, NULL, &list), UR_RESULT_ERROR_GRAPH_CAPTURE_UNSUPPORTED);
    UR_OK(
        urEnqueueNativeCommandExp(queue, record_native, &copy, 0, NULL, NULL, 1, &filled, &copied));
    cr_assert_eq(copy.result, ZE_RESULT_SUCCESS);
    cap_add(queue, sum, a, b, copied, NULL);
    cap_end(queue, graph);
    UR_OK(urQueueFinish(queue)); // for what would have been executed
    cb_expect(b, 0);
    executable_t executable = cap_instantiate(graph);
    for (int i = 0; i < 3; i++) {
        memset(a, 0, 3 * ITEMS * sizeof(float));
        cap_run(queue, executable);
        cb_expect(sum, 12);
    }
    UR_OK(urEventRelease(filled));
    UR_OK(urEventRelease(copied));
    cap_destroy(graph, executable);
    UR_OK(urQueueRelease(queue));
    ur_free(a);
}

Test(capture, takes_commands_of_level_zero)
{
    check_native(0);
    check_native(ANY_ORDER);
}

// Each has its time, after what it follows; none before the barrier is over.
Test(capture, keeps_to_barriers_and_markers_in_a_queue_of_any_order)
{
    ur_queue_handle_t queue = ur_queue(gear.device, ANY_ORDER);
    float *memory = cb_floats(4 * ITEMS);
    ur_event_handle_t marked, recorded;
    graph_t graph = cap_begin(queue);
    cap_fill(queue, memory, 1, NULL, NULL);
    cap_fill(queue, memory + ITEMS, 2, NULL, NULL);
    UR_OK(urEnqueueEventsWaitWithBarrier(queue, 0, NULL, NULL));
    cap_add(queue, memory + 2 * ITEMS, memory, memory + ITEMS, NULL, NULL);
    cap_mark(queue, NULL, &marked);
    UR_OK(urEnqueueTimestampRecordingExp(queue, false, 0, NULL, &recorded));
    cap_add(queue, memory + 3 * ITEMS, memory + 2 * ITEMS, memory + 2 * ITEMS, marked, NULL);
    cap_end(queue, graph);
    executable_t executable = cap_instantiate(graph);
    for (int i = 0; i < 3; i++) {
        memset(memory, 0, 4 * ITEMS * sizeof(float));
        cap_run(queue, executable);
        cb_expect(memory + 3 * ITEMS, 6);
    }
    UR_OK(urEventRelease(marked));
    UR_OK(urEventRelease(recorded));
    cap_destroy(graph, executable);
    UR_OK(urQueueRelease(queue));
    ur_free(memory);
}
