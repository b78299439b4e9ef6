// SPDX-License-Identifier: MIT
// Queues come and go while their events live, in every order of releases.
#include "intel.h"

#include "test_plugin.h"

#define EVENTS 20

static struct test_gear gear;
static zepi_kernel_t kernel;

static zepi_event_t launch(zepi_queue_t queue)
{
    const zepi_launch_desc_t desc = test_launch(kernel, 0, NULL, 64);
    zepi_event_t event;
    TEST_OK(zepi.queue_launch(queue, &desc, TEST_NO_WAIT, &event));
    return event;
}

// Events of a queue that is gone are waited for, asked, and waited for by another queue.
static void come_and_go(zepi_queue_flags_t flags, bool is_finished)
{
    zepi_queue_t queue;
    zepi_queue_t other;
    zepi_event_t events[EVENTS];
    zepi_event_status_t status;
    TEST_OK(zepi.queue_create(gear.context, gear.device, flags, &queue));
    TEST_OK(zepi.queue_create(gear.context, gear.device, flags ^ ZEPI_QUEUE_IN_ORDER, &other));
    for (int i = 0; i < EVENTS; i++)
        events[i] = launch(queue);
    if (is_finished)
        TEST_OK(zepi.queue_finish(queue));
    TEST_OK(zepi.release(queue));
    TEST_OK(zepi.queue_barrier(other, (zepi_wait_list_t){events, EVENTS}, NULL));
    for (int i = 0; i < EVENTS; i++) {
        if (i % 3)
            TEST_OK(zepi.event_wait(1, &events[i], UINT64_MAX));
        TEST_OK(zepi.event_get_status(events[i], &status));
        INTEL_EXPECT(i % 3 == 0 || status == ZEPI_EVENT_COMPLETE, "event %d is not complete", i);
    }
    for (int i = 0; i < EVENTS; i += 2)
        TEST_OK(zepi.release(events[i]));
    TEST_OK(zepi.queue_finish(other));
    TEST_OK(zepi.release(other));
    for (int i = 1; i < EVENTS; i += 2)
        TEST_OK(zepi.release(events[i]));
}

static void every_kind(void)
{
    test_plugin_load();
    gear = test_gear_create(0);
    kernel = test_kernel(gear.context, "empty", "empty");
    for (unsigned i = 0; i < 16; i++)
        come_and_go((i & 1 ? ZEPI_QUEUE_IN_ORDER : 0) | (i & 2 ? ZEPI_QUEUE_PROFILING : 0), i & 4);
    TEST_OK(zepi.release(kernel));
    test_gear_destroy(&gear);
    test_plugin_unload();
    struct intel_trace trace = intel_trace_read();
    INTEL_EXPECT(intel_trace_count(&trace, INTEL_END) == 16 * EVENTS, "%zu kernels ended",
                 intel_trace_count(&trace, INTEL_END));
    intel_trace_finish(&trace);
}

#define KERNEL_US "DRM_SHIM_KERNEL_US=200"
static const struct intel_story stories[] = {
    {"events_outlive_their_queues", every_kind, {KERNEL_US}},
    {"and_with_direct_submission", every_kind, {KERNEL_US, "EnableDirectSubmission=1"}},
    {"events_outlive_their_queues_without_the_newer_functions",
     every_kind,
     {KERNEL_US, "ZEPI_NEWER_FUNCTIONS=off"}},
    {0}};

int main(int argc, char **argv)
{
    return intel_main(argc, argv, stories);
}
