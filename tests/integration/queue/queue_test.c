// SPDX-License-Identifier: MIT
// Order: in every kind of queue, with and without in-order lists of the driver.
#include "queue_fixture.h"
#include "test_threads.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

static void set_up_out_of_order(void)
{
    queue_set_up(0, true);
}

TestSuite(queue_info, .init = set_up_out_of_order, .fini = queue_tear_down);

// A chain of 200 launches, each reading what the one before wrote; explicit events where the queue
// keeps no order.
FOR_ALL_KINDS(queue, keeps_dependent_commands_in_order)
{
    queue_set_up(kind->flags, kind->newer);
    const bool is_in_order = kind->flags & ZEPI_QUEUE_IN_ORDER;
    float *one = queue_allocate_filled(1);
    float *sum = queue_allocate(ITEMS);
    zepi_event_t last = NULL;
    for (int i = 0; i < 200; i++) {
        zepi_event_t event = NULL;
        const zepi_wait_list_t wait = {&last, last != NULL};
        queue_add(gear.queue, one, sum, sum, wait, is_in_order ? NULL : &event);
        if (last)
            TEST_OK(zepi.release(last));
        last = event;
    }
    TEST_OK(zepi.queue_finish(gear.queue));
    for (int i = 0; i < ITEMS; i++)
        cr_assert_eq(sum[i], 200, "item %d is %g", i, (double)sum[i]);
    if (last)
        TEST_OK(zepi.release(last));
    queue_free(one);
    queue_free(sum);
    queue_tear_down();
}

static sem_t wait_has_begun;

static void note_wait(const char *function, int is_over)
{
    if (!is_over && (strcmp(function, "zeEventHostSynchronize") == 0 ||
                     strcmp(function, "zeCommandListHostSynchronize") == 0))
        sem_post(&wait_has_begun);
}

static void *finish_queue(void *queue)
{
    TEST_OK(zepi.queue_finish(queue));
    return NULL;
}

// Two threads wait for the queue, which waits for the host.
FOR_ALL_KINDS(queue, takes_commands_while_threads_wait_for_it)
{
    queue_set_up(kind->flags, kind->newer);
    test_ze_cpu_require();
    pthread_t threads[2];
    zepi_event_t gate, event;
    float *one = queue_allocate_filled(1);
    float *sum = queue_allocate_filled(0);
    TEST_OK(zepi.event_create(gear.context, &gate));
    queue_add(gear.queue, one, sum, sum, WAIT_FOR(gate), &event);
    sem_init(&wait_has_begun, 0, 0);
    ze_cpu.set_hook(note_wait);
    for (int i = 0; i < 2; i++)
        threads[i] = test_thread_start(finish_queue, gear.queue);
    sem_wait(&wait_has_begun);
    queue_add(gear.queue, one, sum, sum, WAIT_FOR(event), NULL);
    TEST_OK(zepi.event_signal(gate));
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    ze_cpu.set_hook(NULL);
    cr_assert_geq(sum[0], 1, "a wait ended before what it waited for");
    TEST_OK(zepi.queue_finish(gear.queue));
    cr_assert_eq(sum[0], 2);
    TEST_OK(zepi.release(event));
    TEST_OK(zepi.release(gate));
    queue_free(one);
    queue_free(sum);
    queue_tear_down();
}

static int marker_count, late_events;

static void note_markers(const char *function, int is_over)
{
    if (is_over)
        return;
    marker_count += strcmp(function, "zeCommandListAppendBarrier") == 0;
    late_events += marker_count > 0 && strcmp(function, "zeEventCreate") == 0;
}

// A poll for lack of events appends probes: none may come behind a marker that a wait is for.
Test(queue, has_the_events_of_a_wait_before_its_first_marker)
{
    static const float pattern = 3;
    zepi_queue_t queue;
    queue_set_up(0, false);
    test_ze_cpu_require();
    float *memory = queue_allocate(ITEMS);
    TEST_OK(zepi.queue_create(gear.context, gear.device, 0, &queue));
    for (int i = 0; i < 6; i++)
        TEST_OK(zepi.queue_fill(queue, &memory[i], &pattern, sizeof(pattern), sizeof(pattern),
                                TEST_NO_WAIT, NULL));
    ze_cpu.set_hook(note_markers);
    TEST_OK(zepi.queue_finish(queue));
    ze_cpu.set_hook(NULL);
    cr_assert_geq(marker_count, 2, "%d lists were in use", marker_count);
    cr_assert_eq(late_events, 0);
    TEST_OK(zepi.release(queue));
    queue_free(memory);
    queue_tear_down();
}

// Commands of every sort on the same memory, without an event; some with a wait or an event all the
// same. 1, 2, 3 ... times: fill, add, copy there and back.
ParameterizedTestParameters(in_order_queue, keeps_the_order_of_all_sorts_of_commands)
{
    return cr_make_param_array(struct queue_kind, queue_kinds, IN_ORDER_QUEUE_KINDS);
}

ParameterizedTest(struct queue_kind *kind, in_order_queue, keeps_the_order_of_all_sorts_of_commands)
{
    queue_set_up(kind->flags, kind->newer);
    float *one = queue_allocate_filled(1);
    float *sum = queue_allocate(ITEMS);
    float *copy = queue_allocate(ITEMS);
    float *plain = calloc(ITEMS, sizeof(float));
    const size_t size = ITEMS * sizeof(float);
    for (int round = 1; round <= 30; round++) {
        const float start = (float)round;
        zepi_event_t added;
        TEST_OK(zepi.queue_fill(gear.queue, sum, &start, 4, size, TEST_NO_WAIT, NULL));
        queue_add(gear.queue, one, sum, sum, TEST_NO_WAIT, &added);
        TEST_OK(zepi.queue_copy(gear.queue, plain, sum, size, WAIT_FOR(added), NULL));
        TEST_OK(zepi.queue_marker(gear.queue, TEST_NO_WAIT, NULL));
        TEST_OK(zepi.queue_copy(gear.queue, copy, plain, size, TEST_NO_WAIT, NULL));
        TEST_OK(zepi.queue_prefetch(gear.queue, copy, size, TEST_NO_WAIT, NULL));
        queue_add(gear.queue, one, copy, copy, TEST_NO_WAIT, NULL);
        TEST_OK(zepi.release(added));
        TEST_OK(zepi.queue_finish(gear.queue));
        for (int i = 0; i < ITEMS; i++)
            cr_assert_eq(copy[i], start + 2, "round %d, item %d is %g", round, i, (double)copy[i]);
    }
    free(plain);
    queue_free(one);
    queue_free(sum);
    queue_free(copy);
    queue_tear_down();
}

// Every node is the sum of two that came before, wherever these ran: chains, diamonds, waits across
// queues. The numbers are those of a loop on the host.
FOR_ALL_KINDS(queue, follows_any_graph_of_events_over_several_queues)
{
    enum { NODES = 150, QUEUES = 3 };
    queue_set_up(kind->flags, kind->newer);
    zepi_queue_t queues[QUEUES] = {gear.queue};
    float *nodes[NODES];
    float expected[NODES];
    zepi_event_t events[NODES] = {NULL};
    TEST_OK(zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_IN_ORDER, &queues[1]));
    TEST_OK(zepi.queue_create(gear.context, gear.device, 0, &queues[2]));
    srand(11);
    for (int i = 0; i < NODES; i++) {
        nodes[i] = queue_allocate_filled(i < 2 ? (float)(i + 1) : 0);
        expected[i] = (float)(i + 1);
        if (i < 2)
            continue;
        const int a = rand() % i;
        const int b = i % 5 ? i - 1 : rand() % i;
        zepi_event_t waits[2];
        uint32_t count = 0;
        if (events[a])
            waits[count++] = events[a];
        if (events[b])
            waits[count++] = events[b];
        queue_add(queues[rand() % QUEUES], nodes[a], nodes[b], nodes[i],
                  (zepi_wait_list_t){waits, count}, &events[i]);
        // Small numbers, which floats keep exactly.
        expected[i] = expected[a] + expected[b];
        if (expected[i] > 1e6f) {
            TEST_OK(zepi.event_wait(1, &events[i], UINT64_MAX));
            for (int at = 0; at < ITEMS; at++)
                cr_assert_eq(nodes[i][at], expected[i]);
            for (int at = 0; at < ITEMS; at++)
                nodes[i][at] = 1;
            expected[i] = 1;
        }
    }
    for (int i = 2; i < NODES; i++)
        TEST_OK(zepi.event_wait(1, &events[i], UINT64_MAX));
    for (int i = 0; i < NODES; i++) {
        for (int at = 0; at < ITEMS; at++)
            cr_assert_eq(nodes[i][at], expected[i], "node %d is %g", i, (double)nodes[i][at]);
        queue_free(nodes[i]);
        if (events[i])
            TEST_OK(zepi.release(events[i]));
    }
    TEST_OK(zepi.release(queues[1]));
    TEST_OK(zepi.release(queues[2]));
    queue_tear_down();
}

FOR_ALL_KINDS(queue, waits_for_as_many_events_as_there_are)
{
    enum { COUNT = 100 };
    queue_set_up(kind->flags, kind->newer);
    zepi_queue_t other;
    zepi_event_t events[COUNT];
    uint32_t *memory = (uint32_t *)queue_allocate(2 * COUNT);
    const uint32_t value = 0xabcdef01;
    zepi_event_t gates[2];
    TEST_OK(zepi.queue_create(gear.context, gear.device, 0, &other));
    for (int i = 0; i < 2; i++)
        TEST_OK(zepi.event_create(gear.context, &gates[i]));
    // The last one has a gate of its own.
    for (int i = 0; i < COUNT; i++)
        TEST_OK(zepi.queue_fill(other, &memory[i], &value, 4, 4, WAIT_FOR(gates[i + 1 == COUNT]),
                                &events[i]));
    zepi_event_t copied;
    TEST_OK(zepi.queue_copy(gear.queue, memory + COUNT, memory, COUNT * sizeof(*memory),
                            (zepi_wait_list_t){events, COUNT}, &copied));
    TEST_OK(zepi.event_signal(gates[0]));
    TEST_OK(zepi.event_wait(COUNT - 1, events, UINT64_MAX));
    TEST_FAILS(zepi.event_wait(1, &copied, 20000000), ZEPI_ERROR_NOT_READY);
    cr_assert_eq(memory[COUNT], 0);
    TEST_OK(zepi.event_signal(gates[1]));
    TEST_OK(zepi.event_wait(1, &copied, UINT64_MAX));
    for (int i = 0; i < COUNT; i++) {
        cr_assert_eq(memory[COUNT + i], value);
        TEST_OK(zepi.release(events[i]));
    }
    TEST_OK(zepi.release(copied));
    TEST_OK(zepi.release(gates[0]));
    TEST_OK(zepi.release(gates[1]));
    TEST_OK(zepi.release(other));
    queue_free(memory);
    queue_tear_down();
}

FOR_ALL_KINDS(queue, has_barriers_that_hold_up_what_comes_later)
{
    queue_set_up(kind->flags, kind->newer);
    float *one = queue_allocate_filled(1);
    float *sum = queue_allocate(ITEMS);
    float *result = queue_allocate(ITEMS);
    for (int i = 0; i < 50; i++) {
        zepi_event_t event;
        queue_add(gear.queue, one, sum, sum, TEST_NO_WAIT, NULL);
        TEST_OK(zepi.queue_barrier(gear.queue, TEST_NO_WAIT, i % 2 ? &event : NULL));
        queue_add(gear.queue, one, sum, result, TEST_NO_WAIT, NULL);
        TEST_OK(zepi.queue_barrier(gear.queue, TEST_NO_WAIT, NULL));
        if (i % 2)
            TEST_OK(zepi.release(event));
    }
    zepi_event_t marker;
    TEST_OK(zepi.queue_marker(gear.queue, TEST_NO_WAIT, &marker));
    TEST_OK(zepi.event_wait(1, &marker, UINT64_MAX));
    for (int i = 0; i < ITEMS; i++)
        cr_assert(sum[i] == 50 && result[i] == 51);
    TEST_OK(zepi.release(marker));
    queue_free(one);
    queue_free(sum);
    queue_free(result);
    queue_tear_down();
}

// In whichever list the later commands end up.
FOR_ALL_KINDS(queue, has_barriers_with_a_wait_list_that_hold_up_what_comes_later)
{
    enum { COUNT = 8 };
    queue_set_up(kind->flags, kind->newer);
    uint32_t *memory = (uint32_t *)queue_allocate(COUNT);
    const uint32_t value = 3;
    zepi_event_t gate;
    zepi_event_t last[COUNT];
    TEST_OK(zepi.event_create(gear.context, &gate));
    TEST_OK(zepi.queue_barrier(gear.queue, WAIT_FOR(gate), NULL));
    for (int i = 0; i < COUNT; i++)
        TEST_OK(zepi.queue_fill(gear.queue, &memory[i], &value, 4, 4, TEST_NO_WAIT, &last[i]));
    for (int i = 0; i < COUNT; i++) {
        TEST_FAILS(zepi.event_wait(1, &last[i], i == 0 ? 16000000 : 0), ZEPI_ERROR_NOT_READY);
        cr_assert_eq(memory[i], 0);
    }
    TEST_OK(zepi.event_signal(gate));
    TEST_OK(zepi.event_wait(COUNT, last, UINT64_MAX));
    for (int i = 0; i < COUNT; i++) {
        cr_assert_eq(memory[i], value);
        TEST_OK(zepi.release(last[i]));
    }
    TEST_OK(zepi.release(gate));
    queue_free(memory);
    queue_tear_down();
}

// A marker without a wait list is complete when everything before it is.
FOR_ALL_KINDS(queue, has_markers_for_what_came_before)
{
    enum { COUNT = 9 };
    queue_set_up(kind->flags, kind->newer);
    uint32_t *memory = (uint32_t *)queue_allocate(COUNT);
    const uint32_t value = 5;
    zepi_event_t gate;
    zepi_event_t markers[2];
    TEST_OK(zepi.event_create(gear.context, &gate));
    for (int i = 0; i < COUNT; i++)
        TEST_OK(zepi.queue_fill(gear.queue, &memory[i], &value, 4, 4, WAIT_FOR(gate), NULL));
    TEST_OK(zepi.queue_marker(gear.queue, TEST_NO_WAIT, &markers[0]));
    TEST_OK(zepi.queue_marker(gear.queue, WAIT_FOR(markers[0]), &markers[1]));
    TEST_FAILS(zepi.event_wait(1, &markers[0], 20000000), ZEPI_ERROR_NOT_READY);
    TEST_OK(zepi.event_signal(gate));
    TEST_OK(zepi.event_wait(2, markers, UINT64_MAX));
    for (int i = 0; i < COUNT; i++)
        cr_assert_eq(memory[i], value);
    TEST_OK(zepi.release(markers[0]));
    TEST_OK(zepi.release(markers[1]));
    TEST_OK(zepi.release(gate));
    queue_free(memory);
    queue_tear_down();
}

FOR_ALL_KINDS(queue, is_empty_when_it_was_waited_for)
{
    setenv("ZEPI_QUIRKS", "-waits-for-engine", 1); // of which no property of a device tells
    queue_set_up(kind->flags, kind->newer);
    zepi_queue_info_t info = {.size = sizeof(info)};
    zepi_device_info_t device = {.size = sizeof(device)};
    uint32_t *memory = (uint32_t *)queue_allocate(64);
    const uint32_t value = 6;
    zepi_event_t gate;
    TEST_OK(zepi.device_get_info(gear.device, &device));
    TEST_OK(zepi.queue_finish(gear.queue));
    TEST_OK(zepi.queue_get_info(gear.queue, &info));
    cr_assert(info.is_empty);
    // Quirk tiles-run-ahead.
    const bool may_run_ahead = kind->flags & ZEPI_QUEUE_PROFILING && device.sub_device_count > 1;
    cr_assert_eq(info.has_in_order_list,
                 kind->flags & ZEPI_QUEUE_IN_ORDER && kind->newer && !may_run_ahead);
    TEST_OK(zepi.event_create(gear.context, &gate));
    TEST_OK(zepi.queue_fill(gear.queue, memory, &value, 4, 256, WAIT_FOR(gate), NULL));
    TEST_OK(zepi.queue_get_info(gear.queue, &info));
    cr_assert(!info.is_empty);
    TEST_OK(zepi.event_signal(gate));
    TEST_OK(zepi.queue_finish(gear.queue));
    cr_assert_eq(memory[63], value);
    TEST_OK(zepi.queue_get_info(gear.queue, &info));
    cr_assert(info.is_empty);
    TEST_OK(zepi.release(gate));
    queue_free(memory);
    queue_tear_down();
}

FOR_ALL_KINDS(queue, waits_for_its_commands_when_it_goes)
{
    queue_set_up(kind->flags, kind->newer);
    zepi_queue_t queue;
    float *one = queue_allocate_filled(1);
    float *sum = queue_allocate(ITEMS);
    TEST_OK(
        zepi.queue_create(gear.context, gear.device, kind->flags | ZEPI_QUEUE_IN_ORDER, &queue));
    for (int i = 0; i < 100; i++)
        queue_add(queue, one, sum, sum, TEST_NO_WAIT, NULL);
    TEST_OK(zepi.release(queue));
    cr_assert_eq(sum[ITEMS - 1], 100);
    queue_free(one);
    queue_free(sum);
    queue_tear_down();
}

// By a copy engine, if the driver thinks that it pays: a hint of the list tells it that it may.
FOR_ALL_KINDS(queue, leaves_copies_and_fills_to_any_engine)
{
    queue_set_up(kind->flags, kind->newer);
    uint32_t *memory = (uint32_t *)queue_allocate(ITEMS);
    const uint32_t value = 9;
    const uint64_t before = ze_cpu.get_count("copy:compute");
    TEST_OK(zepi.queue_fill(gear.queue, memory, &value, 4, 64, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_barrier(gear.queue, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_copy(gear.queue, memory + 16, memory, 64, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    cr_assert(memory[15] == value && memory[31] == value);
    if (kind->newer)
        cr_assert_eq(ze_cpu.get_count("copy:compute"), before);
    else
        cr_assert_gt(ze_cpu.get_count("copy:compute"), before);
    queue_free(memory);
    queue_tear_down();
}

Test(queue_info, says_what_the_queue_was_made_of)
{
    zepi_queue_info_t info = {.size = sizeof(info)};
    zepi_queue_t queue;
    void *native = NULL;
    const zepi_queue_flags_t flags =
        ZEPI_QUEUE_IN_ORDER | ZEPI_QUEUE_PROFILING | ZEPI_QUEUE_PRIORITY_LOW;
    TEST_OK(zepi.queue_create(gear.context, gear.device, flags, &queue));
    TEST_OK(zepi.queue_get_info(queue, &info));
    cr_assert_eq(info.size, sizeof(info));
    cr_assert(info.context == gear.context && info.device == gear.device && info.flags == flags);
    TEST_OK(zepi.queue_get_native(queue, &native));
    cr_assert_not_null(native);
    TEST_FAILS(zepi.queue_get_native(queue, NULL), ZEPI_ERROR_INVALID_VALUE);
    TEST_OK(zepi.release(queue));
}

Test(queue_info, flags_that_contradict_or_are_not_known_are_refused)
{
    zepi_queue_t queue = NULL;
    TEST_FAILS_SAYING(zepi.queue_create(gear.context, gear.device,
                                        ZEPI_QUEUE_PRIORITY_HIGH | ZEPI_QUEUE_PRIORITY_LOW, &queue),
                      ZEPI_ERROR_INVALID_VALUE, "both high and low");
    TEST_FAILS_SAYING(zepi.queue_create(gear.context, gear.device, 0x100, &queue),
                      ZEPI_ERROR_INVALID_VALUE, "0x100");
    cr_assert_null(queue);
}
