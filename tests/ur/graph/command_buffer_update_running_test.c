// SPDX-License-Identifier: MIT
// Command buffers that are updated while other threads execute them and while executions are under
// way, and what their lists keep afterwards.
#include "command_buffer_fixture.h"

#include <criterion/criterion.h>
#include <pthread.h>

TestSuite(command_buffer_update_running, .init = cb_set_up, .fini = cb_tear_down);

// ---- Threads ----

struct worker {
    pthread_t thread;
    buffer_t buffer;
    command_t command;
    float *inputs[2];
};

static void *replay_often(void *data)
{
    struct worker *worker = data;
    ur_queue_handle_t queue = ur_queue(gear.device, UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    for (int i = 0; i < 200; i++) {
        ur_event_handle_t event;
        UR_OK(urEnqueueCommandBufferExp(queue, worker->buffer, 0, NULL, &event));
        if (i % 16 == 0)
            UR_OK(urEventWait(1, &event));
        UR_OK(urEventRelease(event));
    }
    UR_OK(urQueueFinish(queue));
    UR_OK(urQueueRelease(queue));
    return NULL;
}

static void *update_often(void *data)
{
    struct worker *worker = data;
    for (int i = 0; i < 200; i++) {
        ur_exp_command_buffer_update_kernel_launch_desc_t update = cb_update(worker->command);
        const ur_exp_command_buffer_update_pointer_arg_desc_t pointers[] = {
            cb_new_pointer(0, &worker->inputs[i % 2]), cb_new_pointer(1, &worker->inputs[i % 2])};
        update.numNewPointerArgs = 2;
        update.pNewPointerArgList = pointers;
        UR_OK(urCommandBufferUpdateKernelLaunchExp(worker->buffer, 1, &update));
    }
    return NULL;
}

// Both inputs change at once: no execution adds one to the other.
Test(command_buffer_update_running, serves_several_threads_while_it_is_updated)
{
    float *a = cb_floats(ITEMS), *b = cb_floats(ITEMS), *sum = cb_floats(ITEMS);
    for (int i = 0; i < ITEMS; i++)
        a[i] = 1, b[i] = 10;
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_POINTER(0, a), UR_POINTER(1, a),
                                                        UR_POINTER(2, sum)};
    struct worker workers[3] = {{.inputs = {a, b}}};
    buffer_t buffer = workers[0].buffer = cb_make(UPDATABLE);
    cb_append_launch(buffer, cb_add, ITEMS, 3, arguments, AT_ONCE, &workers[0].command);
    UR_OK(urCommandBufferFinalizeExp(buffer));
    workers[1] = workers[2] = workers[0];
    pthread_create(&workers[0].thread, NULL, update_often, &workers[0]);
    pthread_create(&workers[1].thread, NULL, replay_often, &workers[1]);
    pthread_create(&workers[2].thread, NULL, replay_often, &workers[2]);
    for (int i = 0; i < 3; i++)
        pthread_join(workers[i].thread, NULL);
    cb_run(gear.queue, buffer);
    UR_OK(urQueueFinish(gear.queue));
    cb_expect(sum, 20);
    UR_OK(urCommandBufferReleaseExp(buffer));
    ur_free(a);
    ur_free(b);
    ur_free(sum);
}

// ---- Executions under way ----

// The launch gets another destination.
static void update_sum(buffer_t buffer, command_t command, float *sum)
{
    ur_exp_command_buffer_update_kernel_launch_desc_t update = cb_update(command);
    const ur_exp_command_buffer_update_pointer_arg_desc_t pointer = cb_new_pointer(2, &sum);
    update.numNewPointerArgs = 1;
    update.pNewPointerArgList = &pointer;
    UR_OK(urCommandBufferUpdateKernelLaunchExp(buffer, 1, &update));
}

// None of the executions begins before the last update.
static void check_old_values(ur_queue_flags_t flags)
{
    enum { RUNS = 5 };
    ur_queue_handle_t queue = ur_queue(gear.device, flags);
    float *a = cb_floats(ITEMS), *sums = cb_floats((RUNS + 1) * ITEMS);
    struct host_event host = host_event_make();
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_POINTER(0, sums), UR_POINTER(1, a),
                                                        UR_POINTER(2, sums + ITEMS)};
    command_t command;
    buffer_t buffer = cb_make(UPDATABLE);
    const sync_point_t filled = cb_append_fill(buffer, a, 1, AT_ONCE);
    const sync_point_t added =
        cb_append_launch(buffer, cb_add, ITEMS, 3, arguments, AFTER(filled), &command);
    // The number of executions that are over.
    cb_append_add(buffer, sums, sums, a, AFTER(added));
    UR_OK(urCommandBufferFinalizeExp(buffer));
    for (int i = 1; i <= RUNS; i++) {
        UR_OK(urEnqueueCommandBufferExp(queue, buffer, i == 1, i == 1 ? &host.event : NULL, NULL));
        if (i < RUNS)
            update_sum(buffer, command, sums + (size_t)(i + 1) * ITEMS);
    }
    cb_expect_unwritten(sums);
    host_event_signal(&host);
    UR_OK(urQueueFinish(queue));
    for (int i = 1; i <= RUNS; i++)
        cb_expect(sums + (size_t)i * ITEMS, (float)i);
    UR_OK(urCommandBufferReleaseExp(buffer));
    UR_OK(urQueueRelease(queue));
    host_event_release(&host);
    ur_free(a);
    ur_free(sums);
}

Test(command_buffer_update_running, leaves_executions_under_way_their_old_values)
{
    check_old_values(0);
    check_old_values(UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE);
}

// Where the driver has mutable lists, an update appends no command once more: neither while the
// commands of the list run nor later, whatever it changes.
Test(command_buffer_update_running, changes_commands_in_their_list)
{
    const char *lacks = getenv("ZE_CPU_WITHOUT");
    float *a = cb_floats(ITEMS), *sums = cb_floats(3 * ITEMS);
    ur_kernel_handle_t negate = ur_kernel("negate", "negate");
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_POINTER(0, a), UR_POINTER(1, a),
                                                        UR_POINTER(2, sums)};
    const size_t items = ITEMS;
    size_t fewer = ITEMS / 2;
    command_t command;
    buffer_t buffer = cb_make(UPDATABLE);
    const sync_point_t filled = cb_append_fill(buffer, a, 1, AT_ONCE);
    UR_OK(urCommandBufferAppendKernelLaunchWithArgsExp(buffer, cb_add, 1, NULL, &items, NULL, 3,
                                                       arguments, 1, &negate, 1, &filled, 0, NULL,
                                                       NULL, NULL, &command));
    UR_OK(urCommandBufferFinalizeExp(buffer));
    cb_run(gear.queue, buffer);
    UR_OK(urQueueFinish(gear.queue));
    cb_expect(sums, 2);
    const uint64_t appended = ze_cpu.get_count("zeCommandListAppendLaunchKernel");
    for (size_t i = 1; i < 3; i++) {
        update_sum(buffer, command, sums + i * ITEMS);
        cb_run(gear.queue, buffer);
        UR_OK(urQueueFinish(gear.queue));
        cb_expect(sums + i * ITEMS, 2);
    }
    // Another kernel, of half the size: of the floats of 2 it makes negative integers.
    ur_exp_command_buffer_update_kernel_launch_desc_t update = cb_update(command);
    const ur_exp_command_buffer_update_pointer_arg_desc_t pointer = cb_new_pointer(0, &sums);
    update.hNewKernel = negate;
    update.numNewPointerArgs = 1;
    update.pNewPointerArgList = &pointer;
    update.pNewGlobalWorkSize = &fewer;
    cb_update_and_run(buffer, &update);
    int32_t two, half;
    memcpy(&two, &sums[ITEMS], sizeof(two));
    memcpy(&half, &sums[ITEMS / 2 - 1], sizeof(half));
    cr_assert_eq(half, -two);
    cr_assert_eq(sums[ITEMS / 2], 2);
    const bool is_mutable = !lacks || !strstr(lacks, "mutable_command_list");
    cr_assert_eq(ze_cpu.get_count("zeCommandListAppendLaunchKernel") - appended,
                 is_mutable ? 0 : 3);
    UR_OK(urCommandBufferReleaseExp(buffer));
    UR_OK(urKernelRelease(negate));
    ur_free(a);
    ur_free(sums);
}

static uint32_t references_to(ur_mem_handle_t mem)
{
    uint32_t count;
    UR_OK(urMemGetInfo(mem, UR_MEM_INFO_REFERENCE_COUNT, sizeof(count), &count, NULL));
    return count;
}

// A buffer on the host's memory moves: it is brought to the device before each execution.
Test(command_buffer_update_running, gives_up_a_buffer_that_moves_with_its_kernel)
{
    float *a = cb_floats(ITEMS), host[ITEMS] = {0};
    const ur_buffer_properties_t properties = {.stype = UR_STRUCTURE_TYPE_BUFFER_PROPERTIES,
                                               .pHost = host};
    const size_t items = ITEMS;
    ur_kernel_handle_t negate = ur_kernel("negate", "negate");
    ur_mem_handle_t mem;
    UR_OK(urMemBufferCreate(gear.context, UR_MEM_FLAG_READ_WRITE | UR_MEM_FLAG_USE_HOST_POINTER,
                            sizeof(host), &properties, &mem));
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_POINTER(0, a), UR_POINTER(1, a),
                                                        UR_MEM(2, mem)};
    command_t command;
    buffer_t buffer = cb_make(UPDATABLE);
    UR_OK(urCommandBufferAppendKernelLaunchWithArgsExp(buffer, cb_add, 1, NULL, &items, NULL, 3,
                                                       arguments, 1, &negate, 0, NULL, 0, NULL,
                                                       NULL, NULL, &command));
    UR_OK(urCommandBufferFinalizeExp(buffer));
    cb_run(gear.queue, buffer);
    UR_OK(urQueueFinish(gear.queue));

    const uint64_t appended = ze_cpu.get_count("zeCommandListAppendLaunchKernel");
    ur_exp_command_buffer_update_kernel_launch_desc_t update = cb_update(command);
    const ur_exp_command_buffer_update_pointer_arg_desc_t pointer = cb_new_pointer(0, &a);
    update.hNewKernel = negate;
    update.numNewPointerArgs = 1;
    update.pNewPointerArgList = &pointer;
    UR_OK(urCommandBufferUpdateKernelLaunchExp(buffer, 1, &update));
    cr_assert_eq(references_to(mem), 1);
    UR_OK(urMemRelease(mem));
    cb_run(gear.queue, buffer);
    UR_OK(urQueueFinish(gear.queue));
    cr_assert_eq(ze_cpu.get_count("zeCommandListAppendLaunchKernel") - appended, 1);
    UR_OK(urCommandBufferReleaseExp(buffer));
    UR_OK(urKernelRelease(negate));
    ur_free(a);
}

Test(command_buffer_update_running, gives_up_what_it_replaced_once_that_is_not_used)
{
    float *a = cb_floats(ITEMS), *sum = cb_floats(ITEMS);
    ur_mem_handle_t mem = cb_make_mem(ITEMS * sizeof(float));
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_POINTER(0, a), UR_POINTER(1, a),
                                                        UR_MEM(2, mem)};
    for (int is_running = 0; is_running < 2; is_running++) {
        struct host_event host = host_event_make();
        command_t command;
        buffer_t buffer = cb_make(UPDATABLE);
        cb_append_launch(buffer, cb_add, ITEMS, 3, arguments, AT_ONCE, &command);
        UR_OK(urCommandBufferFinalizeExp(buffer));
        if (is_running)
            UR_OK(urEnqueueCommandBufferExp(gear.queue, buffer, 1, &host.event, NULL));
        cr_assert_gt(references_to(mem), 1);
        update_sum(buffer, command, sum);
        if (is_running) {
            cr_assert_gt(references_to(mem), 1);
            host_event_signal(&host);
            UR_OK(urQueueFinish(gear.queue));
            cb_run(gear.queue, buffer);
        }
        cr_assert_eq(references_to(mem), 1);
        UR_OK(urCommandBufferReleaseExp(buffer));
        host_event_release(&host);
    }
    UR_OK(urMemRelease(mem));
    ur_free(a);
    ur_free(sum);
}
