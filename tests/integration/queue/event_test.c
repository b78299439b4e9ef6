// SPDX-License-Identifier: MIT
// Events: status, waits, the host's own, their life and their recycling.
#include "queue_fixture.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void set_up_out_of_order(void)
{
    queue_set_up(0, true);
}

TestSuite(event, .init = set_up_out_of_order, .fini = queue_tear_down);

static zepi_event_status_t status_of(zepi_event_t event)
{
    zepi_event_status_t status;
    TEST_OK(zepi.event_get_status(event, &status));
    return status;
}

static zepi_event_t create_gate(void)
{
    zepi_event_t gate;
    TEST_OK(zepi.event_create(gear.context, &gate));
    return gate;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// Each of the commands before the barrier in turn waits for the host: the barrier's own list may
// have it, or any other.
FOR_ALL_KINDS(event_of_a_barrier, waits_for_each_command_before_it)
{
    queue_set_up(kind->flags, kind->newer);
    enum { COUNT = 9 };
    const uint32_t value = 0x01010101;
    uint32_t *memory = (uint32_t *)queue_allocate(COUNT);
    for (int late = 0; late < COUNT; late++) {
        zepi_event_t gate = create_gate();
        zepi_event_t barrier;
        memset(memory, 0, COUNT * sizeof(*memory));
        for (int i = 0; i < COUNT; i++)
            TEST_OK(zepi.queue_fill(gear.queue, &memory[i], &value, 4, 4,
                                    i == late ? WAIT_FOR(gate) : TEST_NO_WAIT, NULL));
        TEST_OK(zepi.queue_barrier(gear.queue, TEST_NO_WAIT, &barrier));
        TEST_FAILS_SAYING(zepi.event_wait(1, &barrier, 10000000), ZEPI_ERROR_NOT_READY,
                          "not complete");
        cr_assert_eq(memory[late], 0);
        TEST_OK(zepi.event_signal(gate));
        TEST_OK(zepi.event_wait(1, &barrier, UINT64_MAX));
        for (int i = 0; i < COUNT; i++)
            cr_assert_eq(memory[i], value);
        TEST_OK(zepi.queue_finish(gear.queue));
        TEST_OK(zepi.release(barrier));
        TEST_OK(zepi.release(gate));
    }
    queue_free(memory);
    queue_tear_down();
}

static zepi_event_t meanwhile;

// Another thread that finds no event either, at the worst moment.
static void make_event_meanwhile(const char *function, int is_over)
{
    static bool is_under_way;
    if (is_under_way || is_over || strcmp(function, "zeEventPoolCreate") != 0)
        return;
    is_under_way = true;
    TEST_OK(zepi.event_create(gear.context, &meanwhile));
}

Test(event, of_two_threads_that_find_none_has_one_pool)
{
    test_ze_cpu_require();
    const uint64_t made = ze_cpu.get_count("zeEventPoolCreate");
    const uint64_t destroyed = ze_cpu.get_count("zeEventPoolDestroy");
    ze_cpu.set_hook(make_event_meanwhile);
    zepi_event_t event = create_gate();
    ze_cpu.set_hook(NULL);
    cr_assert_not_null(meanwhile);
    cr_assert_eq(ze_cpu.get_count("zeEventPoolCreate") - made, 2);
    cr_assert_eq(ze_cpu.get_count("zeEventPoolDestroy") - destroyed, 1);
    TEST_OK(zepi.release(event));
    TEST_OK(zepi.release(meanwhile));
}

Test(event, of_the_host_holds_up_any_number_of_commands)
{
    enum { COUNT = 40 };
    zepi_event_t gate = create_gate();
    zepi_event_t events[COUNT];
    const uint32_t value = 0x01010101;
    uint32_t *memory = (uint32_t *)queue_allocate(COUNT);
    for (int i = 0; i < COUNT; i++)
        TEST_OK(zepi.queue_fill(gear.queue, &memory[i], &value, 4, 4, WAIT_FOR(gate), &events[i]));
    TEST_FAILS_SAYING(zepi.event_wait(COUNT, events, 20000000), ZEPI_ERROR_NOT_READY,
                      "not complete");
    for (int i = 0; i < COUNT; i++)
        cr_assert(status_of(events[i]) == ZEPI_EVENT_SUBMITTED && memory[i] == 0, "%d", i);
    TEST_OK(zepi.event_signal(gate));
    TEST_OK(zepi.event_wait(COUNT, events, UINT64_MAX));
    for (int i = 0; i < COUNT; i++) {
        cr_assert(status_of(events[i]) == ZEPI_EVENT_COMPLETE && memory[i] == value, "%d", i);
        TEST_OK(zepi.release(events[i]));
    }
    TEST_OK(zepi.release(gate));
    queue_free(memory);
}

// A marker of a queue of its own: no other one holds it up.
struct gated {
    zepi_queue_t queue;
    zepi_event_t gates[40];
    uint32_t count;
    uint32_t closed; // the place of the gate that stays closed
    zepi_event_t marker;
};

static void gated_begin(struct gated *gated, uint32_t count, uint32_t closed)
{
    gated->count = count;
    gated->closed = closed;
    for (uint32_t i = 0; i < count; i++)
        gated->gates[i] = create_gate();
    TEST_OK(zepi.queue_create(gear.context, gear.device, 0, &gated->queue));
    TEST_OK(
        zepi.queue_marker(gated->queue, (zepi_wait_list_t){gated->gates, count}, &gated->marker));
    for (uint32_t i = 0; i < count; i++) {
        if (i != closed)
            TEST_OK(zepi.event_signal(gated->gates[i]));
    }
}

static void gated_end(struct gated *gated)
{
    TEST_OK(zepi.event_wait(1, &gated->marker, UINT64_MAX));
    for (uint32_t i = 0; i < gated->count; i++)
        TEST_OK(zepi.release(gated->gates[i]));
    TEST_FAILS_SAYING(zepi.event_signal(gated->marker), ZEPI_ERROR_INVALID_VALUE, "event_create");
    TEST_OK(zepi.release(gated->marker));
    TEST_OK(zepi.release(gated->queue));
}

// More than the wait list's own room, too: of all events one alone is incomplete, in any place.
// All markers have the same while in which they could complete.
Test(event, of_the_host_holds_up_a_command_wherever_it_stands_in_the_wait_list)
{
    static const uint32_t counts[] = {1, 3, 8, 9, 40};
    enum { LISTS = 3 * sizeof(counts) / sizeof(counts[0]) };
    struct gated lists[LISTS];
    for (uint32_t i = 0; i < LISTS; i++) {
        const uint32_t count = counts[i / 3];
        const uint32_t places[] = {0, count / 2, count - 1};
        gated_begin(&lists[i], count, places[i % 3]);
    }
    TEST_FAILS(zepi.event_wait(1, &lists[0].marker, 30000000), ZEPI_ERROR_NOT_READY);
    for (uint32_t i = 0; i < LISTS; i++)
        cr_assert_neq(status_of(lists[i].marker), ZEPI_EVENT_COMPLETE, "%u of %u", lists[i].closed,
                      lists[i].count);
    // The driver of integrated GPUs waits for all that their engine has.
    for (uint32_t i = 0; i < LISTS; i++)
        TEST_OK(zepi.event_signal(lists[i].gates[lists[i].closed]));
    for (uint32_t i = 0; i < LISTS; i++)
        gated_end(&lists[i]);
}

Test(event, of_the_host_is_complete_once_and_for_ever)
{
    zepi_event_t gate = create_gate();
    cr_assert_eq(status_of(gate), ZEPI_EVENT_SUBMITTED);
    TEST_OK(zepi.event_signal(gate));
    TEST_OK(zepi.event_signal(gate));
    cr_assert_eq(status_of(gate), ZEPI_EVENT_COMPLETE);
    TEST_OK(zepi.event_wait(1, &gate, 0));
    TEST_OK(zepi.release(gate));
    // The next one begins anew, though it may be the same event of the driver.
    for (int i = 0; i < 100; i++) {
        gate = create_gate();
        cr_assert_eq(status_of(gate), ZEPI_EVENT_SUBMITTED);
        if (i % 2)
            TEST_OK(zepi.event_signal(gate));
        TEST_OK(zepi.release(gate));
    }
}

// Barriers take events for each of the queue's lists, and give them back.
Test(event, of_the_host_is_none_that_a_barrier_used)
{
    enum { ROUNDS = 4, GATES = 40 };
    uint32_t *memory = (uint32_t *)queue_allocate(1);
    zepi_event_t gates[GATES];
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i < GATES; i++)
            TEST_OK(zepi.queue_barrier(gear.queue, TEST_NO_WAIT, NULL));
        TEST_OK(zepi.queue_finish(gear.queue));
        for (int i = 0; i < GATES; i++)
            gates[i] = create_gate();
        TEST_OK(zepi.queue_fill(gear.queue, memory, &round, 4, 4, (zepi_wait_list_t){gates, GATES},
                                NULL));
        for (int i = 0; i < GATES; i++) {
            cr_assert_eq(status_of(gates[i]), ZEPI_EVENT_SUBMITTED);
            TEST_OK(zepi.event_signal(gates[i]));
            TEST_OK(zepi.release(gates[i]));
        }
        TEST_OK(zepi.queue_finish(gear.queue));
        cr_assert_eq(memory[0], round);
    }
    queue_free(memory);
}

// For a kernel's event with times in an in-order list, Intel's driver and ze_cpu wait up to 5
// seconds when asked for the status.
Test(event, status_is_told_at_once)
{
    static const zepi_queue_flags_t kinds[] = {0, ZEPI_QUEUE_IN_ORDER, ZEPI_QUEUE_PROFILING,
                                               ZEPI_QUEUE_IN_ORDER | ZEPI_QUEUE_PROFILING};
    float *one = queue_allocate_filled(1);
    float *sum = queue_allocate(ITEMS);
    for (int i = 0; i < 4; i++) {
        zepi_event_t gate = create_gate();
        zepi_event_t events[40];
        zepi_queue_t queue;
        TEST_OK(zepi.queue_create(gear.context, gear.device, kinds[i], &queue));
        const uint64_t before = now_ns();
        queue_add(queue, one, one, sum, WAIT_FOR(gate), &events[0]);
        cr_assert_eq(status_of(events[0]), ZEPI_EVENT_SUBMITTED);
        // Released ones are asked about, too, when the list looks for some to use again.
        for (int at = 1; at < 40; at++) {
            queue_add(queue, one, one, sum, TEST_NO_WAIT, &events[at]);
            if (kinds[i] & ZEPI_QUEUE_IN_ORDER)
                TEST_OK(zepi.release(events[at]));
        }
        cr_assert_lt(now_ns() - before, 4000000000u);
        TEST_OK(zepi.event_signal(gate));
        TEST_OK(zepi.event_wait(1, &events[0], UINT64_MAX));
        cr_assert_eq(status_of(events[0]), ZEPI_EVENT_COMPLETE);
        for (int at = 1; at < 40 && !(kinds[i] & ZEPI_QUEUE_IN_ORDER); at++)
            TEST_OK(zepi.release(events[at]));
        TEST_OK(zepi.release(events[0]));
        TEST_OK(zepi.release(queue));
        TEST_OK(zepi.release(gate));
    }
    queue_free(one);
    queue_free(sum);
}

Test(event, wait_ends_with_its_timeout)
{
    zepi_event_t gates[2] = {create_gate(), create_gate()};
    TEST_OK(zepi.event_signal(gates[0]));
    TEST_FAILS_SAYING(zepi.event_wait(2, gates, 0), ZEPI_ERROR_NOT_READY, "not complete");
    TEST_FAILS_SAYING(zepi.event_wait(2, gates, 1000), ZEPI_ERROR_NOT_READY,
                      "event 1 of 2 was not complete after 1000 nanoseconds");
    const uint64_t before = now_ns();
    TEST_FAILS(zepi.event_wait(2, gates, 30000000), ZEPI_ERROR_NOT_READY);
    cr_assert_geq(now_ns() - before, 30000000u);
    TEST_OK(zepi.event_signal(gates[1]));
    TEST_OK(zepi.event_wait(2, gates, 0));
    // Of no events there is none.
    TEST_FAILS_SAYING(zepi.event_wait(0, gates, 0), ZEPI_ERROR_INVALID_VALUE,
                      "count of events is 0");
    TEST_FAILS(zepi.event_wait(0, NULL, UINT64_MAX), ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.event_wait(1, NULL, 0), ZEPI_ERROR_INVALID_VALUE);
    TEST_OK(zepi.release(gates[0]));
    TEST_OK(zepi.release(gates[1]));
}

Test(event, may_be_released_before_its_command_is_complete)
{
    float *one = queue_allocate_filled(1);
    float *sum = queue_allocate(ITEMS);
    zepi_event_t gate = create_gate();
    zepi_event_t last = gate;
    TEST_OK(zepi.retain(gate));
    for (int i = 0; i < 100; i++) {
        zepi_event_t event;
        queue_add(gear.queue, one, sum, sum, WAIT_FOR(last), &event);
        TEST_OK(zepi.release(last));
        last = event;
    }
    TEST_OK(zepi.release(last));
    TEST_OK(zepi.event_signal(gate));
    TEST_OK(zepi.release(gate));
    TEST_OK(zepi.queue_finish(gear.queue));
    cr_assert_eq(sum[0], 100);
    queue_free(one);
    queue_free(sum);
}

Test(event, outlives_its_queue)
{
    zepi_queue_t queue;
    zepi_event_t event;
    const uint32_t value = 7;
    uint32_t *memory = (uint32_t *)queue_allocate(1);
    TEST_OK(zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_PROFILING, &queue));
    TEST_OK(zepi.queue_fill(queue, memory, &value, 4, 4, TEST_NO_WAIT, &event));
    TEST_OK(zepi.release(queue));
    TEST_OK(zepi.event_wait(1, &event, UINT64_MAX));
    cr_assert_eq(memory[0], value);
    zepi_event_times_t times = {.size = sizeof(times)};
    TEST_OK(zepi.event_get_times(event, &times));
    // Another queue may wait for it still.
    TEST_OK(zepi.queue_barrier(gear.queue, WAIT_FOR(event), NULL));
    TEST_OK(zepi.release(event));
    queue_free(memory);
}

ParameterizedTestParameters(event_release, never_waits_for_what_the_host_holds_up)
{
    static struct queue_kind kinds[] = {
        {0, true}, {0, false}, {ZEPI_QUEUE_IN_ORDER, true}, {ZEPI_QUEUE_IN_ORDER, false}};
    return cr_make_param_array(struct queue_kind, kinds, sizeof(kinds) / sizeof(kinds[0]));
}

// However many events are released before the host opens the gate: a thread that waited for the
// queue then would wait for ever.
ParameterizedTest(struct queue_kind *kind, event_release, never_waits_for_what_the_host_holds_up,
                  .timeout = 20)
{
    enum { COUNT = 6000 };
    queue_set_up(kind->flags, kind->newer);
    zepi_event_t gate = create_gate();
    const uint32_t value = 9;
    uint32_t *memory = (uint32_t *)queue_allocate(COUNT);
    for (int i = 0; i < COUNT; i++) {
        zepi_event_t event;
        TEST_OK(zepi.queue_fill(gear.queue, &memory[i], &value, 4, 4, WAIT_FOR(gate), &event));
        TEST_OK(zepi.release(event));
    }
    cr_assert_eq(memory[COUNT - 1], 0);
    TEST_OK(zepi.event_signal(gate));
    TEST_OK(zepi.queue_finish(gear.queue));
    for (int i = 0; i < COUNT; i++)
        cr_assert_eq(memory[i], value);
    TEST_OK(zepi.release(gate));
    queue_free(memory);
    queue_tear_down();
}

Test(event, is_recycled_however_many_there_were)
{
    float *one = queue_allocate(ITEMS);
    uint64_t after_warm_up = 0;
    for (int i = 0; i < 10000; i++) {
        zepi_event_t event;
        queue_add(gear.queue, one, one, one, TEST_NO_WAIT, &event);
        if (i % 3 == 0)
            TEST_OK(zepi.event_wait(1, &event, UINT64_MAX));
        TEST_OK(zepi.release(event));
        if (i == 4000)
            after_warm_up = ze_cpu.get_live_objects();
    }
    cr_assert_leq(ze_cpu.get_live_objects(), after_warm_up);
    TEST_OK(zepi.queue_finish(gear.queue));
    queue_free(one);
}

ParameterizedTestParameters(event_chain, is_recycled_though_nobody_waits_for_the_queue)
{
    static struct queue_kind kinds[] = {{0, true}, {0, false}, {ZEPI_QUEUE_IN_ORDER, true}};
    return cr_make_param_array(struct queue_kind, kinds, sizeof(kinds) / sizeof(kinds[0]));
}

// Each launch waits for the one before, the host only for a launch of now and then, and another
// one is always on its way: the queue is never seen empty.
ParameterizedTest(struct queue_kind *kind, event_chain,
                  is_recycled_though_nobody_waits_for_the_queue)
{
    queue_set_up(kind->flags, kind->newer);
    float *one = queue_allocate_filled(1);
    float *sum = queue_allocate(ITEMS);
    zepi_event_t last = create_gate();
    uint64_t after_warm_up = 0;
    enum { WARM_UP = 5000, LAUNCHES = 15000 };
    TEST_OK(zepi.event_signal(last));
    for (int i = 1; i <= LAUNCHES; i++) {
        zepi_event_t event;
        queue_add(gear.queue, one, sum, sum, WAIT_FOR(last), &event);
        if (i % 100 == 0)
            TEST_OK(zepi.event_wait(1, &last, UINT64_MAX));
        TEST_OK(zepi.release(last));
        last = event;
        if (i == WARM_UP)
            after_warm_up = ze_cpu.get_live_objects();
    }
    // Without recycling there would be one more event a launch. With it, their number stays at the
    // most launches under way at once, when the driver's thread waited longest for a processor.
    cr_assert_leq(ze_cpu.get_live_objects(), after_warm_up + (LAUNCHES - WARM_UP) / 2,
                  "%d after %d", (int)ze_cpu.get_live_objects(), (int)after_warm_up);
    TEST_OK(zepi.event_wait(1, &last, UINT64_MAX));
    cr_assert_eq(sum[0], LAUNCHES);
    TEST_OK(zepi.release(last));
    queue_free(one);
    queue_free(sum);
    queue_tear_down();
}

// A barrier is several commands of the driver, of which one fails: the driver may still signal the
// event that no caller got, so it must not be the next one's.
Test(event, of_a_failed_barrier_is_not_handed_out_while_the_driver_may_signal_it)
{
    zepi_result_t result = ZEPI_ERROR_UNKNOWN;
    int rounds = 0;
    for (; result != ZEPI_SUCCESS; rounds++) {
        char failure[64];
        zepi_event_t gate = create_gate();
        zepi_event_t barrier = NULL;
        snprintf(failure, sizeof(failure), "zeCommandListAppendBarrier:%d:0x7ffffffe", rounds + 1);
        cr_assert_eq(ze_cpu.set_fail(failure), 0);
        result = zepi.queue_barrier(gear.queue, WAIT_FOR(gate), &barrier);
        ze_cpu.set_fail("");
        cr_assert_eq(barrier == NULL, result != ZEPI_SUCCESS);
        zepi_event_t own = create_gate();
        TEST_OK(zepi.event_signal(gate));
        TEST_OK(zepi.queue_finish(gear.queue));
        cr_assert_eq(status_of(own), ZEPI_EVENT_SUBMITTED, "round %d", rounds);
        TEST_OK(zepi.release(own));
        TEST_OK(zepi.release(gate));
        if (barrier)
            TEST_OK(zepi.release(barrier));
    }
    // One for each list of the queue at least.
    cr_assert_gt(rounds, 3);
}

Test(event, of_another_context_is_waited_for)
{
    zepi_context_t other;
    zepi_event_t event;
    zepi_event_t after;
    TEST_OK(zepi.context_create(1, &gear.device, &other));
    TEST_OK(zepi.event_create(other, &event));
    TEST_OK(zepi.queue_barrier(gear.queue, WAIT_FOR(event), &after));
    TEST_FAILS(zepi.event_wait(1, &after, 20000000), ZEPI_ERROR_NOT_READY);
    cr_assert_eq(status_of(after), ZEPI_EVENT_SUBMITTED);
    TEST_OK(zepi.event_signal(event));
    TEST_OK(zepi.event_wait(1, &after, UINT64_MAX));
    TEST_OK(zepi.release(after));
    TEST_FAILS_SAYING(zepi.queue_barrier(gear.queue, (zepi_wait_list_t){NULL, 1}, NULL),
                      ZEPI_ERROR_INVALID_VALUE, "wait list is NULL");
    // event_wait takes events of any context.
    zepi_event_t both[2] = {event, create_gate()};
    TEST_OK(zepi.event_signal(both[0]));
    TEST_OK(zepi.event_signal(both[1]));
    TEST_OK(zepi.event_wait(2, both, UINT64_MAX));
    TEST_OK(zepi.release(both[1]));
    TEST_OK(zepi.release(event));
    TEST_OK(zepi.release(other));
}

// As Level Zero's loader says it.
static bool is_complete(void *native)
{
    uint32_t (*query)(void *event);
    void *loader = dlopen("libze_loader.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *symbol = loader ? dlsym(loader, "zeEventQueryStatus") : NULL;
    cr_assert_not_null(symbol);
    memcpy(&query, &symbol, sizeof(query));
    const uint32_t result = query(native);
    dlclose(loader);
    cr_assert_leq(result, 1, "0 or ZE_RESULT_NOT_READY");
    return result == 0;
}

Test(event, has_a_native_handle_that_shows_the_same)
{
    zepi_event_t gate = create_gate();
    void *native = NULL;
    TEST_OK(zepi.event_get_native(gate, &native));
    cr_assert(!is_complete(native));
    TEST_OK(zepi.event_signal(gate));
    cr_assert(is_complete(native));
    TEST_FAILS(zepi.event_get_native(gate, NULL), ZEPI_ERROR_INVALID_VALUE);
    TEST_OK(zepi.release(gate));
}

// ---- Times ----

Test(event_times, are_refused_without_profiling, .init = set_up_out_of_order,
     .fini = queue_tear_down)
{
    zepi_event_times_t times = {.size = sizeof(times)};
    zepi_event_t events[2] = {create_gate(), NULL};
    TEST_OK(zepi.queue_marker(gear.queue, TEST_NO_WAIT, &events[1]));
    TEST_OK(zepi.event_signal(events[0]));
    TEST_OK(zepi.event_wait(2, events, UINT64_MAX));
    for (int i = 0; i < 2; i++) {
        TEST_FAILS_SAYING(zepi.event_get_times(events[i], &times), ZEPI_ERROR_UNSUPPORTED,
                          "profiling");
        TEST_OK(zepi.release(events[i]));
    }
}

static void set_up_profiling(void)
{
    queue_set_up(ZEPI_QUEUE_PROFILING | ZEPI_QUEUE_IN_ORDER, true);
}

Test(event_times, are_not_ready_before_the_end, .init = set_up_profiling, .fini = queue_tear_down)
{
    zepi_event_times_t times = {.size = sizeof(times)};
    zepi_event_t gate = create_gate();
    zepi_event_t event;
    TEST_OK(zepi.queue_marker(gear.queue, WAIT_FOR(gate), &event));
    TEST_FAILS_SAYING(zepi.event_get_times(event, &times), ZEPI_ERROR_NOT_READY, "not complete");
    TEST_OK(zepi.event_signal(gate));
    TEST_OK(zepi.event_wait(1, &event, UINT64_MAX));
    TEST_OK(zepi.event_get_times(event, &times));
    cr_assert_eq(times.size, sizeof(times));
    TEST_FAILS(zepi.event_get_times(event, NULL), ZEPI_ERROR_INVALID_VALUE);
    TEST_OK(zepi.release(event));
    TEST_OK(zepi.release(gate));
}

// Device time is the host's here, so the times lie between two looks at the clock, though stamps of
// kernels may have fewer bits; and commands of an in-order queue do not overlap.
static void check_times(void)
{
    enum { ROUNDS = 10, COUNT = 4 * ROUNDS };
    uint64_t host;
    uint64_t before;
    uint64_t after;
    uint64_t last_end = 0;
    zepi_event_t events[COUNT];
    float *one = queue_allocate(2 * ITEMS);
    TEST_OK(zepi.device_get_time(gear.device, &host, &before));
    for (int i = 0; i < COUNT; i += 4) {
        queue_add(gear.queue, one, one, one, TEST_NO_WAIT, &events[i]);
        TEST_OK(zepi.queue_copy(gear.queue, one, one + ITEMS, 64, TEST_NO_WAIT, &events[i + 1]));
        TEST_OK(zepi.queue_fill(gear.queue, one, one + ITEMS, 4, 64, TEST_NO_WAIT, &events[i + 2]));
        TEST_OK(zepi.queue_barrier(gear.queue, TEST_NO_WAIT, &events[i + 3]));
    }
    TEST_OK(zepi.event_wait(COUNT, events, UINT64_MAX));
    TEST_OK(zepi.device_get_time(gear.device, &host, &after));
    for (int i = 0; i < COUNT; i++) {
        zepi_event_times_t times = {.size = sizeof(times)};
        TEST_OK(zepi.event_get_times(events[i], &times));
        cr_assert_leq(before, times.submit_ns);
        cr_assert_leq(times.submit_ns, times.start_ns);
        cr_assert_leq(last_end, times.start_ns);
        cr_assert_leq(times.start_ns, times.end_ns);
        cr_assert_leq(times.end_ns, after);
        last_end = times.end_ns;
        TEST_OK(zepi.release(events[i]));
    }
    queue_free(one);
}

Test(event_times, lie_between_submission_and_the_end_of_the_wait, .init = set_up_profiling,
     .fini = queue_tear_down)
{
    check_times();
}

Test(event_times, cost_the_driver_no_call_at_submission, .init = set_up_profiling,
     .fini = queue_tear_down)
{
    enum { COUNT = 100 };
    float *one = queue_allocate(ITEMS);
    zepi_event_t event;
    for (int i = -COUNT; i < COUNT; i++) {
        if (i == 0)
            ze_cpu.reset_counts();
        queue_add(gear.queue, one, one, one, TEST_NO_WAIT, &event);
        TEST_OK(zepi.release(event));
    }
    cr_assert_eq(ze_cpu.get_count("zeDeviceGetGlobalTimestamps"), 0);
    cr_assert_eq(ze_cpu.get_count("zeEventHostReset"), 0);
    TEST_OK(zepi.queue_finish(gear.queue));
    queue_free(one);
}

// Events that were signalled and released serve later commands while another queue has yet to come
// to its waits for them.
Test(event_times, of_released_events_let_go_what_waits_for_them, .init = set_up_profiling,
     .fini = queue_tear_down, .timeout = 60)
{
    enum { COUNT = 50 };
    zepi_queue_t other;
    zepi_event_t gate = create_gate();
    zepi_event_t second_gate = create_gate();
    zepi_event_t event, last;
    float *one = queue_allocate(2 * ITEMS);
    TEST_OK(zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_IN_ORDER | ZEPI_QUEUE_PROFILING,
                              &other));
    TEST_OK(zepi.queue_copy(other, one, one + ITEMS, 4, WAIT_FOR(gate), &last));
    for (int i = 0; i < COUNT; i++) {
        TEST_OK(zepi.release(last));
        queue_add(gear.queue, one, one, one, TEST_NO_WAIT, &event);
        TEST_OK(zepi.queue_copy(other, one, one + ITEMS, 4, WAIT_FOR(event), &last));
        TEST_OK(zepi.release(event));
    }
    TEST_OK(zepi.queue_finish(gear.queue));
    for (int i = 0; i < COUNT; i++) {
        queue_add(gear.queue, one, one, one, i == 0 ? WAIT_FOR(second_gate) : TEST_NO_WAIT, &event);
        TEST_OK(zepi.release(event));
    }
    TEST_OK(zepi.event_signal(gate));
    TEST_OK(zepi.event_wait(1, &last, UINT64_MAX));
    TEST_OK(zepi.event_signal(second_gate));
    TEST_OK(zepi.queue_finish(gear.queue));
    TEST_OK(zepi.release(last));
    TEST_OK(zepi.release(gate));
    TEST_OK(zepi.release(second_gate));
    TEST_OK(zepi.release(other));
    queue_free(one);
}

static void set_up_profiling_out_of_order(void)
{
    queue_set_up(ZEPI_QUEUE_PROFILING, true);
}

// Each second command waits for the one before.
Test(event_times, need_no_more_events_with_every_round, .init = set_up_profiling_out_of_order,
     .fini = queue_tear_down)
{
    enum { WARM_UP = 500, ROUNDS = 3000 };
    uint64_t made = 0;
    float *one = queue_allocate(2 * ITEMS);
    for (int i = 0; i < ROUNDS; i++) {
        zepi_event_t event, last;
        TEST_OK(zepi.queue_copy(gear.queue, one, one + ITEMS, 4, TEST_NO_WAIT, &event));
        TEST_OK(zepi.queue_copy(gear.queue, one, one + ITEMS, 4, WAIT_FOR(event), &last));
        TEST_OK(zepi.queue_finish(gear.queue));
        TEST_OK(zepi.release(event));
        TEST_OK(zepi.release(last));
        if (i == WARM_UP)
            made = ze_cpu.get_count("zeEventCreate");
    }
    cr_assert_eq(ze_cpu.get_count("zeEventCreate"), made);
    queue_free(one);
}

// The device's clock is asked a few times in 100 ms, however many events are.
Test(event_times, ask_the_device_for_its_clock_now_and_then, .init = set_up_profiling,
     .fini = queue_tear_down)
{
    enum { COUNT = 500, MOST_IN_100_MS = 3 };
    float *one = queue_allocate(2 * ITEMS);
    const uint64_t begin_ns = now_ns();
    ze_cpu.reset_counts();
    for (int i = 0; i < COUNT; i++) {
        zepi_event_times_t times = {.size = sizeof(times)};
        zepi_event_t event;
        TEST_OK(zepi.queue_copy(gear.queue, one, one + ITEMS, 4, TEST_NO_WAIT, &event));
        TEST_OK(zepi.event_wait(1, &event, UINT64_MAX));
        TEST_OK(zepi.event_get_times(event, &times));
        TEST_OK(zepi.release(event));
    }
    const uint64_t most = MOST_IN_100_MS * (2 + (now_ns() - begin_ns) / 100000000);
    cr_assert_leq(ze_cpu.get_count("zeDeviceGetGlobalTimestamps"), most);
    queue_free(one);
}

// The last event of an in-order list tells of those before it.
static void check_waits(uint64_t list_count)
{
    enum { COUNT = 8 };
    zepi_event_t events[COUNT];
    float *one = queue_allocate(2 * ITEMS);
    for (int i = 0; i < COUNT; i++)
        TEST_OK(zepi.queue_copy(gear.queue, one, one + ITEMS, 4, TEST_NO_WAIT, &events[i]));
    ze_cpu.reset_counts();
    TEST_OK(zepi.event_wait(COUNT, events, UINT64_MAX));
    for (int i = 0; i < COUNT; i++)
        cr_assert_eq(status_of(events[i]), ZEPI_EVENT_COMPLETE);
    cr_assert_leq(ze_cpu.get_count("zeEventHostSynchronize"), list_count);
    cr_assert_eq(ze_cpu.get_count("zeEventQueryStatus"), 0);
    for (int i = 0; i < COUNT; i++)
        TEST_OK(zepi.release(events[i]));
    queue_free(one);
}

Test(event_times, of_eight_commands_need_one_wait, .init = set_up_profiling,
     .fini = queue_tear_down)
{
    check_waits(1);
}

Test(event_times, of_eight_commands_out_of_order_need_one_wait_a_list,
     .init = set_up_profiling_out_of_order, .fini = queue_tear_down)
{
    check_waits(2);
}

// Each command waits for the one before, and the host for the last one of a round alone.
Test(event_times, need_no_more_events_after_a_few_rounds, .fini = queue_tear_down)
{
    enum {
        COUNT = 6,
        WARM_UP = 6,
        ROUNDS = 200
    }; // the last ones are in one list, and tell of no other
    zepi_event_t events[COUNT];
    setenv("ZE_CPU_EXECUTE", "0", 1); // no command is late
    set_up_profiling_out_of_order();
    float *one = queue_allocate(2 * ITEMS);
    for (int round = 0; round < ROUNDS; round++) {
        if (round == WARM_UP)
            ze_cpu.reset_counts();
        for (int i = 0; i < COUNT; i++)
            queue_add(gear.queue, one, one, one, i > 0 ? WAIT_FOR(events[i - 1]) : TEST_NO_WAIT,
                      &events[i]);
        TEST_OK(zepi.event_wait(1, &events[COUNT - 1], UINT64_MAX));
        for (int i = 0; i < COUNT; i++)
            TEST_OK(zepi.release(events[i]));
    }
    cr_assert_eq(ze_cpu.get_count("zeEventCreate"), 0, "%llu",
                 (unsigned long long)ze_cpu.get_count("zeEventCreate"));
    queue_free(one);
}

Test(event_times, do_not_wrap_where_the_device_does)
{
    setenv("ZE_CPU_TIMESTAMP_BITS", "32", 1);
    set_up_profiling();
    check_times();
    queue_tear_down();
}
