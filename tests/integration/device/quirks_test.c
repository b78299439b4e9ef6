// SPDX-License-Identifier: MIT
// Workarounds with a price, forced and left out by ZEPI_QUIRKS, on ze_cpu where it does what the
// driver was seen to do.
#include "gear_fixture.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAIT_FOR(event) ((zepi_wait_list_t){&(event), 1})

static zepi_event_t gate;
static const char *gate_opener; // a call with this in its name opens the gate; NULL: none does
static bool is_open;

// Under ze_cpu's calls.
static void open_gate_at(const char *function, int is_over)
{
    if (!is_over && !is_open && gate_opener && strstr(function, gate_opener)) {
        is_open = true;
        TEST_OK(zepi.event_signal(gate));
    }
}

static void open_gate(void)
{
    gate_opener = NULL;
    if (!is_open)
        TEST_OK(zepi.event_signal(gate));
    is_open = true;
}

// A gate before all that comes later in the queue.
static void set_up(const char *quirks, zepi_queue_flags_t flags)
{
    setenv("ZEPI_QUIRKS", quirks, 1);
    gear_set_up_with(flags);
    test_ze_cpu_require();
    ze_cpu.set_hook(open_gate_at);
    TEST_OK(zepi.event_create(gear.context, &gate));
    TEST_OK(zepi.queue_barrier(gear.queue, WAIT_FOR(gate), NULL));
    ze_cpu.reset_counts();
}

static void tear_down(void)
{
    open_gate();
    TEST_OK(zepi.queue_finish(gear.queue));
    ze_cpu.set_hook(NULL);
    TEST_OK(zepi.release(gate));
    gear_tear_down();
}

static zepi_event_status_t status_of(zepi_event_t event)
{
    zepi_event_status_t status;
    TEST_OK(zepi.event_get_status(event, &status));
    return status;
}

// ---- early-copies ----

// What a copy behind the gate reads that is changed before the gate opens.
static int copy_behind_gate(const char *quirks, zepi_queue_flags_t flags)
{
    int plain[2] = {1, 1};
    setenv("ZE_CPU_EARLY_COPIES", "1", 1);
    set_up(quirks, flags);
    int *memory = gear_allocate(sizeof(plain));
    for (int i = 0; i < 2; i++) {
        TEST_OK(
            zepi.queue_copy(gear.queue, &memory[i], &plain[i], sizeof(int), TEST_NO_WAIT, NULL));
        plain[i] = 2;
    }
    open_gate();
    TEST_OK(zepi.queue_finish(gear.queue));
    const int read = memory[0];
    cr_assert_eq(memory[1], read);
    TEST_OK(zepi.usm_free(gear.context, memory));
    tear_down();
    return read;
}

Test(quirk_early_copies, in_force_reads_the_host_s_memory_after_what_comes_before)
{
    cr_assert_eq(copy_behind_gate("none,early-copies", ZEPI_QUEUE_IN_ORDER), 2);
}

Test(quirk_early_copies, in_force_does_so_behind_barriers_of_any_order)
{
    cr_assert_eq(copy_behind_gate("none,early-copies", 0), 2);
}

Test(quirk_early_copies, left_out_leaves_the_copy_to_the_driver)
{
    cr_assert_eq(copy_behind_gate("all,-early-copies", ZEPI_QUEUE_IN_ORDER), 1);
    cr_assert_leq(ze_cpu.get_count("zeCommandListAppendBarrier"), 1); // of the last finish
}

// ---- slow-timed-status ----

// The status, behind the gate, of an event with times. A query of the driver's opens the gate.
static zepi_event_status_t timed_status_behind_gate(const char *quirks)
{
    zepi_event_t event;
    set_up(quirks, ZEPI_QUEUE_IN_ORDER | ZEPI_QUEUE_PROFILING);
    int *memory = gear_allocate(64 * sizeof(int));
    zepi_module_t executable = test_executable(gear.context, "vector_add");
    zepi_kernel_t kernel;
    TEST_OK(zepi.module_get_kernel(executable, "vector_add", &kernel));
    const zepi_argument_t arguments[] = {TEST_POINTER(memory), TEST_POINTER(memory),
                                         TEST_POINTER(memory)};
    const zepi_launch_desc_t launch = test_launch(kernel, 3, arguments, 64);
    TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, &event));
    gate_opener = "zeEventQueryStatus";
    const zepi_event_status_t status = status_of(event);
    open_gate();
    TEST_OK(zepi.queue_finish(gear.queue));
    TEST_OK(zepi.release(event));
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.release(executable));
    TEST_OK(zepi.usm_free(gear.context, memory));
    tear_down();
    return status;
}

Test(quirk_slow_timed_status, in_force_tells_the_status_at_once)
{
    cr_assert_eq(timed_status_behind_gate("none,slow-timed-status"), ZEPI_EVENT_SUBMITTED);
}

Test(quirk_slow_timed_status, left_out_asks_the_driver_which_waits)
{
    cr_assert_eq(timed_status_behind_gate("all,-slow-timed-status,-waits-for-engine"),
                 ZEPI_EVENT_COMPLETE);
}

// ---- waits-for-engine ----

// Barriers keep the order in place of the counter, so that a status is the driver's answer at once,
// and no wait.
Test(quirk_waits_for_engine, in_force_asks_the_driver_for_a_status)
{
    const zepi_event_status_t status =
        timed_status_behind_gate("none,slow-timed-status,waits-for-engine");
    cr_assert_eq(status, ZEPI_EVENT_SUBMITTED);
    cr_assert_gt(ze_cpu.get_count("zeEventQueryStatus"), 0);
}

// ---- times-stay-on-device ----

// Whether a command waits, without the host, for an event with times of another root device.
static bool device_waits_for_other_device(const char *quirks)
{
    zepi_device_t devices[2];
    zepi_context_t context;
    zepi_queue_t queues[2];
    zepi_event_t events[2];
    uint32_t count;
    setenv("ZE_CPU_DEVICES", "2", 1);
    set_up(quirks, ZEPI_QUEUE_IN_ORDER);
    TEST_OK(zepi.device_get(gear.platform, 2, devices, &count));
    TEST_OK(zepi.context_create(2, devices, &context));
    for (int i = 0; i < 2; i++)
        TEST_OK(zepi.queue_create(context, devices[i], ZEPI_QUEUE_IN_ORDER | ZEPI_QUEUE_PROFILING,
                                  &queues[i]));
    TEST_OK(zepi.queue_marker(queues[0], WAIT_FOR(gate), &events[0]));
    ze_cpu.reset_counts();
    gate_opener = "zeEventHostSynchronize";
    TEST_OK(zepi.queue_marker(queues[1], WAIT_FOR(events[0]), &events[1]));
    const bool waits = !is_open && ze_cpu.get_count("zeEventHostSynchronize") == 0 &&
                       status_of(events[1]) == ZEPI_EVENT_SUBMITTED;
    open_gate();
    for (int i = 0; i < 2; i++) {
        TEST_OK(zepi.event_wait(1, &events[i], UINT64_MAX));
        TEST_OK(zepi.release(events[i]));
        TEST_OK(zepi.release(queues[i]));
        TEST_OK(zepi.release(devices[i]));
    }
    TEST_OK(zepi.release(context));
    tear_down();
    return waits;
}

Test(quirk_times_stay_on_device, in_force_has_the_host_wait)
{
    cr_assert(!device_waits_for_other_device("none,times-stay-on-device"));
}

Test(quirk_times_stay_on_device, left_out_has_the_device_wait)
{
    cr_assert(device_waits_for_other_device("all,-times-stay-on-device,-slow-timed-status"));
}

// ---- The choice ----

static const char *quirks_in_force(void)
{
    zepi_platform_info_t info = {.size = sizeof(info)};
    TEST_OK(zepi.platform_get_info(gear.platform, &info));
    return info.quirks;
}

Test(quirks, of_a_platform_are_named)
{
    unsetenv("ZEPI_QUIRKS");
    gear_set_up();
    test_ze_cpu_require();
    cr_assert_str_eq(quirks_in_force(), "early-copies,slow-timed-status,times-stay-on-device");
    gear_tear_down();
}

Test(quirks, of_a_platform_are_those_that_were_forced)
{
    setenv("ZEPI_QUIRKS", "none,untold-asserts,early-copies", 1);
    gear_set_up();
    cr_assert_str_eq(quirks_in_force(), "early-copies,untold-asserts");
    gear_tear_down();
}

Test(quirks, of_unknown_names_are_an_error_and_no_driver_comes_up)
{
    uint32_t count = 1;
    setenv("ZEPI_QUIRKS", "early-copies,early", 1);
    ze_cpu = test_ze_cpu_use();
    test_plugin_load();
    TEST_OK(zepi.platform_get(0, NULL, &count));
    cr_assert_eq(count, 0);
    cr_assert(strstr(zepi.last_error(NULL), "ZEPI_QUIRKS has 'early'"), "%s",
              zepi.last_error(NULL));
}
