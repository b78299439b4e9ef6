// SPDX-License-Identifier: MIT
//
// Objects that live on while their uses fail: each Level Zero call and each allocation of a story
// fails in turn, on one context, its queues, modules and kernels.
#include "walk.h"

#include "launch/kernel.h"
#include "test_env.h"

#include <stdio.h>
#include <string.h>

#define ITEMS 64

static struct test_gear gear;
static zepi_queue_t queue; // of the story, in order or not
static zepi_kernel_t kernel;
static zepi_module_t executable;
static int32_t *memory; // ITEMS of input, ITEMS of output

static void set_memory(int32_t value)
{
    for (int i = 0; i < 2 * ITEMS; i++)
        memory[i] = value;
}

// Every kind of command, each waiting for the one before.
static zepi_result_t enqueue_all(void)
{
    zepi_event_t events[6] = {NULL};
    zepi_event_times_t times = {.size = sizeof(times)};
    const int16_t pattern = 3;
    const zepi_rect_t rect = {.row_pitch_bytes = 16};
    const size_t region[3] = {16, 4, 1};
    const zepi_argument_t arguments[] = {TEST_POINTER(memory), TEST_POINTER(memory + ITEMS)};
    const zepi_launch_desc_t launch = test_launch(kernel, 2, arguments, ITEMS);
    zepi_result_t result;
    set_memory(7);
    STEP(zepi.queue_prefetch(queue, memory, 256, TEST_NO_WAIT, &events[0]));
    STEP(zepi.queue_advise(queue, memory, 256, ZEPI_ADVICE_SET_READ_MOSTLY, NULL));
    STEP(zepi.queue_launch(queue, &launch, (zepi_wait_list_t){&events[0], 1}, &events[1]));
    STEP(zepi.queue_marker(queue, (zepi_wait_list_t){events, 2}, &events[2]));
    STEP(zepi.queue_copy_rect(queue, memory, &rect, memory + ITEMS, &rect, region,
                              (zepi_wait_list_t){&events[2], 1}, &events[3]));
    STEP(zepi.queue_barrier(queue, (zepi_wait_list_t){&events[3], 1}, &events[4]));
    STEP(zepi.queue_fill(queue, memory + ITEMS, &pattern, sizeof(pattern), 4 * ITEMS,
                         (zepi_wait_list_t){&events[4], 1}, &events[5]));
    STEP(zepi.event_wait(6, events, UINT64_MAX));
    STEP(zepi.event_get_times(events[1], &times));
    STEP(zepi.queue_finish(queue));
    WALK_EXPECT(times.start_ns <= times.end_ns);
    // 64 bytes of the kernel's numbers came back, and the pattern replaced all of them there.
    WALK_EXPECT(memory[0] == 35 && memory[15] == 35 && memory[16] == 7);
    WALK_EXPECT(memory[ITEMS] == 0x00030003 && memory[2 * ITEMS - 1] == 0x00030003);
out:
    walk_settle(queue);
    for (int i = 0; i < 6; i++)
        walk_release(events[i]);
    return result;
}

// Other arguments and another group size each time, without events.
static zepi_result_t launch_often(void)
{
    zepi_result_t result;
    set_memory(1);
    for (size_t i = 0; i < 4; i++) {
        const zepi_argument_t arguments[] = {TEST_POINTER(memory + i), TEST_POINTER(memory + 32)};
        zepi_launch_desc_t launch = test_launch(kernel, 2, arguments, 16);
        launch.group_size[0] = (size_t)1 << i;
        STEP(zepi.queue_launch(queue, &launch, TEST_NO_WAIT, NULL));
    }
    STEP(zepi.queue_finish(queue));
    WALK_EXPECT(memory[32] == 5 && memory[47] == 5 && memory[48] == 1);
out:
    walk_settle(queue);
    return result;
}

static zepi_result_t create_queues(void)
{
    zepi_queue_t queues[3] = {NULL};
    zepi_queue_info_t info = {.size = sizeof(info)};
    zepi_result_t result;
    STEP(zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_IN_ORDER, &queues[0]));
    STEP(zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_PRIORITY_HIGH, &queues[1]));
    STEP(zepi.queue_create_on_engine(gear.context, gear.device, 0, 3, &queues[2]));
    for (int i = 0; i < 3; i++) {
        STEP(zepi.queue_get_info(queues[i], &info));
        WALK_EXPECT(info.is_empty);
        STEP(zepi.queue_barrier(queues[i], TEST_NO_WAIT, NULL));
        STEP(zepi.queue_finish(queues[i]));
    }
out:
    for (int i = 0; i < 3; i++) {
        walk_settle(queues[i]);
        walk_release(queues[i]);
    }
    return result;
}

// A queue goes while its commands run, and a wait of its end may fail.
static zepi_result_t drop_a_busy_queue(void)
{
    zepi_queue_t busy = NULL;
    zepi_event_t event = NULL;
    zepi_result_t result;
    set_memory(2);
    STEP(zepi.queue_create(gear.context, gear.device, ZEPI_QUEUE_IN_ORDER, &busy));
    STEP(zepi.queue_copy(busy, memory + 1, memory, 4, TEST_NO_WAIT, &event));
out:
    walk_release(busy);
    walk_release(event);
    return result;
}

static zepi_result_t allocate_memory(void)
{
    zepi_usm_info_t info = {.size = sizeof(info)};
    void *memories[3] = {NULL};
    zepi_result_t result;
    for (int i = 0; i < 3; i++) {
        const zepi_usm_kind_t kind = (zepi_usm_kind_t)(ZEPI_USM_HOST + i);
        STEP(zepi.usm_allocate(gear.context, kind == ZEPI_USM_HOST ? NULL : gear.device, kind, 1000,
                               256, &memories[i]));
        STEP(zepi.usm_get_info(gear.context, (char *)memories[i] + 999, &info));
        WALK_EXPECT(info.kind == kind && info.base == memories[i] && info.size_bytes >= 1000);
    }
    for (int i = 0; i < 3; i++) {
        void *memory_to_free = memories[i];
        memories[i] = NULL; // a free that is made to fail has done its work
        STEP(zepi.usm_free(gear.context, memory_to_free));
    }
out:
    for (int i = 0; i < 3; i++) {
        if (memories[i])
            zepi.usm_free(gear.context, memories[i]);
    }
    return result;
}

// Slabs that are made, filled, given back and given up, in a context of their own.
static zepi_result_t use_pools(void)
{
    enum { COUNT = 70 }; // more than a slab has
    zepi_context_t context = NULL;
    void *blocks[2][COUNT] = {{NULL}};
    void *large = NULL;
    zepi_usm_info_t info = {.size = sizeof(info)};
    zepi_result_t result;
    STEP(zepi.context_create(1, &gear.device, &context));
    for (int i = 0; i < 2 * COUNT; i++) {
        const bool is_host = i % 2 == 0;
        STEP(zepi.usm_allocate(context, is_host ? NULL : gear.device,
                               is_host ? ZEPI_USM_HOST : ZEPI_USM_DEVICE, 65000, 0,
                               &blocks[i % 2][i / 2]));
    }
    STEP(zepi.usm_get_info(context, blocks[1][COUNT - 1], &info));
    WALK_EXPECT(info.base == blocks[1][COUNT - 1] && info.size_bytes == 65000);
    for (int i = 0; i < COUNT; i++) {
        void *block = blocks[0][i];
        blocks[0][i] = NULL;
        STEP(zepi.usm_free(context, block));
    }
    STEP(zepi.usm_allocate(context, gear.device, ZEPI_USM_SHARED, 1 << 20, 0, &large));
    STEP(zepi.usm_get_info(context, large, &info));
    WALK_EXPECT(info.kind == ZEPI_USM_SHARED);
out:
    for (int i = 0; i < 2 * COUNT; i++) {
        if (blocks[i % 2][i / 2])
            TEST_OK(zepi.usm_free(context, blocks[i % 2][i / 2]));
    }
    if (large)
        zepi.usm_free(context, large);
    walk_release(context);
    return result;
}

static zepi_result_t use_host_events(void)
{
    zepi_event_t events[2] = {NULL, NULL};
    zepi_event_t copied = NULL;
    zepi_event_status_t status;
    zepi_result_t result;
    set_memory(4);
    for (int i = 0; i < 2; i++)
        STEP(zepi.event_create(gear.context, &events[i]));
    STEP(zepi.queue_copy(queue, memory + 1, memory, 4, (zepi_wait_list_t){events, 2}, &copied));
    STEP(zepi.event_get_status(copied, &status));
    WALK_EXPECT(status == ZEPI_EVENT_SUBMITTED);
    for (int i = 0; i < 2; i++)
        STEP(zepi.event_signal(events[i]));
    STEP(zepi.event_wait(1, &copied, UINT64_MAX));
out:
    // The copy must not wait for ever.
    for (int i = 0; i < 2; i++) {
        while (events[i] && zepi.event_signal(events[i]) != ZEPI_SUCCESS)
            ;
    }
    walk_settle(queue);
    for (int i = 0; i < 2; i++)
        walk_release(events[i]);
    walk_release(copied);
    return result;
}

static zepi_result_t ask_kernels(void)
{
    zepi_kernel_t one = NULL;
    zepi_kernel_info_t info = {.size = sizeof(info)};
    const size_t global_size = 96;
    size_t group_size;
    uint32_t group_count;
    void *native;
    zepi_result_t result;
    STEP(zepi.module_get_kernel(executable, "show_constants", &one));
    STEP(zepi.kernel_get_info(one, gear.device, &info));
    WALK_EXPECT(info.argument_count == 1);
    STEP(zepi.kernel_suggest_group_size(one, gear.device, 1, &global_size, &group_size));
    WALK_EXPECT(global_size % group_size == 0);
    STEP(zepi.kernel_get_native(one, gear.device, &native));
    STEP(zepi_kernel_max_cooperative_groups(one, gear.device, 1, &group_size, &group_count));
out:
    walk_release(one);
    TEST_OK(zepi.cache_trim(gear.context, 0));
    return result;
}

static zepi_result_t create_contexts(void)
{
    zepi_context_t contexts[2] = {NULL, NULL};
    void *native;
    zepi_result_t result;
    STEP(zepi.context_create(1, &gear.device, &contexts[0]));
    STEP(zepi.context_get_native(contexts[0], &native));
    STEP(zepi.context_create_from_native(native, 1, &gear.device, ZEPI_OWNERSHIP_KEEP,
                                         &contexts[1]));
out:
    walk_release(contexts[1]);
    walk_release(contexts[0]);
    return result;
}

static void walk_story(const char *name, story_fn *story)
{
    char title[128];
    TEST_OK(story());
    // Events stay with their list, so that it takes a while until each list has enough.
    for (int rehearsals = 3; rehearsals >= 0; rehearsals--) {
        walk_rehearse(rehearsals > 0);
        snprintf(title, sizeof(title), "%s, calls", name);
        walk_calls(title, story, "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
        snprintf(title, sizeof(title), "%s, device lost", name);
        walk_calls(title, story, "ZE_RESULT_ERROR_DEVICE_LOST");
    }
}

static void walk_queue(const char *name, zepi_queue_flags_t flags)
{
    char title[128];
    TEST_OK(zepi.queue_create(gear.context, gear.device, flags | ZEPI_QUEUE_PROFILING, &queue));
    snprintf(title, sizeof(title), "commands, %s", name);
    walk_story(title, enqueue_all);
    snprintf(title, sizeof(title), "launches, %s", name);
    walk_story(title, launch_often);
    snprintf(title, sizeof(title), "host events, %s", name);
    walk_story(title, use_host_events);
    TEST_OK(zepi.release(queue));
}

int main(void)
{
    const int32_t five = 5;
    walk_begin();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    zepi_module_t input = test_input(gear.context, "scaled_copy");
    TEST_OK(zepi.spec_constant_set(input, 7, sizeof(five), &five));
    TEST_OK(zepi.module_build(input, NULL, &executable));
    TEST_OK(zepi.module_get_kernel(executable, "scaled_copy_int", &kernel));
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED,
                              2 * ITEMS * sizeof(int32_t), 0, (void **)&memory));
    walk_queue("in order", ZEPI_QUEUE_IN_ORDER);
    walk_queue("out of order", 0);
    walk_story("queues", create_queues);
    walk_story("a busy queue", drop_a_busy_queue);
    walk_story("memory", allocate_memory);
    walk_story("pools", use_pools);
    walk_story("kernels", ask_kernels);
    walk_story("contexts", create_contexts);
    walk_allocations("kernels, allocations", ask_kernels);
    walk_allocations("contexts, allocations", create_contexts);
    walk_allocations("pools, allocations", use_pools);
    TEST_OK(zepi.usm_free(gear.context, memory));
    walk_release(kernel);
    walk_release(executable);
    walk_release(input);
    test_gear_destroy(&gear);
    return 0;
}
