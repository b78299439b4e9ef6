// SPDX-License-Identifier: MIT
// Faults of both kernel drivers, on GPUs with memory of their own and without: zepi has the right
// error, and what failed has left nothing behind.
#include "intel.h"

#include "test_plugin.h"

#include <stdio.h>
#include <string.h>

#define ITEMS 256
#define BYTES (UINT64_C(4) << 20) // pools have no block of this size

static struct test_gear gear;
static zepi_kernel_t mark;
static int *numbers;

static void set_up(void)
{
    test_plugin_load();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    mark = test_kernel(gear.context, "mark", "mark");
    TEST_OK(zepi.usm_allocate(gear.context, NULL, ZEPI_USM_HOST, ITEMS * sizeof(int), 0,
                              (void **)&numbers));
}

static void tear_down(void)
{
    intel_set_faults(NULL);
    TEST_OK(zepi.usm_free(gear.context, numbers));
    TEST_OK(zepi.release(mark));
    test_gear_destroy(&gear);
    test_plugin_unload();
}

static zepi_result_t launch(zepi_queue_t queue, int value, int *out, zepi_event_t *event)
{
    const zepi_argument_t arguments[] = {TEST_VALUE(value), TEST_POINTER(out)};
    const zepi_launch_desc_t desc = test_launch(mark, 2, arguments, ITEMS);
    return zepi.queue_launch(queue, &desc, TEST_NO_WAIT, event);
}

// Memory, a queue and its work, each new: the first result that is no success. What there is goes
// again.
static zepi_result_t work(int value)
{
    static uint64_t bytes;
    zepi_queue_t queue = NULL;
    void *memory = NULL;
    memset(numbers, 0, ITEMS * sizeof(int));
    zepi_result_t result =
        zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_DEVICE, bytes += BYTES, 0, &memory);
    if (result == ZEPI_SUCCESS)
        result = zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_IN_ORDER, &queue);
    if (result == ZEPI_SUCCESS)
        result = launch(queue, value, memory, NULL);
    if (result == ZEPI_SUCCESS)
        result = zepi.queue_copy(queue, numbers, memory, ITEMS * sizeof(int), TEST_NO_WAIT, NULL);
    if (queue) {
        const zepi_result_t finish = zepi.queue_finish(queue);
        result = result == ZEPI_SUCCESS ? finish : result;
        TEST_OK(zepi.release(queue));
    }
    if (memory)
        TEST_OK(zepi.usm_free(gear.context, memory));
    for (int i = 0; i < ITEMS && result == ZEPI_SUCCESS; i++)
        INTEL_EXPECT(numbers[i] == value, "item %d: %d", i, numbers[i]);
    return result;
}

// The driver says of a submission to a lost queue that there is no memory.
static bool is_lost(zepi_result_t result)
{
    return result == ZEPI_ERROR_DEVICE_LOST || result == ZEPI_ERROR_OUT_OF_DEVICE_MEMORY;
}

static size_t faults_taken(void)
{
    struct intel_trace trace = intel_trace_read();
    size_t count = 0;
    for (size_t i = 0; i < trace.count; i++)
        count += strstr(trace.commands[i].text, " fault ") != NULL;
    intel_trace_finish(&trace);
    return count;
}

// Each of the first calls of a site fails once: the driver, or zepi, makes it again.
static void expect_no_harm(const char *site, const char *error)
{
    size_t taken = 0;
    set_up();
    TEST_OK(work(1));
    for (int call = 1; call <= 4; call++) {
        char text[64];
        snprintf(text, sizeof(text), "%s:%d:%s", site, call, error);
        intel_set_faults(text);
        TEST_OK(work(call));
        taken += faults_taken();
    }
    INTEL_EXPECT(taken > 0, "no call of %s", site);
    tear_down();
}

static void no_memory_once_does_no_harm(void)
{
    expect_no_harm("gem_create", "ENOMEM");
}

static void a_submission_without_room_is_made_again(void)
{
    expect_no_harm("exec", "ENOSPC");
}

static void a_wait_that_is_interrupted_goes_on(void)
{
    expect_no_harm("wait_user_fence", "EINTR");
}

static void no_memory_is_an_error_that_passes(void)
{
    set_up();
    TEST_OK(work(1));
    intel_set_faults("gem_create:1+:ENOMEM");
    TEST_FAILS(work(2), ZEPI_ERROR_OUT_OF_DEVICE_MEMORY);
    intel_set_faults(NULL);
    for (int round = 3; round < 6; round++)
        TEST_OK(work(round));
    tear_down();
}

// The event and the queue say so, later work is refused, and all of it can be released.
static void a_reset_is_a_lost_device(void)
{
    zepi_event_t event;
    set_up();
    TEST_OK(work(1));
    numbers[0] = 0;
    intel_set_faults("reset:1:EIO");
    TEST_OK(launch(gear.queue, 1, numbers, &event));
    TEST_FAILS(zepi.event_wait(1, &event, UINT64_MAX), ZEPI_ERROR_DEVICE_LOST);
    INTEL_EXPECT(is_lost(zepi.queue_finish(gear.queue)), "the queue works");
    INTEL_EXPECT(is_lost(launch(gear.queue, 1, numbers, NULL)), "the queue takes work");
    INTEL_EXPECT(is_lost(work(3)), "another queue works");
    INTEL_EXPECT(numbers[0] == 0, "the kernel ran");
    TEST_OK(zepi.release(event));
    tear_down();
}

// As is work that another queue had on the GPU.
static void a_reset_loses_other_queues_that_are_busy(void)
{
    zepi_event_t other, event;
    zepi_queue_t queue;
    set_up();
    TEST_OK(work(1));
    TEST_OK(zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_IN_ORDER, &queue));
    TEST_OK(launch(queue, 1, numbers, NULL));
    TEST_OK(zepi.queue_finish(queue));
    intel_set_kernel_time(5000000);
    TEST_OK(launch(queue, 2, numbers, &other));
    intel_set_faults("reset:1:EIO");
    TEST_OK(launch(gear.queue, 3, numbers, &event));
    TEST_FAILS(zepi.event_wait(1, &event, UINT64_MAX), ZEPI_ERROR_DEVICE_LOST);
    TEST_FAILS(zepi.event_wait(1, &other, UINT64_MAX), ZEPI_ERROR_DEVICE_LOST);
    TEST_OK(zepi.release(event));
    TEST_OK(zepi.release(other));
    TEST_OK(zepi.release(queue));
    tear_down();
}

#define ON(product, name, run)                                                                     \
    {                                                                                              \
        name "_on_" product, run,                                                                  \
        {                                                                                          \
            "DRM_SHIM_PRODUCT=" product, "DRM_SHIM_EXEC=1"                                         \
        }                                                                                          \
    }
#define ON_DISCRETE(name, run) ON("bmg", name, run), ON("dg2-i915", name, run)
#define ON_ALL(name, run) ON_DISCRETE(name, run), ON("lnl", name, run), ON("tgl", name, run)

// For Tiger Lake the driver ends the process where GEM_CREATE fails; for Lunar Lake it goes on
// without the memory if that fails twice, and the queue is of no use from then on.
static const struct intel_story stories[] = {
    ON_DISCRETE("no_memory_once_does_no_harm", no_memory_once_does_no_harm),
    ON("lnl", "no_memory_once_does_no_harm", no_memory_once_does_no_harm),
    ON_DISCRETE("no_memory_is_an_error_that_passes", no_memory_is_an_error_that_passes),
    ON_ALL("a_submission_without_room_is_made_again", a_submission_without_room_is_made_again),
    ON_ALL("a_wait_that_is_interrupted_goes_on", a_wait_that_is_interrupted_goes_on),
    ON_ALL("a_reset_is_a_lost_device", a_reset_is_a_lost_device),
    ON_DISCRETE("a_reset_loses_other_queues_that_are_busy",
                a_reset_loses_other_queues_that_are_busy),
    {0}};

int main(int argc, char **argv)
{
    return intel_main(argc, argv, stories);
}
