// SPDX-License-Identifier: MIT
// Launches, what is asked about kernels between them, and kernels and modules that come and go.
#include "model.h"

#include <string.h>

// ---- The model ----

size_t launch_items(const struct launch *launch)
{
    return launch->global[0] * (launch->dimensions == 2 ? launch->global[1] : 1);
}

// What the kernel sees of its sizes.
static uint32_t marks_of(const struct launch *launch)
{
    const size_t group_y = launch->dimensions == 2 ? launch->group[1] : 1;
    if (!launch->marks)
        return 0;
    return (uint32_t)(1000003u * launch->group[0] + 10007u * group_y + 101u * launch->offset[0] +
                      launch->global[0] / launch->group[0]);
}

uint32_t launch_value(const struct launch *launch, size_t item)
{
    const uint32_t *a = launch->a.place ? launch->a.place->model + launch->a.word : NULL;
    const uint32_t *b = launch->b.place ? launch->b.place->model + launch->b.word : NULL;
    switch (launch->kernel) {
    case KERNEL_BLEND:
        return 3 * a[item] + 5 * b[item] + launch->value + marks_of(launch);
    case KERNEL_SCALE:
        return a[item] * launch->value;
    default:
        return launch->value + (uint32_t)item + marks_of(launch);
    }
}

void model_launch(const struct launch *launch)
{
    for (size_t i = 0; i < launch_items(launch); i++)
        launch->out.place->model[launch->out.word + i] = launch_value(launch, i);
}

// ---- Random launches ----

// Few sizes, so that those of an earlier launch are often the same.
void draw_sizes(struct launch *launch, size_t words)
{
    static const size_t globals[] = {1, 16, 64, 240};
    static const size_t groups[] = {1, 4, 8, 16};
    size_t items = globals[draw(4)];
    if (items > words)
        items = 1;
    size_t group = groups[draw(4)];
    while (items % group != 0)
        group /= 2;
    launch->marks = !one_in(3);
    launch->dimensions = 1 + draw(2);
    memset(launch->offset, 0, sizeof(launch->offset));
    memset(launch->group, 0, sizeof(launch->group));
    launch->global[0] = items;
    launch->global[1] = 1;
    if (launch->marks)
        launch->group[0] = launch->group[1] = group;
    if (launch->dimensions == 2) {
        launch->global[1] = items % 4 == 0 && one_in(2) ? 4 : 1;
        launch->global[0] /= launch->global[1];
        while (launch->group[0] > 0 && launch->global[0] % launch->group[0] != 0)
            launch->group[0] /= 2;
        if (launch->marks)
            launch->group[1] = one_in(2) ? launch->global[1] : 1;
    }
    if (one_in(4))
        launch->offset[0] = 1 + draw(3);
}

void *shared_kernel(enum kernel kernel)
{
    return world.kernels[kernel][draw(2)];
}

static bool is_for_kernels(const struct place *place)
{
    return place->kind != MEMORY_PLAIN && place->kind != MEMORY_IMPORTED;
}

// Ranges of places that a kernel may have, each place once; false: there is no queue for them.
static bool draw_ranges(struct launch *launch, unsigned *out_queue, uint32_t *out_reads)
{
    const unsigned out = draw(PLACES);
    const unsigned a = (out + 1 + draw(PLACES - 1)) % PLACES;
    const unsigned b = one_in(2) ? a : (out + 1 + draw(PLACES - 1)) % PLACES;
    *launch = (struct launch){.kernel = (enum kernel)draw(KERNELS), .value = draw(UINT32_MAX)};
    draw_range(&launch->out, out);
    draw_range(&launch->a, a);
    draw_range(&launch->b, b);
    size_t word = launch->out.word;
    if (launch->a.word > word)
        word = launch->a.word;
    if (launch->b.word > word)
        word = launch->b.word;
    draw_sizes(launch, WORDS - word);
    *out_reads = 0;
    if (launch->kernel != KERNEL_STAMP)
        *out_reads |= 1u << a;
    if (launch->kernel == KERNEL_BLEND)
        *out_reads |= 1u << b;
    if (!is_for_kernels(&self->places[out]) || !is_for_kernels(&self->places[a]) ||
        !is_for_kernels(&self->places[b]))
        return false;
    *out_queue = draw_queue(1u << out | *out_reads);
    return *out_queue != QUEUES && has_room_for_steps();
}

// ---- Operations ----

static void launch(void)
{
    struct launch launch;
    struct waits waits;
    unsigned queue;
    uint32_t reads;
    if (!draw_ranges(&launch, &queue, &reads))
        return;
    void *kernel = shared_kernel(launch.kernel);
    if (launch.kernel == KERNEL_SCALE)
        launch.value = kernel == world.kernels[KERNEL_SCALE][0] ? 1 : 2;
    struct step *step = step_begin(queue, reads, bit_of(launch.out.place), 0, &waits);
    front_end.launch(queue_of(queue)->handle, kernel, &launch, &waits, step_event(step));
    model_launch(&launch);
}

// On the last device.
static void write_part(unsigned place)
{
    struct waits waits;
    const unsigned queue = draw_queue_on(world.devices - 1, 1u << place);
    if (queue == QUEUES || !has_room_for_steps())
        return;
    struct launch launch = {.kernel = KERNEL_STAMP,
                            .value = draw(UINT32_MAX),
                            .out = {&self->places[place], draw(WORDS / 2)}};
    draw_sizes(&launch, WORDS / 2);
    struct step *step = step_begin(queue, 0, 1u << place, 0, &waits);
    front_end.launch(queue_of(queue)->handle, shared_kernel(KERNEL_STAMP), &launch, &waits,
                     step_event(step));
    model_launch(&launch);
}

void read_written_part(unsigned place, void *event)
{
    struct waits waits;
    struct place *out = &self->places[PLACE_HOST];
    const unsigned queue = draw_queue_on(0, 1u << place);
    write_part(place);
    if (queue == QUEUES || !has_room_for_steps())
        return;
    struct launch launch = {.kernel = KERNEL_SCALE,
                            .value = 1,
                            .a = {&self->places[place], draw(WORDS / 2)},
                            .out = {out, draw(WORDS / 2)}};
    draw_sizes(&launch, WORDS / 2);
    struct step *step = step_begin(queue, 1u << place, bit_of(out), 0, &waits);
    waits.events[waits.count++] = event;
    front_end.launch(queue_of(queue)->handle, world.kernels[KERNEL_SCALE][0], &launch, &waits,
                     &step->event);
    model_launch(&launch);
}

static void launch_with_constant(void)
{
    struct launch launch;
    struct waits waits;
    unsigned queue;
    uint32_t reads;
    if (!draw_ranges(&launch, &queue, &reads) || launch.kernel != KERNEL_SCALE)
        return;
    launch.value = 1 + draw(4);
    struct step *step = step_begin(queue, reads, bit_of(launch.out.place), 0, &waits);
    void **out_event = step_event(step);
    if (front_end.launch_by_name && !one_in(3)) {
        front_end.launch_by_name(queue_of(queue)->handle, &launch, &waits, out_event);
    } else {
        // Kernel and module are gone before the command is over.
        void *kernel = front_end.make_kernel(KERNEL_SCALE, launch.value, true);
        front_end.launch(queue_of(queue)->handle, kernel, &launch, &waits, out_event);
        front_end.release_kernel(kernel);
    }
    model_launch(&launch);
}

static void ask_for_group(void)
{
    static const size_t sizes[] = {1, 16, 64, 240};
    const size_t global = sizes[draw(4)];
    const size_t group = front_end.suggest_group(shared_kernel((enum kernel)draw(KERNELS)),
                                                 draw(world.devices), global);
    if (group == 0 || global % group != 0)
        model_fail("a group of %zu is suggested for %zu items", group, global);
}

static void ask_cooperative(void)
{
    static const size_t groups[] = {1, 4, 8, 16, 64};
    if (front_end.ask_cooperative)
        front_end.ask_cooperative(shared_kernel((enum kernel)draw(KERNELS)), draw(world.devices),
                                  groups[draw(5)]);
}

static void forget_modules(void)
{
    if (front_end.forget_modules)
        front_end.forget_modules(one_in(4));
}

const struct operation launch_operations[] = {
    {"launch", launch, 24, false},
    {"launch with a constant", launch_with_constant, 3, false},
    {"suggested group", ask_for_group, 2, false},
    {"cooperative groups", ask_cooperative, 2, false},
    {"forget modules", forget_modules, 1, false},
    {0}};
