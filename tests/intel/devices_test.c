// SPDX-License-Identifier: MIT
// Several devices of Intel's own driver.
#include "intel.h"

#include "test_plugin.h"

#define DEVICES 2
#define LAUNCHES 10

static zepi_device_t devices[DEVICES];
static zepi_context_t context;
static zepi_queue_t queues[DEVICES];
static zepi_kernel_t empty;

static void set_up(void)
{
    zepi_platform_t platform;
    uint32_t count = 1;
    test_plugin_load();
    TEST_OK(zepi.platform_get(1, &platform, &count));
    count = 0;
    TEST_OK(zepi.device_get(platform, DEVICES, devices, &count));
    INTEL_EXPECT(count == DEVICES, "%u devices", count);
    TEST_OK(zepi.context_create(DEVICES, devices, &context));
    empty = test_kernel(context, "empty", "empty");
    for (uint32_t i = 0; i < DEVICES; i++)
        TEST_OK(zepi.queue_create(context, devices[i], ZEPI_QUEUE_IN_ORDER, &queues[i]));
}

static void tear_down(void)
{
    for (uint32_t i = 0; i < DEVICES; i++)
        TEST_OK(zepi.release(queues[i]));
    TEST_OK(zepi.release(empty));
    TEST_OK(zepi.release(context));
}

// The kernels' queues of the GPUs, which have nothing in common.
static void each_device_runs_its_own_kernels(void)
{
    unsigned used[DEVICES] = {0};
    set_up();
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        zepi_launch_desc_t desc = test_launch(empty, 0, NULL, i % DEVICES + 1);
        desc.group_size[0] = 1;
        TEST_OK(zepi.queue_launch(queues[i % DEVICES], &desc, TEST_NO_WAIT, NULL));
    }
    for (uint32_t i = 0; i < DEVICES; i++)
        TEST_OK(zepi.queue_finish(queues[i]));
    struct intel_trace trace = intel_trace_read();
    INTEL_EXPECT(intel_trace_count(&trace, INTEL_END) == LAUNCHES, "%zu kernels",
                 intel_trace_count(&trace, INTEL_END));
    for (size_t i = 0; i < trace.count; i++) {
        const struct intel_command *command = &trace.commands[i];
        if (command->kind != INTEL_BEGIN)
            continue;
        unsigned *queue = &used[command->groups[0] - 1];
        INTEL_EXPECT(*queue == 0 || *queue == command->queue, "a device used queues %u and %u",
                     *queue, command->queue);
        *queue = command->queue;
    }
    INTEL_EXPECT(used[0] != used[1], "both devices used queue %u", used[0]);
    intel_trace_finish(&trace);
    tear_down();
}

static void a_device_waits_for_the_event_of_another(void)
{
    set_up();
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        zepi_event_t first = NULL;
        const zepi_launch_desc_t desc = test_launch(empty, 0, NULL, 1);
        TEST_OK(zepi.queue_launch(queues[i % 2], &desc, TEST_NO_WAIT, &first));
        TEST_OK(zepi.queue_launch(queues[1 - i % 2], &desc, (zepi_wait_list_t){&first, 1}, NULL));
        TEST_OK(zepi.release(first));
    }
    for (uint32_t i = 0; i < DEVICES; i++)
        TEST_OK(zepi.queue_finish(queues[i]));
    // On both sides one runs at a time: each waits for the other.
    struct intel_trace trace = intel_trace_read();
    uint32_t running = 0, overlaps = 0;
    for (size_t i = 0; i < trace.count; i++) {
        overlaps += trace.commands[i].kind == INTEL_BEGIN && running > 0;
        running += trace.commands[i].kind == INTEL_BEGIN;
        running -= trace.commands[i].kind == INTEL_END;
    }
    INTEL_EXPECT(intel_trace_count(&trace, INTEL_END) == 2 * LAUNCHES, "%zu kernels",
                 intel_trace_count(&trace, INTEL_END));
    INTEL_EXPECT(overlaps == 0, "%u kernels began before what they wait for had ended", overlaps);
    intel_trace_finish(&trace);
    tear_down();
}

#define TWO_DEVICES "CreateMultipleRootDevices=2"

static const struct intel_story stories[] = {
    {"each_device_runs_its_own_kernels", each_device_runs_its_own_kernels, {TWO_DEVICES}},
    {"a_device_waits_for_the_event_of_another",
     a_device_waits_for_the_event_of_another,
     {TWO_DEVICES, "DRM_SHIM_KERNEL_US=2000"}},
    {"and_with_direct_submission",
     a_device_waits_for_the_event_of_another,
     {TWO_DEVICES, "DRM_SHIM_KERNEL_US=2000", "EnableDirectSubmission=1"}},
    {0}};

int main(int argc, char **argv)
{
    return intel_main(argc, argv, stories);
}
