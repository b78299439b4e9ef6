// SPDX-License-Identifier: MIT
// The order of begins and ends on the GPU: kernels take time here, and the numbers of the trace are
// compared, never times.
#include "intel.h"

#include "test_plugin.h"

#include <stdlib.h>

#define LAUNCHES 150
#define DEPENDENCIES 3
#define QUEUES 3
#define KERNEL_TIME "DRM_SHIM_KERNEL_US=200"

static struct test_gear gear;
static zepi_kernel_t empty;

static void set_up(void)
{
    test_plugin_load();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    empty = test_kernel(gear.context, "empty", "empty");
}

static void tear_down(void)
{
    TEST_OK(zepi.release(empty));
    test_gear_destroy(&gear);
}

// Launch i has i + 1 groups, which is how the trace knows it.
static void launch(zepi_queue_t queue, uint32_t i, zepi_wait_list_t wait, zepi_event_t *event)
{
    zepi_launch_desc_t desc = test_launch(empty, 0, NULL, i + 1);
    desc.group_size[0] = 1;
    TEST_OK(zepi.queue_launch(queue, &desc, wait, event));
}

// Sequence numbers of each launch.
struct span {
    uint64_t begin, end;
};

static void read_spans(struct span *spans, uint32_t count)
{
    static uint32_t launch_of_kernel[4096];
    struct intel_trace trace = intel_trace_read();
    uint32_t found = 0;
    for (size_t i = 0; i < trace.count; i++) {
        const struct intel_command *command = &trace.commands[i];
        INTEL_EXPECT(command->kernel < 4096, "kernel %u", (unsigned)command->kernel);
        if (command->kind == INTEL_BEGIN && command->groups[0] <= count) {
            launch_of_kernel[command->kernel] = command->groups[0];
            spans[command->groups[0] - 1].begin = command->sequence;
        } else if (command->kind == INTEL_END && launch_of_kernel[command->kernel] != 0) {
            spans[launch_of_kernel[command->kernel] - 1].end = command->sequence;
            found++;
        }
    }
    INTEL_EXPECT(found == count, "%u of %u launches ended", found, count);
    intel_trace_finish(&trace);
}

static void an_in_order_queue_runs_one_kernel_at_a_time(void)
{
    static struct span spans[LAUNCHES];
    set_up();
    for (uint32_t i = 0; i < LAUNCHES; i++)
        launch(gear.queue, i, TEST_NO_WAIT, NULL);
    TEST_OK(zepi.queue_finish(gear.queue));
    read_spans(spans, LAUNCHES);
    for (uint32_t i = 1; i < LAUNCHES; i++)
        INTEL_EXPECT(spans[i].begin > spans[i - 1].end, "launch %u begins before %u ends", i,
                     i - 1);
    tear_down();
}

static void an_out_of_order_queue_runs_kernels_side_by_side(void)
{
    static struct span spans[LAUNCHES];
    zepi_queue_t queue = NULL;
    uint32_t beside = 0;
    set_up();
    TEST_OK(zepi.queue_create(gear.context, gear.device, 0, &queue));
    // So long that all are submitted while the first runs, on a busy machine too.
    intel_set_kernel_time(1000000);
    for (uint32_t i = 0; i < 20; i++)
        launch(queue, i, TEST_NO_WAIT, NULL);
    TEST_OK(zepi.queue_finish(queue));
    read_spans(spans, 20);
    for (uint32_t i = 1; i < 20; i++)
        beside += spans[i].begin < spans[i - 1].end;
    INTEL_EXPECT(beside >= 10, "%u of 19 kernels begin while the one before runs", beside);
    TEST_OK(zepi.release(queue));
    tear_down();
}

// The GPU's own clock, as the program gets it.
static void times_of_events_are_those_of_the_kernels(void)
{
    static zepi_event_t events[20];
    zepi_event_times_t times[20];
    zepi_queue_t queue = NULL;
    set_up();
    TEST_OK(zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_IN_ORDER | ZEPI_QUEUE_PROFILING,
                              &queue));
    for (uint32_t i = 0; i < 20; i++)
        launch(queue, i, TEST_NO_WAIT, &events[i]);
    TEST_OK(zepi.queue_finish(queue));
    for (uint32_t i = 0; i < 20; i++) {
        times[i] = (zepi_event_times_t){.size = sizeof(times[i])};
        TEST_OK(zepi.event_get_times(events[i], &times[i]));
        INTEL_EXPECT(times[i].end_ns - times[i].start_ns >= 190000, "launch %u took %u ns", i,
                     (unsigned)(times[i].end_ns - times[i].start_ns));
        // A tick of the clock is 52 ns, and the end is rounded up.
        INTEL_EXPECT(i == 0 || times[i].start_ns + 100 >= times[i - 1].end_ns,
                     "launch %u starts %u ns before the one before ends", i,
                     (unsigned)(times[i - 1].end_ns - times[i].start_ns));
        TEST_OK(zepi.release(events[i]));
    }
    TEST_OK(zepi.release(queue));
    tear_down();
}

struct dependent {
    uint32_t count;
    uint32_t on[DEPENDENCIES];
};

// Each launch waits for some of those before, of any queue.
static void launch_dependent(zepi_queue_t queue, uint32_t i, struct dependent *dependent,
                             zepi_event_t *events)
{
    zepi_event_t awaited[DEPENDENCIES];
    dependent->count = i == 0 ? 0 : (uint32_t)(intel_random() % (DEPENDENCIES + 1));
    for (uint32_t d = 0; d < dependent->count; d++) {
        dependent->on[d] = (uint32_t)(intel_random() % i);
        awaited[d] = events[dependent->on[d]];
    }
    launch(queue, i, (zepi_wait_list_t){awaited, dependent->count}, &events[i]);
}

static void kernels_begin_when_those_they_wait_for_have_ended(void)
{
    static struct dependent dependents[LAUNCHES];
    static struct span spans[LAUNCHES];
    static zepi_event_t events[LAUNCHES];
    zepi_queue_t queues[QUEUES] = {NULL};
    set_up();
    for (uint32_t i = 0; i < QUEUES; i++)
        TEST_OK(zepi.queue_create(
            gear.context, gear.device,
            (i == 0 ? ZEPI_QUEUE_IN_ORDER : 0) | (i == 1 ? ZEPI_QUEUE_PROFILING : 0), &queues[i]));
    for (uint32_t i = 0; i < LAUNCHES; i++)
        launch_dependent(queues[intel_random() % QUEUES], i, &dependents[i], events);
    for (uint32_t i = 0; i < QUEUES; i++)
        TEST_OK(zepi.queue_finish(queues[i]));
    read_spans(spans, LAUNCHES);
    for (uint32_t i = 0; i < LAUNCHES; i++)
        for (uint32_t d = 0; d < dependents[i].count; d++)
            INTEL_EXPECT(spans[i].begin > spans[dependents[i].on[d]].end,
                         "launch %u begins before %u ends, which it waits for", i,
                         dependents[i].on[d]);
    for (uint32_t i = 0; i < LAUNCHES; i++)
        TEST_OK(zepi.release(events[i]));
    for (uint32_t i = 0; i < QUEUES; i++)
        TEST_OK(zepi.release(queues[i]));
    tear_down();
}

// Without direct submission each append is a batch of its own, and the next one begins when it has
// ended, even without a wait list.
#define DIRECT "EnableDirectSubmission=1"

static const struct intel_story stories[] = {
    {"an_in_order_queue_runs_one_kernel_at_a_time",
     an_in_order_queue_runs_one_kernel_at_a_time,
     {KERNEL_TIME, DIRECT}},
    {"an_out_of_order_queue_runs_kernels_side_by_side",
     an_out_of_order_queue_runs_kernels_side_by_side,
     {DIRECT}},
    {"times_of_events_are_those_of_the_kernels",
     times_of_events_are_those_of_the_kernels,
     {KERNEL_TIME}},
    {"and_with_direct_submission", times_of_events_are_those_of_the_kernels, {KERNEL_TIME, DIRECT}},
    {"kernels_begin_when_those_they_wait_for_have_ended",
     kernels_begin_when_those_they_wait_for_have_ended,
     {KERNEL_TIME, DIRECT}},
    {"and_without_the_newer_functions",
     kernels_begin_when_those_they_wait_for_have_ended,
     {KERNEL_TIME, DIRECT, "ZEPI_NEWER_FUNCTIONS=off"}},
    {0}};

int main(int argc, char **argv)
{
    return intel_main(argc, argv, stories);
}
