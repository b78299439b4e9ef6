// SPDX-License-Identifier: MIT
// Order, waiting, events: in every kind of queue, with and without in-order lists of the driver.
#include "test_env.h"
#include "test_plugin.h"
#include "test_ze_cpu.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdlib.h>
#include <string.h>

#define ITEMS 256

static struct test_gear gear;
static struct test_ze_cpu ze_cpu;
static zepi_module_t module;
static zepi_kernel_t add;

static void set_up(zepi_queue_flags_t flags, bool newer)
{
    if (!newer)
        setenv("ZEPI_NEWER_FUNCTIONS", "off", 1);
    ze_cpu = test_ze_cpu_use();
    test_plugin_load();
    gear = test_gear_create(flags);
    module = test_executable(gear.context, "vector_add");
    TEST_OK(zepi.module_get_kernel(module, "vector_add", &add));
}

static void tear_down(void)
{
    TEST_OK(zepi.release(add));
    TEST_OK(zepi.release(module));
    test_gear_destroy(&gear);
    cr_assert_eq(ze_cpu.get_live_objects(), 0);
}

struct kind {
    zepi_queue_flags_t flags;
    bool newer;
};

ParameterizedTestParameters(queue, keeps_dependent_commands_in_order)
{
    static struct kind kinds[] = {{ZEPI_QUEUE_IN_ORDER, true},
                                  {ZEPI_QUEUE_IN_ORDER, false},
                                  {ZEPI_QUEUE_IN_ORDER | ZEPI_QUEUE_PROFILING, true},
                                  {0, true},
                                  {0, false},
                                  {ZEPI_QUEUE_PROFILING | ZEPI_QUEUE_PRIORITY_HIGH, true}};
    return cr_make_param_array(struct kind, kinds, sizeof(kinds) / sizeof(kinds[0]));
}

static float *allocate(size_t count)
{
    float *memory;
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, count * sizeof(float), 0,
                              (void **)&memory));
    memset(memory, 0, count * sizeof(float));
    return memory;
}

static void add_to(float *a, float *b, float *sum, zepi_wait_list_t wait, zepi_event_t *out_event)
{
    const zepi_argument_t arguments[] = {TEST_POINTER(a), TEST_POINTER(b), TEST_POINTER(sum)};
    const zepi_launch_desc_t launch = test_launch(add, 3, arguments, ITEMS);
    TEST_OK(zepi.queue_launch(gear.queue, &launch, wait, out_event));
}

// A chain of 200 launches, each reading what the one before wrote; explicit events where the queue
// keeps no order.
ParameterizedTest(struct kind *kind, queue, keeps_dependent_commands_in_order)
{
    set_up(kind->flags, kind->newer);
    const bool is_in_order = kind->flags & ZEPI_QUEUE_IN_ORDER;
    float *one = allocate(ITEMS);
    float *sum = allocate(ITEMS);
    zepi_event_t last = NULL;
    for (int i = 0; i < ITEMS; i++)
        one[i] = 1;
    for (int i = 0; i < 200; i++) {
        zepi_event_t event = NULL;
        const zepi_wait_list_t wait = {&last, last != NULL};
        add_to(one, sum, sum, wait, is_in_order ? NULL : &event);
        if (last)
            TEST_OK(zepi.release(last));
        last = event;
    }
    TEST_OK(zepi.queue_finish(gear.queue));
    for (int i = 0; i < ITEMS; i++)
        cr_assert_eq(sum[i], 200, "item %d is %g", i, (double)sum[i]);
    if (last)
        TEST_OK(zepi.release(last));
    TEST_OK(zepi.usm_free(gear.context, one));
    TEST_OK(zepi.usm_free(gear.context, sum));
    tear_down();
}

ParameterizedTestParameters(queue, has_barriers_that_hold_up_what_comes_later)
{
    static struct kind kinds[] = {{ZEPI_QUEUE_IN_ORDER, true}, {0, true}, {0, false}};
    return cr_make_param_array(struct kind, kinds, sizeof(kinds) / sizeof(kinds[0]));
}

ParameterizedTest(struct kind *kind, queue, has_barriers_that_hold_up_what_comes_later)
{
    set_up(kind->flags, kind->newer);
    float *one = allocate(ITEMS);
    float *sum = allocate(ITEMS);
    float *result = allocate(ITEMS);
    for (int i = 0; i < ITEMS; i++)
        one[i] = 1;
    for (int i = 0; i < 50; i++) {
        zepi_event_t event;
        add_to(one, sum, sum, TEST_NO_WAIT, NULL);
        TEST_OK(zepi.queue_barrier(gear.queue, TEST_NO_WAIT, i % 2 ? &event : NULL));
        add_to(one, sum, result, TEST_NO_WAIT, NULL);
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
    TEST_OK(zepi.usm_free(gear.context, one));
    TEST_OK(zepi.usm_free(gear.context, sum));
    TEST_OK(zepi.usm_free(gear.context, result));
    tear_down();
}

static void set_up_out_of_order(void)
{
    set_up(0, true);
}

static void set_up_profiling(void)
{
    set_up(ZEPI_QUEUE_PROFILING, true);
}

TestSuite(event, .init = set_up_out_of_order, .fini = tear_down);

Test(event, of_the_host_holds_up_any_number_of_commands)
{
    enum { COUNT = 40 };
    zepi_event_t gate;
    zepi_event_t events[COUNT];
    zepi_event_status_t status;
    uint32_t value = 0x01010101;
    uint32_t *memory = (uint32_t *)allocate(COUNT);
    TEST_OK(zepi.event_create(gear.context, &gate));
    for (int i = 0; i < COUNT; i++)
        TEST_OK(zepi.queue_fill(gear.queue, &memory[i], &value, 4, 4, (zepi_wait_list_t){&gate, 1},
                                &events[i]));
    // More than the wait list's own room, too.
    zepi_event_t all;
    TEST_OK(zepi.queue_marker(gear.queue, (zepi_wait_list_t){events, COUNT}, &all));
    TEST_FAILS_SAYING(zepi.event_wait(1, &all, 20000000), ZEPI_ERROR_NOT_READY, "not complete");
    TEST_OK(zepi.event_get_status(all, &status));
    cr_assert_eq(status, ZEPI_EVENT_SUBMITTED);
    for (int i = 0; i < COUNT; i++)
        cr_assert_eq(memory[i], 0);
    TEST_OK(zepi.event_signal(gate));
    TEST_OK(zepi.event_wait(1, &all, UINT64_MAX));
    TEST_OK(zepi.event_get_status(all, &status));
    cr_assert_eq(status, ZEPI_EVENT_COMPLETE);
    for (int i = 0; i < COUNT; i++) {
        cr_assert_eq(memory[i], value);
        TEST_OK(zepi.release(events[i]));
    }
    TEST_FAILS(zepi.event_signal(all), ZEPI_ERROR_INVALID_VALUE);
    TEST_OK(zepi.release(all));
    TEST_OK(zepi.release(gate));
    TEST_OK(zepi.usm_free(gear.context, memory));
}

Test(event, may_be_released_before_its_command_is_complete)
{
    float *one = allocate(ITEMS);
    float *sum = allocate(ITEMS);
    zepi_event_t gate;
    TEST_OK(zepi.event_create(gear.context, &gate));
    zepi_event_t last = zepi.retain(gate) == ZEPI_SUCCESS ? gate : NULL;
    for (int i = 0; i < ITEMS; i++)
        one[i] = 1;
    for (int i = 0; i < 100; i++) {
        zepi_event_t event;
        add_to(one, sum, sum, (zepi_wait_list_t){&last, 1}, &event);
        TEST_OK(zepi.release(last));
        last = event;
    }
    TEST_OK(zepi.release(last));
    TEST_OK(zepi.event_signal(gate));
    TEST_OK(zepi.release(gate));
    TEST_OK(zepi.queue_finish(gear.queue));
    cr_assert_eq(sum[0], 100);
    TEST_OK(zepi.usm_free(gear.context, one));
    TEST_OK(zepi.usm_free(gear.context, sum));
}

Test(event, is_recycled_however_many_there_were)
{
    float *one = allocate(ITEMS);
    uint64_t after_warm_up = 0;
    for (int i = 0; i < 30000; i++) {
        zepi_event_t event;
        add_to(one, one, one, TEST_NO_WAIT, &event);
        if (i % 3 == 0)
            TEST_OK(zepi.event_wait(1, &event, UINT64_MAX));
        TEST_OK(zepi.release(event));
        if (i == 10000)
            after_warm_up = ze_cpu.get_live_objects();
    }
    cr_assert_leq(ze_cpu.get_live_objects(), after_warm_up);
    TEST_OK(zepi.queue_finish(gear.queue));
    TEST_OK(zepi.usm_free(gear.context, one));
}

Test(event, orders_commands_of_two_queues)
{
    zepi_queue_t other;
    float *one = allocate(ITEMS);
    float *sum = allocate(ITEMS);
    zepi_event_t last = NULL;
    const zepi_queue_t first = gear.queue;
    TEST_OK(zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_IN_ORDER, &other));
    for (int i = 0; i < ITEMS; i++)
        one[i] = 1;
    for (int i = 0; i < 100; i++) {
        zepi_event_t event;
        gear.queue = i % 2 ? first : other;
        add_to(one, sum, sum, (zepi_wait_list_t){&last, last != NULL}, &event);
        if (last)
            TEST_OK(zepi.release(last));
        last = event;
    }
    gear.queue = first;
    TEST_OK(zepi.event_wait(1, &last, UINT64_MAX));
    cr_assert_eq(sum[ITEMS - 1], 100);
    TEST_OK(zepi.release(last));
    TEST_OK(zepi.release(other));
    TEST_OK(zepi.usm_free(gear.context, one));
    TEST_OK(zepi.usm_free(gear.context, sum));
}

Test(event, of_another_context_is_refused_in_a_wait_list)
{
    zepi_context_t other;
    zepi_event_t event;
    TEST_OK(zepi.context_create(1, &gear.device, &other));
    TEST_OK(zepi.event_create(other, &event));
    TEST_FAILS_SAYING(zepi.queue_barrier(gear.queue, (zepi_wait_list_t){&event, 1}, NULL),
                      ZEPI_ERROR_INVALID_OBJECT, "another context");
    TEST_FAILS(zepi.queue_barrier(gear.queue, (zepi_wait_list_t){NULL, 1}, NULL),
               ZEPI_ERROR_INVALID_VALUE);
    TEST_OK(zepi.release(event));
    TEST_OK(zepi.release(other));
}

Test(event, without_profiling_has_no_times)
{
    zepi_event_t event;
    zepi_event_times_t times = {.size = sizeof(times)};
    TEST_OK(zepi.queue_marker(gear.queue, TEST_NO_WAIT, &event));
    TEST_OK(zepi.event_wait(1, &event, UINT64_MAX));
    TEST_FAILS_SAYING(zepi.event_get_times(event, &times), ZEPI_ERROR_UNSUPPORTED, "profiling");
    TEST_OK(zepi.release(event));
}

// Device time is the host's here, so the times lie between two looks at the clock, wrapped or not.
static void check_times(void)
{
    enum { COUNT = 20 };
    uint64_t host;
    uint64_t before;
    uint64_t after;
    zepi_event_t events[COUNT];
    float *one = allocate(ITEMS);
    TEST_OK(zepi.device_get_time(gear.device, &host, &before));
    for (int i = 0; i < COUNT; i++)
        add_to(one, one, one, TEST_NO_WAIT, &events[i]);
    TEST_OK(zepi.event_wait(COUNT, events, UINT64_MAX));
    TEST_OK(zepi.device_get_time(gear.device, &host, &after));
    for (int i = 0; i < COUNT; i++) {
        zepi_event_times_t times = {.size = sizeof(times)};
        TEST_OK(zepi.event_get_times(events[i], &times));
        cr_assert_leq(before, times.submit_ns);
        cr_assert_leq(times.submit_ns, times.start_ns);
        cr_assert_leq(times.start_ns, times.end_ns);
        cr_assert_leq(times.end_ns, after);
        TEST_OK(zepi.release(events[i]));
    }
    TEST_OK(zepi.usm_free(gear.context, one));
}

Test(event_times, lie_between_submission_and_the_end_of_the_wait, .init = set_up_profiling,
     .fini = tear_down)
{
    check_times();
}

Test(event_times, do_not_wrap_where_the_device_does)
{
    setenv("ZE_CPU_TIMESTAMP_BITS", "32", 1);
    set_up_profiling();
    check_times();
    tear_down();
}

Test(queue_flags, that_contradict_or_are_not_known_are_refused, .init = set_up_out_of_order,
     .fini = tear_down)
{
    zepi_queue_t queue;
    TEST_FAILS(zepi.queue_create(gear.context, gear.device,
                                 ZEPI_QUEUE_PRIORITY_HIGH | ZEPI_QUEUE_PRIORITY_LOW, &queue),
               ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS_SAYING(zepi.queue_create(gear.context, gear.device, 0x100, &queue),
                      ZEPI_ERROR_INVALID_VALUE, "0x100");
}
