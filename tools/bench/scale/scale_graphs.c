// SPDX-License-Identifier: MIT
// Graphs, their commands, and captures.
#include "scale.h"

// ---- Graphs ----

static bool add_launch(const struct scale *scale, zepi_graph_t graph, zepi_graph_wait_list_t wait)
{
    const struct scale_launch launch = {.value = 7};
    zepi_argument_t arguments[3];
    const zepi_launch_desc_t desc = scale_describe(scale, &launch, arguments);
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

static bool update(struct scale *scale, unsigned i)
{
    const struct scale_launch launch = {.value = (int)i};
    zepi_argument_t arguments[3];
    const zepi_launch_desc_t desc = scale_describe(scale, &launch, arguments);
    const zepi_graph_update_t update = {.number = 0, .launch = &desc};
    return scale_ok(zepi.graph_update(scale->objects[i], 1, &update)) && execute(scale, i);
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

// ---- Captures ----

static bool make_capture(struct scale *scale, unsigned i)
{
    return scale_create_queue(scale, ZEPI_QUEUE_IN_ORDER, &scale->objects[i]) &&
           create_graph(scale, 0, &scale->beside[i]) &&
           scale_ok(zepi.queue_begin_capture(scale->objects[i], scale->beside[i]));
}

static bool drop_capture(struct scale *scale, unsigned i)
{
    return scale_ok(zepi.queue_end_capture(scale->objects[i])) && scale_release(scale, i) &&
           scale_ok(zepi.release(scale->beside[i]));
}

static bool open_capture(struct scale *scale)
{
    return scale_create_queue(scale, 0, &scale->common[0]) &&
           create_graph(scale, 0, &scale->common[1]) &&
           scale_ok(zepi.queue_begin_capture(scale->common[0], scale->common[1]));
}

static void close_capture(struct scale *scale)
{
    if (scale->common[0])
        zepi.queue_end_capture(scale->common[0]);
    scale_close_common(scale);
}

static bool launch_after_captured(struct scale *scale, unsigned i)
{
    return scale_launch(
        scale, (struct scale_launch){.queue = scale->common[0], .wait = scale->objects[i]});
}

const struct scale_case scale_graphs[] = {
    {.name = "graph",
     .types = "graph graph_command",
     .make = make_graph,
     .drop = scale_release,
     .operations = {{"execute one", execute}, {"update one, execute it", update}}},
    {.name = "graph-command",
     .types = "graph_command",
     .open = open_graph,
     .close = scale_close_common,
     .make = make_command,
     .operations = {{"add a launch after one", add_waiting}, {"add a fill after one", add_fill}}},
    {.name = "capture",
     .types = "capture_graph queue graph",
     .make = make_capture,
     .drop = drop_capture,
     .operations = {{"launch in one of them", scale_launch_in_queue}}},
    {.name = "captured-command",
     .types = "event graph_command",
     .open = open_capture,
     .close = close_capture,
     .make = scale_make_event,
     .drop = scale_release,
     .operations = {{"launch after one", launch_after_captured}}},
    {0}};
