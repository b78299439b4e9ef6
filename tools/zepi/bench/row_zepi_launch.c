// SPDX-License-Identifier: MIT
#include "row_zepi.h"

const char zepi_row_unit;

static const zepi_wait_list_t no_wait = {0};

static zepi_launch_desc_t launch_of(zepi_kernel_t kernel, uint32_t count,
                                    const zepi_argument_t *arguments)
{
    return (zepi_launch_desc_t){.size = sizeof(zepi_launch_desc_t),
                                .kernel = kernel,
                                .arguments = arguments,
                                .argument_count = count,
                                .work_dim = 1,
                                .global_size = {1024},
                                .group_size = {64}};
}

static void set_three(const struct zepi_row *row, zepi_argument_t arguments[3], const int *value,
                      unsigned i)
{
    arguments[0] =
        (zepi_argument_t){.kind = ZEPI_ARGUMENT_POINTER, .value = row->memory[BENCH_CHANGING(i)]};
    arguments[1] = (zepi_argument_t){.kind = ZEPI_ARGUMENT_POINTER, .value = row->memory[2]};
    arguments[2] = (zepi_argument_t){
        .kind = ZEPI_ARGUMENT_VALUE, .size_bytes = sizeof(*value), .value = value};
}

bool zepi_row_prepare_3(void *state, unsigned count)
{
    const struct zepi_row *row = state;
    zepi_argument_t arguments[3] = {{0}};
    for (unsigned i = 0; i < count; i++) {
        const int value = (int)(i & 1);
        set_three(row, arguments, &value, i);
        bench_keep(arguments);
    }
    return true;
}

bool zepi_row_launch_3(void *state, unsigned count)
{
    const struct zepi_row *row = state;
    zepi_argument_t arguments[3] = {{0}};
    const zepi_launch_desc_t launch = launch_of(row->three, 3, arguments);
    for (unsigned i = 0; i < count; i++) {
        const int value = (int)(i & 1);
        set_three(row, arguments, &value, i);
        if (zepi.queue_launch(row->host.queue, &launch, no_wait, NULL) != ZEPI_SUCCESS)
            return false;
    }
    return true;
}

static void set_twelve(const struct zepi_row *row, zepi_argument_t arguments[12],
                       struct bench_twelve *values, unsigned i)
{
    bench_change_twelve(values, i);
    set_three(row, arguments, &values->number, i);
    arguments[3] = (zepi_argument_t){.size_bytes = 4, .value = &values->same};
    arguments[4] = (zepi_argument_t){.size_bytes = 4, .value = &values->number};
    arguments[5] = (zepi_argument_t){.size_bytes = 4, .value = &values->same};
    arguments[6] = (zepi_argument_t){.size_bytes = 8, .value = &values->wide};
    arguments[7] = (zepi_argument_t){.size_bytes = 8, .value = &row->memory[0]};
    arguments[8] = (zepi_argument_t){.size_bytes = 4, .value = &values->real};
    arguments[9] = (zepi_argument_t){.size_bytes = 4, .value = &values->same};
    arguments[10] =
        (zepi_argument_t){.kind = ZEPI_ARGUMENT_POINTER, .value = row->memory[BENCH_CHANGING(i)]};
    arguments[11] = (zepi_argument_t){.kind = ZEPI_ARGUMENT_POINTER, .value = row->memory[3]};
}

bool zepi_row_prepare_12(void *state, unsigned count)
{
    const struct zepi_row *row = state;
    zepi_argument_t arguments[12] = {{0}};
    struct bench_twelve values = {.same = 7};
    for (unsigned i = 0; i < count; i++) {
        set_twelve(row, arguments, &values, i);
        bench_keep(arguments);
    }
    return true;
}

bool zepi_row_launch_12(void *state, unsigned count)
{
    const struct zepi_row *row = state;
    zepi_argument_t arguments[12] = {{0}};
    struct bench_twelve values = {.same = 7};
    const zepi_launch_desc_t launch = launch_of(row->twelve, 12, arguments);
    for (unsigned i = 0; i < count; i++) {
        set_twelve(row, arguments, &values, i);
        if (zepi.queue_launch(row->host.queue, &launch, no_wait, NULL) != ZEPI_SUCCESS)
            return false;
    }
    return true;
}

bool zepi_row_launch_event(void *state, unsigned count)
{
    const struct zepi_row *row = state;
    zepi_argument_t arguments[3] = {{0}};
    const zepi_launch_desc_t launch = launch_of(row->three, 3, arguments);
    for (unsigned i = 0; i < count; i++) {
        const int value = (int)(i & 1);
        zepi_event_t event;
        set_three(row, arguments, &value, i);
        if (zepi.queue_launch(row->host.queue, &launch, no_wait, &event) != ZEPI_SUCCESS ||
            zepi.release(event) != ZEPI_SUCCESS)
            return false;
    }
    return true;
}

bool zepi_row_launch_after(void *state, unsigned count)
{
    const struct zepi_row *row = state;
    zepi_argument_t arguments[3] = {{0}};
    const zepi_launch_desc_t launch = launch_of(row->three, 3, arguments);
    zepi_event_t last = NULL;
    for (unsigned i = 0; i < count; i++) {
        const int value = (int)(i & 1);
        const zepi_wait_list_t wait = {&last, last != NULL};
        zepi_event_t event;
        set_three(row, arguments, &value, i);
        if (zepi.queue_launch(row->out_of_order, &launch, wait, &event) != ZEPI_SUCCESS)
            return false;
        host_release(last);
        last = event;
    }
    host_release(last);
    return true;
}

bool zepi_row_launch_suggested(void *state, unsigned count)
{
    const struct zepi_row *row = state;
    zepi_argument_t arguments[3] = {{0}};
    zepi_launch_desc_t launch = launch_of(row->three, 3, arguments);
    launch.group_size[0] = 0;
    for (unsigned i = 0; i < count; i++) {
        const int value = (int)(i & 1);
        set_three(row, arguments, &value, i);
        if (zepi.queue_launch(row->host.queue, &launch, no_wait, NULL) != ZEPI_SUCCESS)
            return false;
    }
    return true;
}

// By name, from a translation unit, with one of `values` values in turns: what dispatch adds to the
// launch of a kernel object.
static bool launch_by_name(const struct zepi_row *row, unsigned count, unsigned values)
{
    int specialized = 3;
    const zepi_spec_value_t spec = {0, sizeof(specialized), &specialized};
    zepi_argument_t arguments[3] = {{0}};
    zepi_launch_desc_t launch = launch_of(NULL, 3, arguments);
    launch.kernel_name = "three";
    launch.unit = &zepi_row_unit;
    launch.spec_values = &spec;
    launch.spec_value_count = 1;
    for (unsigned i = 0; i < count; i++) {
        const int value = (int)(i & 1);
        specialized = 3 + (int)(i % values);
        set_three(row, arguments, &value, i);
        if (zepi.queue_launch(row->host.queue, &launch, no_wait, NULL) != ZEPI_SUCCESS)
            return false;
    }
    return true;
}

bool zepi_row_launch_value(void *state, unsigned count)
{
    return launch_by_name(state, count, 1);
}

bool zepi_row_launch_values(void *state, unsigned count)
{
    return launch_by_name(state, count, 4);
}

bool zepi_row_launch_together(void *state, unsigned thread, unsigned count, int first_value)
{
    const struct zepi_row *row = state;
    const zepi_queue_t queue = thread == 0 ? row->host.queue : row->second;
    zepi_argument_t arguments[3] = {{0}};
    const zepi_launch_desc_t launch = launch_of(row->three, 3, arguments);
    (void)first_value;
    for (unsigned i = 0; i < count; i++) {
        const int value = (int)(i & 1);
        set_three(row, arguments, &value, i);
        if (zepi.queue_launch(queue, &launch, no_wait, NULL) != ZEPI_SUCCESS)
            return false;
    }
    return true;
}
