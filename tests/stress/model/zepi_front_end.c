// SPDX-License-Identifier: MIT
// The model test through zepi.h.
#include "model.h"

#include "test_plugin.h"

#include <stdlib.h>
#include <string.h>

#define BYTES(words) ((words) * sizeof(uint32_t))

enum { MOST_DEVICES = 4 };

static zepi_platform_t platform;
static zepi_device_t devices[MOST_DEVICES];
static uint32_t device_count;
static zepi_context_t context;
static zepi_context_t other_context; // of the last device
static zepi_pool_t pool;
static zepi_module_t modules[2]; // with 1 and 2 for the constant
static int unit;                 // its address is a token

static unsigned set_up(void)
{
    uint32_t count;
    test_plugin_load();
    TEST_OK(zepi.platform_get(1, &platform, &count));
    if (count == 0)
        model_fail("there is no platform: %s", zepi.last_error(NULL));
    TEST_OK(zepi.device_get(platform, MOST_DEVICES, devices, &device_count));
    if (device_count > MOST_DEVICES)
        device_count = MOST_DEVICES;
    TEST_OK(zepi.context_create(device_count, devices, &context));
    TEST_OK(zepi.context_create(1, &devices[device_count - 1], &other_context));
    TEST_OK(zepi.pool_create(context, NULL, &pool));
    const zepi_device_image_desc_t image = test_spirv_image("model");
    TEST_OK(zepi.unit_register(&unit, 1, &image));
    return device_count;
}

static void tear_down(void)
{
    for (int i = 0; i < 2; i++) {
        if (modules[i])
            TEST_OK(zepi.release(modules[i]));
    }
    TEST_OK(zepi.unit_unregister(&unit));
    TEST_OK(zepi.release(pool));
    TEST_OK(zepi.release(other_context));
    TEST_OK(zepi.release(context));
    for (uint32_t i = 0; i < device_count; i++)
        TEST_OK(zepi.release(devices[i]));
    TEST_OK(zepi.release(platform));
    test_plugin_unload();
}

static void release(void *object)
{
    TEST_OK(zepi.release(object));
}

static void retain(void *object)
{
    TEST_OK(zepi.retain(object));
}

// ---- Memory ----

static void *make_host(size_t words)
{
    void *memory;
    TEST_OK(zepi.usm_allocate(context, NULL, ZEPI_USM_HOST, BYTES(words), 0, &memory));
    return memory;
}

static void free_host(void *memory)
{
    TEST_OK(zepi.usm_free(context, memory));
}

static bool make(struct place *place)
{
    zepi_usm_kind_t kind;
    switch (place->kind) {
    case MEMORY_HOST:
        kind = ZEPI_USM_HOST;
        break;
    case MEMORY_SHARED:
        kind = ZEPI_USM_SHARED;
        break;
    case MEMORY_DEVICE:
        kind = ZEPI_USM_DEVICE;
        break;
    default:
        return false;
    }
    TEST_OK(zepi.usm_allocate(context, kind == ZEPI_USM_HOST ? NULL : devices[place->device], kind,
                              BYTES(WORDS), 0, (void **)&place->memory));
    return true;
}

static void free_memory(struct place *place)
{
    TEST_OK(zepi.usm_free(context, place->memory));
}

static void *make_buffer(size_t words, char *plain)
{
    zepi_buffer_t buffer;
    TEST_OK(zepi.buffer_create(context, BYTES(words), plain, &buffer));
    return buffer;
}

static zepi_wait_list_t list_of(const struct waits *waits)
{
    return (zepi_wait_list_t){waits->count > 0 ? (const zepi_event_t *)waits->events : NULL,
                              waits->count};
}
#define WAITS list_of(waits)
#define EVENT ((zepi_event_t *)out_event)

static void *allocate_ordered(void *queue, const struct waits *waits, void **out_event)
{
    void *memory;
    TEST_OK(
        zepi.queue_allocate(queue, pool, ZEPI_USM_DEVICE, BYTES(WORDS), 0, WAITS, &memory, EVENT));
    return memory;
}

static void free_ordered(void *queue, void *memory, const struct waits *waits, void **out_event)
{
    TEST_OK(zepi.queue_free(queue, memory, WAITS, EVENT));
}

static void trim_pool(void)
{
    TEST_OK(zepi.pool_trim(pool, draw(2) * BYTES(WORDS)));
}

// ---- Queues and events ----

static void *make_queue(unsigned device, unsigned kind)
{
    zepi_queue_t queue;
    TEST_OK(zepi.queue_create(context, devices[device],
                              (kind & QUEUE_IN_ORDER ? ZEPI_QUEUE_IN_ORDER : 0) |
                                  (kind & QUEUE_TIMED ? ZEPI_QUEUE_PROFILING : 0),
                              &queue));
    return queue;
}

static void finish(void *queue)
{
    TEST_OK(zepi.queue_finish(queue));
}

static void *make_gate(bool is_other)
{
    zepi_event_t gate;
    TEST_OK(zepi.event_create(is_other ? other_context : context, &gate));
    return gate;
}

static void open_gate(void *gate)
{
    TEST_OK(zepi.event_signal(gate));
}

static void *event_of_gate(void *gate)
{
    return gate;
}

static void wait_for_events(uint32_t count, void **events)
{
    TEST_OK(zepi.event_wait(count, (const zepi_event_t *)events, UINT64_MAX));
}

static bool is_complete(void *event)
{
    zepi_event_status_t status;
    TEST_OK(zepi.event_get_status(event, &status));
    return status == ZEPI_EVENT_COMPLETE;
}

// ---- Commands ----

static void *address(const struct range *range)
{
    return range->place->memory + BYTES(range->word);
}

static void copy(void *queue, const struct range *to, const struct range *from, size_t words,
                 const struct waits *waits, void **out_event)
{
    TEST_OK(zepi.queue_copy(queue, address(to), address(from), BYTES(words), WAITS, EVENT));
}

static void copy_rows(void *queue, const struct range *to, size_t to_pitch,
                      const struct range *from, size_t from_pitch, size_t width, size_t rows,
                      const struct waits *waits, void **out_event)
{
    const zepi_rect_t to_rect = {.row_pitch_bytes = BYTES(to_pitch)};
    const zepi_rect_t from_rect = {.row_pitch_bytes = BYTES(from_pitch)};
    const size_t region[3] = {BYTES(width), rows, 1};
    TEST_OK(zepi.queue_copy_rect(queue, address(to), &to_rect, address(from), &from_rect, region,
                                 WAITS, EVENT));
}

static void fill(void *queue, const struct range *to, uint32_t value, size_t words,
                 const struct waits *waits, void **out_event)
{
    TEST_OK(zepi.queue_fill(queue, address(to), &value, sizeof(value), BYTES(words), WAITS, EVENT));
}

static void barrier(void *queue, const struct waits *waits, void **out_event)
{
    TEST_OK(zepi.queue_barrier(queue, WAITS, EVENT));
}

static void marker(void *queue, const struct waits *waits, void **out_event)
{
    TEST_OK(zepi.queue_marker(queue, WAITS, EVENT));
}

static bool has_host_functions(void)
{
    zepi_device_info_t info = {.size = sizeof(info)};
    TEST_OK(zepi.device_get_info(devices[0], &info));
    return info.has_host_functions;
}

static void call_host(void *queue, void (*function)(void *), void *data, const struct waits *waits,
                      void **out_event)
{
    TEST_OK(zepi.queue_call_host(queue, function, data, WAITS, EVENT));
}

// ---- Kernels ----

static const char *const kernel_names[KERNELS] = {"blend", "stamp", "scale"};

static zepi_module_t make_module(uint32_t value)
{
    zepi_module_t executable;
    zepi_module_t input = test_input(context, "model");
    TEST_OK(zepi.spec_constant_set(input, 7, sizeof(value), &value));
    TEST_OK(zepi.module_build(input, NULL, &executable));
    release(input);
    return executable;
}

static void *make_kernel(enum kernel kernel, uint32_t value, bool is_new)
{
    zepi_kernel_t made;
    if (!is_new && !modules[value - 1])
        modules[value - 1] = make_module(value);
    zepi_module_t module = is_new ? make_module(value) : modules[value - 1];
    TEST_OK(zepi.module_get_kernel(module, kernel_names[kernel], &made));
    if (is_new)
        release(module);
    return made;
}

static size_t suggest_group(void *kernel, unsigned device, size_t global)
{
    size_t group;
    TEST_OK(zepi.kernel_suggest_group_size(kernel, devices[device], 1, &global, &group));
    return group;
}

static void forget_modules(bool all)
{
    if (all)
        TEST_OK(zepi.cache_clear(context));
    else
        TEST_OK(zepi.cache_trim(context, 0));
}

// ---- Launches ----

enum { MOST_ARGUMENTS = 8 };

// A description, and what it points to.
struct described {
    zepi_launch_desc_t desc;
    uint32_t values[MOST_ARGUMENTS];
    zepi_argument_t arguments[MOST_ARGUMENTS];
};

static void add_value(struct described *described, uint32_t value)
{
    const uint32_t i = described->desc.argument_count++;
    described->values[i] = value;
    described->arguments[i] = TEST_VALUE(described->values[i]);
}

static void describe(const struct launch *launch, void *kernel, struct described *out)
{
    const struct range *const all[] = {&launch->a, &launch->b, &launch->out};
    const bool has[] = {launch->kernel != KERNEL_STAMP, launch->kernel == KERNEL_BLEND, true};
    out->desc = (zepi_launch_desc_t){.size = sizeof(out->desc),
                                     .kernel = kernel,
                                     .arguments = out->arguments,
                                     .work_dim = launch->dimensions};
    for (uint32_t i = 0; i < launch->dimensions; i++) {
        out->desc.global_size[i] = launch->global[i];
        out->desc.global_offset[i] = launch->offset[i];
        if (launch->group[0] > 0)
            out->desc.group_size[i] = launch->group[i];
    }
    if (launch->kernel != KERNEL_SCALE) {
        add_value(out, launch->value);
        add_value(out, launch->marks);
    }
    for (int i = 0; i < 3; i++) {
        if (has[i])
            add_value(out, (uint32_t)all[i]->word);
    }
    for (int i = 0; i < 3; i++) {
        if (!has[i])
            continue;
        out->arguments[out->desc.argument_count++] =
            all[i]->place->buffer
                ? (zepi_argument_t){.kind = ZEPI_ARGUMENT_BUFFER, .value = all[i]->place->buffer}
                : TEST_POINTER(all[i]->place->memory);
    }
}

static void enqueue_launch(void *queue, void *kernel, const struct launch *launch,
                           const struct waits *waits, void **out_event)
{
    struct described described;
    describe(launch, kernel, &described);
    TEST_OK(zepi.queue_launch(queue, &described.desc, WAITS, EVENT));
}

static void launch_by_name(void *queue, const struct launch *launch, const struct waits *waits,
                           void **out_event)
{
    struct described described;
    const zepi_spec_value_t constant = {7, sizeof(launch->value), &launch->value};
    describe(launch, NULL, &described);
    described.desc.kernel_name = kernel_names[launch->kernel];
    described.desc.unit = &unit;
    described.desc.spec_values = &constant;
    described.desc.spec_value_count = 1;
    TEST_OK(zepi.queue_launch(queue, &described.desc, WAITS, EVENT));
}

// ---- Graphs ----

static void *make_graph(bool is_updatable, bool is_in_order)
{
    zepi_graph_t graph;
    (void)is_in_order;
    TEST_OK(
        zepi.graph_create(context, devices[0], is_updatable ? ZEPI_GRAPH_UPDATABLE : 0, &graph));
    return graph;
}

static zepi_graph_wait_list_t points_of(uint32_t count, const uint32_t *points)
{
    return (zepi_graph_wait_list_t){count > 0 ? points : NULL, count};
}

static uint32_t add_launch(void *graph, void *kernel, const struct launch *launch, uint32_t count,
                           const uint32_t *points, void **out_command)
{
    struct described described;
    uint32_t number;
    (void)out_command;
    describe(launch, kernel, &described);
    TEST_OK(zepi.graph_add_launch(graph, &described.desc, points_of(count, points), &number));
    return number;
}

static uint32_t add_copy(void *graph, const struct range *to, const struct range *from,
                         size_t words, uint32_t count, const uint32_t *points)
{
    uint32_t number;
    TEST_OK(zepi.graph_add_copy(graph, address(to), address(from), BYTES(words),
                                points_of(count, points), &number));
    return number;
}

static uint32_t add_fill(void *graph, const struct range *to, uint32_t value, size_t words,
                         uint32_t count, const uint32_t *points)
{
    uint32_t number;
    TEST_OK(zepi.graph_add_fill(graph, address(to), &value, sizeof(value), BYTES(words),
                                points_of(count, points), &number));
    return number;
}

static void finalize(void *graph)
{
    TEST_OK(zepi.graph_finalize(graph));
}

static void update(void *graph, void *command, uint32_t number, void *kernel,
                   const struct launch *launch)
{
    struct described described;
    (void)command;
    describe(launch, kernel, &described);
    const zepi_graph_update_t one = {number, &described.desc};
    TEST_OK(zepi.graph_update(graph, 1, &one));
}

static void execute(void *queue, void *graph, const struct waits *waits, void **out_event)
{
    TEST_OK(zepi.queue_execute(queue, graph, WAITS, EVENT));
}

static void *begin_capture(void *queue)
{
    zepi_queue_info_t info = {.size = sizeof(info)};
    zepi_graph_t graph;
    TEST_OK(zepi.queue_get_info(queue, &info));
    TEST_OK(zepi.graph_create(context, info.device, 0, &graph));
    TEST_OK(zepi.queue_begin_capture(queue, graph));
    return graph;
}

static void *end_capture(void *queue, void *graph)
{
    TEST_OK(zepi.queue_end_capture(queue));
    TEST_OK(zepi.graph_finalize(graph));
    return graph;
}

static void dump(void *graph)
{
    TEST_OK(zepi.graph_dump(graph, "/dev/null"));
}

const struct front_end front_end = {.name = "zepi",
                                    .set_up = set_up,
                                    .tear_down = tear_down,
                                    .make = make,
                                    .free = free_memory,
                                    .make_host = make_host,
                                    .free_host = free_host,
                                    .make_buffer = make_buffer,
                                    .release_buffer = release,
                                    .allocate_ordered = allocate_ordered,
                                    .free_ordered = free_ordered,
                                    .trim_pool = trim_pool,
                                    .make_queue = make_queue,
                                    .release_queue = release,
                                    .finish = finish,
                                    .make_gate = make_gate,
                                    .open_gate = open_gate,
                                    .release_gate = release,
                                    .event_of_gate = event_of_gate,
                                    .release_event = release,
                                    .retain_event = retain,
                                    .wait = wait_for_events,
                                    .is_complete = is_complete,
                                    .copy = copy,
                                    .copy_rows = copy_rows,
                                    .fill = fill,
                                    .launch = enqueue_launch,
                                    .launch_by_name = launch_by_name,
                                    .barrier = barrier,
                                    .marker = marker,
                                    .has_host_functions = has_host_functions,
                                    .call_host = call_host,
                                    .make_kernel = make_kernel,
                                    .release_kernel = release,
                                    .suggest_group = suggest_group,
                                    .forget_modules = forget_modules,
                                    .make_graph = make_graph,
                                    .release_graph = release,
                                    .add_launch = add_launch,
                                    .add_copy = add_copy,
                                    .add_fill = add_fill,
                                    .finalize = finalize,
                                    .update = update,
                                    .execute = execute,
                                    .begin_capture = begin_capture,
                                    .end_capture = end_capture,
                                    .dump = dump};
