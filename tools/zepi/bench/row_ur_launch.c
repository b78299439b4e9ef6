// SPDX-License-Identifier: MIT
#include "row_ur_state.h"

// Member by member: a structure that is copied is read back while its parts are still being
// written, which takes longer than a launch.
static inline void set(ur_exp_kernel_arg_properties_t *argument, ur_exp_kernel_arg_type_t type,
                       uint32_t index, size_t size)
{
    argument->stype = UR_STRUCTURE_TYPE_EXP_KERNEL_ARG_PROPERTIES;
    argument->pNext = NULL;
    argument->type = type;
    argument->index = index;
    argument->size = size;
}

static inline void set_pointer(ur_exp_kernel_arg_properties_t *arguments, uint32_t index,
                               void *memory)
{
    set(&arguments[index], UR_EXP_KERNEL_ARG_TYPE_POINTER, index, sizeof(memory));
    arguments[index].value.pointer = memory;
}

static inline void set_value(ur_exp_kernel_arg_properties_t *arguments, uint32_t index,
                             const void *value, size_t size)
{
    set(&arguments[index], UR_EXP_KERNEL_ARG_TYPE_VALUE, index, size);
    arguments[index].value.value = value;
}

static void set_three(const struct ur_row *ur, ur_exp_kernel_arg_properties_t arguments[3],
                      const int *value, unsigned i)
{
    set_pointer(arguments, 0, ur->memory[BENCH_CHANGING(i)]);
    set_pointer(arguments, 1, ur->memory[2]);
    set_value(arguments, 2, value, sizeof(*value));
}

bool ur_row_prepare_3(void *state, unsigned count)
{
    ur_exp_kernel_arg_properties_t arguments[3];
    for (unsigned i = 0; i < count; i++) {
        const int value = (int)(i & 1);
        set_three(state, arguments, &value, i);
        bench_keep(arguments);
    }
    return true;
}

// One launch of 1,024 work-items in groups of 64, or as the adapter suggests.
static bool launch(const struct ur_row *ur, ur_queue_handle_t queue, ur_kernel_handle_t kernel,
                   uint32_t count, const ur_exp_kernel_arg_properties_t *arguments,
                   const size_t *group, ur_event_handle_t last, ur_event_handle_t *out_event)
{
    static const size_t global = 1024;
    return ur->table.EnqueueExp.pfnKernelLaunchWithArgsExp(
               queue, kernel, 1, NULL, &global, group, count, arguments, NULL, last != NULL,
               last ? &last : NULL, out_event) == UR_RESULT_SUCCESS;
}

static const size_t group_of_64 = 64;

bool ur_row_launch_3(void *state, unsigned count)
{
    const struct ur_row *ur = state;
    ur_exp_kernel_arg_properties_t arguments[3];
    for (unsigned i = 0; i < count; i++) {
        const int value = (int)(i & 1);
        set_three(ur, arguments, &value, i);
        if (!launch(ur, ur->queue, ur->three, 3, arguments, &group_of_64, NULL, NULL))
            return false;
    }
    return true;
}

static void set_twelve(const struct ur_row *ur, ur_exp_kernel_arg_properties_t arguments[12],
                       struct bench_twelve *values, unsigned i)
{
    bench_change_twelve(values, i);
    set_three(ur, arguments, &values->number, i);
    set_value(arguments, 3, &values->same, 4);
    set_value(arguments, 4, &values->number, 4);
    set_value(arguments, 5, &values->same, 4);
    set_value(arguments, 6, &values->wide, 8);
    set_value(arguments, 7, &ur->memory[0], 8);
    set_value(arguments, 8, &values->real, 4);
    set_value(arguments, 9, &values->same, 4);
    set_pointer(arguments, 10, ur->memory[BENCH_CHANGING(i)]);
    set_pointer(arguments, 11, ur->memory[3]);
}

bool ur_row_prepare_12(void *state, unsigned count)
{
    ur_exp_kernel_arg_properties_t arguments[12];
    struct bench_twelve values = {.same = 7};
    for (unsigned i = 0; i < count; i++) {
        set_twelve(state, arguments, &values, i);
        bench_keep(arguments);
    }
    return true;
}

bool ur_row_launch_12(void *state, unsigned count)
{
    const struct ur_row *ur = state;
    ur_exp_kernel_arg_properties_t arguments[12];
    struct bench_twelve values = {.same = 7};
    for (unsigned i = 0; i < count; i++) {
        set_twelve(ur, arguments, &values, i);
        if (!launch(ur, ur->queue, ur->twelve, 12, arguments, &group_of_64, NULL, NULL))
            return false;
    }
    return true;
}

bool ur_row_launch_event(void *state, unsigned count)
{
    const struct ur_row *ur = state;
    ur_exp_kernel_arg_properties_t arguments[3];
    for (unsigned i = 0; i < count; i++) {
        const int value = (int)(i & 1);
        ur_event_handle_t event;
        set_three(ur, arguments, &value, i);
        if (!launch(ur, ur->queue, ur->three, 3, arguments, &group_of_64, NULL, &event) ||
            ur->table.Event.pfnRelease(event) != UR_RESULT_SUCCESS)
            return false;
    }
    return true;
}

bool ur_row_launch_after(void *state, unsigned count)
{
    const struct ur_row *ur = state;
    ur_exp_kernel_arg_properties_t arguments[3];
    ur_event_handle_t last = NULL;
    for (unsigned i = 0; i < count; i++) {
        const int value = (int)(i & 1);
        ur_event_handle_t event;
        set_three(ur, arguments, &value, i);
        if (!launch(ur, ur->out_of_order, ur->three, 3, arguments, &group_of_64, last, &event))
            return false;
        if (last)
            ur->table.Event.pfnRelease(last);
        last = event;
    }
    return !last || ur->table.Event.pfnRelease(last) == UR_RESULT_SUCCESS;
}

bool ur_row_launch_suggested(void *state, unsigned count)
{
    const struct ur_row *ur = state;
    ur_exp_kernel_arg_properties_t arguments[3];
    for (unsigned i = 0; i < count; i++) {
        const int value = (int)(i & 1);
        set_three(ur, arguments, &value, i);
        if (!launch(ur, ur->queue, ur->three, 3, arguments, NULL, NULL, NULL))
            return false;
    }
    return true;
}

bool ur_row_launch_together(void *state, unsigned thread, unsigned count, int first_value)
{
    const struct ur_row *ur = state;
    const ur_queue_handle_t queue = thread == 0 ? ur->queue : ur->second;
    ur_exp_kernel_arg_properties_t arguments[3];
    (void)first_value;
    for (unsigned i = 0; i < count; i++) {
        const int value = (int)(i & 1);
        set_three(ur, arguments, &value, i);
        if (!launch(ur, queue, ur->three, 3, arguments, &group_of_64, NULL, NULL))
            return false;
    }
    return true;
}
