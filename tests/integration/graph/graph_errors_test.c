// SPDX-License-Identifier: MIT
// What graphs and captures refuse, by the words of the interface; both go on afterwards.
#include "queue/queue_fixture.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static zepi_module_t module;
static zepi_kernel_t add; // sum[i] = a[i] + b[i]
static float *data;       // ITEMS

static void set_up(void)
{
    gear_set_up();
    module = test_executable(gear.context, "vector_add");
    TEST_OK(zepi.module_get_kernel(module, "vector_add", &add));
    data = queue_allocate(ITEMS);
}

static void set_up_two(void)
{
    setenv("ZE_CPU_DEVICES", "2", 1);
    setenv("CreateMultipleRootDevices", "2", 1); // of Intel's driver
    set_up();
}

static void tear_down(void)
{
    queue_free(data);
    TEST_OK(zepi.release(add));
    TEST_OK(zepi.release(module));
    gear_tear_down();
}

TestSuite(graph_errors, .init = set_up, .fini = tear_down);
TestSuite(graph_errors_of_two, .init = set_up_two, .fini = tear_down);

#define AT_ONCE ((zepi_graph_wait_list_t){NULL, 0})
#define BYTES (ITEMS * sizeof(float))

static zepi_graph_t make(zepi_graph_flags_t flags)
{
    zepi_graph_t graph;
    TEST_OK(zepi.graph_create(gear.context, gear.device, flags, &graph));
    return graph;
}

static zepi_queue_t make_queue(zepi_context_t context, zepi_device_t device)
{
    zepi_queue_t queue;
    TEST_OK(zepi.queue_create(context, device, 0, &queue));
    return queue;
}

static uint32_t count_of(zepi_graph_t graph)
{
    zepi_graph_info_t info = {.size = sizeof(info)};
    TEST_OK(zepi.graph_get_info(graph, &info));
    return info.command_count;
}

static zepi_launch_desc_t sum_of(zepi_argument_t arguments[3])
{
    for (int i = 0; i < 3; i++)
        arguments[i] = TEST_POINTER(data);
    return test_launch(add, 3, arguments, ITEMS);
}

static void fill(zepi_queue_t queue, float value, zepi_wait_list_t wait, zepi_event_t *out_event)
{
    TEST_OK(zepi.queue_fill(queue, data, &value, sizeof(value), BYTES, wait, out_event));
}

static void finalize_and_expect(zepi_graph_t graph, float value)
{
    TEST_OK(zepi.graph_finalize(graph));
    TEST_OK(zepi.queue_execute(gear.queue, graph, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    for (int i = 0; i < ITEMS; i++)
        cr_assert_eq(data[i], value, "item %d: %g", i, (double)data[i]);
}

Test(graph_errors, a_capture_begins_with_a_graph_that_nothing_was_done_with)
{
    const float one = 1;
    zepi_graph_t added = make(0), finalized = make(0), failed = make(0), good = make(0);
    zepi_queue_t other = make_queue(gear.context, gear.device);
    zepi_event_t marked;
    TEST_OK(zepi.graph_add_fill(added, data, &one, sizeof(one), BYTES, AT_ONCE, NULL));
    TEST_FAILS_SAYING(zepi.queue_begin_capture(gear.queue, added), ZEPI_ERROR_INVALID_VALUE,
                      "has commands");
    TEST_OK(zepi.graph_finalize(finalized));
    TEST_FAILS_SAYING(zepi.queue_begin_capture(gear.queue, finalized), ZEPI_ERROR_INVALID_VALUE,
                      "finalized");
    TEST_OK(zepi.queue_begin_capture(gear.queue, failed));
    TEST_OK(zepi.queue_marker(gear.queue, TEST_NO_WAIT, &marked));
    TEST_OK(zepi.queue_marker(other, WAIT_FOR(marked), NULL));
    TEST_FAILS(zepi.queue_end_capture(gear.queue), ZEPI_ERROR_CAPTURE_UNJOINED);
    TEST_FAILS_SAYING(zepi.queue_begin_capture(gear.queue, failed), ZEPI_ERROR_INVALID_VALUE,
                      "failed");
    TEST_FAILS(zepi.queue_begin_capture(NULL, good), ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(zepi.queue_begin_capture(gear.queue, NULL), ZEPI_ERROR_INVALID_OBJECT);
    // Nothing was captured the first time.
    TEST_OK(zepi.queue_begin_capture(gear.queue, good));
    TEST_OK(zepi.queue_end_capture(gear.queue));
    TEST_OK(zepi.queue_begin_capture(gear.queue, good));
    fill(gear.queue, 2, TEST_NO_WAIT, NULL);
    TEST_OK(zepi.queue_end_capture(gear.queue));
    finalize_and_expect(good, 2);
    TEST_OK(zepi.release(marked));
    TEST_OK(zepi.release(other));
    TEST_OK(zepi.release(added));
    TEST_OK(zepi.release(finalized));
    TEST_OK(zepi.release(failed));
    TEST_OK(zepi.release(good));
}

// In a capture of the gear's queue, that queue and the stranger wait for each other.
static void expect_strangers(zepi_queue_t stranger)
{
    zepi_event_t captured, begun, theirs;
    zepi_graph_t graph = make(0);
    zepi_context_t context;
    zepi_queue_info_t info = {.size = sizeof(info)};
    TEST_OK(zepi.queue_get_info(stranger, &info));
    context = info.context;
    TEST_OK(zepi.event_create(context, &begun));
    TEST_OK(zepi.queue_marker(stranger, WAIT_FOR(begun), &theirs));
    TEST_FAILS(zepi.queue_begin_capture(stranger, graph), ZEPI_ERROR_INVALID_OBJECT);
    TEST_OK(zepi.queue_begin_capture(gear.queue, graph));
    fill(gear.queue, 3, TEST_NO_WAIT, &captured);
    TEST_FAILS(zepi.queue_marker(stranger, WAIT_FOR(captured), NULL),
               ZEPI_ERROR_CAPTURE_UNSUPPORTED);
    if (context != gear.context)
        TEST_FAILS(zepi.queue_marker(gear.queue, WAIT_FOR(theirs), NULL),
                   ZEPI_ERROR_CAPTURE_UNSUPPORTED);
    TEST_OK(zepi.event_signal(begun));
    TEST_OK(zepi.queue_finish(stranger));
    TEST_OK(zepi.queue_marker(gear.queue, WAIT_FOR(theirs), NULL));
    cr_assert_eq(count_of(graph), 2);
    TEST_OK(zepi.queue_end_capture(gear.queue));
    TEST_OK(zepi.graph_finalize(graph));
    TEST_FAILS(zepi.queue_execute(stranger, graph, TEST_NO_WAIT, NULL), ZEPI_ERROR_INVALID_OBJECT);
    TEST_OK(zepi.queue_execute(gear.queue, graph, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    cr_assert_eq(data[ITEMS - 1], 3);
    TEST_OK(zepi.release(captured));
    TEST_OK(zepi.release(begun));
    TEST_OK(zepi.release(theirs));
    TEST_OK(zepi.release(graph));
}

Test(graph_errors, queues_of_another_context_take_no_part)
{
    zepi_context_t context;
    TEST_OK(zepi.context_create(1, &gear.device, &context));
    zepi_queue_t stranger = make_queue(context, gear.device);
    expect_strangers(stranger);
    TEST_OK(zepi.release(stranger));
    TEST_OK(zepi.release(context));
}

Test(graph_errors_of_two, queues_of_another_device_take_no_part)
{
    zepi_context_t context = gear.context;
    zepi_device_t devices[2];
    zepi_queue_t queue = gear.queue;
    uint32_t count;
    TEST_OK(zepi.device_get(gear.platform, 2, devices, &count));
    cr_assert_eq(count, 2);
    // A context of both takes the place of the gear's meanwhile.
    TEST_OK(zepi.context_create(2, devices, &gear.context));
    gear.queue = make_queue(gear.context, gear.device);
    zepi_queue_t stranger = make_queue(gear.context, devices[devices[0] == gear.device]);
    float *own = data;
    data = queue_allocate(ITEMS);
    expect_strangers(stranger);
    queue_free(data);
    data = own;
    TEST_OK(zepi.release(stranger));
    TEST_OK(zepi.release(gear.queue));
    TEST_OK(zepi.release(gear.context));
    TEST_OK(zepi.release(devices[0]));
    TEST_OK(zepi.release(devices[1]));
    gear.context = context;
    gear.queue = queue;
}

Test(graph_errors, events_of_a_capture_are_its_graphs)
{
    zepi_graph_t graph = make(0);
    zepi_event_t captured;
    void *handle;
    TEST_OK(zepi.queue_begin_capture(gear.queue, graph));
    fill(gear.queue, 4, TEST_NO_WAIT, &captured);
    TEST_FAILS(zepi.event_get_native(captured, &handle), ZEPI_ERROR_CAPTURE_UNSUPPORTED);
    TEST_OK(zepi.queue_end_capture(gear.queue));
    TEST_FAILS(zepi.event_wait(1, &captured, 0), ZEPI_ERROR_CAPTURED_EVENT);
    TEST_FAILS(zepi.queue_marker(gear.queue, WAIT_FOR(captured), NULL), ZEPI_ERROR_CAPTURED_EVENT);
    TEST_OK(zepi.graph_finalize(graph));
    TEST_FAILS(zepi.queue_execute(gear.queue, graph, WAIT_FOR(captured), NULL),
               ZEPI_ERROR_CAPTURED_EVENT);
    TEST_FAILS(zepi.queue_execute(gear.queue, graph, ((zepi_wait_list_t){NULL, 1}), NULL),
               ZEPI_ERROR_INVALID_VALUE);
    TEST_OK(zepi.release(captured));
    TEST_OK(zepi.release(graph));
}

// One command each, but for an execution: its graph's commands are between two.
Test(graph_errors, captured_commands_are_numbered_as_they_are_enqueued)
{
    const float one = 1;
    const size_t region[3] = {4, 2, 1};
    const zepi_rect_t to = {.origin_bytes = {64, 0, 0}, .row_pitch_bytes = 16};
    const zepi_rect_t from = {.row_pitch_bytes = 8};
    zepi_argument_t arguments[3];
    const zepi_launch_desc_t sum = sum_of(arguments);
    uint32_t count = 0;
    zepi_graph_t graph = make(0), inner = make(0);
    TEST_OK(zepi.graph_add_fill(inner, data, &one, sizeof(one), BYTES, AT_ONCE, NULL));
    TEST_OK(zepi.graph_add_launch(inner, &sum, AT_ONCE, NULL));
    TEST_OK(zepi.graph_finalize(inner));
    TEST_OK(zepi.queue_begin_capture(gear.queue, graph));
#define ONE(call)                                                                                  \
    TEST_OK(call);                                                                                 \
    cr_assert_eq(count_of(graph), ++count, #call)
    ONE(zepi.queue_fill(gear.queue, data, &one, sizeof(one), BYTES, TEST_NO_WAIT, NULL));
    ONE(zepi.queue_copy(gear.queue, data, data + 4, 16, TEST_NO_WAIT, NULL));
    ONE(zepi.queue_copy(gear.queue, data, data, 0, TEST_NO_WAIT, NULL));
    ONE(zepi.queue_copy_rect(gear.queue, data, &to, data, &from, region, TEST_NO_WAIT, NULL));
    ONE(zepi.queue_launch(gear.queue, &sum, TEST_NO_WAIT, NULL));
    ONE(zepi.queue_prefetch(gear.queue, data, BYTES, TEST_NO_WAIT, NULL));
    ONE(zepi.queue_advise(gear.queue, data, BYTES, ZEPI_ADVICE_SET_READ_MOSTLY, NULL));
    ONE(zepi.queue_barrier(gear.queue, TEST_NO_WAIT, NULL));
    ONE(zepi.queue_marker(gear.queue, TEST_NO_WAIT, NULL));
#undef ONE
    TEST_OK(zepi.queue_execute(gear.queue, inner, TEST_NO_WAIT, NULL));
    cr_assert_eq(count_of(graph), count + 4);
    TEST_OK(zepi.queue_end_capture(gear.queue));
    TEST_OK(zepi.release(inner));
    TEST_OK(zepi.release(graph));
}

Test(graph_errors, added_commands_are_checked)
{
    const zepi_graph_wait_list_t no_list = {NULL, 1};
    const float one = 1;
    zepi_argument_t arguments[3];
    const zepi_launch_desc_t sum = sum_of(arguments);
    zepi_launch_desc_t wrong = sum;
    zepi_graph_t graph = make(0), captured = make(0);
    TEST_FAILS(zepi.graph_add_launch(graph, &sum, no_list, NULL), ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.graph_add_copy(graph, data, data + 4, 0, AT_ONCE, NULL),
               ZEPI_ERROR_INVALID_SIZE);
    TEST_FAILS(zepi.graph_add_fill(graph, data, &one, sizeof(one), 0, AT_ONCE, NULL),
               ZEPI_ERROR_INVALID_SIZE);
    wrong.module = module;
    TEST_FAILS(zepi.graph_add_launch(graph, &wrong, AT_ONCE, NULL), ZEPI_ERROR_INVALID_VALUE);
    TEST_OK(zepi.queue_begin_capture(gear.queue, captured));
    TEST_OK(zepi.queue_end_capture(gear.queue));
    TEST_FAILS(zepi.graph_add_launch(captured, &sum, AT_ONCE, NULL), ZEPI_ERROR_WRONG_STATE);
    cr_assert_eq(count_of(graph), 0);
    // A pattern of the host's, which is read at once.
    float threes[] = {3, 3, 3, 3, 3, 3};
    TEST_OK(zepi.graph_add_fill(graph, data, threes, 4 * sizeof(one), BYTES, AT_ONCE, NULL));
    threes[0] = 0;
    finalize_and_expect(graph, 3);
    TEST_OK(zepi.release(captured));
    TEST_OK(zepi.release(graph));
}

Test(graph_errors, updates_are_checked_and_may_change_the_kernel)
{
    zepi_argument_t arguments[3];
    zepi_launch_desc_t sum = sum_of(arguments), twice = sum;
    zepi_module_t other_module = test_executable(gear.context, "negate");
    zepi_kernel_t negate;
    TEST_OK(zepi.module_get_kernel(other_module, "negate", &negate));
    int *integers = (int *)data;
    const zepi_argument_t memory = TEST_POINTER(integers);
    const zepi_launch_desc_t negation = test_launch(negate, 1, &memory, ITEMS);
    zepi_graph_t graph = make(ZEPI_GRAPH_UPDATABLE);
    zepi_graph_update_t updates[] = {{0, &twice}, {0, &negation}};
    TEST_OK(zepi.graph_add_launch(graph, &sum, AT_ONCE, NULL));
    TEST_OK(zepi.graph_finalize(graph));
    TEST_FAILS(zepi.graph_update(graph, 0, updates), ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.graph_update(graph, 1, NULL), ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.graph_update(graph, 1, &(zepi_graph_update_t){0, NULL}),
               ZEPI_ERROR_INVALID_VALUE);
    twice.module = module;
    TEST_FAILS(zepi.graph_update(graph, 2, updates), ZEPI_ERROR_INVALID_VALUE);
    twice.module = NULL;
    // The last one counts.
    TEST_OK(zepi.graph_update(graph, 2, updates));
    for (int i = 0; i < ITEMS; i++)
        integers[i] = i;
    TEST_OK(zepi.queue_execute(gear.queue, graph, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    for (int i = 0; i < ITEMS; i++)
        cr_assert_eq(integers[i], -i);
    // The recorded list was not made for it, and is not asked.
    cr_assert_eq(ze_cpu.get_count("zeCommandListUpdateMutableCommandKernelsExp"), 0);
    TEST_OK(zepi.release(graph));
    TEST_OK(zepi.release(negate));
    TEST_OK(zepi.release(other_module));
}

// As a launch into a queue: before there is memory for it.
Test(graph_errors, values_of_any_size_are_checked)
{
    zepi_argument_t arguments[3];
    zepi_launch_desc_t sum = sum_of(arguments);
    const uint64_t value = 0;
    const size_t sizes[] = {7, (size_t)1 << 30, (size_t)1 << 62, SIZE_MAX};
    zepi_graph_t graph = make(0);
    for (int i = 0; i < 4; i++) {
        arguments[1] =
            (zepi_argument_t){.kind = ZEPI_ARGUMENT_VALUE, .size_bytes = sizes[i], .value = &value};
        TEST_FAILS(zepi.queue_launch(gear.queue, &sum, TEST_NO_WAIT, NULL),
                   ZEPI_ERROR_INVALID_VALUE);
        TEST_FAILS(zepi.graph_add_launch(graph, &sum, AT_ONCE, NULL), ZEPI_ERROR_INVALID_VALUE);
    }
    TEST_OK(zepi.release(graph));
}
