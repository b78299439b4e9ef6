// SPDX-License-Identifier: MIT
#include "command_buffer_fixture.h"

#include <criterion/criterion.h>
#include <time.h>

ur_kernel_handle_t cb_add;

void cb_set_up(void)
{
    ur_set_up();
    cb_add = ur_kernel("vector_add", "vector_add");
}

void cb_tear_down(void)
{
    UR_OK(urKernelRelease(cb_add));
    ur_tear_down();
}

buffer_t cb_make(enum kind kind)
{
    const ur_exp_command_buffer_desc_t desc = {.stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_DESC,
                                               .isUpdatable = kind == UPDATABLE,
                                               .isInOrder = kind == IN_ORDER};
    buffer_t buffer;
    UR_OK(urCommandBufferCreateExp(gear.context, gear.device, &desc, &buffer));
    return buffer;
}

float *cb_floats(size_t count)
{
    return ur_shared(count * sizeof(float));
}

sync_point_t cb_append_fill(buffer_t buffer, float *memory, float value, struct after after)
{
    sync_point_t point;
    UR_OK(urCommandBufferAppendUSMFillExp(buffer, memory, &value, sizeof(value),
                                          ITEMS * sizeof(float), after.count, after.points, 0, NULL,
                                          &point, NULL, NULL));
    return point;
}

sync_point_t cb_append_copy(buffer_t buffer, float *to, const float *from, struct after after)
{
    sync_point_t point;
    UR_OK(urCommandBufferAppendUSMMemcpyExp(buffer, to, from, ITEMS * sizeof(float), after.count,
                                            after.points, 0, NULL, &point, NULL, NULL));
    return point;
}

sync_point_t cb_append_launch(buffer_t buffer, ur_kernel_handle_t kernel, size_t items,
                              uint32_t count, const ur_exp_kernel_arg_properties_t *arguments,
                              struct after after, command_t *out_command)
{
    sync_point_t point;
    UR_OK(urCommandBufferAppendKernelLaunchWithArgsExp(
        buffer, kernel, 1, NULL, &items, NULL, count, arguments, 0, NULL, after.count, after.points,
        0, NULL, &point, NULL, out_command));
    return point;
}

sync_point_t cb_append_add(buffer_t buffer, float *sum, float *a, float *b, struct after after)
{
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_POINTER(0, a), UR_POINTER(1, b),
                                                        UR_POINTER(2, sum)};
    return cb_append_launch(buffer, cb_add, ITEMS, 3, arguments, after, NULL);
}

void cb_run(ur_queue_handle_t queue, buffer_t buffer)
{
    UR_OK(urEnqueueCommandBufferExp(queue, buffer, 0, NULL, NULL));
}

void cb_expect(const float *memory, float value)
{
    for (int i = 0; i < ITEMS; i++)
        cr_assert_eq(memory[i], value, "item %d is %g, expected %g", i, (double)memory[i],
                     (double)value);
}

void cb_expect_unwritten(const float *memory)
{
    const struct timespec a_while = {.tv_nsec = 30000000};
    nanosleep(&a_while, NULL);
    cb_expect(memory, 0);
}

ur_mem_handle_t cb_make_mem(size_t size)
{
    ur_mem_handle_t mem;
    UR_OK(urMemBufferCreate(gear.context, UR_MEM_FLAG_READ_WRITE, size, NULL, &mem));
    return mem;
}

ur_exp_command_buffer_update_kernel_launch_desc_t cb_update(command_t command)
{
    return (ur_exp_command_buffer_update_kernel_launch_desc_t){
        .stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_UPDATE_KERNEL_LAUNCH_DESC,
        .hCommand = command,
        .newWorkDim = 1};
}

ur_exp_command_buffer_update_pointer_arg_desc_t cb_new_pointer(uint32_t index, void *where)
{
    return (ur_exp_command_buffer_update_pointer_arg_desc_t){
        .stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_UPDATE_POINTER_ARG_DESC,
        .argIndex = index,
        .pNewPointerArg = where};
}

ur_exp_command_buffer_update_value_arg_desc_t cb_new_value(uint32_t index, size_t size,
                                                           const void *value)
{
    return (ur_exp_command_buffer_update_value_arg_desc_t){
        .stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_UPDATE_VALUE_ARG_DESC,
        .argIndex = index,
        .argSize = size,
        .pNewValueArg = value};
}

void cb_update_and_run(buffer_t buffer,
                       const ur_exp_command_buffer_update_kernel_launch_desc_t *update)
{
    UR_OK(urCommandBufferUpdateKernelLaunchExp(buffer, 1, update));
    cb_run(gear.queue, buffer);
    UR_OK(urQueueFinish(gear.queue));
}
