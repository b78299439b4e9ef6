// SPDX-License-Identifier: MIT
// Graphs, their commands, and captures.
#include "scale_calls.h"

// ---- Graphs ----

static zepi_launch_desc_t describe(const struct scale *scale, zepi_argument_t arguments[3],
                                   const int *value)
{
    arguments[0] = (zepi_argument_t){.kind = ZEPI_ARGUMENT_POINTER, .value = scale->row->memory[0]};
    arguments[1] = (zepi_argument_t){.kind = ZEPI_ARGUMENT_POINTER, .value = scale->row->memory[1]};
    arguments[2] = (zepi_argument_t){
        .kind = ZEPI_ARGUMENT_VALUE, .size_bytes = sizeof(*value), .value = value};
    return (zepi_launch_desc_t){.size = sizeof(zepi_launch_desc_t),
                                .kernel = scale->row->kernels[BENCH_THREE],
                                .arguments = arguments,
                                .argument_count = 3,
                                .work_dim = 1,
                                .global_size = {64},
                                .group_size = {64}};
}

static bool add_launch(const struct scale *scale, zepi_graph_t graph, zepi_graph_wait_list_t wait)
{
    static const int value = 7;
    zepi_argument_t arguments[3];
    const zepi_launch_desc_t desc = describe(scale, arguments, &value);
    return scale_ok(zepi.graph_add_launch(graph, &desc, wait, NULL));
}

static bool create_graph(const struct scale *scale, zepi_graph_flags_t flags, void **out)
{
    return scale_ok(zepi.graph_create(scale_context(scale), scale->row->host.device, flags,
                                      (zepi_graph_t *)out));
}

static bool make_graph(struct scale *scale, unsigned i)
{
    const zepi_graph_wait_list_t none = {0};
    return create_graph(scale, ZEPI_GRAPH_UPDATABLE, &scale->objects[i]) &&
           add_launch(scale, scale->objects[i], none) &&
           scale_ok(zepi.graph_finalize(scale->objects[i]));
}

static bool execute(struct scale *scale, unsigned i)
{
    const zepi_wait_list_t none = {0};
    return scale_ok(zepi.queue_execute(scale->row->host.queue, scale->objects[i], none, NULL));
}

static bool update_command(const struct scale *scale, zepi_graph_t graph, unsigned i)
{
    const int value = (int)i;
    zepi_argument_t arguments[3];
    const zepi_launch_desc_t desc = describe(scale, arguments, &value);
    const zepi_graph_update_t update = {.number = i, .launch = &desc};
    return scale_ok(zepi.graph_update(graph, 1, &update));
}

static bool update(struct scale *scale, unsigned i)
{
    return update_command(scale, scale->objects[i], 0) && execute(scale, i);
}

static bool launch_plain(struct scale *scale, unsigned i)
{
    const struct scale_launch launch = {.queue = scale->row->host.queue,
                                        .kernel = scale->row->kernels[BENCH_THREE]};
    (void)i;
    return scale_launch(scale, &launch);
}

// ---- Commands of one graph ----

static bool open_graph(struct scale *scale)
{
    return create_graph(scale, 0, &scale->common[0]);
}

static bool make_command(struct scale *scale, unsigned i)
{
    const zepi_graph_wait_list_t none = {0};
    (void)i;
    return add_launch(scale, scale->common[0], none);
}

static bool add_waiting(struct scale *scale, unsigned i)
{
    const uint32_t number = i;
    return add_launch(scale, scale->common[0], (zepi_graph_wait_list_t){&number, 1});
}

static bool add_fill(struct scale *scale, unsigned i)
{
    const uint32_t number = i;
    const int pattern = 7;
    return scale_ok(zepi.graph_add_fill(scale->common[0], scale->row->memory[0], &pattern,
                                        sizeof(pattern), 64, (zepi_graph_wait_list_t){&number, 1},
                                        NULL));
}

// A second graph with as many commands, which is finalized.
static bool finalize_as_many(struct scale *scale)
{
    const zepi_graph_wait_list_t none = {0};
    bool is_good = create_graph(scale, ZEPI_GRAPH_UPDATABLE, &scale->common[1]);
    for (unsigned i = 0; i < scale->live && is_good; i++)
        is_good = add_launch(scale, scale->common[1], none);
    return is_good && scale_ok(zepi.graph_finalize(scale->common[1]));
}

static bool release_as_many(struct scale *scale)
{
    host_release(scale->common[1]);
    scale->common[1] = NULL;
    return true;
}

static bool update_one_of_many(struct scale *scale, unsigned i)
{
    return update_command(scale, scale->common[1], i);
}

// ---- Captures ----

static bool make_capture(struct scale *scale, unsigned i)
{
    return scale_ok(zepi.queue_create(scale_context(scale), scale->row->host.device,
                                      ZEPI_QUEUE_IN_ORDER, (zepi_queue_t *)&scale->objects[i])) &&
           create_graph(scale, 0, &scale->beside[i]) &&
           scale_ok(zepi.queue_begin_capture(scale->objects[i], scale->beside[i]));
}

static bool drop_capture(struct scale *scale, unsigned i)
{
    return scale_ok(zepi.queue_end_capture(scale->objects[i])) && scale_release(scale, i) &&
           scale_ok(zepi.release(scale->beside[i]));
}

static bool launch_captured(struct scale *scale, unsigned i)
{
    const struct scale_launch launch = {.queue = scale->objects[i],
                                        .kernel = scale->row->kernels[BENCH_THREE]};
    return scale_launch(scale, &launch);
}

static bool open_capture(struct scale *scale)
{
    return scale_ok(zepi.queue_create(scale_context(scale), scale->row->host.device, 0,
                                      (zepi_queue_t *)&scale->common[1])) &&
           create_graph(scale, 0, &scale->common[0]) &&
           scale_ok(zepi.queue_begin_capture(scale->common[1], scale->common[0]));
}

static void close_capture(struct scale *scale)
{
    if (scale->common[1])
        zepi.queue_end_capture(scale->common[1]);
    scale_close_common(scale);
}

static bool make_captured(struct scale *scale, unsigned i)
{
    const struct scale_launch launch = {.queue = scale->common[1],
                                        .kernel = scale->row->kernels[BENCH_THREE],
                                        .out_event = (zepi_event_t *)&scale->objects[i]};
    return scale_launch(scale, &launch);
}

static bool launch_after_captured(struct scale *scale, unsigned i)
{
    const struct scale_launch launch = {.queue = scale->common[1],
                                        .kernel = scale->row->kernels[BENCH_THREE],
                                        .wait = scale->objects[i]};
    return scale_launch(scale, &launch);
}

const struct scale_case scale_graphs[] = {
    {.name = "graph",
     .title = "graphs of 1 kernel",
     .types = "graph graph_command",
     .make = make_graph,
     .drop = scale_release,
     .operations = {{"execute one", execute},
                    {"update one, execute it", update},
                    {"launch in a queue", launch_plain}}},
    {.name = "graph-command",
     .title = "commands of a graph",
     .types = "graph_command",
     .is_one_way = true,
     .open = open_graph,
     .close = scale_close_common,
     .prepare = finalize_as_many,
     .unprepare = release_as_many,
     .make = make_command,
     .operations = {{"add a launch after one", add_waiting},
                    {"add a fill after one", add_fill},
                    {"update one", update_one_of_many}}},
    {.name = "capture",
     .title = "queues in captures of their own",
     .types = "capture_graph queue graph",
     .make = make_capture,
     .drop = drop_capture,
     .operations = {{"launch in one of them", launch_captured},
                    {"launch in another queue", launch_plain}}},
    {.name = "captured-command",
     .title = "commands of one capture",
     .types = "event graph_command",
     .open = open_capture,
     .close = close_capture,
     .make = make_captured,
     .drop = scale_release,
     .operations = {{"launch after one", launch_after_captured}}},
    {0}};
