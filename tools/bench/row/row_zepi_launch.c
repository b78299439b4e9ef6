// SPDX-License-Identifier: MIT
#include "row_zepi.h"

const char zepi_row_unit;

static __attribute__((noinline)) void
set_arguments(const struct zepi_row *row, const struct bench_launch *launch,
              zepi_argument_t *arguments, const struct bench_values *values, unsigned turn)
{
    const uint32_t count = bench_kernels[launch->kernel].argument_count;
    for (uint32_t i = 0; i < count; i++) {
        const struct bench_argument *from = &bench_arguments[i % BENCH_ARGUMENT_CYCLE];
        arguments[i] = from->size_bytes > 0
                           ? (zepi_argument_t){.kind = ZEPI_ARGUMENT_VALUE,
                                               .size_bytes = from->size_bytes,
                                               .value = bench_value(values, from)}
                           : (zepi_argument_t){.kind = ZEPI_ARGUMENT_POINTER,
                                               .value = row->memory[bench_memory(from, turn)]};
    }
    if (launch->kernel == BENCH_WITH_LOCAL)
        arguments[BENCH_LOCAL_INDEX] =
            (zepi_argument_t){.kind = ZEPI_ARGUMENT_LOCAL, .size_bytes = BENCH_LOCAL_BYTES};
    if (launch->has_buffer)
        arguments[1] = (zepi_argument_t){.kind = ZEPI_ARGUMENT_BUFFER, .value = row->buffer};
}

// The constants of a call are constants in its loop, so that the loop costs the same with and
// without launches.
static inline __attribute__((always_inline)) bool
run_loop(const struct zepi_row *row, zepi_queue_t queue, const struct bench_launch *launch,
         unsigned count, bool is_launched, bool has_event, bool is_after)
{
    int constant = 3;
    const zepi_spec_value_t spec = {0, sizeof(constant), &constant};
    const bool is_by_name = launch->values > 0;
    zepi_argument_t arguments[BENCH_MAX_ARGUMENTS];
    zepi_launch_desc_t desc = {.size = sizeof(desc),
                               .kernel_name =
                                   is_by_name ? bench_kernels[launch->kernel].name : NULL,
                               .unit = is_by_name ? &zepi_row_unit : NULL,
                               .spec_values = is_by_name ? &spec : NULL,
                               .spec_value_count = is_by_name,
                               .arguments = arguments,
                               .argument_count = bench_kernels[launch->kernel].argument_count,
                               .work_dim = 1,
                               .group_size = {64}};
    struct bench_values values = {.same = 7};
    zepi_event_t event = NULL;
    zepi_event_t last = NULL;
    for (unsigned i = 0; i < count; i++) {
        const unsigned turn = bench_change(launch, &values, i);
        const zepi_wait_list_t wait = {&last, is_after && last};
        desc.global_size[0] = bench_global_size(launch, i);
        if (is_by_name)
            constant = 3 + (int)(i % launch->values);
        else
            desc.kernel = row->kernels[bench_kernel_of(launch, i)];
        set_arguments(row, launch, arguments, &values, turn);
        bench_keep(arguments);
        bench_keep(&desc);
        if (!is_launched)
            continue;
        if (zepi.queue_launch(queue, &desc, wait, has_event ? &event : NULL) != ZEPI_SUCCESS)
            return false;
        if (has_event && !is_after && zepi.release(event) != ZEPI_SUCCESS)
            return false;
        if (is_after && last && zepi.release(last) != ZEPI_SUCCESS)
            return false;
        last = is_after ? event : NULL;
    }
    host_release(last);
    return true;
}

bool zepi_row_launch(void *state, const struct bench_launch *launch, unsigned count,
                     bool is_launched)
{
    const struct zepi_row *row = state;
    const zepi_queue_t queue = launch->is_after ? row->out_of_order : row->host.queue;
    if (!is_launched)
        return run_loop(row, queue, launch, count, false, false, false);
    if (launch->is_after)
        return run_loop(row, queue, launch, count, true, true, true);
    return launch->has_event ? run_loop(row, queue, launch, count, true, true, false)
                             : run_loop(row, queue, launch, count, true, false, false);
}

bool zepi_row_launch_together(const struct bench_row *bench_row, unsigned thread, unsigned count,
                              int first_value)
{
    const struct zepi_row *row = bench_row->state;
    (void)first_value;
    return run_loop(row, thread == 0 ? row->host.queue : row->second,
                    &bench_operations[BENCH_LAUNCH_3].launch, count, true, false, false);
}
