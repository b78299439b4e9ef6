// SPDX-License-Identifier: MIT
// Functions of the host as a C host sees them; ur.host_task has more of it.
#include "gear_fixture.h"

#include <criterion/criterion.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

static void set_up_without(void)
{
    setenv("ZE_CPU_WITHOUT", "zeCommandListAppendHostFunction", 1);
    gear_set_up();
}

TestSuite(host_function, .init = gear_set_up, .fini = gear_tear_down);
TestSuite(host_function_unsupported, .init = set_up_without, .fini = gear_tear_down);

static bool is_supported(void)
{
    zepi_device_info_t info = {.size = sizeof(info)};
    TEST_OK(zepi.device_get_info(gear.device, &info));
    return info.has_host_functions;
}

static void double_number(void *data)
{
    *(int32_t *)data *= 2;
}

Test(host_function, runs_between_commands)
{
    if (!is_supported())
        cr_skip_test("the driver runs no functions of the host");
    const int32_t five = 5;
    int32_t *number = gear_allocate(2 * sizeof(*number));
    zepi_event_t done;
    TEST_OK(
        zepi.queue_fill(gear.queue, number, &five, sizeof(five), sizeof(five), TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_call_host(gear.queue, double_number, number, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_call_host(gear.queue, double_number, number, TEST_NO_WAIT, &done));
    TEST_OK(zepi.queue_copy(gear.queue, number + 1, number, sizeof(*number),
                            (zepi_wait_list_t){&done, 1}, NULL));
    TEST_OK(zepi.event_wait(1, &done, UINT64_MAX));
    cr_assert_eq(number[0], 20);
    TEST_OK(zepi.queue_finish(gear.queue));
    cr_assert_eq(number[1], 20);
    TEST_OK(zepi.release(done));
    TEST_OK(zepi.usm_free(gear.context, number));
}

static void note_call(void *data)
{
    atomic_store((atomic_bool *)data, true);
}

// In a queue of any order, where nothing but the wait list holds it back.
Test(host_function, waits_for_its_wait_list)
{
    if (!is_supported())
        cr_skip_test("the driver runs no functions of the host");
    atomic_bool is_called = false;
    zepi_queue_t queue;
    zepi_event_t gate, done;
    TEST_OK(zepi.queue_create(gear.context, gear.device, 0, &queue));
    TEST_OK(zepi.event_create(gear.context, &gate));
    TEST_OK(
        zepi.queue_call_host(queue, note_call, &is_called, (zepi_wait_list_t){&gate, 1}, &done));
    TEST_FAILS(zepi.event_wait(1, &done, 20000000), ZEPI_ERROR_NOT_READY);
    cr_assert_not(atomic_load(&is_called));
    TEST_OK(zepi.event_signal(gate));
    TEST_OK(zepi.event_wait(1, &done, UINT64_MAX));
    cr_assert(atomic_load(&is_called));
    TEST_OK(zepi.queue_finish(queue));
    TEST_OK(zepi.release(done));
    TEST_OK(zepi.release(gate));
    TEST_OK(zepi.release(queue));
}

Test(host_function, mistakes_are_refused)
{
    if (!is_supported())
        cr_skip_test("the driver runs no functions of the host");
    int32_t number = 1;
    zepi_event_t event = NULL;
    const zepi_event_t no_event = (zepi_event_t)gear.queue;
    TEST_FAILS(zepi.queue_call_host(NULL, double_number, &number, TEST_NO_WAIT, &event),
               ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(zepi.queue_call_host(gear.queue, NULL, &number, TEST_NO_WAIT, &event),
               ZEPI_ERROR_INVALID_VALUE);
    TEST_FAILS(zepi.queue_call_host(gear.queue, double_number, &number,
                                    (zepi_wait_list_t){&no_event, 1}, &event),
               ZEPI_ERROR_INVALID_OBJECT);
    TEST_FAILS(zepi.queue_call_host(gear.queue, double_number, &number, (zepi_wait_list_t){NULL, 1},
                                    &event),
               ZEPI_ERROR_INVALID_VALUE);
    zepi_graph_t graph;
    TEST_OK(zepi.graph_create(gear.context, gear.device, 0, &graph));
    TEST_OK(zepi.queue_begin_capture(gear.queue, graph));
    TEST_FAILS(zepi.queue_call_host(gear.queue, double_number, &number, TEST_NO_WAIT, &event),
               ZEPI_ERROR_CAPTURE_UNSUPPORTED);
    TEST_OK(zepi.queue_end_capture(gear.queue));
    TEST_OK(zepi.release(graph));
    cr_assert(!event && number == 1);
}

Test(host_function_unsupported, says_so)
{
    test_ze_cpu_require();
    int32_t number = 1;
    cr_assert_not(is_supported());
    TEST_FAILS(zepi.queue_call_host(gear.queue, double_number, &number, TEST_NO_WAIT, NULL),
               ZEPI_ERROR_UNSUPPORTED);
}
