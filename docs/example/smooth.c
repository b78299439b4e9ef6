// SPDX-License-Identifier: MIT
// Builds two kernels with values for their specialization constants, records their launches as a
// graph, replays it, and prints the times of events.
#include "smooth.spv.h"

#include <zepi/zepi.h>

#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1 << 16, ROUNDS = 10 };

static zepi_plugin_t zepi = {.size = sizeof(zepi), .interface_version = ZEPI_INTERFACE_VERSION};
static const zepi_wait_list_t no_wait = {0};

static void check(zepi_result_t result, const char *call)
{
    if (result == ZEPI_SUCCESS)
        return;
    fprintf(stderr, "%s: %s\n%s", call, zepi.last_error(NULL), zepi.last_build_log());
    exit(1);
}

// An executable module with the weights and the factor.
static zepi_module_t build(zepi_context_t context, const float weights[3], float factor)
{
    // The array that the host sets by name, and the id of each element.
    const zepi_spec_element_t elements[] = {{.id = 0, .offset_bytes = 0, .size_bytes = 4},
                                            {.id = 1, .offset_bytes = 4, .size_bytes = 4},
                                            {.id = 2, .offset_bytes = 8, .size_bytes = 4}};
    const zepi_spec_layout_t layout = {
        .name = "weights", .size_bytes = 12, .elements = elements, .element_count = 3};
    const zepi_device_image_desc_t image = {.size = sizeof(image),
                                            .format = ZEPI_DEVICE_IMAGE_SPIRV,
                                            .state = ZEPI_MODULE_INPUT,
                                            .bytes = smooth_spv,
                                            .size_bytes = sizeof(smooth_spv),
                                            .layouts = &layout,
                                            .layout_count = 1};
    zepi_module_t input, executable;
    check(zepi.module_create(context, ZEPI_MODULE_INPUT, 1, &image, &input), "module_create");
    check(zepi.spec_constant_set_by_name(input, "weights", 12, weights), "weights");
    check(zepi.spec_constant_set(input, 3, sizeof(factor), &factor), "factor");
    check(zepi.module_build(input, NULL, &executable), "module_build");
    check(zepi.release(input), "release");
    return executable;
}

// Enqueues a kernel that reads `in` and writes `out`.
static void launch(zepi_queue_t queue, zepi_module_t module, const char *name, float *in,
                   float *out, zepi_event_t *out_event)
{
    const zepi_argument_t arguments[] = {{.kind = ZEPI_ARGUMENT_POINTER, .value = in},
                                         {.kind = ZEPI_ARGUMENT_POINTER, .value = out}};
    const zepi_launch_desc_t desc = {.size = sizeof(desc),
                                     .kernel_name = name,
                                     .module = module,
                                     .arguments = arguments,
                                     .argument_count = 2,
                                     .work_dim = 1,
                                     .global_size = {COUNT}};
    check(zepi.queue_launch(queue, &desc, no_wait, out_event), name);
}

// Waits for an event, prints the time of its command, and releases it.
static void finish(zepi_event_t event, const char *command)
{
    zepi_event_times_t times = {.size = sizeof(times)};
    check(zepi.event_wait(1, &event, UINT64_MAX), command);
    check(zepi.event_get_times(event, &times), command);
    printf("%s: %.1f us\n", command, (double)(times.end_ns - times.start_ns) / 1000);
    check(zepi.release(event), command);
}

int main(void)
{
    const float weights[3] = {0.25f, 0.5f, 0.25f};
    zepi_platform_t platform;
    zepi_device_t device;
    zepi_context_t context;
    zepi_queue_t queue;
    zepi_graph_t graph;
    zepi_event_t event;
    uint32_t count;
    float *a, *b;
    if (zepiPluginInit(&zepi) != ZEPI_SUCCESS)
        return 1;
    check(zepi.platform_get(1, &platform, &count), "platform_get");
    check(count > 0 ? ZEPI_SUCCESS : ZEPI_ERROR_UNINITIALIZED, "there is no platform");
    check(zepi.device_get(platform, 1, &device, &count), "device_get");
    check(zepi.context_create(1, &device, &context), "context_create");
    check(zepi.queue_create(context, device, ZEPI_QUEUE_IN_ORDER | ZEPI_QUEUE_PROFILING, &queue),
          "queue_create");
    check(
        zepi.usm_allocate(context, device, ZEPI_USM_SHARED, COUNT * sizeof(float), 0, (void **)&a),
        "a");
    check(
        zepi.usm_allocate(context, device, ZEPI_USM_SHARED, COUNT * sizeof(float), 0, (void **)&b),
        "b");
    for (int i = 0; i < COUNT; i++)
        a[i] = 1;
    const zepi_module_t module = build(context, weights, 2);

    // Each launch may have an event, whose times are those of the device.
    launch(queue, module, "smooth", a, b, &event);
    finish(event, "smooth");
    launch(queue, module, "scale", b, a, &event);
    finish(event, "scale");

    // Commands of a capture go to the graph and are not executed. Each replay is one call.
    check(zepi.graph_create(context, device, 0, &graph), "graph_create");
    check(zepi.queue_begin_capture(queue, graph), "queue_begin_capture");
    launch(queue, module, "smooth", a, b, NULL);
    launch(queue, module, "scale", b, a, NULL);
    check(zepi.queue_end_capture(queue), "queue_end_capture");
    check(zepi.graph_finalize(graph), "graph_finalize");
    for (int i = 1; i < ROUNDS; i++)
        check(zepi.queue_execute(queue, graph, no_wait, i + 1 < ROUNDS ? NULL : &event),
              "queue_execute");
    finish(event, "the last replay");

    // Far from the ends the weights change nothing, and each round doubles.
    const float wanted = 1 << ROUNDS;
    if (a[COUNT / 2] != wanted)
        return printf("the result is %g, expected %g\n", (double)a[COUNT / 2], (double)wanted), 1;
    printf("%d rounds are right\n", ROUNDS);
    return 0;
}
