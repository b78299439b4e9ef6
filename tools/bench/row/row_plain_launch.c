// SPDX-License-Identifier: MIT
#include "row_plain.h"

#define INLINE static inline __attribute__((always_inline))

// A launch's arguments as both ways take them.
struct arguments {
    uint32_t count;
    void *values[BENCH_MAX_ARGUMENTS];
    size_t sizes[BENCH_MAX_ARGUMENTS];
};

// In one call, the value of local memory is its size.
static __attribute__((noinline)) void set_arguments(struct plain_row *row,
                                                    const struct bench_launch *launch,
                                                    bool is_one_call, struct arguments *arguments,
                                                    struct bench_values *values, unsigned turn)
{
    static size_t local_bytes = BENCH_LOCAL_BYTES;
    arguments->count = bench_kernels[launch->kernel].argument_count;
    for (uint32_t i = 0; i < arguments->count; i++) {
        const struct bench_argument *from = &bench_arguments[i % BENCH_ARGUMENT_CYCLE];
        const bool is_value = from->size_bytes > 0;
        arguments->sizes[i] = is_value ? from->size_bytes : sizeof(void *);
        arguments->values[i] = is_value ? (void *)bench_value(values, from)
                                        : (void *)&row->memory[bench_memory(from, turn)];
    }
    if (launch->kernel == BENCH_WITH_LOCAL) {
        arguments->sizes[BENCH_LOCAL_INDEX] = BENCH_LOCAL_BYTES;
        arguments->values[BENCH_LOCAL_INDEX] = is_one_call ? &local_bytes : NULL;
    }
}

// Without the calls if nothing is launched: the loop itself is not theirs.
INLINE bool set_one_by_one(ze_kernel_handle_t kernel, const struct arguments *arguments,
                           bool is_launched)
{
    bool is_good = true;
    for (uint32_t i = 0; i < arguments->count && is_good; i++) {
        bench_keep(&arguments->values[i]);
        if (is_launched)
            is_good = zeKernelSetArgumentValue(kernel, i, arguments->sizes[i],
                                               arguments->values[i]) == ZE_RESULT_SUCCESS;
    }
    return is_good;
}

// The cheapest way to events: the same two in turns.
INLINE bool launch_on(struct plain_row *row, ze_command_list_handle_t list,
                      const ze_kernel_handle_t *kernels, const struct bench_launch *launch,
                      unsigned count, bool is_launched, bool is_one_call)
{
    const struct plain_group_size group = {64, 1, 1};
    struct bench_values values = {.same = 7};
    struct arguments arguments;
    bool is_good = true;
    for (unsigned i = 0; i < count && is_good; i++) {
        const unsigned turn = bench_change(launch, &values, i);
        const ze_kernel_handle_t kernel = kernels[bench_kernel_of(launch, i)];
        const ze_group_count_t groups = {(uint32_t)bench_global_size(launch, i) / 64, 1, 1};
        const ze_event_handle_t signal = launch->has_event ? row->events[i & 1] : NULL;
        ze_event_handle_t wait = launch->is_after && i > 0 ? row->events[~i & 1] : NULL;
        const ze_event_handle_t done = launch->is_after ? wait : signal;
        ze_event_handle_t *waits = wait ? &wait : NULL;
        set_arguments(row, launch, is_one_call, &arguments, &values, turn);
        bench_keep(&arguments);
        if (!is_one_call)
            is_good = set_one_by_one(kernel, &arguments, is_launched);
        if (!is_launched || !is_good)
            continue;
        is_good = (is_one_call
                       ? row->launch(list, kernel, groups, group, arguments.values, NULL, signal,
                                     wait != NULL, waits)
                       : zeCommandListAppendLaunchKernel(list, kernel, &groups, signal,
                                                         wait != NULL, waits)) == ZE_RESULT_SUCCESS;
        if (is_good && done)
            is_good = zeEventHostReset(done) == ZE_RESULT_SUCCESS;
    }
    return is_good;
}

INLINE bool launch_way(struct plain_row *row, const struct bench_launch *launch, unsigned count,
                       bool is_launched, bool is_one_call)
{
    return launch_on(row, launch->is_after ? row->out_of_order : row->list, row->kernels, launch,
                     count, is_launched, is_one_call);
}

bool plain_row_launch(void *state, const struct bench_launch *launch, unsigned count,
                      bool is_launched)
{
    return launch_way(state, launch, count, is_launched, false);
}

bool plain_row_launch_in_one_call(void *state, const struct bench_launch *launch, unsigned count,
                                  bool is_launched)
{
    return launch_way(state, launch, count, is_launched, true);
}

static bool launch_together(struct plain_row *row, unsigned thread, unsigned count,
                            bool is_one_call)
{
    return launch_on(row, thread == 0 ? row->list : row->second,
                     thread == 0 ? &row->kernels[BENCH_THREE] : &row->other,
                     &bench_operations[BENCH_LAUNCH_3].launch, count, true, is_one_call);
}

bool plain_row_launch_together(const struct bench_row *row, unsigned thread, unsigned count,
                               int first_value)
{
    (void)first_value;
    return launch_together(row->state, thread, count, false);
}

bool plain_row_launch_together_in_one_call(const struct bench_row *row, unsigned thread,
                                           unsigned count, int first_value)
{
    (void)first_value;
    return launch_together(row->state, thread, count, true);
}
