// SPDX-License-Identifier: MIT
// The operations through the plugin's table.
#include "bench.h"

#include <string.h>

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

static void set_three(const struct bench *bench, zepi_argument_t arguments[3], const int *value,
                      unsigned i)
{
    arguments[0] =
        (zepi_argument_t){.kind = ZEPI_ARGUMENT_POINTER, .value = bench->memory[BENCH_CHANGING(i)]};
    arguments[1] = (zepi_argument_t){.kind = ZEPI_ARGUMENT_POINTER, .value = bench->memory[2]};
    arguments[2] = (zepi_argument_t){
        .kind = ZEPI_ARGUMENT_VALUE, .size_bytes = sizeof(*value), .value = value};
}

static bool prepare_three(struct bench *bench, unsigned count)
{
    zepi_argument_t arguments[3] = {{0}};
    for (unsigned i = 0; i < count; i++) {
        const int value = (int)(i & 1);
        set_three(bench, arguments, &value, i);
        bench_keep(arguments);
    }
    return true;
}

static bool launch_three(struct bench *bench, unsigned count)
{
    zepi_argument_t arguments[3] = {{0}};
    const zepi_launch_desc_t launch = launch_of(bench->three, 3, arguments);
    for (unsigned i = 0; i < count; i++) {
        const int value = (int)(i & 1);
        set_three(bench, arguments, &value, i);
        if (zepi.queue_launch(bench->host.queue, &launch, no_wait, NULL) != ZEPI_SUCCESS)
            return false;
    }
    return true;
}

// What the values of a launch with twelve arguments lie in.
struct twelve {
    int number;
    int64_t wide;
    float real;
    int same;
};

static void set_twelve(const struct bench *bench, zepi_argument_t arguments[12],
                       struct twelve *values, unsigned i)
{
    values->number = (int)(i & 1);
    values->wide = i & 1;
    values->real = (float)(i & 1);
    set_three(bench, arguments, &values->number, i);
    arguments[3] = (zepi_argument_t){.size_bytes = 4, .value = &values->same};
    arguments[4] = (zepi_argument_t){.size_bytes = 4, .value = &values->number};
    arguments[5] = (zepi_argument_t){.size_bytes = 4, .value = &values->same};
    arguments[6] = (zepi_argument_t){.size_bytes = 8, .value = &values->wide};
    arguments[7] = (zepi_argument_t){.size_bytes = 8, .value = &bench->memory[0]};
    arguments[8] = (zepi_argument_t){.size_bytes = 4, .value = &values->real};
    arguments[9] = (zepi_argument_t){.size_bytes = 4, .value = &values->same};
    arguments[10] =
        (zepi_argument_t){.kind = ZEPI_ARGUMENT_POINTER, .value = bench->memory[BENCH_CHANGING(i)]};
    arguments[11] = (zepi_argument_t){.kind = ZEPI_ARGUMENT_POINTER, .value = bench->memory[3]};
}

static bool prepare_twelve(struct bench *bench, unsigned count)
{
    zepi_argument_t arguments[12] = {{0}};
    struct twelve values = {.same = 7};
    for (unsigned i = 0; i < count; i++) {
        set_twelve(bench, arguments, &values, i);
        bench_keep(arguments);
    }
    return true;
}

static bool launch_twelve(struct bench *bench, unsigned count)
{
    zepi_argument_t arguments[12] = {{0}};
    struct twelve values = {.same = 7};
    const zepi_launch_desc_t launch = launch_of(bench->twelve, 12, arguments);
    for (unsigned i = 0; i < count; i++) {
        set_twelve(bench, arguments, &values, i);
        if (zepi.queue_launch(bench->host.queue, &launch, no_wait, NULL) != ZEPI_SUCCESS)
            return false;
    }
    return true;
}

static bool launch_with_event(struct bench *bench, unsigned count)
{
    zepi_argument_t arguments[3] = {{0}};
    const zepi_launch_desc_t launch = launch_of(bench->three, 3, arguments);
    for (unsigned i = 0; i < count; i++) {
        const int value = (int)(i & 1);
        zepi_event_t event;
        set_three(bench, arguments, &value, i);
        if (zepi.queue_launch(bench->host.queue, &launch, no_wait, &event) != ZEPI_SUCCESS ||
            zepi.release(event) != ZEPI_SUCCESS)
            return false;
    }
    return true;
}

static bool launch_depending(struct bench *bench, unsigned count)
{
    zepi_argument_t arguments[3] = {{0}};
    const zepi_launch_desc_t launch = launch_of(bench->three, 3, arguments);
    zepi_event_t last = NULL;
    for (unsigned i = 0; i < count; i++) {
        const int value = (int)(i & 1);
        const zepi_wait_list_t wait = {&last, last != NULL};
        zepi_event_t event;
        set_three(bench, arguments, &value, i);
        if (zepi.queue_launch(bench->out_of_order, &launch, wait, &event) != ZEPI_SUCCESS)
            return false;
        host_release(last);
        last = event;
    }
    host_release(last);
    return true;
}

static bool launch_suggested(struct bench *bench, unsigned count)
{
    zepi_argument_t arguments[3] = {{0}};
    zepi_launch_desc_t launch = launch_of(bench->three, 3, arguments);
    launch.group_size[0] = 0;
    for (unsigned i = 0; i < count; i++) {
        const int value = (int)(i & 1);
        set_three(bench, arguments, &value, i);
        if (zepi.queue_launch(bench->host.queue, &launch, no_wait, NULL) != ZEPI_SUCCESS)
            return false;
    }
    return true;
}

static const int unit_token;

// By name, from a translation unit, with a value: what dispatch adds to the launch of a kernel
// object.
static bool launch_dispatched(struct bench *bench, unsigned count)
{
    zepi_image_info_t info = {.size = sizeof(info)};
    zepi_image_t image;
    uint32_t image_count;
    const int specialized = 3;
    const zepi_spec_value_t spec = {0, sizeof(specialized), &specialized};
    zepi_argument_t arguments[3] = {{0}};
    zepi_launch_desc_t launch = launch_of(NULL, 3, arguments);
    launch.kernel_name = "three";
    launch.unit = &unit_token;
    launch.spec_values = &spec;
    launch.spec_value_count = 1;
    if (zepi.module_get_images(bench->input, 1, &image, &image_count) != ZEPI_SUCCESS ||
        zepi.image_get_info(image, &info) != ZEPI_SUCCESS)
        return false;
    const zepi_image_desc_t desc = {.size = sizeof(desc),
                                    .format = ZEPI_IMAGE_SPIRV,
                                    .state = ZEPI_MODULE_INPUT,
                                    .bytes = info.bytes,
                                    .size_bytes = info.size_bytes};
    bool is_good = zepi.unit_register(&unit_token, 1, &desc) == ZEPI_SUCCESS;
    for (unsigned i = 0; i < count && is_good; i++) {
        const int value = (int)(i & 1);
        set_three(bench, arguments, &value, i);
        is_good = zepi.queue_launch(bench->host.queue, &launch, no_wait, NULL) == ZEPI_SUCCESS;
    }
    zepi.unit_unregister(&unit_token);
    host_release(image);
    return is_good;
}

static bool copy_small(struct bench *bench, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (zepi.queue_copy(bench->host.queue, bench->memory[0], bench->memory[1], 64, no_wait,
                            NULL) != ZEPI_SUCCESS)
            return false;
    }
    return true;
}

static bool allocate_and_free(struct bench *bench, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        void *memory;
        if (zepi.usm_allocate(bench->host.context, bench->host.device, ZEPI_USM_DEVICE, 4096, 0,
                              &memory) != ZEPI_SUCCESS ||
            zepi.usm_free(bench->host.context, memory) != ZEPI_SUCCESS)
            return false;
    }
    return true;
}

static bool create_kernel(struct bench *bench, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        zepi_kernel_t kernel;
        if (zepi.module_get_kernel(bench->executable, "three", &kernel) != ZEPI_SUCCESS ||
            zepi.release(kernel) != ZEPI_SUCCESS)
            return false;
    }
    return true;
}

static bool build_known(struct bench *bench, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        zepi_module_t module;
        if (zepi.module_build(bench->input, NULL, &module) != ZEPI_SUCCESS ||
            zepi.release(module) != ZEPI_SUCCESS)
            return false;
    }
    return true;
}

static bool build_whole(struct bench *bench, unsigned count)
{
    zepi_image_info_t info = {.size = sizeof(info)};
    zepi_image_t image;
    uint32_t image_count;
    const int value = 5;
    if (zepi.module_get_images(bench->input, 1, &image, &image_count) != ZEPI_SUCCESS ||
        zepi.image_get_info(image, &info) != ZEPI_SUCCESS)
        return false;
    const zepi_image_desc_t desc = {.size = sizeof(desc),
                                    .format = ZEPI_IMAGE_SPIRV,
                                    .state = ZEPI_MODULE_INPUT,
                                    .bytes = info.bytes,
                                    .size_bytes = info.size_bytes};
    bool is_good = true;
    for (unsigned i = 0; i < count && is_good; i++) {
        zepi_module_t input = NULL;
        zepi_module_t module = NULL;
        zepi_kernel_t kernel = NULL;
        is_good = zepi.module_create(bench->host.context, ZEPI_MODULE_INPUT, 1, &desc, &input) ==
                      ZEPI_SUCCESS &&
                  zepi.spec_constant_set(input, 0, sizeof(value), &value) == ZEPI_SUCCESS &&
                  zepi.module_build(input, NULL, &module) == ZEPI_SUCCESS &&
                  zepi.module_get_kernel(module, "three", &kernel) == ZEPI_SUCCESS;
        host_release(kernel);
        host_release(module);
        host_release(input);
    }
    host_release(image);
    return is_good;
}

const struct bench_case bench_zepi_cases[] = {
    {"zepi", "in-order launch, 3 arguments", launch_three, prepare_three, true},
    {"zepi", "in-order launch, 12 arguments", launch_twelve, prepare_twelve, true},
    {"zepi", "in-order launch with event, released", launch_with_event, prepare_three, true},
    {"zepi", "out-of-order launch after the one before", launch_depending, prepare_three, true},
    {"zepi", "in-order launch, suggested group size", launch_suggested, prepare_three, true},
    {"zepi", "the same launch by name, unit and value", launch_dispatched, prepare_three, true},
    {"zepi", "copy of 64 bytes", copy_small, bench_empty_loop, false},
    {"zepi", "allocate and free 4 KiB", allocate_and_free, bench_empty_loop, false},
    {"zepi", "create and release a kernel object", create_kernel, bench_empty_loop, false},
    {"zepi", "build a known module and release it", build_known, bench_empty_loop, false},
    {"zepi", "create, specialize, build, get kernel, release", build_whole, bench_empty_loop,
     false},
    {0},
};
