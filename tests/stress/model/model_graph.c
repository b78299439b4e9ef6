// SPDX-License-Identifier: MIT
// Graphs: one a thread has for itself, of random commands, and one of all threads, of which each
// has a command. They are updated and executed, also while executions wait.
#include "model.h"

#include <string.h>

enum { OWN_EXECUTIONS = 6, SHARED_EXECUTIONS = 10 };

// ---- The thread's own graph ----

static uint32_t reads_of(const struct graph_command *command)
{
    uint32_t reads = 0;
    if (command->kind == COMMAND_COPY)
        return bit_of(command->from.place);
    if (command->kind == COMMAND_FILL)
        return 0;
    if (command->launch.kernel != KERNEL_STAMP)
        reads |= bit_of(command->launch.a.place);
    if (command->launch.kernel == KERNEL_BLEND)
        reads |= bit_of(command->launch.b.place);
    return reads;
}

static uint32_t writes_of(const struct graph_command *command)
{
    return bit_of(command->kind == COMMAND_LAUNCH ? command->launch.out.place : command->to.place);
}

// A place that commands of the device reach, and kernels or fills if `is_kernel`.
static bool is_for_graph(unsigned number, unsigned device, bool is_kernel)
{
    const struct place *place = &self->places[number];
    switch (place->kind) {
    case MEMORY_SHARED:
    case MEMORY_DEVICE:
        return place->device == device;
    case MEMORY_HOST:
    case MEMORY_REGISTERED:
        return true;
    case MEMORY_PLAIN:
        return !is_kernel;
    case MEMORY_PART:
    case MEMORY_BUFFER:
    case MEMORY_HOST_BUFFER:
        return is_kernel && world.devices == 1;
    default:
        return false;
    }
}

static unsigned draw_place(unsigned device, bool is_kernel, unsigned other)
{
    for (;;) {
        const unsigned number = draw(PLACES);
        if (number != other && is_for_graph(number, device, is_kernel))
            return number;
    }
}

static void draw_numbers(struct launch *launch)
{
    size_t word = launch->out.word;
    launch->value = draw(UINT32_MAX);
    if (launch->a.word > word)
        word = launch->a.word;
    if (launch->b.word > word)
        word = launch->b.word;
    draw_sizes(launch, WORDS - word);
}

static void choose_kernel(struct graph_command *command)
{
    command->kernel = shared_kernel(command->launch.kernel);
    if (command->launch.kernel == KERNEL_SCALE)
        command->launch.value = command->kernel == world.kernels[KERNEL_SCALE][0] ? 1 : 2;
}

static struct graph_command draw_command(unsigned device)
{
    struct graph_command command = {.kind = COMMAND_LAUNCH};
    const uint32_t kind = draw(4);
    const bool is_kernel = kind > 0;
    const unsigned out = draw_place(device, is_kernel, PLACES);
    const unsigned in = draw_place(device, is_kernel, out);
    if (kind > 1) {
        struct launch *launch = &command.launch;
        launch->kernel = (enum kernel)draw(KERNELS);
        draw_range(&launch->out, out);
        draw_range(&launch->a, in);
        draw_range(&launch->b, one_in(2) ? in : draw_place(device, true, out));
        draw_numbers(launch);
        choose_kernel(&command);
        return command;
    }
    command.words = draw_range(&command.to, out);
    command.value = draw(UINT32_MAX);
    command.from = (struct range){&self->places[in], draw((uint32_t)(WORDS - command.words + 1))};
    command.kind = kind == 0 ? COMMAND_COPY : COMMAND_FILL;
    if (is_buffer(command.to.place))
        command.kind = COMMAND_LAUNCH; // a stamp: zepi.h has no other commands on buffers
    if (command.kind == COMMAND_LAUNCH) {
        command.launch = (struct launch){.kernel = KERNEL_STAMP, .out = command.to};
        draw_numbers(&command.launch);
        choose_kernel(&command);
    }
    return command;
}

static void model_command(const struct graph_command *command)
{
    if (command->kind == COMMAND_LAUNCH) {
        model_launch(&command->launch);
        return;
    }
    uint32_t *to = command->to.place->model + command->to.word;
    if (command->kind == COMMAND_COPY)
        memcpy(to, command->from.place->model + command->from.word,
               command->words * sizeof(uint32_t));
    for (size_t i = 0; i < command->words && command->kind == COMMAND_FILL; i++)
        to[i] = command->value;
}

// Points that a command follows: of those before that touch the same memory.
static uint32_t list_points(const struct graph *graph, unsigned number, const uint32_t *points,
                            uint32_t *out_points)
{
    uint32_t count = 0;
    const uint32_t reads = reads_of(&graph->commands[number]);
    const uint32_t writes = writes_of(&graph->commands[number]);
    for (unsigned i = 0; i < number; i++) {
        const uint32_t other = writes_of(&graph->commands[i]);
        if ((writes & (other | reads_of(&graph->commands[i]))) || (reads & other) || one_in(6))
            out_points[count++] = points[i];
    }
    return count;
}

static void add_commands(struct graph *graph)
{
    uint32_t points[GRAPH_COMMANDS];
    uint32_t after[GRAPH_COMMANDS];
    for (unsigned i = 0; i < graph->count; i++) {
        struct graph_command *command = &graph->commands[i];
        const uint32_t count = list_points(graph, i, points, after);
        if (command->kind == COMMAND_COPY)
            points[i] = front_end.add_copy(graph->handle, &command->to, &command->from,
                                           command->words, count, after);
        else if (command->kind == COMMAND_FILL)
            points[i] = front_end.add_fill(graph->handle, &command->to, command->value,
                                           command->words, count, after);
        else
            points[i] = front_end.add_launch(graph->handle, command->kernel, &command->launch,
                                             count, after, &command->command);
    }
    front_end.finalize(graph->handle);
}

// The thread's own queue records them, one after the other.
static void capture_commands(struct graph *graph)
{
    static const struct waits none;
    void *queue = self->own.handle;
    void *capture = front_end.begin_capture(queue);
    for (unsigned i = 0; i < graph->count; i++) {
        struct graph_command *command = &graph->commands[i];
        if (!self->own.is_in_order)
            front_end.barrier(queue, &none, NULL);
        if (command->kind == COMMAND_COPY)
            front_end.copy(queue, &command->to, &command->from, command->words, &none, NULL);
        else if (command->kind == COMMAND_FILL)
            front_end.fill(queue, &command->to, command->value, command->words, &none, NULL);
        else
            front_end.launch(queue, command->kernel, &command->launch, &none, NULL);
    }
    graph->handle = front_end.end_capture(queue, capture);
}

void graphs_release(void)
{
    if (self->graph.handle)
        front_end.release_graph(self->graph.handle);
    self->graph = (struct graph){0};
}

static void make_graph(void)
{
    struct graph *graph = &self->graph;
    const bool is_captured = front_end.begin_capture && one_in(3);
    graphs_release();
    graph->count = 1 + draw(GRAPH_COMMANDS);
    graph->device = is_captured ? self->own.device : 0;
    for (unsigned i = 0; i < graph->count; i++) {
        graph->commands[i] = draw_command(graph->device);
        graph->reads |= reads_of(&graph->commands[i]);
        graph->writes |= writes_of(&graph->commands[i]);
    }
    if (is_captured) {
        capture_commands(graph);
        return;
    }
    graph->is_updatable = !one_in(3);
    graph->handle = front_end.make_graph(graph->is_updatable, one_in(3));
    add_commands(graph);
}

// From eight executions under way on, the call waits.
static void execute_graph(void)
{
    struct graph *graph = &self->graph;
    struct waits waits;
    if (!graph->handle || !has_room_for_steps())
        return;
    const unsigned queue = draw_queue_of(graph->device);
    if (queue == QUEUES || (world.devices > 1 && queue_of(queue)->is_timed) ||
        (self->is_gate_closed && graph->executions >= OWN_EXECUTIONS))
        return;
    struct step *step = step_begin(queue, graph->reads, graph->writes, graph->before, &waits);
    front_end.execute(queue_of(queue)->handle, graph->handle, &waits, step_event(step));
    graph->before = step_bit(step) | step->before;
    graph->executions++;
    for (unsigned i = 0; i < graph->count; i++)
        model_command(&graph->commands[i]);
}

static void update_graph(void)
{
    struct graph *graph = &self->graph;
    if (!graph->handle || !graph->is_updatable)
        return;
    const unsigned number = draw(graph->count);
    struct graph_command *command = &graph->commands[number];
    if (command->kind != COMMAND_LAUNCH)
        return;
    draw_numbers(&command->launch);
    choose_kernel(command);
    front_end.update(graph->handle, command->command, number, command->kernel, &command->launch);
}

// ---- The graph of all threads ----

static void draw_slot(struct slot *slot)
{
    struct launch *launch = &slot->launch;
    launch->value = draw(UINT32_MAX);
    launch->out.word = draw(SLOT_WORDS / 2);
    draw_sizes(launch, SLOT_WORDS - launch->out.word);
}

// By the thread that begins a round.
void shared_graph_make(void)
{
    void *kernel = world.kernels[KERNEL_STAMP][0];
    world.graph = front_end.make_graph(true, false);
    for (unsigned i = 0; i < WORKERS; i++) {
        struct slot *slot = &world.workers[i].slot;
        memset(slot->words, 0, SLOT_WORDS * sizeof(uint32_t));
        slot->place = (struct place){.kind = MEMORY_HOST, .memory = (char *)slot->words};
        slot->launch = (struct launch){.kernel = KERNEL_STAMP, .out = {&slot->place, 0}};
        memset(slot->model, 0, sizeof(slot->model));
        memset(slot->is_known, 0, sizeof(slot->is_known));
        draw_slot(slot);
        front_end.add_launch(world.graph, kernel, &slot->launch, 0, NULL, &slot->command);
    }
    front_end.finalize(world.graph);
}

static void slot_executed(void)
{
    struct slot *slot = &self->slot;
    for (size_t i = 0; i < launch_items(&slot->launch); i++) {
        slot->model[slot->launch.out.word + i] = launch_value(&slot->launch, i);
        slot->is_known[slot->launch.out.word + i] = true;
    }
}

static void update_shared(void)
{
    struct slot *slot = &self->slot;
    draw_slot(slot);
    front_end.update(world.graph, slot->command, self->number, shared_kernel(KERNEL_STAMP),
                     &slot->launch);
    for (size_t i = 0; i < launch_items(&slot->launch); i++)
        slot->is_known[slot->launch.out.word + i] = false;
}

// Executions follow one another, whichever thread enqueues them. `event`: to wait for, or NULL.
static void execute_shared_once(void *event)
{
    struct waits waits;
    const unsigned queue = draw_queue_of(0);
    if (!has_room_for_steps() || queue == QUEUES ||
        (world.devices > 1 && queue_of(queue)->is_timed))
        return;
    struct step *step = step_begin(queue, 0, 0, 0, &waits);
    if (event)
        waits.events[waits.count++] = event;
    front_end.execute(queue_of(queue)->handle, world.graph, &waits, step_event(step));
    slot_executed();
}

void shared_graph_execute_behind(void *event)
{
    execute_shared_once(event);
}

static void execute_shared(void)
{
    for (unsigned count = 1 + draw(SHARED_EXECUTIONS); count > 0; count--)
        execute_shared_once(NULL);
}

// The event is of another context, and complete once that thread opens its gate.
static void execute_behind_latch(void)
{
    void *event = latch_take((self->number + 1 + draw(WORKERS - 1)) % WORKERS);
    if (!event)
        return;
    execute_shared_once(event);
    front_end.release_event(event);
}

void slot_check(void)
{
    const struct slot *slot = &self->slot;
    for (size_t i = 0; i < SLOT_WORDS; i++) {
        if (slot->is_known[i] && slot->words[i] != slot->model[i])
            model_fail("word %zu of what the shared graph writes is %u, expected %u", i,
                       slot->words[i], slot->model[i]);
    }
}

static void dump(void)
{
    front_end.dump(one_in(2) && self->graph.handle ? self->graph.handle : world.graph);
}

const struct operation graph_operations[] = {
    {"make a graph", make_graph, 3, true},
    {"execute a graph", execute_graph, 6, false},
    {"update a graph", update_graph, 5, false},
    {"update the shared graph", update_shared, 4, false},
    {"execute the shared graph", execute_shared, 3, true},
    {"execute behind another thread", execute_behind_latch, 2, true},
    {"dump a graph", dump, 1, false},
    {0}};
