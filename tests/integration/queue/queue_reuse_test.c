// SPDX-License-Identifier: MIT
// Queues that come and go: events outlive them, and their lists serve later ones.
#include "queue_fixture.h"

#include "test_env.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>

static void set_up_out_of_order(void)
{
    queue_set_up(0, true);
}

TestSuite(queue_lists, .init = set_up_out_of_order, .fini = queue_tear_down);

static void add_with_events(zepi_queue_t queue, float *one, float *sum, uint32_t count,
                            zepi_event_t *out_events)
{
    for (uint32_t i = 0; i < count; i++)
        queue_add(queue, one, one, sum, TEST_NO_WAIT, &out_events[i]);
}

// Two of three are waited for.
static void wait_and_release(uint32_t count, const zepi_event_t *events)
{
    for (uint32_t i = 0; i < count; i++) {
        if (i % 3)
            TEST_OK(zepi.event_wait(1, &events[i], UINT64_MAX));
        TEST_OK(zepi.release(events[i]));
    }
}

// A driver may write to the list that signalled an event last: ze_cpu refuses to reset an event
// whose list is gone.
FOR_ALL_KINDS(queue, leaves_events_that_serve_later_queues)
{
    enum { EVENTS = 20, QUEUES = 40 }; // more than are kept
    static const zepi_queue_flags_t others[] = {0, ZEPI_QUEUE_IN_ORDER, ZEPI_QUEUE_PROFILING,
                                                ZEPI_QUEUE_IN_ORDER | ZEPI_QUEUE_PROFILING};
    queue_set_up(kind->flags, kind->newer);
    float *one = queue_allocate_filled(1);
    float *sum = queue_allocate(ITEMS);
    zepi_queue_t queues[QUEUES];
    zepi_event_t events[EVENTS];
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < QUEUES; i++)
            TEST_OK(zepi.queue_create(gear.context, gear.device, kind->flags, &queues[i]));
        for (int i = 0; i < QUEUES; i++) {
            add_with_events(queues[i], one, sum, EVENTS, events);
            TEST_OK(zepi.queue_barrier(queues[i], TEST_NO_WAIT, NULL));
            TEST_OK(zepi.release(queues[i]));
            wait_and_release(EVENTS, events);
        }
    }
    for (int i = 0; i < 8; i++) {
        TEST_OK(zepi.queue_create(gear.context, gear.device, others[i % 4], &queues[0]));
        add_with_events(queues[0], one, sum, EVENTS, events);
        TEST_OK(zepi.queue_barrier(queues[0], TEST_NO_WAIT, NULL));
        wait_and_release(EVENTS, events);
        TEST_OK(zepi.release(queues[0]));
    }
    queue_free(one);
    queue_free(sum);
    queue_tear_down();
}

// Its commands are complete, but another queue, which the host holds up, has yet to see that.
FOR_ALL_KINDS(queue, may_go_while_another_one_waits_for_its_events)
{
    enum { QUEUES = 40 };
    queue_set_up(kind->flags, kind->newer);
    float *one = queue_allocate_filled(1);
    float *sums[QUEUES];
    zepi_queue_t queues[QUEUES];
    zepi_event_t gate;
    TEST_OK(zepi.event_create(gear.context, &gate));
    TEST_OK(zepi.queue_barrier(gear.queue, WAIT_FOR(gate), NULL));
    for (int i = 0; i < QUEUES; i++) {
        sums[i] = queue_allocate_filled(0);
        TEST_OK(zepi.queue_create(gear.context, gear.device, kind->flags, &queues[i]));
    }
    for (int i = 0; i < QUEUES; i++) {
        zepi_event_t event;
        queue_add(queues[i], one, one, sums[i], TEST_NO_WAIT, &event);
        queue_add(gear.queue, one, sums[i], sums[i], WAIT_FOR(event), NULL);
        TEST_OK(zepi.release(event));
        TEST_OK(zepi.release(queues[i]));
    }
    TEST_OK(zepi.event_signal(gate));
    TEST_OK(zepi.queue_finish(gear.queue));
    for (int i = 0; i < QUEUES; i++) {
        for (int at = 0; at < ITEMS; at++)
            cr_assert_eq(sums[i][at], 3);
        queue_free(sums[i]);
    }
    TEST_OK(zepi.release(gate));
    queue_free(one);
    queue_tear_down();
}

static uint64_t lists_made(void)
{
    return ze_cpu.get_count("zeCommandListCreateImmediate");
}

FOR_ALL_KINDS(queue, uses_the_list_of_the_last_one_of_its_kind)
{
    queue_set_up(kind->flags, kind->newer);
    float *one = queue_allocate_filled(1);
    float *sum = queue_allocate_filled(0);
    zepi_queue_t queue;
    TEST_OK(zepi.queue_create(gear.context, gear.device, kind->flags, &queue));
    TEST_OK(zepi.release(queue));
    const uint64_t made = lists_made();
    for (int i = 0; i < 100; i++) {
        zepi_event_t events[20];
        TEST_OK(zepi.queue_create(gear.context, gear.device, kind->flags, &queue));
        add_with_events(queue, one, sum, 20, events);
        wait_and_release(20, events);
        TEST_OK(zepi.release(queue));
    }
    cr_assert_eq(lists_made(), made);
    cr_assert_eq(sum[ITEMS - 1], 2);
    // One of another kind has other lists.
    TEST_OK(zepi.queue_create(gear.context, gear.device, kind->flags ^ ZEPI_QUEUE_PRIORITY_HIGH,
                              &queue));
    cr_assert_gt(lists_made(), made);
    TEST_OK(zepi.release(queue));
    queue_free(one);
    queue_free(sum);
    queue_tear_down();
}

Test(queue_lists, lists_of_released_queues_are_kept_up_to_a_bound)
{
    enum { QUEUES = 100, KEPT = 32 };
    zepi_queue_t queues[QUEUES];
    for (int i = 0; i < QUEUES; i++)
        TEST_OK(zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_IN_ORDER, &queues[i]));
    const uint64_t destroyed = ze_cpu.get_count("zeCommandListDestroy");
    for (int i = 0; i < QUEUES; i++)
        TEST_OK(zepi.release(queues[i]));
    cr_assert_eq(ze_cpu.get_count("zeCommandListDestroy") - destroyed, QUEUES - KEPT);
}

// The driver prints then what kernels printed.
Test(queue_lists, a_wait_asks_the_lists_though_events_said_that_all_is_complete)
{
    zepi_queue_t queue;
    zepi_event_t event;
    test_ze_cpu_require();
    float *memory = queue_allocate_filled(1);
    TEST_OK(zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_IN_ORDER, &queue));
    queue_add(queue, memory, memory, memory, TEST_NO_WAIT, &event);
    TEST_OK(zepi.event_wait(1, &event, UINT64_MAX));
    const uint64_t asked = ze_cpu.get_count("zeCommandListHostSynchronize");
    TEST_OK(zepi.queue_finish(queue));
    cr_assert_eq(ze_cpu.get_count("zeCommandListHostSynchronize"), asked + 1);
    TEST_OK(zepi.queue_finish(queue));
    cr_assert_eq(ze_cpu.get_count("zeCommandListHostSynchronize"), asked + 1, "nothing is new");
    TEST_OK(zepi.release(event));
    TEST_OK(zepi.release(queue));
    queue_free(memory);
}

// A list that the host may still append to serves no other queue.
Test(queue_lists, a_list_whose_handle_the_host_has_is_not_used_again)
{
    zepi_queue_t queue;
    void *native;
    TEST_OK(zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_IN_ORDER, &queue));
    TEST_OK(zepi.queue_get_native(queue, &native));
    const uint64_t destroyed = ze_cpu.get_count("zeCommandListDestroy");
    TEST_OK(zepi.release(queue));
    cr_assert_eq(ze_cpu.get_count("zeCommandListDestroy"), destroyed + 1);
}

// A list whose commands were not seen complete serves none either.
Test(queue_lists, a_list_that_could_not_be_waited_for_is_not_used_again)
{
    // The fill takes milliseconds: it is not over when the queue goes.
    const size_t count = 16 * 1024 * 1024;
    uint32_t *memory = (uint32_t *)queue_allocate(count);
    const uint32_t value = 7;
    zepi_queue_t queue;
    TEST_OK(zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_IN_ORDER, &queue));
    TEST_OK(zepi.queue_fill(queue, memory, &value, 4, 4 * count, TEST_NO_WAIT, NULL));
    cr_assert_eq(ze_cpu.set_fail("zeEventHostSynchronize:*:ZE_RESULT_ERROR_DEVICE_LOST"), 0);
    const uint64_t destroyed = ze_cpu.get_count("zeCommandListDestroy");
    TEST_OK(zepi.release(queue));
    cr_assert_eq(ze_cpu.set_fail(NULL), 0);
    cr_assert_eq(ze_cpu.get_count("zeCommandListDestroy"), destroyed + 1);
    queue_free(memory);
}

// Memory is short: the lists that are kept go first.
Test(queue_lists, lists_that_are_kept_make_room_for_a_new_one)
{
    zepi_queue_t queue;
    TEST_OK(zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_IN_ORDER, &queue));
    TEST_OK(zepi.release(queue));
    cr_assert_eq(
        ze_cpu.set_fail("zeCommandListCreateImmediate:1:ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY"), 0);
    const uint64_t destroyed = ze_cpu.get_count("zeCommandListDestroy");
    TEST_OK(zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_PROFILING, &queue));
    cr_assert_eq(ze_cpu.set_fail(NULL), 0);
    cr_assert_gt(ze_cpu.get_count("zeCommandListDestroy"), destroyed);
    TEST_OK(zepi.release(queue));
}

Test(queue_lists, lists_that_are_kept_make_room_for_memory)
{
    void *memory;
    zepi_queue_t queue;
    TEST_OK(zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_IN_ORDER, &queue));
    TEST_OK(zepi.release(queue));
    const uint64_t destroyed = ze_cpu.get_count("zeCommandListDestroy");
    cr_assert_eq(ze_cpu.set_fail("zeMemAllocDevice:1:ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY"), 0);
    TEST_OK(
        zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_DEVICE, (size_t)4 << 20, 0, &memory));
    cr_assert_eq(ze_cpu.set_fail(NULL), 0);
    cr_assert_gt(ze_cpu.get_count("zeCommandListDestroy"), destroyed);
    TEST_OK(zepi.usm_free(gear.context, memory));
}

// ---- Markers that the host enqueues ahead ----

#define MARKERS 4000

// Returns the bytes of memory that one takes while it is not complete.
static size_t enqueue_markers(zepi_queue_t queue, zepi_event_t gate)
{
    TEST_OK(zepi.queue_barrier(queue, WAIT_FOR(gate), NULL));
    const size_t before = test_env_allocated_bytes();
    for (int i = 0; i < MARKERS; i++) {
        zepi_event_t event;
        TEST_OK(zepi.queue_marker(queue, TEST_NO_WAIT, &event));
        TEST_OK(zepi.release(event));
    }
    return (test_env_allocated_bytes() - before) / MARKERS;
}

// Their memory is given back with queue and context, but for what is kept for the next ones.
FOR_ALL_KINDS(queue, is_given_many_markers_for_little_memory_each)
{
    // Of which an event of Intel's driver takes most. Out of order there are four lists, and an
    // event for each of them.
    const size_t most_bytes = !kind->newer ? 5600 : kind->flags & ZEPI_QUEUE_IN_ORDER ? 600 : 1600;
    queue_set_up(kind->flags, kind->newer);
    zepi_context_t context;
    zepi_queue_t queue;
    zepi_event_t gate;
    const size_t before = test_env_allocated_bytes();
    TEST_OK(zepi.context_create(1, &gear.device, &context));
    TEST_OK(zepi.event_create(context, &gate));
    TEST_OK(zepi.queue_create(context, gear.device, kind->flags, &queue));
    const size_t bytes = enqueue_markers(queue, gate);
    TEST_OK(zepi.event_signal(gate));
    TEST_OK(zepi.queue_finish(queue));
    TEST_OK(zepi.release(gate));
    TEST_OK(zepi.release(queue));
    TEST_OK(zepi.release(context));
    const size_t left = (test_env_allocated_bytes() - before) / MARKERS;
    printf("%zu bytes a marker, %zu left\n", bytes, left);
    cr_assert_lt(bytes, most_bytes, "%zu bytes a marker", bytes);
    cr_assert_lt(left, most_bytes / 2, "%zu bytes a marker are left", left);
    queue_tear_down();
}
