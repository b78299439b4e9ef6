// SPDX-License-Identifier: MIT
#include "row_plain.h"

#include "level_zero.h"

#define INLINE static inline __attribute__((always_inline))

struct order {
    ze_command_list_handle_t list;
    ze_kernel_handle_t kernel;
    uint32_t count;
    void **values;
    const size_t *sizes;
    ze_event_handle_t signal;
    ze_event_handle_t wait; // NULL: for nothing
};

typedef bool append_fn(const struct plain_row *row, const struct order *order);

INLINE bool append_one_by_one(const struct plain_row *row, const struct order *order)
{
    const ze_group_count_t groups = {16, 1, 1};
    ze_event_handle_t wait = order->wait;
    (void)row;
#pragma GCC unroll 12
    for (uint32_t i = 0; i < order->count; i++) {
        if (level_zero.zeKernelSetArgumentValue(order->kernel, i, order->sizes[i],
                                                order->values[i]) != ZE_RESULT_SUCCESS)
            return false;
    }
    return level_zero.zeCommandListAppendLaunchKernel(order->list, order->kernel, &groups,
                                                      order->signal, wait != NULL,
                                                      wait ? &wait : NULL) == ZE_RESULT_SUCCESS;
}

INLINE bool append_in_one_call(const struct plain_row *row, const struct order *order)
{
    const ze_group_count_t groups = {16, 1, 1};
    const struct plain_group_size group = {64, 1, 1};
    ze_event_handle_t wait = order->wait;
    return row->launch(order->list, order->kernel, groups, group, order->values, NULL,
                       order->signal, wait != NULL, wait ? &wait : NULL) == ZE_RESULT_SUCCESS;
}

// ---- Arguments ----

static const size_t sizes_3[] = {8, 8, 4};
static const size_t sizes_12[] = {8, 8, 4, 4, 4, 4, 8, 8, 4, 4, 8, 8};

INLINE void set_3(struct plain_row *row, void **values, int *number, unsigned i)
{
    values[0] = &row->memory[BENCH_CHANGING(i)];
    values[1] = &row->memory[2];
    values[2] = number;
}

INLINE void set_12(struct plain_row *row, void **values, struct bench_twelve *twelve, unsigned i)
{
    bench_change_twelve(twelve, i);
    set_3(row, values, &twelve->number, i);
    values[3] = &twelve->same;
    values[4] = &twelve->number;
    values[5] = &twelve->same;
    values[6] = &twelve->wide;
    values[7] = &row->memory[0];
    values[8] = &twelve->real;
    values[9] = &twelve->same;
    values[10] = &row->memory[BENCH_CHANGING(i)];
    values[11] = &row->memory[3];
}

bool plain_row_prepare_3(void *state, unsigned count)
{
    void *values[3];
    for (unsigned i = 0; i < count; i++) {
        int number = (int)(i & 1);
        set_3(state, values, &number, i);
        bench_keep(&number);
        bench_keep(values);
    }
    return true;
}

bool plain_row_prepare_12(void *state, unsigned count)
{
    void *values[12];
    struct bench_twelve twelve = {.same = 7};
    for (unsigned i = 0; i < count; i++) {
        set_12(state, values, &twelve, i);
        bench_keep(&twelve);
        bench_keep(values);
    }
    return true;
}

// ---- Loops ----

INLINE bool launch_3_on(struct plain_row *row, ze_command_list_handle_t list,
                        ze_kernel_handle_t kernel, unsigned count, append_fn *append)
{
    void *values[3];
    const struct order order = {
        .list = list, .kernel = kernel, .count = 3, .values = values, .sizes = sizes_3};
    for (unsigned i = 0; i < count; i++) {
        int number = (int)(i & 1);
        set_3(row, values, &number, i);
        if (!append(row, &order))
            return false;
    }
    return true;
}

INLINE bool launch_3(struct plain_row *row, unsigned count, append_fn *append)
{
    return launch_3_on(row, row->list, row->three, count, append);
}

INLINE bool launch_12(struct plain_row *row, unsigned count, append_fn *append)
{
    void *values[12];
    struct bench_twelve twelve = {.same = 7};
    const struct order order = {
        .list = row->list, .kernel = row->twelve, .count = 12, .values = values, .sizes = sizes_12};
    for (unsigned i = 0; i < count; i++) {
        set_12(row, values, &twelve, i);
        if (!append(row, &order))
            return false;
    }
    return true;
}

// The cheapest way to an event: the same one each time.
INLINE bool launch_event(struct plain_row *row, unsigned count, append_fn *append)
{
    void *values[3];
    const struct order order = {.list = row->list,
                                .kernel = row->three,
                                .count = 3,
                                .values = values,
                                .sizes = sizes_3,
                                .signal = row->events[0]};
    for (unsigned i = 0; i < count; i++) {
        int number = (int)(i & 1);
        set_3(row, values, &number, i);
        if (!append(row, &order) || level_zero.zeEventHostReset(order.signal) != ZE_RESULT_SUCCESS)
            return false;
    }
    return true;
}

// Two events in turns.
INLINE bool launch_after(struct plain_row *row, unsigned count, append_fn *append)
{
    void *values[3];
    struct order order = {.list = row->out_of_order,
                          .kernel = row->three,
                          .count = 3,
                          .values = values,
                          .sizes = sizes_3};
    for (unsigned i = 0; i < count; i++) {
        int number = (int)(i & 1);
        set_3(row, values, &number, i);
        order.wait = i > 0 ? row->events[1 - (i & 1)] : NULL;
        order.signal = row->events[i & 1];
        if (!append(row, &order) ||
            (i > 0 && level_zero.zeEventHostReset(order.wait) != ZE_RESULT_SUCCESS))
            return false;
    }
    return true;
}

INLINE bool launch_suggested(struct plain_row *row, unsigned count, append_fn *append)
{
    void *values[3];
    const struct order order = {
        .list = row->list, .kernel = row->three, .count = 3, .values = values, .sizes = sizes_3};
    for (unsigned i = 0; i < count; i++) {
        uint32_t x;
        uint32_t y;
        uint32_t z;
        int number = (int)(i & 1);
        set_3(row, values, &number, i);
        if (level_zero.zeKernelSuggestGroupSize(row->three, 1024, 1, 1, &x, &y, &z) !=
                ZE_RESULT_SUCCESS ||
            (append == append_one_by_one &&
             level_zero.zeKernelSetGroupSize(row->three, x, y, z) != ZE_RESULT_SUCCESS) ||
            !append(row, &order))
            return false;
    }
    return true;
}

#define DEFINE(name)                                                                               \
    bool plain_row_##name(void *state, unsigned count)                                             \
    {                                                                                              \
        return name(state, count, append_one_by_one);                                              \
    }                                                                                              \
    bool plain_row_##name##_one_call(void *state, unsigned count)                                  \
    {                                                                                              \
        return name(state, count, append_in_one_call);                                             \
    }
PLAIN_ROW_LAUNCHES(DEFINE)
#undef DEFINE

INLINE bool launch_together(struct plain_row *row, unsigned thread, unsigned count,
                            append_fn *append)
{
    return thread == 0 ? launch_3_on(row, row->list, row->three, count, append)
                       : launch_3_on(row, row->second, row->other, count, append);
}

bool plain_row_launch_together(void *state, unsigned thread, unsigned count, int first_value)
{
    (void)first_value;
    return launch_together(state, thread, count, append_one_by_one);
}

bool plain_row_launch_together_one_call(void *state, unsigned thread, unsigned count,
                                        int first_value)
{
    (void)first_value;
    return launch_together(state, thread, count, append_in_one_call);
}
