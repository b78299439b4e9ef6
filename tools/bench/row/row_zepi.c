// SPDX-License-Identifier: MIT
#include "row_zepi.h"

#include "tools/zepi/kernels.h"

// The token of launches by name: the images of kernels/bench.cl are registered with it.
static const char unit;

// ---- Bringing it up ----

static bool make_objects(struct zepi_row *row)
{
    const zepi_context_t context = row->host.context;
    const zepi_device_t device = row->host.device;
    const zepi_device_image_desc_t image = kernel_image("bench");
    zepi_module_t input = NULL;
    bool is_good =
        zepi.queue_create(context, device, 0, &row->out_of_order) == ZEPI_SUCCESS &&
        zepi.queue_create(context, device, ZEPI_QUEUE_IN_ORDER, &row->second) == ZEPI_SUCCESS &&
        zepi.module_create(context, ZEPI_MODULE_INPUT, 1, &image, &input) == ZEPI_SUCCESS &&
        zepi.module_build(input, NULL, &row->executable) == ZEPI_SUCCESS &&
        zepi.unit_register(&unit, 1, &image) == ZEPI_SUCCESS &&
        zepi.buffer_create(context, 8192, NULL, &row->buffer) == ZEPI_SUCCESS;
    host_release(input);
    for (int i = 0; i < BENCH_KERNEL_COUNT && is_good; i++)
        is_good = zepi.module_get_kernel(row->executable, bench_kernels[i].name,
                                         &row->kernels[i]) == ZEPI_SUCCESS;
    for (int i = 0; i < BENCH_MEMORIES && is_good; i++)
        is_good = zepi.usm_allocate(context, device, ZEPI_USM_DEVICE, 8192, 0, &row->memory[i]) ==
                  ZEPI_SUCCESS;
    return is_good;
}

int zepi_row_open(struct zepi_row *row, enum host_driver driver)
{
    int code = host_open(&row->host, driver);
    if (code == EXIT_OK && !make_objects(row))
        code = host_fail("bench");
    return code;
}

void zepi_row_close(struct zepi_row *row)
{
    if (!row->host.context)
        return;
    for (int i = 0; i < BENCH_MEMORIES; i++) {
        if (row->memory[i])
            zepi.usm_free(row->host.context, row->memory[i]);
    }
    zepi.unit_unregister(&unit);
    host_release(row->last);
    for (int i = 0; i < BENCH_KERNEL_COUNT; i++)
        host_release(row->kernels[i]);
    host_release(row->buffer);
    host_release(row->executable);
    host_release(row->out_of_order);
    host_release(row->second);
    host_close(&row->host);
}

static bool settle(void *state)
{
    const struct zepi_row *row = state;
    return zepi.queue_finish(row->host.queue) == ZEPI_SUCCESS &&
           zepi.queue_finish(row->second) == ZEPI_SUCCESS &&
           zepi.queue_finish(row->out_of_order) == ZEPI_SUCCESS;
}

// ---- Launches ----

static void set_arguments(const struct zepi_row *row, const struct bench_launch *launch,
                          zepi_argument_t *arguments, const struct bench_values *values,
                          unsigned turn)
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

static bool launch_once(void *state, const struct bench_launch *launch, unsigned i)
{
    struct zepi_row *row = state;
    const bool is_by_name = launch->values > 0;
    const int constant = is_by_name ? 3 + (int)(i % launch->values) : 0;
    const zepi_spec_value_t spec = {0, sizeof(constant), &constant};
    zepi_argument_t arguments[BENCH_MAX_ARGUMENTS];
    struct bench_values values = {.same = 7};
    const unsigned turn = bench_change(launch, &values, i);
    const zepi_launch_desc_t desc = {
        .size = sizeof(desc),
        .kernel = is_by_name ? NULL : row->kernels[bench_kernel_of(launch, i)],
        .kernel_name = is_by_name ? bench_kernels[launch->kernel].name : NULL,
        .unit = is_by_name ? &unit : NULL,
        .spec_values = is_by_name ? &spec : NULL,
        .spec_value_count = is_by_name,
        .arguments = arguments,
        .argument_count = bench_kernels[launch->kernel].argument_count,
        .work_dim = 1,
        .global_size = {bench_global_size(launch, i)},
        .group_size = {64}};
    const zepi_queue_t queue = launch->is_after    ? row->out_of_order
                               : launch->is_second ? row->second
                                                   : row->host.queue;
    const zepi_wait_list_t wait = {&row->last, launch->is_after && row->last};
    zepi_event_t event = NULL;
    set_arguments(row, launch, arguments, &values, turn);
    if (zepi.queue_launch(queue, &desc, wait, launch->has_event ? &event : NULL) != ZEPI_SUCCESS)
        return false;
    if (launch->is_after) {
        const zepi_event_t before = row->last;
        row->last = event;
        event = before;
    }
    return !event || zepi.release(event) == ZEPI_SUCCESS;
}

static bool launch(void *state, enum bench_operation operation, unsigned i)
{
    return launch_once(state, &bench_operations[operation].launch, i);
}

// ---- Memory and objects ----

static bool copy_from_memory(const struct zepi_row *row, zepi_queue_t queue, void *to)
{
    const zepi_wait_list_t no_wait = {0};
    return zepi.queue_copy(queue, to, row->memory[BENCH_COPY_FROM], 64, no_wait, NULL) ==
           ZEPI_SUCCESS;
}

static bool copy_small(void *state, enum bench_operation operation, unsigned i)
{
    const struct zepi_row *row = state;
    (void)operation, (void)i;
    return copy_from_memory(row, row->host.queue, row->memory[BENCH_COPY_TO]);
}

static bool allocate(const struct zepi_row *row, void **out_memory)
{
    return zepi.usm_allocate(row->host.context, row->host.device, ZEPI_USM_DEVICE, 4096, 0,
                             out_memory) == ZEPI_SUCCESS;
}

static bool allocate_and_free(void *state, enum bench_operation operation, unsigned i)
{
    const struct zepi_row *row = state;
    (void)operation, (void)i;
    void *memory;
    return allocate(row, &memory) && zepi.usm_free(row->host.context, memory) == ZEPI_SUCCESS;
}

// The host waits for nothing, so that every free meets a busy queue.
static bool allocate_and_free_busy(void *state, enum bench_operation operation, unsigned i)
{
    const struct zepi_row *row = state;
    (void)operation, (void)i;
    void *memory;
    return allocate(row, &memory) && copy_from_memory(row, row->out_of_order, memory) &&
           zepi.usm_free(row->host.context, memory) == ZEPI_SUCCESS;
}

static bool create_queue(void *state, enum bench_operation operation, unsigned i)
{
    const struct zepi_row *row = state;
    (void)operation, (void)i;
    zepi_queue_t queue;
    return zepi.queue_create(row->host.context, row->host.device, ZEPI_QUEUE_IN_ORDER, &queue) ==
               ZEPI_SUCCESS &&
           zepi.release(queue) == ZEPI_SUCCESS;
}

static bool create_kernel(void *state, enum bench_operation operation, unsigned i)
{
    const struct zepi_row *row = state;
    (void)operation, (void)i;
    zepi_kernel_t kernel;
    return zepi.module_get_kernel(row->executable, "three", &kernel) == ZEPI_SUCCESS &&
           zepi.release(kernel) == ZEPI_SUCCESS;
}

// ---- Builds ----

// A program of the image: create, specialize, build, get a kernel, release.
static bool build(void *state, enum bench_operation operation, unsigned i)
{
    const struct zepi_row *row = state;
    const zepi_context_t context = row->host.context;
    const zepi_device_image_desc_t image = kernel_image(bench_operations[operation].image);
    const int value = 5;
    zepi_module_t input = NULL;
    zepi_module_t module = NULL;
    zepi_kernel_t kernel = NULL;
    (void)i;
    const bool is_good =
        zepi.module_create(context, ZEPI_MODULE_INPUT, 1, &image, &input) == ZEPI_SUCCESS &&
        zepi.spec_constant_set(input, 0, sizeof(value), &value) == ZEPI_SUCCESS &&
        zepi.module_build(input, NULL, &module) == ZEPI_SUCCESS &&
        zepi.module_get_kernel(module, "three", &kernel) == ZEPI_SUCCESS;
    host_release(kernel);
    host_release(module);
    host_release(input);
    return is_good;
}

struct bench_row zepi_row_of(struct zepi_row *row)
{
    static bench_step *const steps[BENCH_OPERATION_COUNT] = {
        [BENCH_LAUNCH_3... BENCH_LAUNCH_VALUES] = launch,
        [BENCH_COPY] = copy_small,
        [BENCH_QUEUE] = create_queue,
        [BENCH_ALLOCATE] = allocate_and_free,
        [BENCH_ALLOCATE_BUSY] = allocate_and_free_busy,
        [BENCH_KERNEL] = create_kernel,
        [BENCH_PROGRAM... BENCH_PROGRAM_LARGE] = build,
    };
    return (struct bench_row){
        .name = "zepi", .steps = steps, .launch = launch_once, .settle = settle, .state = row};
}
