// SPDX-License-Identifier: MIT
// Arguments that a host sets on the kernel, one by one, as hosts up to DPC++ 2026.1 do: the layout
// of 2026.1.
#include "test_env.h"
#include "ur_fixture.h"

#include <criterion/criterion.h>
#include <string.h>

#define ITEMS 64

TestSuite(set_arguments, .init = ur_set_up, .fini = ur_tear_down);

static ur_result_t launch(ur_kernel_handle_t kernel, size_t items)
{
    return urEnqueueKernelLaunch(gear.queue, kernel, 1, NULL, &items, NULL, NULL, 0, NULL, NULL);
}

static void set_pointers(ur_kernel_handle_t kernel, const float *a, const float *b, float *sum)
{
    UR_OK(urKernelSetArgPointer(kernel, 0, NULL, a));
    UR_OK(urKernelSetArgPointer(kernel, 1, NULL, b));
    UR_OK(urKernelSetArgPointer(kernel, 2, NULL, sum));
}

static float *make_floats(void)
{
    float *floats = ur_shared(3 * ITEMS * sizeof(float));
    for (int i = 0; i < ITEMS; i++) {
        floats[i] = (float)i;
        floats[ITEMS + i] = 100;
    }
    return floats;
}

Test(set_arguments, values_of_all_sizes_reach_the_kernel)
{
    ur_kernel_handle_t kernel = ur_kernel("arguments", "store_values");
    int64_t *out = ur_shared(8 * sizeof(*out));
    int8_t a = -7;
    int16_t b = -300;
    int32_t c = 70000;
    int64_t d = -5000000000;
    float e = 1;
    int32_t f[4] = {1, 2, 3, 4};
    struct {
        char first;
        int64_t second;
    } g = {9, 10};
    // As SYCL's runtime does: in any order, and an argument again.
    UR_OK(urKernelSetArgPointer(kernel, 7, NULL, out));
    UR_OK(urKernelSetArgValue(kernel, 6, sizeof(g), NULL, &g));
    UR_OK(urKernelSetArgValue(kernel, 5, sizeof(f), NULL, f));
    UR_OK(urKernelSetArgValue(kernel, 4, sizeof(e), NULL, &e));
    UR_OK(urKernelSetArgValue(kernel, 3, sizeof(a), NULL, &a));
    UR_OK(urKernelSetArgValue(kernel, 3, sizeof(d), NULL, &d));
    UR_OK(urKernelSetArgValue(kernel, 2, sizeof(c), NULL, &c));
    UR_OK(urKernelSetArgValue(kernel, 1, sizeof(b), NULL, &b));
    UR_OK(urKernelSetArgValue(kernel, 0, sizeof(a), NULL, &a));
    // Values are copied.
    memset(f, 0, sizeof(f));
    d = 0;
    UR_OK(launch(kernel, 1));
    UR_OK(urQueueFinish(gear.queue));
    const int64_t expected[] = {-7, -300, 70000, -5000000000, 0x3f800000, 4321, 9, 10};
    for (int i = 0; i < 8; i++)
        cr_expect_eq(out[i], expected[i], "argument %d: %lld", i, (long long)out[i]);
    ur_free(out);
    UR_OK(urKernelRelease(kernel));
}

Test(set_arguments, what_was_set_stays_for_the_next_launch)
{
    ur_kernel_handle_t kernel = ur_kernel("vector_add", "vector_add");
    float *floats = make_floats();
    set_pointers(kernel, floats, floats + ITEMS, floats + 2 * ITEMS);
    UR_OK(launch(kernel, ITEMS));
    UR_OK(urKernelSetArgPointer(kernel, 0, NULL, floats + 2 * ITEMS));
    UR_OK(launch(kernel, ITEMS));
    UR_OK(launch(kernel, ITEMS));
    UR_OK(urQueueFinish(gear.queue));
    for (int i = 0; i < ITEMS; i++)
        cr_expect_eq(floats[2 * ITEMS + i], (float)(i + 300));
    ur_free(floats);
    UR_OK(urKernelRelease(kernel));
}

Test(set_arguments, local_memory_has_the_size_that_was_set)
{
    ur_kernel_handle_t kernel = ur_kernel("arguments", "sum_groups");
    int32_t *numbers = ur_shared(2 * ITEMS * sizeof(*numbers));
    const size_t items = ITEMS;
    const size_t group = 16;
    for (int i = 0; i < ITEMS; i++)
        numbers[i] = i;
    UR_OK(urKernelSetArgPointer(kernel, 0, NULL, numbers));
    UR_OK(urKernelSetArgLocal(kernel, 1, group * sizeof(*numbers), NULL));
    UR_OK(urKernelSetArgPointer(kernel, 2, NULL, numbers + ITEMS));
    UR_OK(urEnqueueKernelLaunch(gear.queue, kernel, 1, NULL, &items, &group, NULL, 0, NULL, NULL));
    UR_OK(urQueueFinish(gear.queue));
    for (int i = 0; i < 4; i++)
        cr_expect_eq(numbers[ITEMS + i], 16 * 16 * i + 120);
    ur_free(numbers);
    UR_OK(urKernelRelease(kernel));
}

Test(set_arguments, a_buffer_is_used_while_it_is_there)
{
    const ur_kernel_arg_mem_obj_properties_t reads = {
        .stype = UR_STRUCTURE_TYPE_KERNEL_ARG_MEM_OBJ_PROPERTIES,
        .memoryAccess = UR_MEM_FLAG_READ_ONLY};
    ur_kernel_handle_t kernel = ur_kernel("vector_add", "vector_add");
    float *floats = make_floats();
    ur_mem_handle_t buffer;
    UR_OK(urMemBufferCreate(gear.context, UR_MEM_FLAG_READ_WRITE, ITEMS * sizeof(float), NULL,
                            &buffer));
    UR_OK(urEnqueueMemBufferWrite(gear.queue, buffer, true, 0, ITEMS * sizeof(float), floats, 0,
                                  NULL, NULL));
    set_pointers(kernel, floats, floats + ITEMS, floats + 2 * ITEMS);
    UR_OK(urKernelSetArgMemObj(kernel, 0, &reads, buffer));
    memset(floats, 0, ITEMS * sizeof(float));
    UR_OK(launch(kernel, ITEMS));
    UR_OK(urQueueFinish(gear.queue));
    for (int i = 0; i < ITEMS; i++)
        cr_expect_eq(floats[2 * ITEMS + i], (float)(i + 100));
    // The kernel does not keep it.
    UR_OK(urMemRelease(buffer));
    cr_expect_neq(launch(kernel, ITEMS), UR_RESULT_SUCCESS);
    ur_free(floats);
    UR_OK(urKernelRelease(kernel));
}

static ur_result_t append(ur_exp_command_buffer_handle_t buffer, ur_kernel_handle_t kernel,
                          size_t items, ur_exp_command_buffer_command_handle_t *out_command)
{
    return urCommandBufferAppendKernelLaunchExp(buffer, kernel, 1, NULL, &items, NULL, 0, NULL, 0,
                                                NULL, 0, NULL, NULL, NULL, out_command);
}

static ur_exp_command_buffer_handle_t make_buffer(void)
{
    const ur_exp_command_buffer_desc_t desc = {.stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_DESC,
                                               .isUpdatable = true};
    ur_exp_command_buffer_handle_t buffer;
    UR_OK(urCommandBufferCreateExp(gear.context, gear.device, &desc, &buffer));
    return buffer;
}

static void run(ur_exp_command_buffer_handle_t buffer)
{
    UR_OK(urEnqueueCommandBufferExp(gear.queue, buffer, 0, NULL, NULL));
    UR_OK(urQueueFinish(gear.queue));
}

// An enqueued launch still needs them.
Test(set_arguments, values_that_a_recorded_launch_lacks_are_0)
{
    ur_kernel_handle_t kernel = ur_kernel("arguments", "store_values");
    int64_t *out = ur_shared(8 * sizeof(*out));
    const int32_t c = 70000;
    ur_exp_command_buffer_handle_t buffer = make_buffer();
    memset(out, 0xff, 8 * sizeof(*out));
    UR_OK(urKernelSetArgPointer(kernel, 7, NULL, out));
    UR_OK(urKernelSetArgValue(kernel, 2, sizeof(c), NULL, &c));
    UR_OK(append(buffer, kernel, 1, NULL));
    cr_assert_eq(launch(kernel, 1), UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX);
    UR_OK(urCommandBufferFinalizeExp(buffer));
    run(buffer);
    for (int i = 0; i < 8; i++)
        cr_expect_eq(out[i], i == 2 ? c : 0, "argument %d: %lld", i, (long long)out[i]);
    UR_OK(urCommandBufferReleaseExp(buffer));
    ur_free(out);
    UR_OK(urKernelRelease(kernel));
}

Test(set_arguments, pointers_that_a_recorded_launch_lacks_are_set_by_an_update)
{
    ur_kernel_handle_t kernel = ur_kernel("vector_add", "vector_add");
    float *floats = make_floats();
    float *const pointers[] = {floats, floats + ITEMS, floats + 2 * ITEMS};
    ur_exp_command_buffer_update_pointer_arg_desc_t arguments[3];
    ur_exp_command_buffer_command_handle_t command;
    ur_exp_command_buffer_handle_t buffer = make_buffer();
    for (uint32_t i = 0; i < 3; i++)
        arguments[i] = (ur_exp_command_buffer_update_pointer_arg_desc_t){
            .stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_UPDATE_POINTER_ARG_DESC,
            .argIndex = i,
            .pNewPointerArg = &pointers[i]};
    UR_OK(append(buffer, kernel, ITEMS, &command));
    UR_OK(urCommandBufferFinalizeExp(buffer));
    const ur_exp_command_buffer_update_kernel_launch_desc_t update = {
        .stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_UPDATE_KERNEL_LAUNCH_DESC,
        .hCommand = command,
        .newWorkDim = 1,
        .numNewPointerArgs = 3,
        .pNewPointerArgList = arguments};
    UR_OK(urCommandBufferUpdateKernelLaunchExp(buffer, 1, &update));
    run(buffer);
    for (int i = 0; i < ITEMS; i++)
        cr_expect_eq(floats[2 * ITEMS + i], (float)(i + 100));
    UR_OK(urCommandBufferReleaseExp(buffer));
    ur_free(floats);
    UR_OK(urKernelRelease(kernel));
}

Test(set_arguments, local_memory_of_a_recorded_launch_has_to_be_set)
{
    ur_kernel_handle_t kernel = ur_kernel("arguments", "sum_groups");
    ur_exp_command_buffer_handle_t buffer = make_buffer();
    UR_FAILS_SAYING(append(buffer, kernel, ITEMS, NULL),
                    UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX, "argument 1");
    UR_OK(urCommandBufferReleaseExp(buffer));
    UR_OK(urKernelRelease(kernel));
}

Test(set_arguments, a_command_buffer_keeps_what_was_set_when_the_launch_was_appended)
{
    const ur_exp_command_buffer_desc_t desc = {.stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_DESC};
    ur_exp_command_buffer_handle_t buffer;
    ur_kernel_handle_t kernel = ur_kernel("vector_add", "vector_add");
    float *floats = make_floats();
    const size_t items = ITEMS;
    UR_OK(urCommandBufferCreateExp(gear.context, gear.device, &desc, &buffer));
    set_pointers(kernel, floats, floats + ITEMS, floats + 2 * ITEMS);
    UR_OK(urCommandBufferAppendKernelLaunchExp(buffer, kernel, 1, NULL, &items, NULL, 0, NULL, 0,
                                               NULL, 0, NULL, NULL, NULL, NULL));
    set_pointers(kernel, floats + ITEMS, floats + ITEMS, floats);
    UR_OK(urCommandBufferFinalizeExp(buffer));
    UR_OK(urEnqueueCommandBufferExp(gear.queue, buffer, 0, NULL, NULL));
    UR_OK(urQueueFinish(gear.queue));
    for (int i = 0; i < ITEMS; i++)
        cr_expect(floats[2 * ITEMS + i] == (float)(i + 100) && floats[i] == (float)i, "%d", i);
    UR_OK(urCommandBufferReleaseExp(buffer));
    ur_free(floats);
    UR_OK(urKernelRelease(kernel));
}

Test(set_arguments, a_launch_without_all_arguments_names_the_first_that_is_missing)
{
    ur_kernel_handle_t kernel = ur_kernel("vector_add", "vector_add");
    float *floats = make_floats();
    UR_FAILS_SAYING(launch(kernel, ITEMS), UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX,
                    "argument 0");
    UR_OK(urKernelSetArgPointer(kernel, 0, NULL, floats));
    UR_OK(urKernelSetArgPointer(kernel, 2, NULL, floats));
    UR_FAILS_SAYING(launch(kernel, ITEMS), UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX,
                    "argument 1");
    ur_free(floats);
    UR_OK(urKernelRelease(kernel));
}

Test(set_arguments, a_kernel_without_arguments_needs_none)
{
    ur_kernel_handle_t kernel = ur_kernel("empty", "empty");
    UR_OK(launch(kernel, 1));
    UR_OK(urQueueFinish(gear.queue));
    UR_OK(urKernelRelease(kernel));
}

Test(set_arguments, wrong_indices_sizes_and_handles_are_refused)
{
    ur_kernel_handle_t kernel = ur_kernel("vector_add", "vector_add");
    const int32_t value = 1;
    UR_FAILS_SAYING(urKernelSetArgPointer(kernel, 3, NULL, &value),
                    UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX, "3 arguments");
    UR_FAILS_SAYING(urKernelSetArgLocal(kernel, UINT32_MAX, 4, NULL),
                    UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX, "3 arguments");
    UR_FAILS_SAYING(urKernelSetArgValue(kernel, 0, 4, NULL, NULL),
                    UR_RESULT_ERROR_INVALID_NULL_POINTER, "pArgValue");
    UR_FAILS_SAYING(urKernelSetArgValue(kernel, 0, 0, NULL, &value),
                    UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE, "0 bytes");
    UR_FAILS_SAYING(urKernelSetArgSampler(kernel, 0, NULL, NULL),
                    UR_RESULT_ERROR_INVALID_NULL_HANDLE, "sampler");
    UR_FAILS_SAYING(urKernelSetArgPointer(NULL, 0, NULL, &value),
                    UR_RESULT_ERROR_INVALID_NULL_HANDLE, "NULL");
    UR_FAILS_SAYING(urKernelSetArgPointer((ur_kernel_handle_t)gear.queue, 0, NULL, &value),
                    UR_RESULT_ERROR_INVALID_KERNEL, "kernel");
    UR_OK(urKernelRelease(kernel));
}
