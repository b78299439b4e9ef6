// SPDX-License-Identifier: MIT
#include "row_zepi.h"

#include "tools/zepi/kernels.h"

// ---- Bringing it up ----

zepi_device_image_desc_t zepi_row_image(const char *name)
{
    const struct kernel_image image = kernel_image(name);
    return (zepi_device_image_desc_t){.size = sizeof(zepi_device_image_desc_t),
                                      .format = ZEPI_DEVICE_IMAGE_SPIRV,
                                      .state = ZEPI_MODULE_INPUT,
                                      .bytes = image.bytes,
                                      .size_bytes = image.size_bytes};
}

static bool make_objects(struct zepi_row *row)
{
    const zepi_context_t context = row->host.context;
    const zepi_device_t device = row->host.device;
    const zepi_device_image_desc_t image = zepi_row_image("bench");
    zepi_module_t input = NULL;
    bool is_good =
        zepi.queue_create(context, device, 0, &row->out_of_order) == ZEPI_SUCCESS &&
        zepi.queue_create(context, device, ZEPI_QUEUE_IN_ORDER, &row->second) == ZEPI_SUCCESS &&
        zepi.context_create(1, &row->host.device, &row->aside) == ZEPI_SUCCESS &&
        zepi.module_create(context, ZEPI_MODULE_INPUT, 1, &image, &input) == ZEPI_SUCCESS &&
        zepi.module_build(input, NULL, &row->executable) == ZEPI_SUCCESS &&
        zepi.unit_register(&zepi_row_unit, 1, &image) == ZEPI_SUCCESS &&
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
    int code = host_load(driver);
    if (code == EXIT_OK)
        code = host_open(&row->host, 0);
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
    zepi.unit_unregister(&zepi_row_unit);
    for (int i = 0; i < BENCH_KERNEL_COUNT; i++)
        host_release(row->kernels[i]);
    host_release(row->buffer);
    host_release(row->executable);
    host_release(row->aside);
    host_release(row->out_of_order);
    host_release(row->second);
    host_close(&row->host);
}

bool zepi_row_settle(void *state)
{
    const struct zepi_row *row = state;
    return zepi.queue_finish(row->host.queue) == ZEPI_SUCCESS &&
           zepi.queue_finish(row->second) == ZEPI_SUCCESS &&
           zepi.queue_finish(row->out_of_order) == ZEPI_SUCCESS;
}

// ---- Memory and objects ----

static bool copy_small(void *state, unsigned count)
{
    const struct zepi_row *row = state;
    const zepi_wait_list_t no_wait = {0};
    for (unsigned i = 0; i < count; i++) {
        if (zepi.queue_copy(row->host.queue, row->memory[BENCH_COPY_TO],
                            row->memory[BENCH_COPY_FROM], 64, no_wait, NULL) != ZEPI_SUCCESS)
            return false;
    }
    return true;
}

static bool allocate_and_free(void *state, unsigned count)
{
    const struct zepi_row *row = state;
    for (unsigned i = 0; i < count; i++) {
        void *memory;
        if (zepi.usm_allocate(row->host.context, row->host.device, ZEPI_USM_DEVICE, 4096, 0,
                              &memory) != ZEPI_SUCCESS ||
            zepi.usm_free(row->host.context, memory) != ZEPI_SUCCESS)
            return false;
    }
    return true;
}

static bool create_queue(void *state, unsigned count)
{
    const struct zepi_row *row = state;
    for (unsigned i = 0; i < count; i++) {
        zepi_queue_t queue;
        if (zepi.queue_create(row->host.context, row->host.device, ZEPI_QUEUE_IN_ORDER, &queue) !=
                ZEPI_SUCCESS ||
            zepi.release(queue) != ZEPI_SUCCESS)
            return false;
    }
    return true;
}

// The host waits for nothing, so that every free meets a busy queue.
static bool allocate_and_free_busy(void *state, unsigned count)
{
    const struct zepi_row *row = state;
    const zepi_wait_list_t no_wait = {0};
    for (unsigned i = 0; i < count; i++) {
        void *memory;
        if (zepi.usm_allocate(row->host.context, row->host.device, ZEPI_USM_DEVICE, 4096, 0,
                              &memory) != ZEPI_SUCCESS ||
            zepi.queue_copy(row->out_of_order, memory, row->memory[BENCH_COPY_FROM], 64, no_wait,
                            NULL) != ZEPI_SUCCESS ||
            zepi.usm_free(row->host.context, memory) != ZEPI_SUCCESS)
            return false;
    }
    return true;
}

static bool create_kernel(void *state, unsigned count)
{
    const struct zepi_row *row = state;
    for (unsigned i = 0; i < count; i++) {
        zepi_kernel_t kernel;
        if (zepi.module_get_kernel(row->executable, "three", &kernel) != ZEPI_SUCCESS ||
            zepi.release(kernel) != ZEPI_SUCCESS)
            return false;
    }
    return true;
}

// ---- Builds ----

// Create, specialize, build, get a kernel, release.
static bool make_program(zepi_context_t context, const zepi_device_image_desc_t *image, int value)
{
    zepi_module_t input = NULL;
    zepi_module_t module = NULL;
    zepi_kernel_t kernel = NULL;
    const bool is_good =
        zepi.module_create(context, ZEPI_MODULE_INPUT, 1, image, &input) == ZEPI_SUCCESS &&
        zepi.spec_constant_set(input, 0, sizeof(value), &value) == ZEPI_SUCCESS &&
        zepi.module_build(input, NULL, &module) == ZEPI_SUCCESS &&
        zepi.module_get_kernel(module, "three", &kernel) == ZEPI_SUCCESS;
    host_release(kernel);
    host_release(module);
    host_release(input);
    return is_good;
}

static bool make_programs(zepi_context_t context, const char *name, unsigned count, int value)
{
    const zepi_device_image_desc_t image = zepi_row_image(name);
    bool is_good = true;
    for (unsigned i = 0; i < count && is_good; i++)
        is_good = make_program(context, &image, value);
    return is_good;
}

static bool build(void *state, const char *name, unsigned count, int value)
{
    const struct zepi_row *row = state;
    return make_programs(row->host.context, name, count, value);
}

// The file is there: the first operation of all made it.
static bool build_from_disk(void *state, unsigned count)
{
    const struct zepi_row *row = state;
    bool is_good = true;
    for (unsigned i = 0; i < count && is_good; i++)
        is_good = zepi.cache_clear(row->aside) == ZEPI_SUCCESS &&
                  zepi.cache_clear(NULL) == ZEPI_SUCCESS &&
                  make_programs(row->aside, "bench_small", 1, 5);
    return is_good;
}

bench_crew_fn *const zepi_row_crews[BENCH_CREW_COUNT] = {
    [BENCH_CREW_LAUNCH] = zepi_row_launch_together,
    [BENCH_CREW_ONE_QUEUE] = bench_launch_to_one_queue,
    [BENCH_CREW_SAME] = bench_build_same,
    [BENCH_CREW_DIFFERENT] = bench_build_different,
    [BENCH_CREW_COLD_SAME] = bench_build_cold_same,
    [BENCH_CREW_COLD_DIFFERENT] = bench_build_cold_different,
};

const struct bench_step zepi_row_steps[BENCH_OPERATION_COUNT] = {
    [BENCH_LAUNCH_3... BENCH_LAUNCH_VALUES] = {.launch = zepi_row_launch},
    [BENCH_COPY] = {.run = copy_small},
    [BENCH_QUEUE] = {.run = create_queue},
    [BENCH_ALLOCATE] = {.run = allocate_and_free},
    [BENCH_ALLOCATE_BUSY] = {.run = allocate_and_free_busy},
    [BENCH_KERNEL] = {.run = create_kernel},
    [BENCH_PROGRAM] = {.build = build},
    [BENCH_PROGRAM_LARGE] = {.build = build},
    [BENCH_DISK] = {.run = build_from_disk, .is_slow = true},
    [BENCH_COLD] = {.build = build, .is_slow = true},
};
