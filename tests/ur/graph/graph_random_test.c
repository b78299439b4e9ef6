// SPDX-License-Identifier: MIT
// Random command buffers and captures, with other graphs in them, executed on several queues. Steps
// are ordered just where they touch the same memory, so that the results are those of a model,
// which takes one step after the other.
#include "capture_fixture.h"

#include <criterion/criterion.h>
#include <string.h>

enum { USM = 3, PLACES = 5, QUEUES = 4, GRAPHS = 3, MOST = 12, RUNS = 7, STEPS = 2 * RUNS + 2 };
enum { ALL = (1 << PLACES) - 1 };

// One of both: USM for the first ones, which alone are filled and copied.
struct place {
    uint32_t *usm;
    ur_mem_handle_t mem;
};

// A command of a graph, an execution, or a look at the results. Steps and places are bits.
struct step {
    uint32_t reads, writes; // places
    uint32_t before;        // steps that are over before it begins
    ur_event_handle_t event;
    sync_point_t point;
};

// Steps in the order of the model.
struct order {
    int count;
    uint32_t before[QUEUES]; // the next step of each queue
    uint32_t joined;         // queues that need not wait to take part
    struct step steps[STEPS];
    // What the last step waits for; NULL for nothing.
    uint32_t wait_count;
    const sync_point_t *points;
    const ur_event_handle_t *events;
    sync_point_t point_list[STEPS];
    ur_event_handle_t event_list[STEPS];
};

enum command_kind { FILL, COPY, LAUNCH, NESTED };

struct command {
    enum command_kind kind;
    int to, from[2];
    uint32_t value;
    size_t items;
    const struct graph *inner; // borrowed
    uint32_t reads, writes;
};

struct graph {
    int count;
    struct command commands[MOST];
    uint32_t reads, writes;
    uint32_t before; // executions that its next one follows
    buffer_t buffer; // or NULL, and the others
    graph_t graph;
    executable_t executable;
};

static struct place places[PLACES];
static uint32_t host_memory[ITEMS];
static uint32_t model[PLACES][ITEMS];
static uint32_t expected[RUNS + 1][PLACES][ITEMS]; // by looks
static uint32_t (*found)[PLACES][ITEMS];           // the same; USM
static ur_queue_handle_t queues[QUEUES];
static ur_kernel_handle_t blend;
static uint32_t seed;

static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % below;
}

static uint32_t bit(int number)
{
    return 1u << number;
}

// ---- Orders ----

static bool keeps_order(int queue)
{
    return queue % 2 == 0;
}

static bool conflict(const struct step *a, const struct step *b)
{
    return ((a->writes & (b->reads | b->writes)) | (a->reads & b->writes)) != 0;
}

static void list_waits(struct order *order, uint32_t waits)
{
    order->wait_count = 0;
    for (int i = 0; i < order->count; i++) {
        if ((waits & bit(i)) == 0)
            continue;
        order->point_list[order->wait_count] = order->steps[i].point;
        order->event_list[order->wait_count++] = order->steps[i].event;
    }
    order->points = order->wait_count > 0 ? order->point_list : NULL;
    order->events = order->wait_count > 0 ? order->event_list : NULL;
}

// A step waits for those before it that it must follow, and now and then for another one. What it
// follows anyway is in `before`.
static struct step *add_step(struct order *order, int queue, uint32_t reads, uint32_t writes,
                             uint32_t before)
{
    struct step *step = &order->steps[order->count];
    uint32_t waits = 0;
    *step =
        (struct step){.reads = reads, .writes = writes, .before = before | order->before[queue]};
    for (int i = order->count - 1; i >= 0; i--) {
        const bool must_join = i == 0 && waits == 0 && (order->joined & bit(queue)) == 0;
        const bool is_free = (step->before & bit(i)) == 0;
        if ((is_free && conflict(step, &order->steps[i])) || must_join || draw(10) == 0) {
            waits |= bit(i);
            step->before |= bit(i) | order->steps[i].before;
        }
    }
    list_waits(order, waits);
    order->joined |= bit(queue);
    if (keeps_order(queue))
        order->before[queue] = bit(order->count) | step->before;
    order->count++;
    return step;
}

// Now and then a barrier waits for the step, and those behind it in the queue.
static void draw_barrier(struct order *order, int queue, const struct step *step)
{
    if (order->wait_count == 0 || draw(4) > 0)
        return;
    UR_OK(urEnqueueEventsWaitWithBarrier(queues[queue], order->wait_count, order->events, NULL));
    order->before[queue] |= step->before;
    list_waits(order, 0);
}

static void release_events(const struct order *order, int from)
{
    for (int i = from; i < order->count; i++)
        UR_OK(urEventRelease(order->steps[i].event));
}

// ---- The model ----

static void model_graph(const struct graph *graph)
{
    for (int i = 0; i < graph->count; i++) {
        const struct command *command = &graph->commands[i];
        uint32_t *to = model[command->to];
        const uint32_t *a = model[command->from[0]], *b = model[command->from[1]];
        if (command->kind == NESTED)
            model_graph(command->inner);
        for (size_t item = 0; item < command->items; item++) {
            if (command->kind == FILL)
                to[item] = command->value;
            else if (command->kind == COPY)
                to[item] = a[item];
            else
                to[item] = 3 * a[item] + 5 * b[item] + command->value;
        }
    }
}

// ---- Commands ----

static struct command draw_command(const struct graph *inner, uint32_t inner_count)
{
    const enum command_kind kinds[] = {FILL, FILL, COPY, COPY, LAUNCH, LAUNCH, LAUNCH, NESTED};
    struct command command = {.kind = kinds[draw(inner_count > 0 ? 8 : 7)],
                              .value = draw(1000000),
                              .items = draw(2) == 0 ? ITEMS : 1 + draw(ITEMS)};
    const uint32_t count = command.kind == LAUNCH ? PLACES : USM;
    command.to = (int)draw(count);
    command.from[0] = (command.to + 1 + (int)draw(count - 1)) % (int)count;
    command.from[1] = (int)draw(count);
    command.writes = bit(command.to);
    if (command.kind != FILL)
        command.reads = bit(command.from[0]);
    if (command.kind == LAUNCH)
        command.reads |= bit(command.from[1]);
    if (command.kind == NESTED) {
        command.inner = &inner[draw(inner_count)];
        command.items = 0;
        command.reads = command.inner->reads;
        command.writes = command.inner->writes;
    }
    return command;
}

static void draw_commands(struct graph *graph, const struct graph *inner, int inner_count)
{
    *graph = (struct graph){.count = (int)draw(MOST + 1)};
    for (int i = 0; i < graph->count; i++) {
        graph->commands[i] = draw_command(inner, (uint32_t)inner_count);
        graph->reads |= graph->commands[i].reads;
        graph->writes |= graph->commands[i].writes;
    }
}

static ur_exp_kernel_arg_properties_t place_argument(uint32_t index, int number)
{
    const struct place *place = &places[number];
    return place->mem ? UR_MEM(index, place->mem) : UR_POINTER(index, place->usm);
}

enum { ARGUMENTS = 4 };

static void list_arguments(const struct command *command, ur_exp_kernel_arg_properties_t *arguments)
{
    arguments[0] = UR_VALUE(0, command->value);
    arguments[1] = place_argument(1, command->from[0]);
    arguments[2] = place_argument(2, command->from[1]);
    arguments[3] = place_argument(3, command->to);
}

// ---- Command buffers ----

static void append(buffer_t buffer, const struct command *command, const struct order *order,
                   sync_point_t *out_point)
{
    const size_t bytes = command->items * sizeof(uint32_t);
    void *to = places[command->to].usm;
    ur_exp_kernel_arg_properties_t arguments[ARGUMENTS];
    const struct after after = {order->wait_count, order->points};
    if (command->kind == FILL) {
        UR_OK(urCommandBufferAppendUSMFillExp(buffer, to, &command->value, sizeof(command->value),
                                              bytes, after.count, after.points, 0, NULL, out_point,
                                              NULL, NULL));
    } else if (command->kind == COPY) {
        UR_OK(urCommandBufferAppendUSMMemcpyExp(buffer, to, places[command->from[0]].usm, bytes,
                                                after.count, after.points, 0, NULL, out_point, NULL,
                                                NULL));
    } else {
        list_arguments(command, arguments);
        *out_point =
            cb_append_launch(buffer, blend, command->items, ARGUMENTS, arguments, after, NULL);
    }
}

static void make_command_buffer(struct graph *graph)
{
    const ur_exp_command_buffer_desc_t desc = {.stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_DESC,
                                               .isUpdatable = draw(2) == 0,
                                               .isInOrder = draw(3) == 0,
                                               .enableProfiling = draw(2) == 0};
    const int queue = desc.isInOrder ? 0 : 1; // one whose order is the command buffer's
    struct order order = {.joined = UINT32_MAX};
    draw_commands(graph, NULL, 0);
    UR_OK(urCommandBufferCreateExp(gear.context, gear.device, &desc, &graph->buffer));
    for (int i = 0; i < graph->count; i++) {
        const struct command *command = &graph->commands[i];
        struct step *step = add_step(&order, queue, command->reads, command->writes, 0);
        append(graph->buffer, command, &order, &step->point);
    }
    UR_OK(urCommandBufferFinalizeExp(graph->buffer));
}

// ---- Queues ----

static void enqueue_graph(ur_queue_handle_t queue, const struct graph *graph,
                          const struct order *order, ur_event_handle_t *out_event)
{
    if (graph->buffer)
        UR_OK(urEnqueueCommandBufferExp(queue, graph->buffer, order->wait_count, order->events,
                                        out_event));
    else
        UR_OK(urEnqueueGraphExp(queue, graph->executable, order->wait_count, order->events,
                                out_event));
}

static void enqueue(ur_queue_handle_t queue, const struct command *command,
                    const struct order *order, ur_event_handle_t *out_event)
{
    const size_t bytes = command->items * sizeof(uint32_t);
    const uint32_t count = order->wait_count;
    void *to = places[command->to].usm;
    ur_exp_kernel_arg_properties_t arguments[ARGUMENTS];
    if (command->kind == FILL) {
        UR_OK(urEnqueueUSMFill(queue, to, sizeof(command->value), &command->value, bytes, count,
                               order->events, out_event));
    } else if (command->kind == COPY) {
        UR_OK(urEnqueueUSMMemcpy(queue, false, to, places[command->from[0]].usm, bytes, count,
                                 order->events, out_event));
    } else if (command->kind == NESTED) {
        enqueue_graph(queue, command->inner, order, out_event);
    } else {
        list_arguments(command, arguments);
        UR_OK(ur_launch(queue, blend, command->items, ARGUMENTS, arguments, count, order->events,
                        out_event));
    }
}

// Queues come to the capture with their first wait, and its first queue waits for all of them.
static void capture(struct graph *graph, const struct graph *inner, int inner_count)
{
    const int first = (int)draw(QUEUES);
    struct order order = {.joined = bit(first)};
    draw_commands(graph, inner, inner_count);
    graph->graph = cap_begin(queues[first]);
    for (int i = 0; i < graph->count; i++) {
        const struct command *command = &graph->commands[i];
        const int queue = i == 0 ? first : (int)draw(QUEUES);
        struct step *step = add_step(&order, queue, command->reads, command->writes, 0);
        draw_barrier(&order, queue, step);
        enqueue(queues[queue], command, &order, &step->event);
    }
    list_waits(&order, UINT32_MAX);
    UR_OK(urEnqueueEventsWaitWithBarrier(queues[first], order.wait_count, order.events, NULL));
    cap_end(queues[first], graph->graph);
    release_events(&order, 0);
    graph->executable = cap_instantiate(graph->graph);
}

// ---- Executions ----

static void execute(struct order *order, struct graph *graph, bool waits)
{
    const int queue = (int)draw(QUEUES);
    struct step *step = add_step(order, queue, graph->reads, graph->writes, graph->before);
    draw_barrier(order, queue, step);
    enqueue_graph(queues[queue], graph, order, &step->event);
    graph->before = step->before | bit(order->count - 1);
    model_graph(graph);
    if (waits)
        UR_OK(draw(2) == 0 ? urQueueFinish(queues[queue]) : urEventWait(1, &step->event));
}

// Brings the results of the executions so far.
static void look(struct order *order, int number)
{
    struct step *step = add_step(order, 0, ALL, 0, 0);
    const size_t bytes = sizeof(model[0]);
    memcpy(expected[number], model, sizeof(model));
    for (int i = 0; i < PLACES; i++) {
        ur_event_handle_t *out_event = i == PLACES - 1 ? &step->event : NULL;
        uint32_t *to = found[number][i];
        if (places[i].mem)
            UR_OK(urEnqueueMemBufferRead(queues[0], places[i].mem, false, 0, bytes, to,
                                         order->wait_count, order->events, out_event));
        else
            UR_OK(urEnqueueUSMMemcpy(queues[0], false, to, places[i].usm, bytes, order->wait_count,
                                     order->events, out_event));
        list_waits(order, 0); // the queue keeps the order
    }
}

static void check_looks(int count, uint32_t first_seed)
{
    for (int number = 0; number < count; number++) {
        for (int place = 0; place < PLACES; place++) {
            for (int i = 0; i < ITEMS; i++)
                cr_assert_eq(found[number][place][i], expected[number][place][i],
                             "seed %u, look %d, place %d, item %d: %u, expected %u", first_seed,
                             number, place, i, found[number][place][i], expected[number][place][i]);
        }
    }
}

// Often nothing begins before all is enqueued: the first step is an event of the host.
static void execute_all(struct graph *graphs, uint32_t first_seed)
{
    struct host_event host = host_event_make();
    struct order order = {
        .joined = UINT32_MAX, .count = 1, .steps = {{.writes = ALL, .event = host.event}}};
    const bool is_held = draw(2) == 0;
    int looks = 0;
    if (!is_held)
        host_event_signal(&host);
    for (uint32_t runs = 1 + draw(RUNS); runs > 0; runs--) {
        execute(&order, &graphs[draw(GRAPHS)], !is_held && draw(3) == 0);
        if (runs == 1 || draw(2) == 0)
            look(&order, looks++);
    }
    if (is_held)
        host_event_signal(&host);
    for (int i = 0; i < QUEUES; i++)
        UR_OK(urQueueFinish(queues[i]));
    check_looks(looks, first_seed);
    release_events(&order, 1);
    host_event_release(&host);
}

// ---- The story ----

static void write_places(void)
{
    for (int i = 0; i < PLACES; i++) {
        for (uint32_t item = 0; item < ITEMS; item++)
            model[i][item] = (uint32_t)i * 1000 + item;
        if (places[i].mem)
            UR_OK(urEnqueueMemBufferWrite(queues[0], places[i].mem, true, 0, sizeof(model[i]),
                                          model[i], 0, NULL, NULL));
        else
            UR_OK(urEnqueueUSMMemcpy(queues[0], true, places[i].usm, model[i], sizeof(model[i]), 0,
                                     NULL, NULL));
    }
}

static void play(uint32_t first_seed, int captures)
{
    struct graph graphs[GRAPHS];
    seed = first_seed;
    write_places();
    for (int i = 0; i < GRAPHS; i++) {
        if (i < GRAPHS - captures)
            make_command_buffer(&graphs[i]);
        else
            capture(&graphs[i], graphs, i);
    }
    execute_all(graphs, first_seed);
    for (int i = 0; i < GRAPHS; i++) {
        if (graphs[i].buffer)
            UR_OK(urCommandBufferReleaseExp(graphs[i].buffer));
        else
            cap_destroy(graphs[i].graph, graphs[i].executable);
    }
}

static void set_up(void)
{
    const ur_buffer_properties_t on_host = {.stype = UR_STRUCTURE_TYPE_BUFFER_PROPERTIES,
                                            .pHost = host_memory};
    ur_set_up();
    blend = ur_kernel("blend", "blend");
    found = ur_shared(sizeof(expected));
    queues[0] = gear.queue;
    queues[1] = ur_queue(gear.device, ANY_ORDER);
    queues[2] = ur_queue(gear.device, 0);
    queues[3] = ur_queue(gear.device, ANY_ORDER | UR_QUEUE_FLAG_PROFILING_ENABLE);
    places[0].usm = ur_shared(sizeof(model[0]));
    places[1].usm = ur_shared(sizeof(model[0]));
    places[2].usm = ur_device_memory(sizeof(model[0]));
    places[3].mem = cb_make_mem(sizeof(model[0]));
    UR_OK(urMemBufferCreate(gear.context, UR_MEM_FLAG_READ_WRITE | UR_MEM_FLAG_USE_HOST_POINTER,
                            sizeof(host_memory), &on_host, &places[4].mem));
}

static void tear_down(void)
{
    for (int i = 0; i < PLACES; i++) {
        if (places[i].mem)
            UR_OK(urMemRelease(places[i].mem));
        else
            ur_free(places[i].usm);
    }
    for (int i = 1; i < QUEUES; i++)
        UR_OK(urQueueRelease(queues[i]));
    ur_free(found);
    UR_OK(urKernelRelease(blend));
    ur_tear_down();
}

TestSuite(graph_random, .init = set_up, .fini = tear_down);

Test(graph_random, command_buffers_have_the_results_of_the_model)
{
    for (uint32_t i = 1; i <= 200; i++)
        play(i, 0);
}

Test(graph_random, captures_have_the_results_of_the_model)
{
    for (uint32_t i = 1; i <= 400; i++)
        play(1000 + i, 1 + (int)draw(GRAPHS));
}
