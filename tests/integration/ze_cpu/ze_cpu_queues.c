// SPDX-License-Identifier: MIT
#include "fixture.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COUNT 1000u
#define FOREVER UINT64_MAX

struct scale {
    struct fixture fixture;
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
    int *data;
};

static void scale_init(struct scale *scale)
{
    fixture_init(&scale->fixture);
    scale->module = fixture_module(&scale->fixture, "kernels", NULL);
    scale->kernel = fixture_kernel(scale->module, "scale");
    scale->data = fixture_shared(&scale->fixture, COUNT * sizeof(int));
    for (int i = 0; i < (int)COUNT; i++)
        scale->data[i] = i;
    MUST(zeKernelSetArgumentValue(scale->kernel, 0, sizeof(scale->data), &scale->data));
}

static void scale_finish(struct scale *scale)
{
    MUST(zeMemFree(scale->fixture.context, scale->data));
    MUST(zeKernelDestroy(scale->kernel));
    MUST(zeModuleDestroy(scale->module));
    fixture_finish(&scale->fixture);
}

static void scale_by(struct scale *scale, ze_command_list_handle_t list, int factor,
                     ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
{
    const ze_group_count_t groups = {COUNT, 1, 1};
    MUST(zeKernelSetArgumentValue(scale->kernel, 1, sizeof(factor), &factor));
    MUST(zeCommandListAppendLaunchKernel(list, scale->kernel, &groups, signal, wait_count, waits));
}

static void assert_scaled(const struct scale *scale, int factor)
{
    for (int i = 0; i < (int)COUNT; i++)
        cr_assert_eq(scale->data[i], i * factor, "%d at %d", scale->data[i], i);
}

static ze_command_list_handle_t regular(const struct scale *scale)
{
    const ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    ze_command_list_handle_t list;
    MUST(zeCommandListCreate(scale->fixture.context, scale->fixture.device, &desc, &list));
    return list;
}

static ze_command_queue_handle_t queue_at(const struct fixture *fixture, uint32_t index)
{
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .index = index,
                                          .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    ze_command_queue_handle_t queue;
    MUST(zeCommandQueueCreate(fixture->context, fixture->device, &desc, &queue));
    return queue;
}

static ze_command_queue_handle_t queue_of(const struct scale *scale)
{
    return queue_at(&scale->fixture, 0);
}

Test(ze_cpu_queues, captures_arguments_when_the_launch_is_appended)
{
    struct scale scale;
    scale_init(&scale);
    ze_command_list_handle_t list = fixture_immediate(&scale.fixture, FIXTURE_IN_ORDER);
    for (int factor = 1; factor <= 7; factor++)
        scale_by(&scale, list, factor, NULL, 0, NULL);
    fixture_synchronize(&scale.fixture, list);
    assert_scaled(&scale, 5040);
    MUST(zeCommandListDestroy(list));
    scale_finish(&scale);
}

Test(ze_cpu_queues, executes_a_recorded_list_as_often_as_asked)
{
    struct scale scale;
    scale_init(&scale);
    ze_command_queue_handle_t queue = queue_of(&scale);
    ze_command_list_handle_t list = regular(&scale);
    const ze_fence_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
    ze_fence_handle_t fence;
    MUST(zeFenceCreate(queue, &desc, &fence));
    cr_assert_eq(zeFenceQueryStatus(fence), ZE_RESULT_NOT_READY);
    scale_by(&scale, list, 2, NULL, 0, NULL);
    MUST(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    scale_by(&scale, list, 3, NULL, 0, NULL);
    cr_assert_neq(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence), ZE_RESULT_SUCCESS);
    MUST(zeCommandListClose(list));
    MUST(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    MUST(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence));
    MUST(zeFenceHostSynchronize(fence, FOREVER));
    MUST(zeFenceQueryStatus(fence));
    assert_scaled(&scale, 36);
    MUST(zeFenceReset(fence));
    cr_assert_eq(zeFenceQueryStatus(fence), ZE_RESULT_NOT_READY);
    MUST(zeCommandQueueSynchronize(queue, FOREVER));
    MUST(zeCommandListReset(list));
    scale_by(&scale, list, 2, NULL, 0, NULL);
    MUST(zeCommandListClose(list));
    MUST(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence));
    MUST(zeFenceHostSynchronize(fence, FOREVER));
    assert_scaled(&scale, 72);
    MUST(zeFenceDestroy(fence));
    MUST(zeCommandListDestroy(list));
    MUST(zeCommandQueueDestroy(queue));
    scale_finish(&scale);
}

Test(ze_cpu_queues, close_lists_twice_and_immediate_lists_without_effect)
{
    struct scale scale;
    scale_init(&scale);
    ze_command_queue_handle_t queue = queue_of(&scale);
    ze_command_list_handle_t list = regular(&scale);
    ze_command_list_handle_t immediate = fixture_immediate(&scale.fixture, FIXTURE_IN_ORDER);
    scale_by(&scale, list, 2, NULL, 0, NULL);
    MUST(zeCommandListClose(list));
    MUST(zeCommandListClose(list));
    MUST(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    MUST(zeCommandQueueSynchronize(queue, FOREVER));
    MUST(zeCommandListClose(list));
    MUST(zeCommandListReset(list));
    scale_by(&scale, immediate, 3, NULL, 0, NULL);
    MUST(zeCommandListClose(immediate));
    scale_by(&scale, immediate, 5, NULL, 0, NULL);
    fixture_synchronize(&scale.fixture, immediate);
    MUST(zeCommandListReset(immediate));
    MUST(zeCommandListClose(immediate));
    MUST(zeCommandListClose(immediate));
    scale_by(&scale, immediate, 7, NULL, 0, NULL);
    fixture_synchronize(&scale.fixture, immediate);
    assert_scaled(&scale, 2 * 3 * 5 * 7);
    MUST(zeCommandListDestroy(immediate));
    MUST(zeCommandListDestroy(list));
    MUST(zeCommandQueueDestroy(queue));
    scale_finish(&scale);
}

// The last event of a list says that the list is free.
Test(ze_cpu_queues, free_a_list_before_its_last_event_is_signalled)
{
    struct scale scale;
    scale_init(&scale);
    ze_command_queue_handle_t queue = queue_of(&scale);
    ze_command_list_handle_t list = regular(&scale);
    struct fixture_event done = fixture_event(&scale.fixture, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
    for (int round = 0; round < 20000; round++) {
        MUST(zeCommandListAppendBarrier(list, NULL, 0, NULL));
        MUST(zeCommandListAppendSignalEvent(list, done.event));
        MUST(zeCommandListClose(list));
        MUST(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
        while (zeEventQueryStatus(done.event) != ZE_RESULT_SUCCESS)
            ;
        MUST(zeCommandListReset(list));
        MUST(zeEventHostReset(done.event));
    }
    fixture_event_finish(&done);
    MUST(zeCommandListDestroy(list));
    MUST(zeCommandQueueDestroy(queue));
    scale_finish(&scale);
}

// Without any event between them.
Test(ze_cpu_queues, keep_the_order_of_submission_if_they_have_one_ordinal_and_index)
{
    const ze_group_count_t groups = {COUNT, 1, 1};
    const int rounds = 2000;
    struct scale scale;
    setenv("ZE_CPU_REORDER", "0", 1); // out-of-order lists, too
    scale_init(&scale);
    ze_command_list_handle_t list = regular(&scale);
    ze_command_queue_handle_t queue = queue_at(&scale.fixture, 3);
    ze_command_list_handle_t first =
        fixture_immediate(&scale.fixture, FIXTURE_IN_ORDER | FIXTURE_INDEX(3));
    ze_command_list_handle_t second = fixture_immediate(&scale.fixture, FIXTURE_INDEX(3));
    ze_kernel_handle_t slow = fixture_kernel(scale.module, "slow");
    int *seen = fixture_shared(&scale.fixture, 3 * COUNT * sizeof(int));
    memset(seen, 0, 3 * COUNT * sizeof(int));
    MUST(zeKernelSetArgumentValue(slow, 0, sizeof(scale.data), &scale.data));
    MUST(zeKernelSetArgumentValue(slow, 1, sizeof(rounds), &rounds));
    // Each kernel changes all numbers; the list that comes next copies them.
    MUST(zeCommandListAppendLaunchKernel(list, slow, &groups, NULL, 0, NULL));
    MUST(zeCommandListClose(list));
    const size_t bytes = COUNT * sizeof(int);
    MUST(zeCommandListAppendLaunchKernel(first, slow, &groups, NULL, 0, NULL));
    MUST(zeCommandListAppendMemoryCopy(second, seen, scale.data, bytes, NULL, 0, NULL));
    MUST(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    MUST(zeCommandListAppendMemoryCopy(first, seen + COUNT, scale.data, bytes, NULL, 0, NULL));
    MUST(zeCommandListAppendLaunchKernel(second, slow, &groups, NULL, 0, NULL));
    MUST(zeCommandListAppendMemoryCopy(first, seen + 2 * COUNT, scale.data, bytes, NULL, 0, NULL));
    fixture_synchronize(&scale.fixture, first);
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t value = i;
        for (int step = 0; step < 3; step++) {
            for (int j = 0; j < rounds; j++)
                value = value * 1664525 + 1013904223;
            cr_assert_eq((uint32_t)seen[(uint32_t)step * COUNT + i], value, "%d at %u", step, i);
        }
    }
    MUST(zeKernelDestroy(slow));
    MUST(zeMemFree(scale.fixture.context, seen));
    MUST(zeCommandListDestroy(first));
    MUST(zeCommandListDestroy(second));
    MUST(zeCommandListDestroy(list));
    MUST(zeCommandQueueDestroy(queue));
    scale_finish(&scale);
}

static int count_threads(void)
{
    DIR *folder = opendir("/proc/self/task");
    cr_assert(folder != NULL);
    int count = -2; // the folder itself and its parent
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count;
}

// All lists wait for one event; then all are idle.
Test(ze_cpu_queues, cost_no_thread_while_they_wait_or_are_idle, .timeout = 60)
{
    enum { QUEUES = 10000, ENGINES = 8 };
    static ze_command_list_handle_t lists[QUEUES];
    static ze_command_queue_handle_t queues[QUEUES];
    const struct timespec pause = {.tv_nsec = 10000000};
    struct fixture fixture;
    fixture_init(&fixture);
    struct fixture_event gate = fixture_event(&fixture, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
    unsigned char *data = fixture_shared(&fixture, QUEUES);
    memset(data, 0, QUEUES);
    const int before = count_threads();
    for (uint32_t i = 0; i < QUEUES; i++) {
        const unsigned char one = 1;
        lists[i] = fixture_immediate(&fixture, FIXTURE_IN_ORDER | FIXTURE_INDEX(i % ENGINES));
        queues[i] = queue_at(&fixture, i % ENGINES);
        MUST(zeCommandListAppendMemoryFill(lists[i], data + i, &one, 1, 1, NULL, 1, &gate.event));
    }
    const int during = count_threads();
    cr_assert(during <= before + ENGINES, "%d threads, %d before", during, before);
    MUST(zeEventHostSignal(gate.event));
    for (uint32_t i = 0; i < QUEUES; i++)
        fixture_synchronize(&fixture, lists[i]);
    for (int i = 0; i < QUEUES; i++)
        cr_assert_eq(data[i], 1, "list %d did nothing", i);
    while (count_threads() > before)
        nanosleep(&pause, NULL);
    const unsigned char two = 2;
    MUST(zeCommandListAppendMemoryFill(lists[0], data, &two, 1, QUEUES, NULL, 0, NULL));
    fixture_synchronize(&fixture, lists[0]);
    cr_assert_eq(data[QUEUES - 1], 2, "no thread began again");
    for (int i = 0; i < QUEUES; i++) {
        MUST(zeCommandListDestroy(lists[i]));
        MUST(zeCommandQueueDestroy(queues[i]));
    }
    MUST(zeMemFree(fixture.context, data));
    fixture_event_finish(&gate);
    fixture_finish(&fixture);
}

Test(ze_cpu_queues, delays_only_the_list_that_waits_for_the_host)
{
    struct scale scale;
    scale_init(&scale);
    ze_command_list_handle_t waiting = fixture_immediate(&scale.fixture, 0);
    ze_command_list_handle_t other = fixture_immediate(&scale.fixture, 0);
    struct fixture_event gate = fixture_event(&scale.fixture, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
    struct fixture_event done = fixture_event(&scale.fixture, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
    struct fixture_event free_run = fixture_event(&scale.fixture, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
    scale_by(&scale, waiting, 3, done.event, 1, &gate.event);
    MUST(zeCommandListAppendSignalEvent(other, free_run.event));
    MUST(zeEventHostSynchronize(free_run.event, FOREVER));
    cr_assert_eq(zeEventHostSynchronize(done.event, 20000000), ZE_RESULT_NOT_READY);
    assert_scaled(&scale, 1);
    MUST(zeEventHostSignal(gate.event));
    MUST(zeEventHostSynchronize(done.event, FOREVER));
    assert_scaled(&scale, 3);
    MUST(zeEventHostReset(done.event));
    cr_assert_eq(zeEventQueryStatus(done.event), ZE_RESULT_NOT_READY);
    MUST(zeCommandListDestroy(waiting));
    MUST(zeCommandListDestroy(other));
    fixture_event_finish(&gate);
    fixture_event_finish(&done);
    fixture_event_finish(&free_run);
    scale_finish(&scale);
}

// A list that waits has seen the event, although it is reset before the engine looks again.
Test(ze_cpu_queues, go_on_after_an_event_that_is_reset_at_once, .timeout = 60)
{
    enum { ROUNDS = 100, TRIES = 2 * ROUNDS, WAIT_NS = 10000000 };
    struct scale scale;
    scale_init(&scale);
    ze_command_queue_handle_t queue = queue_of(&scale);
    ze_command_list_handle_t list = regular(&scale);
    struct fixture_event gate = fixture_event(&scale.fixture, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
    MUST(zeCommandListAppendBarrier(list, NULL, 1, &gate.event));
    MUST(zeCommandListClose(list));
    int tries = 0;
    for (int round = 0; round < ROUNDS; round++) {
        MUST(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
        // The first time it may not wait yet.
        while (tries < TRIES && zeCommandQueueSynchronize(queue, WAIT_NS) != ZE_RESULT_SUCCESS) {
            MUST(zeEventHostSignal(gate.event));
            MUST(zeEventHostReset(gate.event));
            tries++;
        }
    }
    cr_assert_lt(tries, TRIES, "%d signals for %d waits", tries, ROUNDS);
    fixture_event_finish(&gate);
    MUST(zeCommandListDestroy(list));
    MUST(zeCommandQueueDestroy(queue));
    scale_finish(&scale);
}

Test(ze_cpu_queues, orders_two_lists_by_an_event)
{
    struct scale scale;
    scale_init(&scale);
    ze_command_list_handle_t first = fixture_immediate(&scale.fixture, FIXTURE_IN_ORDER);
    ze_command_list_handle_t second = fixture_immediate(&scale.fixture, FIXTURE_IN_ORDER);
    struct fixture_event event = fixture_event(&scale.fixture, 0);
    for (int round = 0; round < 20; round++) {
        const int zero = 0;
        MUST(zeCommandListAppendMemoryFill(first, scale.data, &zero, sizeof(zero),
                                           COUNT * sizeof(int), NULL, 0, NULL));
        const int one = 1;
        MUST(zeCommandListAppendMemoryFill(first, scale.data, &one, sizeof(one),
                                           COUNT * sizeof(int), event.event, 0, NULL));
        scale_by(&scale, second, 5, NULL, 1, &event.event);
        MUST(zeCommandListAppendEventReset(second, event.event));
        fixture_synchronize(&scale.fixture, second);
        for (uint32_t i = 0; i < COUNT; i++)
            cr_assert_eq(scale.data[i], 5);
    }
    MUST(zeCommandListDestroy(first));
    MUST(zeCommandListDestroy(second));
    fixture_event_finish(&event);
    scale_finish(&scale);
}

// However loaded the machine is: on one core, too, the system switches between them.
Test(ze_cpu_queues, run_independent_work_at_the_same_time)
{
    enum { ROUNDS = 2000000000 };
    const ze_group_count_t one = {1, 1, 1};
    struct scale scale;
    scale_init(&scale);
    int *here = fixture_shared(&scale.fixture, 2 * sizeof(int));
    int *has_met = fixture_shared(&scale.fixture, 2 * sizeof(int));
    ze_command_list_handle_t lists[2];
    ze_kernel_handle_t kernel = fixture_kernel(scale.module, "meet");
    const int rounds = ROUNDS;
    memset(here, 0, 2 * sizeof(int));
    memset(has_met, 0, 2 * sizeof(int));
    for (int i = 0; i < 2; i++) {
        const int *mine = &here[i], *theirs = &here[1 - i], *result = &has_met[i];
        lists[i] = fixture_immediate(&scale.fixture, FIXTURE_IN_ORDER | FIXTURE_INDEX((uint32_t)i));
        MUST(zeKernelSetArgumentValue(kernel, 0, sizeof(mine), &mine));
        MUST(zeKernelSetArgumentValue(kernel, 1, sizeof(theirs), &theirs));
        MUST(zeKernelSetArgumentValue(kernel, 2, sizeof(rounds), &rounds));
        MUST(zeKernelSetArgumentValue(kernel, 3, sizeof(result), &result));
        MUST(zeCommandListAppendLaunchKernel(lists[i], kernel, &one, NULL, 0, NULL));
    }
    for (int i = 0; i < 2; i++) {
        fixture_synchronize(&scale.fixture, lists[i]);
        MUST(zeCommandListDestroy(lists[i]));
    }
    cr_assert(has_met[0] && has_met[1], "one ran after the other");
    MUST(zeKernelDestroy(kernel));
    MUST(zeMemFree(scale.fixture.context, here));
    MUST(zeMemFree(scale.fixture.context, has_met));
    scale_finish(&scale);
}

Test(ze_cpu_queues, never_blocks_an_append)
{
    struct scale scale;
    scale_init(&scale);
    ze_kernel_handle_t slow = fixture_kernel(scale.module, "slow");
    ze_command_list_handle_t list = fixture_immediate(&scale.fixture, FIXTURE_IN_ORDER);
    struct fixture_event done = fixture_event(&scale.fixture, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
    const int rounds = 100000000;
    const ze_group_count_t groups = {1, 1, 1};
    MUST(zeKernelSetArgumentValue(slow, 0, sizeof(scale.data), &scale.data));
    MUST(zeKernelSetArgumentValue(slow, 1, sizeof(rounds), &rounds));
    MUST(zeCommandListAppendLaunchKernel(list, slow, &groups, done.event, 0, NULL));
    cr_assert_eq(zeEventQueryStatus(done.event), ZE_RESULT_NOT_READY);
    MUST(zeEventHostSynchronize(done.event, FOREVER));
    MUST(zeKernelDestroy(slow));
    MUST(zeCommandListDestroy(list));
    fixture_event_finish(&done);
    scale_finish(&scale);
}

Test(ze_cpu_queues, measures_kernels_on_the_device_clock)
{
    struct scale scale;
    scale_init(&scale);
    ze_command_list_handle_t list = fixture_immediate(&scale.fixture, FIXTURE_IN_ORDER);
    struct fixture_event event = fixture_event(
        &scale.fixture, ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
    uint64_t host, before, after;
    MUST(zeDeviceGetGlobalTimestamps(scale.fixture.device, &host, &before));
    scale_by(&scale, list, 2, event.event, 0, NULL);
    ze_kernel_timestamp_result_t times;
    MUST(zeEventHostSynchronize(event.event, FOREVER));
    MUST(zeEventQueryKernelTimestamp(event.event, &times));
    MUST(zeDeviceGetGlobalTimestamps(scale.fixture.device, &host, &after));
    cr_assert(before <= times.global.kernelStart);
    cr_assert(times.global.kernelStart < times.global.kernelEnd);
    cr_assert(times.global.kernelEnd <= after);
    uint64_t *written = fixture_shared(&scale.fixture, sizeof(*written));
    MUST(zeCommandListAppendWriteGlobalTimestamp(list, written, NULL, 0, NULL));
    fixture_synchronize(&scale.fixture, list);
    cr_assert(*written >= after);
    MUST(zeMemFree(scale.fixture.context, written));
    MUST(zeCommandListDestroy(list));
    fixture_event_finish(&event);
    scale_finish(&scale);
}

Test(ze_cpu_queues, reads_indirect_counts_on_execution)
{
    struct scale scale;
    scale_init(&scale);
    ze_command_list_handle_t list = fixture_immediate(&scale.fixture, FIXTURE_IN_ORDER);
    ze_group_count_t *counts = fixture_shared(&scale.fixture, 2 * sizeof(*counts));
    uint32_t *limit = fixture_shared(&scale.fixture, sizeof(*limit));
    const ze_group_count_t whole = {COUNT, 1, 1};
    const uint32_t one = 1;
    const int factor = 3;
    memset(counts, 0, 2 * sizeof(*counts));
    MUST(zeKernelSetArgumentValue(scale.kernel, 1, sizeof(factor), &factor));
    MUST(zeCommandListAppendMemoryCopy(list, &counts[0], &whole, sizeof(whole), NULL, 0, NULL));
    MUST(zeCommandListAppendMemoryCopy(list, &counts[1], &whole, sizeof(whole), NULL, 0, NULL));
    MUST(zeCommandListAppendMemoryCopy(list, limit, &one, sizeof(one), NULL, 0, NULL));
    MUST(zeCommandListAppendLaunchKernelIndirect(list, scale.kernel, counts, NULL, 0, NULL));
    ze_kernel_handle_t kernels[] = {scale.kernel, scale.kernel};
    MUST(zeCommandListAppendLaunchMultipleKernelsIndirect(list, 2, kernels, limit, counts, NULL, 0,
                                                          NULL));
    fixture_synchronize(&scale.fixture, list);
    assert_scaled(&scale, 9);
    MUST(zeMemFree(scale.fixture.context, counts));
    MUST(zeMemFree(scale.fixture.context, limit));
    MUST(zeCommandListDestroy(list));
    scale_finish(&scale);
}

Test(ze_cpu_queues, copies_regions)
{
    struct scale scale;
    scale_init(&scale);
    ze_command_list_handle_t list = fixture_immediate(&scale.fixture, FIXTURE_IN_ORDER);
    unsigned char *from = fixture_shared(&scale.fixture, 16 * 16);
    unsigned char *to = fixture_shared(&scale.fixture, 32 * 8);
    for (int i = 0; i < 256; i++) {
        from[i] = (unsigned char)i;
        to[i] = 0;
    }
    const ze_copy_region_t source = {.originX = 2, .originY = 3, .width = 5, .height = 4};
    const ze_copy_region_t target = {.originX = 7, .originY = 1, .width = 5, .height = 4};
    MUST(zeCommandListAppendMemoryCopyRegion(list, to, &target, 32, 0, from, &source, 16, 0, NULL,
                                             0, NULL));
    fixture_synchronize(&scale.fixture, list);
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 32; x++) {
            bool is_inside = x >= 7 && x < 12 && y >= 1 && y < 5;
            int expected = is_inside ? (y - 1 + 3) * 16 + x - 7 + 2 : 0;
            cr_assert_eq(to[y * 32 + x], expected);
        }
    MUST(zeMemFree(scale.fixture.context, from));
    MUST(zeMemFree(scale.fixture.context, to));
    MUST(zeCommandListDestroy(list));
    scale_finish(&scale);
}
