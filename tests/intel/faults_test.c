// SPDX-License-Identifier: MIT
// Faults from the kernel's side, as Intel's own driver passes them on: zepi says so, and goes on.
#include "intel.h"

#include "test_plugin.h"

#include <stdlib.h>
#include <time.h>

#define LARGE_BYTES (UINT64_C(100) << 20)
#define LARGE_MAXIMUM 16

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

static zepi_result_t launch(zepi_queue_t queue, zepi_event_t *event)
{
    const zepi_launch_desc_t desc = test_launch(empty, 0, NULL, 1);
    return zepi.queue_launch(queue, &desc, TEST_NO_WAIT, event);
}

// For products before Xe2 the driver says so of a submission that the kernel refuses.
static bool says_lost(zepi_result_t result)
{
    const bool is_older = getenv("DRM_SHIM_PRODUCT") != NULL;
    return result == ZEPI_ERROR_DEVICE_LOST ||
           (is_older && result == ZEPI_ERROR_OUT_OF_DEVICE_MEMORY);
}

// The driver looks for lost queues twice a second.
static void launch_and_hang(void)
{
    set_up();
    TEST_OK(launch(gear.queue, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    intel_set_faults("kernel:1:hang");
    zepi_event_t event = NULL;
    TEST_OK(launch(gear.queue, &event));
    TEST_FAILS(zepi.event_wait(1, &event, UINT64_MAX), ZEPI_ERROR_DEVICE_LOST);
    INTEL_EXPECT(says_lost(zepi.queue_finish(gear.queue)), "the queue works");
    TEST_OK(zepi.release(event));
}

static void a_hang_is_a_lost_device(void)
{
    launch_and_hang();
    intel_end_lost();
}

// ur_faults_test.c destroys them without direct submission.
static void objects_are_destroyed_after_a_hang(void)
{
    launch_and_hang();
    tear_down();
}

// As after a reset of the GPU: the kernel refuses what is submitted.
static void a_submission_that_is_refused_is_an_error(void)
{
    set_up();
    intel_set_faults("exec:1:EIO");
    INTEL_EXPECT(launch(gear.queue, NULL) != ZEPI_SUCCESS, "nothing failed");
    INTEL_EXPECT(says_lost(getenv("DRM_SHIM_PRODUCT") ? launch(gear.queue, NULL)
                                                      : zepi.queue_finish(gear.queue)),
                 "the queue works");
    intel_end_lost();
}

static void a_wait_with_a_limit_ends_at_it(void)
{
    struct timespec before, after;
    set_up();
    intel_set_faults("kernel:1:hang");
    zepi_event_t event = NULL;
    TEST_OK(launch(gear.queue, &event));
    clock_gettime(CLOCK_MONOTONIC, &before);
    TEST_FAILS(zepi.event_wait(1, &event, 10000000), ZEPI_ERROR_NOT_READY);
    zepi_event_status_t status = ZEPI_EVENT_COMPLETE;
    TEST_OK(zepi.event_get_status(event, &status));
    clock_gettime(CLOCK_MONOTONIC, &after);
    INTEL_EXPECT(status != ZEPI_EVENT_COMPLETE, "a kernel that hangs is complete");
    INTEL_EXPECT(after.tv_sec - before.tv_sec < 3, "10 ms took %d s",
                 (int)(after.tv_sec - before.tv_sec));
    intel_end_lost();
}

static zepi_result_t allocate(size_t size_bytes, void **out_memory)
{
    return zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_DEVICE, size_bytes, 0, out_memory);
}

static void an_allocation_fails_while_the_kernel_has_no_memory(void)
{
    void *memory = NULL;
    set_up();
    intel_set_faults("gem_create:1+:ENOMEM");
    for (int i = 0; i < 3; i++)
        TEST_FAILS(allocate(LARGE_BYTES, &memory), ZEPI_ERROR_OUT_OF_DEVICE_MEMORY);
    intel_set_faults(NULL);
    TEST_OK(allocate(LARGE_BYTES, &memory));
    TEST_OK(launch(gear.queue, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    TEST_OK(zepi.usm_free(gear.context, memory));
    tear_down();
}

// Takes all of the device's memory; the number of allocations.
static uint32_t take_all(void *memory[LARGE_MAXIMUM])
{
    uint32_t count = 0;
    zepi_result_t result = ZEPI_SUCCESS;
    while (result == ZEPI_SUCCESS && count < LARGE_MAXIMUM) {
        result = allocate(LARGE_BYTES, &memory[count]);
        count += result == ZEPI_SUCCESS;
    }
    INTEL_EXPECT(result == ZEPI_ERROR_OUT_OF_DEVICE_MEMORY, "after %u allocations: %d", count,
                 result);
    return count;
}

static void all_memory_can_be_had_again_and_again(void)
{
    static void *memory[LARGE_MAXIMUM];
    uint32_t counts[3];
    set_up();
    for (int round = 0; round < 3; round++) {
        counts[round] = take_all(memory);
        TEST_OK(launch(gear.queue, NULL));
        for (uint32_t i = 0; i < counts[round]; i++)
            TEST_OK(zepi.usm_free(gear.context, memory[i]));
    }
    TEST_OK(zepi.queue_finish(gear.queue));
    INTEL_EXPECT(counts[0] > 4 && counts[1] == counts[0] && counts[2] == counts[0],
                 "%u, %u and %u allocations", counts[0], counts[1], counts[2]);
    tear_down();
}

static const struct intel_story stories[] = {
    {"a_kernel_that_hangs_is_a_lost_device", a_hang_is_a_lost_device, {NULL}},
    {"objects_are_destroyed_after_a_hang_with_direct_submission",
     objects_are_destroyed_after_a_hang,
     {"EnableDirectSubmission=1"}},
    {"a_submission_that_is_refused_is_an_error", a_submission_that_is_refused_is_an_error, {NULL}},
    {"a_wait_with_a_limit_ends_at_it", a_wait_with_a_limit_ends_at_it, {NULL}},
    {"an_allocation_fails_while_the_kernel_has_no_memory",
     an_allocation_fails_while_the_kernel_has_no_memory,
     {NULL}},
    {"all_memory_can_be_had_again_and_again",
     all_memory_can_be_had_again_and_again,
     {"DRM_SHIM_VRAM_GIB=1"}},
    {0}};

int main(int argc, char **argv)
{
    return intel_main(argc, argv, stories);
}
