// SPDX-License-Identifier: MIT
// Command buffers: recorded once, replayed often, on queues of any kind.
#include "command_buffer_fixture.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(command_buffer, .init = cb_set_up, .fini = cb_tear_down);

// ---- Replaying ----

// (1 + 2), then twice that, added to what was there before: as often as it was run.
static void record_sums(buffer_t buffer, float *memory)
{
    float *a = memory, *b = a + ITEMS, *sum = b + ITEMS, *total = sum + ITEMS;
    const sync_point_t one = cb_append_fill(buffer, a, 1, AT_ONCE);
    const sync_point_t two = cb_append_fill(buffer, b, 2, AT_ONCE);
    const sync_point_t three = cb_append_add(buffer, sum, a, b, AFTER(one, two));
    const sync_point_t six = cb_append_add(buffer, a, sum, sum, AFTER(three));
    cb_append_add(buffer, total, total, a, AFTER(six, three, six));
    UR_OK(urCommandBufferFinalizeExp(buffer));
}

static void check_sums(enum kind kind, ur_queue_flags_t flags)
{
    ur_queue_handle_t queue = ur_queue(gear.device, flags);
    buffer_t buffer = cb_make(kind);
    float *memory = cb_floats(4 * ITEMS);
    record_sums(buffer, memory);
    for (int i = 1; i <= 3; i++) {
        cb_run(queue, buffer);
        UR_OK(urQueueFinish(queue));
        cb_expect(memory + 2 * ITEMS, 3);
        cb_expect(memory + 3 * ITEMS, 6 * (float)i);
    }
    UR_OK(urCommandBufferReleaseExp(buffer));
    UR_OK(urQueueRelease(queue));
    ur_free(memory);
}

Test(command_buffer, is_replayed_on_a_queue_that_keeps_the_order)
{
    check_sums(FREE, 0);
    check_sums(IN_ORDER, 0);
    check_sums(UPDATABLE, UR_QUEUE_FLAG_PROFILING_ENABLE);
}

Test(command_buffer, keeps_to_its_sync_points_on_a_queue_of_any_order)
{
    check_sums(FREE, UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    check_sums(UPDATABLE, UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE);
}

// The first execution waits for the host, the others for it, whatever queue they are in.
Test(command_buffer, is_executed_one_time_after_the_other)
{
    const ur_queue_flags_t any_order = UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    ur_queue_handle_t queues[] = {ur_queue(gear.device, any_order), ur_queue(gear.device, 0),
                                  ur_queue(gear.device, any_order),
                                  ur_queue(gear.device, UR_QUEUE_FLAG_PROFILING_ENABLE)};
    enum { QUEUES = sizeof(queues) / sizeof(queues[0]) };
    buffer_t buffer = cb_make(FREE);
    float *memory = cb_floats(4 * ITEMS);
    ur_event_handle_t events[QUEUES];
    struct host_event host = host_event_make();
    record_sums(buffer, memory);
    for (int i = 0; i < QUEUES; i++)
        UR_OK(urEnqueueCommandBufferExp(queues[i], buffer, i == 0, i == 0 ? &host.event : NULL,
                                        &events[i]));
    cb_expect_unwritten(memory + 3 * ITEMS);
    for (int i = 0; i < QUEUES; i++)
        cr_assert_neq(ur_event_status(events[i]), UR_EVENT_STATUS_COMPLETE, "%d", i);
    host_event_signal(&host);
    UR_OK(urEventWait(1, &events[QUEUES - 1]));
    cb_expect(memory + 3 * ITEMS, 6 * QUEUES);
    for (int i = 0; i < QUEUES; i++) {
        UR_OK(urQueueRelease(queues[i]));
        UR_OK(urEventRelease(events[i]));
    }
    UR_OK(urCommandBufferReleaseExp(buffer));
    host_event_release(&host);
    ur_free(memory);
}

Test(command_buffer, in_order_keeps_the_order_on_a_queue_of_any_order)
{
    ur_queue_handle_t queue = ur_queue(gear.device, UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    buffer_t buffer = cb_make(IN_ORDER);
    float *a = cb_floats(ITEMS), *b = cb_floats(ITEMS);
    const sync_point_t unknown = 77; // sync points of a buffer in order are ignored
    cb_append_fill(buffer, a, 1, AFTER(unknown));
    for (int i = 0; i < 10; i++) {
        cb_append_add(buffer, b, a, a, AT_ONCE);
        cb_append_copy(buffer, a, b, AT_ONCE);
    }
    UR_OK(urCommandBufferFinalizeExp(buffer));
    cb_run(queue, buffer);
    UR_OK(urQueueFinish(queue));
    cb_expect(a, 1024);
    UR_OK(urCommandBufferReleaseExp(buffer));
    UR_OK(urQueueRelease(queue));
    ur_free(a);
    ur_free(b);
}

// A kernel that takes its time fills what the command buffer reads; a copy behind the command
// buffer's event reads what that wrote.
static void check_events(ur_queue_flags_t flags)
{
    ur_kernel_handle_t spin = ur_kernel("spin", "spin");
    ur_queue_handle_t first = ur_queue(gear.device, 0);
    ur_queue_handle_t queue = ur_queue(gear.device, flags);
    const uint32_t rounds = 20000000;
    uint32_t *slow = ur_shared(sizeof(uint32_t)), *copy = ur_shared(2 * sizeof(uint32_t));
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_VALUE(0, rounds), UR_POINTER(1, slow)};
    buffer_t buffer = cb_make(FREE);
    UR_OK(urCommandBufferAppendUSMAdviseExp(buffer, slow, sizeof(uint32_t),
                                            UR_USM_ADVICE_FLAG_SET_READ_MOSTLY, 0, NULL, 0, NULL,
                                            NULL, NULL, NULL));
    UR_OK(urCommandBufferAppendUSMMemcpyExp(buffer, copy, slow, sizeof(uint32_t), 0, NULL, 0, NULL,
                                            NULL, NULL, NULL));
    UR_OK(urCommandBufferFinalizeExp(buffer));
    ur_event_handle_t spun, ran;
    ur_command_t type;
    UR_OK(ur_launch(first, spin, 1, 2, arguments, 0, NULL, &spun));
    UR_OK(urEnqueueCommandBufferExp(queue, buffer, 1, &spun, &ran));
    UR_OK(urEnqueueUSMMemcpy(first, true, &copy[1], &copy[0], sizeof(uint32_t), 1, &ran, NULL));
    cr_assert_neq(slow[0], 0);
    cr_assert_eq(copy[0], slow[0]);
    cr_assert_eq(copy[1], slow[0]);
    UR_OK(urEventGetInfo(ran, UR_EVENT_INFO_COMMAND_TYPE, sizeof(type), &type, NULL));
    cr_assert_eq(type, UR_COMMAND_ENQUEUE_COMMAND_BUFFER_EXP);
    UR_OK(urEventRelease(spun));
    UR_OK(urEventRelease(ran));
    UR_OK(urCommandBufferReleaseExp(buffer));
    UR_OK(urQueueRelease(queue));
    UR_OK(urQueueRelease(first));
    UR_OK(urKernelRelease(spin));
    ur_free(slow);
    ur_free(copy);
}

Test(command_buffer, waits_for_events_and_completes_one)
{
    check_events(0);
    check_events(UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    check_events(UR_QUEUE_FLAG_PROFILING_ENABLE);
}

Test(command_buffer, may_be_empty)
{
    buffer_t buffer = cb_make(FREE);
    ur_event_handle_t event;
    UR_OK(urCommandBufferFinalizeExp(buffer));
    UR_OK(urEnqueueCommandBufferExp(gear.queue, buffer, 0, NULL, &event));
    UR_OK(urEventWait(1, &event));
    UR_OK(urEventRelease(event));
    UR_OK(urCommandBufferReleaseExp(buffer));
}

// Waits for the event, and releases it.
static uint64_t duration_of(ur_event_handle_t event)
{
    UR_OK(urEventWait(1, &event));
    const uint64_t submitted = ur_time_of(event, UR_PROFILING_INFO_COMMAND_SUBMIT);
    const uint64_t begun = ur_time_of(event, UR_PROFILING_INFO_COMMAND_START);
    const uint64_t ended = ur_time_of(event, UR_PROFILING_INFO_COMMAND_END);
    cr_assert(submitted <= begun && begun <= ended);
    UR_OK(urEventRelease(event));
    return ended - begun;
}

// The machine's speed may change meanwhile: before and after what is compared with it.
static uint64_t shortest_launch(ur_queue_handle_t queue, ur_kernel_handle_t spin,
                                const ur_exp_kernel_arg_properties_t *arguments, uint64_t shortest)
{
    for (int i = 0; i < 5; i++) {
        ur_event_handle_t event;
        UR_OK(ur_launch(queue, spin, 1, 2, arguments, 0, NULL, &event));
        const uint64_t duration = duration_of(event);
        shortest = duration < shortest ? duration : shortest;
    }
    return shortest;
}

static void check_times(ur_queue_flags_t flags)
{
    ur_queue_handle_t queue = ur_queue(gear.device, flags | UR_QUEUE_FLAG_PROFILING_ENABLE);
    ur_kernel_handle_t spin = ur_kernel("spin", "spin");
    const uint32_t rounds = 3000000;
    uint32_t *out = ur_shared(sizeof(uint32_t));
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_VALUE(0, rounds), UR_POINTER(1, out)};
    uint64_t shortest = shortest_launch(queue, spin, arguments, UINT64_MAX);
    ur_event_handle_t event;
    buffer_t buffer = cb_make(IN_ORDER);
    for (int i = 0; i < 8; i++)
        cb_append_launch(buffer, spin, 1, 2, arguments, AT_ONCE, NULL);
    UR_OK(urCommandBufferFinalizeExp(buffer));
    UR_OK(urEnqueueCommandBufferExp(queue, buffer, 0, NULL, &event));
    // Eight launches take longer than two, if these were slow, too, on a busy machine.
    const uint64_t all = duration_of(event);
    shortest = shortest_launch(queue, spin, arguments, shortest);
    cr_assert_gt(all, 2 * shortest, "%llu and %llu ns", (unsigned long long)all,
                 (unsigned long long)shortest);
    UR_OK(urCommandBufferReleaseExp(buffer));
    UR_OK(urQueueRelease(queue));
    UR_OK(urKernelRelease(spin));
    ur_free(out);
}

Test(command_buffer, has_the_times_of_all_its_commands)
{
    check_times(0);
    check_times(UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE);
}

// Calls of the driver that an execution makes, whatever else the plugin does.
static uint64_t executions(void)
{
    return ze_cpu.get_count("zeCommandListImmediateAppendCommandListsExp") +
           ze_cpu.get_count("zeCommandListImmediateAppendCommandListsWithParameters") +
           ze_cpu.get_count("zeCommandQueueExecuteCommandLists");
}

static void check_one_call(enum kind kind, ur_queue_flags_t flags)
{
    enum { COMMANDS = 100, RUNS = 50 };
    ur_queue_handle_t queue = ur_queue(gear.device, flags);
    float *a = cb_floats(ITEMS), *b = cb_floats(ITEMS), *sum = cb_floats(ITEMS);
    buffer_t buffer = cb_make(kind);
    sync_point_t last = cb_append_fill(buffer, a, 1, AT_ONCE);
    for (int i = 0; i < COMMANDS; i++) {
        last = cb_append_add(buffer, sum, a, b, AFTER(last));
        last = cb_append_copy(buffer, b, sum, AFTER(last));
    }
    UR_OK(urCommandBufferFinalizeExp(buffer));
    const uint64_t launches = ze_cpu.get_count("zeCommandListAppendLaunchKernel");
    const uint64_t copies = ze_cpu.get_count("zeCommandListAppendMemoryCopy");
    const uint64_t before = executions();
    uint64_t lists = 0;
    for (int i = 0; i < RUNS; i++) {
        cb_run(queue, buffer);
        UR_OK(urQueueFinish(queue));
        if (i == 0)
            lists = ze_cpu.get_count("zeCommandListCreate");
    }
    cr_assert_eq(executions() - before, RUNS);
    cr_assert_eq(ze_cpu.get_count("zeCommandListAppendLaunchKernel"), launches);
    cr_assert_eq(ze_cpu.get_count("zeCommandListAppendMemoryCopy"), copies);
    cr_assert_eq(ze_cpu.get_count("zeCommandListCreate"), lists);
    cb_expect(b, COMMANDS * RUNS);
    UR_OK(urCommandBufferReleaseExp(buffer));
    UR_OK(urQueueRelease(queue));
    ur_free(a);
    ur_free(b);
    ur_free(sum);
}

Test(command_buffer, is_executed_by_one_call_whatever_it_has)
{
    check_one_call(IN_ORDER, 0);
    check_one_call(FREE, 0);
    check_one_call(UPDATABLE, UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE);
}

// A recording that runs is not executed once more: there are others, but not for each execution.
Test(command_buffer, waits_for_the_oldest_of_many_executions)
{
    enum { RUNS = 60 };
    ur_kernel_handle_t spin = ur_kernel("spin", "spin");
    const uint32_t rounds = 100000;
    uint32_t *out = ur_shared(sizeof(uint32_t));
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_VALUE(0, rounds), UR_POINTER(1, out)};
    float *memory = cb_floats(4 * ITEMS);
    buffer_t buffer = cb_make(FREE);
    cb_append_launch(buffer, spin, 1, 2, arguments, AT_ONCE, NULL);
    record_sums(buffer, memory);
    const uint64_t lists = ze_cpu.get_count("zeCommandListCreate");
    for (int i = 0; i < RUNS; i++)
        cb_run(gear.queue, buffer);
    cr_assert_leq(ze_cpu.get_count("zeCommandListCreate") - lists, 3 * 8);
    UR_OK(urQueueFinish(gear.queue));
    cb_expect(memory + 3 * ITEMS, 6 * RUNS);
    UR_OK(urCommandBufferReleaseExp(buffer));
    UR_OK(urKernelRelease(spin));
    ur_free(memory);
    ur_free(out);
}

// ---- Odd numbers and lifetimes ----

// A command that waits for many others, each of which has an event of its own.
Test(command_buffer, takes_thousands_of_commands_and_waits)
{
    enum { COMMANDS = 2000 };
    ur_queue_handle_t queue = ur_queue(gear.device, UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    uint32_t *memory = ur_shared(2 * COMMANDS * sizeof(uint32_t));
    sync_point_t *points = calloc(COMMANDS, sizeof(points[0]));
    buffer_t buffer = cb_make(FREE);
    for (uint32_t i = 0; i < COMMANDS; i++)
        UR_OK(urCommandBufferAppendUSMFillExp(buffer, memory + i, &i, sizeof(i), sizeof(i), 0, NULL,
                                              0, NULL, &points[i], NULL, NULL));
    UR_OK(urCommandBufferAppendUSMMemcpyExp(buffer, memory + COMMANDS, memory,
                                            COMMANDS * sizeof(uint32_t), COMMANDS, points, 0, NULL,
                                            NULL, NULL, NULL));
    UR_OK(urCommandBufferFinalizeExp(buffer));
    for (int run = 0; run < 2; run++) {
        memset(memory, 0, 2 * COMMANDS * sizeof(uint32_t));
        cb_run(queue, buffer);
        UR_OK(urQueueFinish(queue));
        for (uint32_t i = 0; i < COMMANDS; i++)
            cr_assert_eq(memory[COMMANDS + i], i);
    }
    UR_OK(urCommandBufferReleaseExp(buffer));
    UR_OK(urQueueRelease(queue));
    free(points);
    ur_free(memory);
}

// One of many events is incomplete. The execution behind it waits for the one before it, too.
static void wait_for_many_events(uint32_t closed)
{
    enum { EVENTS = 65 }; // more than any list inside has room for
    ur_queue_handle_t queue = ur_queue(gear.device, UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    ur_queue_handle_t second = ur_queue(gear.device, 0), held = ur_queue(gear.device, 0);
    ur_event_handle_t events[EVENTS];
    struct host_event host = host_event_make();
    float *a = cb_floats(ITEMS);
    buffer_t buffer = cb_make(FREE);
    cb_append_fill(buffer, a, 3, AT_ONCE);
    UR_OK(urCommandBufferFinalizeExp(buffer));
    for (uint32_t i = 0; i < EVENTS; i++) {
        if (i == closed)
            UR_OK(urEnqueueEventsWait(held, 1, &host.event, &events[i]));
        else
            UR_OK(urEnqueueEventsWait(queue, 0, NULL, &events[i]));
    }
    UR_OK(urEnqueueCommandBufferExp(gear.queue, buffer, EVENTS, events, NULL));
    UR_OK(urEnqueueCommandBufferExp(second, buffer, EVENTS, events, NULL));
    cb_expect_unwritten(a);
    host_event_signal(&host);
    UR_OK(urQueueFinish(gear.queue));
    UR_OK(urQueueFinish(second));
    cb_expect(a, 3);
    for (uint32_t i = 0; i < EVENTS; i++)
        UR_OK(urEventRelease(events[i]));
    UR_OK(urCommandBufferReleaseExp(buffer));
    UR_OK(urQueueRelease(queue));
    UR_OK(urQueueRelease(second));
    UR_OK(urQueueRelease(held));
    host_event_release(&host);
    ur_free(a);
}

Test(command_buffer, waits_for_many_events)
{
    wait_for_many_events(0);
    wait_for_many_events(32);
    wait_for_many_events(64);
}

Test(command_buffer, waits_for_events_of_another_context)
{
    ur_context_handle_t context;
    ur_queue_handle_t queue;
    ur_event_handle_t event;
    struct host_event host = host_event_make();
    float *a = cb_floats(ITEMS);
    const ur_exp_command_buffer_desc_t desc = {.stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_DESC};
    buffer_t buffer = cb_make(FREE), other;
    cb_append_fill(buffer, a, 3, AT_ONCE);
    UR_OK(urCommandBufferFinalizeExp(buffer));
    UR_OK(urContextCreate(1, &gear.device, NULL, &context));
    UR_OK(urQueueCreate(context, gear.device, NULL, &queue));
    UR_OK(urCommandBufferCreateExp(context, gear.device, &desc, &other));
    UR_OK(urCommandBufferFinalizeExp(other));
    // The other context's execution waits for an event of this one's, and this one's for that.
    UR_OK(urEnqueueCommandBufferExp(queue, other, 1, &host.event, &event));
    UR_OK(urEnqueueCommandBufferExp(gear.queue, buffer, 1, &event, NULL));
    UR_FAILS(urEnqueueCommandBufferExp(gear.queue, other, 0, NULL, NULL),
             UR_RESULT_ERROR_INVALID_QUEUE);
    cb_expect_unwritten(a);
    host_event_signal(&host);
    UR_OK(urQueueFinish(gear.queue));
    cb_expect(a, 3);
    UR_OK(urEventRelease(event));
    UR_OK(urCommandBufferReleaseExp(other));
    UR_OK(urCommandBufferReleaseExp(buffer));
    UR_OK(urQueueRelease(queue));
    UR_OK(urContextRelease(context));
    host_event_release(&host);
    ur_free(a);
}

Test(command_buffer, has_no_times_in_a_queue_without_profiling)
{
    const ur_exp_command_buffer_desc_t desc = {.stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_DESC,
                                               .enableProfiling = true};
    ur_queue_handle_t queue = ur_queue(gear.device, 0);
    float *a = cb_floats(ITEMS);
    ur_event_handle_t event;
    uint64_t time;
    buffer_t buffer;
    UR_OK(urCommandBufferCreateExp(gear.context, gear.device, &desc, &buffer));
    cb_append_fill(buffer, a, 3, AT_ONCE);
    UR_OK(urCommandBufferFinalizeExp(buffer));
    UR_OK(urEnqueueCommandBufferExp(queue, buffer, 0, NULL, &event));
    UR_OK(urEventWait(1, &event));
    UR_FAILS(
        urEventGetProfilingInfo(event, UR_PROFILING_INFO_COMMAND_START, sizeof(time), &time, NULL),
        UR_RESULT_ERROR_PROFILING_INFO_NOT_AVAILABLE);
    UR_OK(urEventRelease(event));
    UR_OK(urCommandBufferReleaseExp(buffer));
    UR_OK(urQueueRelease(queue));
    ur_free(a);
}

// Whatever the host releases first, the event is good as long as the host has it.
Test(command_buffer, leaves_its_event_behind)
{
    struct host_event host = host_event_make();
    ur_kernel_handle_t kernel = ur_kernel("vector_add", "vector_add");
    ur_queue_handle_t queue = ur_queue(gear.device, 0);
    ur_event_handle_t event;
    float *a = cb_floats(ITEMS);
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_POINTER(0, a), UR_POINTER(1, a),
                                                        UR_POINTER(2, a)};
    buffer_t buffer = cb_make(UPDATABLE);
    command_t command;
    a[0] = 2;
    cb_append_launch(buffer, kernel, ITEMS, 3, arguments, AT_ONCE, &command);
    UR_OK(urKernelRelease(kernel));
    UR_OK(urCommandBufferFinalizeExp(buffer));
    UR_OK(urEnqueueCommandBufferExp(queue, buffer, 1, &host.event, &event));
    UR_OK(urQueueRelease(queue));
    host_event_signal(&host);
    UR_OK(urCommandBufferReleaseExp(buffer));
    UR_OK(urEventWait(1, &event));
    cr_assert_eq(ur_event_status(event), UR_EVENT_STATUS_COMPLETE);
    cr_assert_eq(a[0], 4);
    UR_OK(urEventRelease(event));
    host_event_release(&host);
    ur_free(a);
}
