// SPDX-License-Identifier: MIT
// Launches in command buffers that are updated between replays, and during them.
#include "command_buffer_fixture.h"

#include <criterion/criterion.h>
#include <pthread.h>

TestSuite(command_buffer_update, .init = cb_set_up, .fini = cb_tear_down);

// ---- Updates ----

Test(command_buffer_update, takes_new_pointers_and_memory_objects)
{
    float *a = cb_floats(ITEMS), *b = cb_floats(ITEMS), *sum = cb_floats(ITEMS), out[ITEMS];
    for (int i = 0; i < ITEMS; i++)
        a[i] = 1, b[i] = 10;
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_POINTER(0, a), UR_POINTER(1, a),
                                                        UR_POINTER(2, sum)};
    command_t command;
    buffer_t buffer = cb_make(UPDATABLE);
    cb_append_launch(buffer, cb_add, ITEMS, 3, arguments, AT_ONCE, &command);
    UR_OK(urCommandBufferFinalizeExp(buffer));
    cb_run(gear.queue, buffer);
    UR_OK(urQueueFinish(gear.queue));
    cb_expect(sum, 2);

    ur_exp_command_buffer_update_kernel_launch_desc_t update = cb_update(command);
    const ur_exp_command_buffer_update_pointer_arg_desc_t pointer = cb_new_pointer(1, &b);
    update.numNewPointerArgs = 1;
    update.pNewPointerArgList = &pointer;
    cb_update_and_run(buffer, &update);
    cb_expect(sum, 11);

    ur_mem_handle_t mem = cb_make_mem(ITEMS * sizeof(float));
    const ur_exp_command_buffer_update_memobj_arg_desc_t object = {
        .stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_UPDATE_MEMOBJ_ARG_DESC,
        .argIndex = 2,
        .hNewMemObjArg = mem};
    update = cb_update(command);
    update.numNewMemObjArgs = 1;
    update.pNewMemObjArgList = &object;
    UR_OK(urCommandBufferUpdateKernelLaunchExp(buffer, 1, &update));
    b[0] = 100;
    cb_run(gear.queue, buffer);
    UR_OK(urEnqueueMemBufferRead(gear.queue, mem, true, 0, sizeof(out), out, 0, NULL, NULL));
    cr_assert_eq(out[0], 101);
    cr_assert_eq(out[1], 11);
    cb_expect(sum, 11);
    UR_OK(urMemRelease(mem));
    cb_run(gear.queue, buffer); // the buffer lives on in the command
    UR_OK(urCommandBufferReleaseExp(buffer));
    ur_free(a);
    ur_free(b);
    ur_free(sum);
}

// Of note_ends: what it notes is in `out`.
static void update_sizes_and_offsets(buffer_t buffer, command_t command, const int32_t *out)
{
    size_t offset[] = {100, 10}, size[] = {6, 4}, local[] = {3, 2};
    ur_exp_command_buffer_update_kernel_launch_desc_t update = cb_update(command);
    update.pNewGlobalWorkOffset = offset;
    cb_update_and_run(buffer, &update);
    cr_assert(out[0] == 100 && out[3] == 107 && out[6] == 4);

    update.newWorkDim = 2;
    update.pNewGlobalWorkSize = size;
    update.pNewLocalWorkSize = local;
    cb_update_and_run(buffer, &update);
    cr_assert(out[0] == 100 && out[1] == 10 && out[3] == 105 && out[4] == 13);
    cr_assert(out[6] == 3 && out[7] == 2);

    // A size that the old groups do not divide: the driver chooses.
    size[0] = 5, size[1] = 7;
    update.pNewLocalWorkSize = NULL;
    cb_update_and_run(buffer, &update);
    cr_assert(out[3] == 104 && out[4] == 16);

    size[0] = 9;
    local[0] = 2;
    update.pNewLocalWorkSize = local;
    UR_FAILS(urCommandBufferUpdateKernelLaunchExp(buffer, 1, &update),
             UR_RESULT_ERROR_INVALID_WORK_GROUP_SIZE);

    // Beyond what a launch takes: the old offset stays.
    offset[0] = (size_t)UINT32_MAX + 1;
    update = cb_update(command);
    update.newWorkDim = 2;
    update.pNewGlobalWorkOffset = offset;
    UR_FAILS(urCommandBufferUpdateKernelLaunchExp(buffer, 1, &update),
             UR_RESULT_ERROR_INVALID_VALUE);
    cb_run(gear.queue, buffer);
    UR_OK(urQueueFinish(gear.queue));
    cr_assert(out[0] == 100 && out[3] == 104);
}

Test(command_buffer_update, takes_new_values_sizes_and_offsets)
{
    ur_kernel_handle_t note = ur_kernel("launches", "note_ends");
    int32_t *out = ur_shared(9 * sizeof(int32_t));
    const ur_exp_kernel_arg_properties_t argument = UR_POINTER(0, out);
    const size_t items = 8, group = 4;
    command_t command;
    buffer_t buffer = cb_make(UPDATABLE);
    UR_OK(urCommandBufferAppendKernelLaunchWithArgsExp(buffer, note, 1, NULL, &items, &group, 1,
                                                       &argument, 0, NULL, 0, NULL, 0, NULL, NULL,
                                                       NULL, &command));
    UR_OK(urCommandBufferFinalizeExp(buffer));
    cb_run(gear.queue, buffer);
    UR_OK(urQueueFinish(gear.queue));
    cr_assert(out[0] == 0 && out[3] == 7 && out[6] == 4);
    update_sizes_and_offsets(buffer, command, out);
    UR_OK(urCommandBufferReleaseExp(buffer));
    UR_OK(urKernelRelease(note));
    ur_free(out);
}

Test(command_buffer_update, takes_another_kernel_and_local_memory)
{
    ur_kernel_handle_t use_local = ur_kernel("launches", "use_local");
    ur_kernel_handle_t count = ur_kernel("launches", "count_items");
    int32_t *out = ur_shared(ITEMS * sizeof(int32_t)), *sums = ur_shared(ITEMS * sizeof(int32_t));
    const size_t items = 16;
    int32_t length = 10;
    const ur_exp_kernel_arg_properties_t argument = UR_POINTER(0, out);
    command_t command;
    buffer_t buffer = cb_make(UPDATABLE);
    UR_OK(urCommandBufferAppendKernelLaunchWithArgsExp(buffer, count, 1, NULL, &items, NULL, 1,
                                                       &argument, 1, &use_local, 0, NULL, 0, NULL,
                                                       NULL, NULL, &command));
    UR_OK(urCommandBufferFinalizeExp(buffer));
    UR_OK(urKernelRelease(use_local));
    UR_OK(urKernelRelease(count));
    cb_run(gear.queue, buffer);
    UR_OK(urQueueFinish(gear.queue));
    cr_assert(out[0] == 1 && out[15] == 1 && out[16] == 0);

    ur_exp_command_buffer_update_kernel_launch_desc_t update = cb_update(command);
    const ur_exp_command_buffer_update_value_arg_desc_t values[] = {
        cb_new_value(0, 40, NULL), cb_new_value(1, sizeof(length), &length)};
    const ur_exp_command_buffer_update_pointer_arg_desc_t pointer = cb_new_pointer(2, &sums);
    size_t size = 16, group = 8;
    update.hNewKernel = use_local;
    update.numNewValueArgs = 1;
    update.pNewValueArgList = values;
    update.numNewPointerArgs = 1;
    update.pNewPointerArgList = &pointer;
    update.pNewGlobalWorkSize = &size;
    update.pNewLocalWorkSize = &group;
    // Its second argument was never set.
    UR_FAILS(urCommandBufferUpdateKernelLaunchExp(buffer, 1, &update),
             UR_RESULT_ERROR_INVALID_VALUE);
    update.numNewValueArgs = 2;
    UR_OK(urCommandBufferUpdateKernelLaunchExp(buffer, 1, &update));
    length = 3; // it has been copied
    cb_run(gear.queue, buffer);
    UR_OK(urQueueFinish(gear.queue));
    // 1000 times the last item, and 0 + 1 + ... + 9.
    cr_assert_eq(sums[0], 7045);
    cr_assert_eq(sums[1], 7045);
    cr_assert_eq(out[0], 1);
    UR_OK(urCommandBufferReleaseExp(buffer));
    ur_free(out);
    ur_free(sums);
}

Test(command_buffer_update, takes_all_updates_of_a_call_or_none)
{
    float *a = cb_floats(ITEMS), *b = cb_floats(ITEMS), *sum = cb_floats(2 * ITEMS);
    for (int i = 0; i < ITEMS; i++)
        a[i] = 1, b[i] = 5;
    ur_exp_kernel_arg_properties_t arguments[] = {UR_POINTER(0, a), UR_POINTER(1, a),
                                                  UR_POINTER(2, sum)};
    command_t commands[2];
    buffer_t buffer = cb_make(UPDATABLE);
    cb_append_launch(buffer, cb_add, ITEMS, 3, arguments, AT_ONCE, &commands[0]);
    arguments[2] = UR_POINTER(2, sum + ITEMS);
    cb_append_launch(buffer, cb_add, ITEMS, 3, arguments, AT_ONCE, &commands[1]);
    UR_OK(urCommandBufferFinalizeExp(buffer));
    const ur_exp_command_buffer_update_pointer_arg_desc_t first = cb_new_pointer(0, &b),
                                                          second = cb_new_pointer(1, &b),
                                                          wrong = cb_new_pointer(3, &b);
    // The first command twice: the second update goes on from the first.
    ur_exp_command_buffer_update_kernel_launch_desc_t updates[] = {
        cb_update(commands[0]), cb_update(commands[0]), cb_update(commands[1])};
    for (int i = 0; i < 3; i++)
        updates[i].numNewPointerArgs = 1;
    updates[0].pNewPointerArgList = &first;
    updates[1].pNewPointerArgList = &second;
    updates[2].pNewPointerArgList = &wrong;
    UR_FAILS(urCommandBufferUpdateKernelLaunchExp(buffer, 3, updates),
             UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX);
    cb_run(gear.queue, buffer);
    UR_OK(urQueueFinish(gear.queue));
    cb_expect(sum, 2);
    cb_expect(sum + ITEMS, 2);
    updates[2].pNewPointerArgList = &second;
    UR_OK(urCommandBufferUpdateKernelLaunchExp(buffer, 3, updates));
    cb_run(gear.queue, buffer);
    UR_OK(urQueueFinish(gear.queue));
    cb_expect(sum, 10);
    cb_expect(sum + ITEMS, 6);
    UR_OK(urCommandBufferReleaseExp(buffer));
    ur_free(a);
    ur_free(b);
    ur_free(sum);
}

// Also in lists that are recorded later: the second execution needs some.
Test(command_buffer_update, leaves_nothing_of_an_update_that_fails)
{
    ur_kernel_handle_t use_local = ur_kernel("launches", "use_local");
    ur_kernel_handle_t count = ur_kernel("launches", "count_items");
    int32_t *sums = ur_shared(2 * sizeof(int32_t)), *other = ur_shared(16 * sizeof(int32_t));
    struct host_event host = host_event_make();
    const int32_t length = 10, shorter = 3, nothing = 0;
    const size_t items = 16, group = 8;
    size_t fewer = 8, smaller = 4;
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_LOCAL(0, 40), UR_VALUE(1, length),
                                                        UR_POINTER(2, sums)};
    command_t command;
    buffer_t buffer = cb_make(UPDATABLE);
    UR_OK(urCommandBufferAppendKernelLaunchWithArgsExp(buffer, use_local, 1, NULL, &items, &group,
                                                       3, arguments, 1, &count, 0, NULL, 0, NULL,
                                                       NULL, NULL, &command));
    UR_OK(urCommandBufferFinalizeExp(buffer));

    const ur_exp_command_buffer_update_value_arg_desc_t values[] = {
        cb_new_value(0, 80, NULL), cb_new_value(1, sizeof(shorter), &shorter)};
    const ur_exp_command_buffer_update_pointer_arg_desc_t pointer = cb_new_pointer(2, &other),
                                                          first = cb_new_pointer(0, &other);
    ur_exp_command_buffer_update_kernel_launch_desc_t updates[] = {
        cb_update(command), cb_update(command), cb_update(command)};
    updates[0].numNewValueArgs = 2;
    updates[0].pNewValueArgList = values;
    updates[0].numNewPointerArgs = 1;
    updates[0].pNewPointerArgList = &pointer;
    updates[0].pNewGlobalWorkSize = &fewer;
    updates[0].pNewLocalWorkSize = &smaller;
    updates[1].hNewKernel = count;
    updates[1].numNewPointerArgs = 1;
    updates[1].pNewPointerArgList = &first;
    updates[2].newWorkDim = 4;
    for (uint32_t begin = 0; begin < 3; begin++)
        UR_FAILS(urCommandBufferUpdateKernelLaunchExp(buffer, 3 - begin, updates + begin),
                 UR_RESULT_ERROR_INVALID_WORK_DIMENSION);
    UR_OK(urEnqueueCommandBufferExp(gear.queue, buffer, 1, &host.event, NULL));
    UR_OK(urEnqueueUSMFill(gear.queue, sums, sizeof(nothing), &nothing, 2 * sizeof(nothing), 0,
                           NULL, NULL));
    cb_run(gear.queue, buffer);
    host_event_signal(&host);
    UR_OK(urQueueFinish(gear.queue));
    cr_assert(sums[0] == 7045 && sums[1] == 7045, "%d, %d", sums[0], sums[1]);
    cr_assert_eq(other[0], 0);
    // All but the last of them are right.
    UR_OK(urCommandBufferUpdateKernelLaunchExp(buffer, 2, updates));
    cb_run(gear.queue, buffer);
    UR_OK(urQueueFinish(gear.queue));
    cr_assert(other[0] == 1 && other[7] == 1 && other[8] == 0);

    UR_OK(urCommandBufferReleaseExp(buffer));
    UR_OK(urKernelRelease(use_local));
    UR_OK(urKernelRelease(count));
    host_event_release(&host);
    ur_free(sums);
    ur_free(other);
}

// Nothing changes, or nothing is given: the launch is as it was.
Test(command_buffer_update, may_change_nothing)
{
    float *a = cb_floats(ITEMS), *sum = cb_floats(ITEMS);
    size_t items = ITEMS;
    for (int i = 0; i < ITEMS; i++)
        a[i] = 2;
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_POINTER(0, a), UR_POINTER(1, a),
                                                        UR_POINTER(2, sum)};
    const ur_exp_command_buffer_update_pointer_arg_desc_t pointer = cb_new_pointer(0, &a);
    command_t command;
    buffer_t buffer = cb_make(UPDATABLE);
    cb_append_launch(buffer, cb_add, ITEMS, 3, arguments, AT_ONCE, &command);
    UR_OK(urCommandBufferFinalizeExp(buffer));
    ur_exp_command_buffer_update_kernel_launch_desc_t update = cb_update(command);
    cb_update_and_run(buffer, &update);
    cb_expect(sum, 4);
    memset(sum, 0, ITEMS * sizeof(sum[0]));
    update.hNewKernel = cb_add;
    update.numNewPointerArgs = 1;
    update.pNewPointerArgList = &pointer;
    update.pNewGlobalWorkSize = &items;
    cb_update_and_run(buffer, &update);
    cb_expect(sum, 4);
    UR_OK(urCommandBufferReleaseExp(buffer));
    ur_free(a);
    ur_free(sum);
}

// A structure of 96 bytes, more than an update keeps the bytes of.
Test(command_buffer_update, takes_large_structures)
{
    enum { COUNT = 12 };
    ur_kernel_handle_t kernel = ur_kernel("arguments", "sum_wide");
    int64_t *out = ur_shared(sizeof(int64_t));
    int64_t values[COUNT] = {1, 2};
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_VALUE(0, values), UR_POINTER(1, out)};
    const ur_exp_command_buffer_update_value_arg_desc_t value =
        cb_new_value(0, sizeof(values), values);
    command_t command;
    buffer_t buffer = cb_make(UPDATABLE);
    cb_append_launch(buffer, kernel, 1, 2, arguments, AT_ONCE, &command);
    UR_OK(urCommandBufferFinalizeExp(buffer));
    cb_run(gear.queue, buffer);
    UR_OK(urQueueFinish(gear.queue));
    cr_assert_eq(out[0], 3);
    ur_exp_command_buffer_update_kernel_launch_desc_t update = cb_update(command);
    update.numNewValueArgs = 1;
    update.pNewValueArgList = &value;
    for (int i = 0; i < COUNT; i++) {
        values[i] = 10;
        cb_update_and_run(buffer, &update);
        cr_assert_eq(out[0], i == 0 ? 12 : 10 * (i + 1));
    }
    values[0] = 0;
    const ur_exp_command_buffer_update_kernel_launch_desc_t updates[] = {update, cb_update(NULL)};
    UR_FAILS(urCommandBufferUpdateKernelLaunchExp(buffer, 2, updates),
             UR_RESULT_ERROR_INVALID_NULL_HANDLE);
    cb_run(gear.queue, buffer);
    UR_OK(urQueueFinish(gear.queue));
    cr_assert_eq(out[0], 10 * COUNT);
    UR_OK(urCommandBufferReleaseExp(buffer));
    UR_OK(urKernelRelease(kernel));
    ur_free(out);
}

// More arguments and sizes than one call of the driver has room for.
Test(command_buffer_update, takes_many_changes_at_once)
{
    enum { COMMANDS = 12 };
    float *a = cb_floats(ITEMS), *b = cb_floats(ITEMS), *sums = cb_floats(2 * COMMANDS * ITEMS);
    for (int i = 0; i < ITEMS; i++)
        a[i] = 1, b[i] = 5;
    command_t commands[COMMANDS];
    float *targets[COMMANDS];
    ur_exp_command_buffer_update_pointer_arg_desc_t pointers[COMMANDS][3];
    ur_exp_command_buffer_update_kernel_launch_desc_t updates[COMMANDS];
    size_t half = ITEMS / 2;
    buffer_t buffer = cb_make(UPDATABLE);
    for (int i = 0; i < COMMANDS; i++) {
        const ur_exp_kernel_arg_properties_t arguments[] = {
            UR_POINTER(0, a), UR_POINTER(1, a), UR_POINTER(2, sums + (size_t)i * ITEMS)};
        cb_append_launch(buffer, cb_add, ITEMS, 3, arguments, AT_ONCE, &commands[i]);
    }
    UR_OK(urCommandBufferFinalizeExp(buffer));
    cb_run(gear.queue, buffer);
    for (int i = 0; i < COMMANDS; i++) {
        targets[i] = sums + (size_t)(COMMANDS + i) * ITEMS;
        pointers[i][0] = cb_new_pointer(0, &b);
        pointers[i][1] = cb_new_pointer(1, i % 2 ? &a : &b);
        pointers[i][2] = cb_new_pointer(2, &targets[i]);
        updates[i] = cb_update(commands[i]);
        updates[i].numNewPointerArgs = 3;
        updates[i].pNewPointerArgList = pointers[i];
        updates[i].pNewGlobalWorkSize = &half;
    }
    UR_OK(urQueueFinish(gear.queue));
    UR_OK(urCommandBufferUpdateKernelLaunchExp(buffer, COMMANDS, updates));
    cb_run(gear.queue, buffer);
    UR_OK(urQueueFinish(gear.queue));
    for (int i = 0; i < COMMANDS; i++) {
        cb_expect(sums + (size_t)i * ITEMS, 2);
        cr_assert_eq(targets[i][0], i % 2 ? 6 : 10);
        cr_assert_eq(targets[i][half - 1], i % 2 ? 6 : 10);
        cr_assert_eq(targets[i][half], 0);
    }
    UR_OK(urCommandBufferReleaseExp(buffer));
    ur_free(a);
    ur_free(b);
    ur_free(sums);
}

// An update of some arguments, or of the size, after updates of others. Of each three executions
// two are enqueued before one ends, so that the launches of the last updates are in use.
Test(command_buffer_update, goes_on_from_the_updates_before)
{
    enum { RUNS = 60 };
    ur_kernel_handle_t use_local = ur_kernel("launches", "use_local");
    int32_t *all = ur_shared((RUNS + 1) * 8 * sizeof(int32_t));
    int32_t *sums = all, length = 10, expected[RUNS + 1];
    size_t size = 16, group = 8;
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_LOCAL(0, 64 * sizeof(int32_t)),
                                                        UR_VALUE(1, length), UR_POINTER(2, sums)};
    command_t command;
    buffer_t buffer = cb_make(UPDATABLE);
    UR_OK(urCommandBufferAppendKernelLaunchWithArgsExp(buffer, use_local, 1, NULL, &size, &group, 3,
                                                       arguments, 0, NULL, 0, NULL, 0, NULL, NULL,
                                                       NULL, &command));
    UR_OK(urCommandBufferFinalizeExp(buffer));
    for (int i = 1; i <= RUNS; i++) {
        ur_exp_command_buffer_update_kernel_launch_desc_t update = cb_update(command);
        const size_t local_bytes = 64 * sizeof(int32_t) + 4 * (size_t)(i % 5);
        sums = all + 8 * i;
        length = i % 2 ? length : 8 + i % 7;
        group = i % 3 ? group : 4 + 4 * (size_t)(i / 3 % 2);
        const ur_exp_command_buffer_update_pointer_arg_desc_t pointer = cb_new_pointer(2, &sums);
        const ur_exp_command_buffer_update_value_arg_desc_t values[] = {
            cb_new_value(1, sizeof(length), &length), cb_new_value(0, local_bytes, NULL)};
        update.numNewPointerArgs = 1;
        update.pNewPointerArgList = &pointer;
        update.numNewValueArgs = i % 2 ? 0 : 1 + i % 4 / 2;
        update.pNewValueArgList = i % 2 ? NULL : values;
        update.pNewGlobalWorkSize = i % 3 ? NULL : &size;
        update.pNewLocalWorkSize = i % 3 ? NULL : &group;
        UR_OK(urCommandBufferUpdateKernelLaunchExp(buffer, 1, &update));
        cb_run(gear.queue, buffer);
        if (i % 3 == 0)
            UR_OK(urQueueFinish(gear.queue));
        // 1000 times the last item, and all numbers below the length.
        expected[i] = 1000 * ((int32_t)group - 1) + length * (length - 1) / 2;
    }
    UR_OK(urQueueFinish(gear.queue));
    for (int i = 1; i <= RUNS; i++)
        cr_assert(all[8 * i] == expected[i] && all[8 * i + 1] == expected[i], "%d: %d, not %d", i,
                  all[8 * i], expected[i]);
    UR_OK(urCommandBufferReleaseExp(buffer));
    UR_OK(urKernelRelease(use_local));
    ur_free(all);
}

// ---- Kernels of other arguments and dimensions ----

static void run_and_wait(buffer_t buffer)
{
    cb_run(gear.queue, buffer);
    UR_OK(urQueueFinish(gear.queue));
}

// Three dimensions and one argument, of which each work-item writes where it stands.
static void become_ids(buffer_t buffer, command_t command, ur_kernel_handle_t ids, int32_t *out)
{
    size_t offset[3] = {0}, size[] = {4, 2, 2}, local[] = {2, 1, 1};
    ur_exp_command_buffer_update_kernel_launch_desc_t update = cb_update(command);
    const ur_exp_command_buffer_update_pointer_arg_desc_t pointer = cb_new_pointer(0, &out);
    update.hNewKernel = ids;
    update.newWorkDim = 3;
    update.pNewGlobalWorkOffset = offset;
    update.pNewGlobalWorkSize = size;
    update.pNewLocalWorkSize = local;
    update.numNewPointerArgs = 1;
    update.pNewPointerArgList = &pointer;
    UR_OK(urCommandBufferUpdateKernelLaunchExp(buffer, 1, &update));
    run_and_wait(buffer);
    cr_assert(out[45] == 10103 && out[46] == 1 && out[47] == 10101);
}

// A value in the place of a pointer.
static void become_spin(buffer_t buffer, command_t command, ur_kernel_handle_t spin, uint32_t *out)
{
    const uint32_t rounds = 1;
    size_t offset = 0, size = 1;
    ur_exp_command_buffer_update_kernel_launch_desc_t update = cb_update(command);
    const ur_exp_command_buffer_update_pointer_arg_desc_t pointer = cb_new_pointer(1, &out);
    const ur_exp_command_buffer_update_value_arg_desc_t value =
        cb_new_value(0, sizeof(rounds), &rounds);
    update.hNewKernel = spin;
    update.pNewGlobalWorkOffset = &offset;
    update.pNewGlobalWorkSize = &size;
    update.numNewPointerArgs = 1;
    update.pNewPointerArgList = &pointer;
    UR_FAILS(urCommandBufferUpdateKernelLaunchExp(buffer, 1, &update),
             UR_RESULT_ERROR_INVALID_VALUE);
    update.numNewValueArgs = 1;
    update.pNewValueArgList = &value;
    UR_OK(urCommandBufferUpdateKernelLaunchExp(buffer, 1, &update));
    run_and_wait(buffer);
    cr_assert_eq(out[0], 1664525u + 1013904223u);
}

static void become_add(buffer_t buffer, command_t command, float *a, float *sum)
{
    size_t offset = 0, size = ITEMS;
    ur_exp_command_buffer_update_kernel_launch_desc_t update = cb_update(command);
    const ur_exp_command_buffer_update_pointer_arg_desc_t pointers[] = {
        cb_new_pointer(0, &a), cb_new_pointer(1, &a), cb_new_pointer(2, &sum)};
    update.hNewKernel = cb_add;
    update.pNewGlobalWorkOffset = &offset;
    update.pNewGlobalWorkSize = &size;
    update.numNewPointerArgs = 2;
    update.pNewPointerArgList = pointers;
    // The third went with the kernel that had fewer.
    UR_FAILS(urCommandBufferUpdateKernelLaunchExp(buffer, 1, &update),
             UR_RESULT_ERROR_INVALID_VALUE);
    update.numNewPointerArgs = 3;
    UR_OK(urCommandBufferUpdateKernelLaunchExp(buffer, 1, &update));
    run_and_wait(buffer);
    cb_expect(sum, 2);
}

Test(command_buffer_update, comes_back_to_kernels_of_other_arguments_and_dimensions)
{
    ur_kernel_handle_t others[] = {ur_kernel("arguments", "store_ids"), ur_kernel("spin", "spin")};
    float *a = cb_floats(ITEMS), *sum = cb_floats(ITEMS);
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_POINTER(0, a), UR_POINTER(1, a),
                                                        UR_POINTER(2, sum)};
    const size_t items = ITEMS;
    command_t command;
    buffer_t buffer = cb_make(UPDATABLE);
    for (int i = 0; i < ITEMS; i++)
        a[i] = 1;
    UR_OK(urCommandBufferAppendKernelLaunchWithArgsExp(buffer, cb_add, 1, NULL, &items, NULL, 3,
                                                       arguments, 2, others, 0, NULL, 0, NULL, NULL,
                                                       NULL, &command));
    UR_OK(urCommandBufferFinalizeExp(buffer));
    for (int i = 0; i < 2; i++) {
        become_ids(buffer, command, others[0], (int32_t *)sum);
        become_spin(buffer, command, others[1], (uint32_t *)sum);
        become_add(buffer, command, a, sum);
    }
    UR_OK(urCommandBufferReleaseExp(buffer));
    UR_OK(urKernelRelease(others[0]));
    UR_OK(urKernelRelease(others[1]));
    ur_free(a);
    ur_free(sum);
}
