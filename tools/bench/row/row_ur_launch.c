// SPDX-License-Identifier: MIT
#include "row_ur.h"

// Member by member: a structure that is copied is read back while its parts are still being
// written, which takes longer than a launch.
static void set_argument(const struct ur_row *ur, ur_exp_kernel_arg_properties_t *argument,
                         uint32_t index, const struct bench_values *values, unsigned turn)
{
    const struct bench_argument *from = &bench_arguments[index % BENCH_ARGUMENT_CYCLE];
    argument->stype = UR_STRUCTURE_TYPE_EXP_KERNEL_ARG_PROPERTIES;
    argument->pNext = NULL;
    argument->index = index;
    if (from->size_bytes > 0) {
        argument->type = UR_EXP_KERNEL_ARG_TYPE_VALUE;
        argument->size = from->size_bytes;
        argument->value.value = bench_value(values, from);
    } else {
        argument->type = UR_EXP_KERNEL_ARG_TYPE_POINTER;
        argument->size = sizeof(void *);
        argument->value.pointer = ur->memory[bench_memory(from, turn)];
    }
}

static void set_buffer(ur_exp_kernel_arg_properties_t *argument, ur_mem_handle_t buffer)
{
    argument->type = UR_EXP_KERNEL_ARG_TYPE_MEM_OBJ;
    argument->value.memObjTuple.hMem = buffer;
    argument->value.memObjTuple.flags = UR_MEM_FLAG_READ_WRITE;
}

static void set_arguments(const struct ur_row *ur, const struct bench_launch *launch,
                          ur_exp_kernel_arg_properties_t *arguments,
                          const struct bench_values *values, unsigned turn)
{
    const uint32_t count = bench_kernels[launch->kernel].argument_count;
    for (uint32_t i = 0; i < count; i++)
        set_argument(ur, &arguments[i], i, values, turn);
    if (launch->kernel == BENCH_WITH_LOCAL) {
        arguments[BENCH_LOCAL_INDEX].type = UR_EXP_KERNEL_ARG_TYPE_LOCAL;
        arguments[BENCH_LOCAL_INDEX].size = BENCH_LOCAL_BYTES;
    }
    if (launch->has_buffer)
        set_buffer(&arguments[1], ur->buffer);
}

bool ur_row_launch(void *state, const struct bench_launch *launch, unsigned i)
{
    static const size_t group = 64;
    struct ur_row *ur = state;
    const uint32_t argument_count = bench_kernels[launch->kernel].argument_count;
    ur_exp_kernel_arg_properties_t arguments[BENCH_MAX_ARGUMENTS];
    struct bench_values values = {.same = 7};
    const unsigned turn = bench_change(launch, &values, i);
    const size_t global = bench_global_size(launch, i);
    const ur_kernel_handle_t kernel = ur->kernels[bench_kernel_of(launch, i)];
    const ur_queue_handle_t queue = ur->queues[launch->is_after    ? ANY_ORDER
                                               : launch->is_second ? SECOND
                                                                   : IN_ORDER];
    const ur_event_handle_t before = launch->is_after ? ur->last : NULL;
    ur_event_handle_t event = NULL;
    set_arguments(ur, launch, arguments, &values, turn);
    if (ur->table.EnqueueExp.pfnKernelLaunchWithArgsExp(
            queue, kernel, 1, NULL, &global, &group, argument_count, arguments, NULL,
            before != NULL, before ? &before : NULL,
            launch->has_event ? &event : NULL) != UR_RESULT_SUCCESS)
        return false;
    if (launch->is_after) {
        ur->last = event;
        event = before;
    }
    return !event || ur->table.Event.pfnRelease(event) == UR_RESULT_SUCCESS;
}

void ur_row_three_arguments(const struct ur_row *ur, ur_exp_kernel_arg_properties_t arguments[3])
{
    static const struct bench_values values = {.changing = 7, .same = 7};
    for (uint32_t i = 0; i < 3; i++)
        set_argument(ur, &arguments[i], i, &values, 0);
}

bool ur_row_launch_three(const struct ur_row *ur, ur_queue_handle_t queue,
                         ur_kernel_handle_t kernel, ur_mem_handle_t buffer,
                         ur_event_handle_t *out_event)
{
    const size_t global = 1024;
    const size_t group = 64;
    ur_exp_kernel_arg_properties_t arguments[3];
    ur_row_three_arguments(ur, arguments);
    if (buffer)
        set_buffer(&arguments[1], buffer);
    return ur->table.EnqueueExp.pfnKernelLaunchWithArgsExp(queue, kernel, 1, NULL, &global, &group,
                                                           3, arguments, NULL, 0, NULL,
                                                           out_event) == UR_RESULT_SUCCESS;
}
