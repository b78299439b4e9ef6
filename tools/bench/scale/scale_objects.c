// SPDX-License-Identifier: MIT
// Contexts, queues, events and kernel objects.
#include "scale.h"

#include "tools/zepi/kernels.h"

// ---- Calls that several cases have ----

bool scale_release(struct scale *scale, unsigned i)
{
    return scale_ok(zepi.release(scale->objects[i]));
}

zepi_launch_desc_t scale_describe(const struct scale *scale, const struct scale_launch *launch,
                                  zepi_argument_t arguments[3])
{
    const bool is_by_name = launch->module || launch->unit;
    arguments[0] =
        launch->buffer
            ? (zepi_argument_t){.kind = ZEPI_ARGUMENT_BUFFER, .value = launch->buffer}
            : (zepi_argument_t){.kind = ZEPI_ARGUMENT_POINTER, .value = scale->row->memory[0]};
    arguments[1] = (zepi_argument_t){.kind = ZEPI_ARGUMENT_POINTER, .value = scale->row->memory[1]};
    arguments[2] = (zepi_argument_t){
        .kind = ZEPI_ARGUMENT_VALUE, .size_bytes = sizeof(launch->value), .value = &launch->value};
    return (zepi_launch_desc_t){.size = sizeof(zepi_launch_desc_t),
                                .kernel = is_by_name       ? NULL
                                          : launch->kernel ? launch->kernel
                                                           : scale->row->kernels[BENCH_THREE],
                                .kernel_name = is_by_name ? "three" : NULL,
                                .module = launch->module,
                                .unit = launch->unit,
                                .arguments = arguments,
                                .argument_count = 3,
                                .work_dim = 1,
                                .global_size = {64},
                                .group_size = {64}};
}

bool scale_launch(const struct scale *scale, struct scale_launch launch)
{
    zepi_argument_t arguments[3];
    const zepi_launch_desc_t desc = scale_describe(scale, &launch, arguments);
    const zepi_wait_list_t wait = {&launch.wait, launch.wait != NULL};
    const zepi_queue_t queue = launch.queue ? launch.queue : scale->row->host.queue;
    return scale_ok(zepi.queue_launch(queue, &desc, wait, launch.out_event));
}

bool scale_copy(const struct scale *scale, void *to, const void *from)
{
    const zepi_wait_list_t none = {0};
    return scale_ok(zepi.queue_copy(scale->row->host.queue, to, from, 64, none, NULL));
}

bool scale_allocate_in(const struct scale *scale, zepi_context_t context)
{
    void *memory;
    return scale_ok(zepi.usm_allocate(context, scale->row->host.device, ZEPI_USM_DEVICE, 4096, 0,
                                      &memory)) &&
           scale_ok(zepi.usm_free(context, memory));
}

bool scale_allocate(struct scale *scale, unsigned i)
{
    (void)i;
    return scale_allocate_in(scale, scale_context(scale));
}

// ---- Contexts ----

static bool make_context(struct scale *scale, unsigned i)
{
    return scale_ok(
        zepi.context_create(1, &scale->row->host.device, (zepi_context_t *)&scale->objects[i]));
}

static bool allocate_in_context(struct scale *scale, unsigned i)
{
    return scale_allocate_in(scale, scale->objects[i]);
}

// ---- Queues ----

static bool finish_queue(struct scale *scale, unsigned i)
{
    return scale_launch(scale, (struct scale_launch){.queue = scale->objects[i]}) &&
           scale_ok(zepi.queue_finish(scale->objects[i]));
}

bool scale_create_queue(const struct scale *scale, zepi_queue_flags_t flags, void **out_queue)
{
    return scale_ok(zepi.queue_create(scale_context(scale), scale->row->host.device, flags,
                                      (zepi_queue_t *)out_queue));
}

// Idle, after a launch.
static bool make_queue(struct scale *scale, unsigned i)
{
    return scale_create_queue(scale, scale->info->kind, &scale->objects[i]) &&
           finish_queue(scale, i);
}

bool scale_launch_in_queue(struct scale *scale, unsigned i)
{
    return scale_launch(scale, (struct scale_launch){.queue = scale->objects[i]});
}

// So that more queues begin as fewer did: idle, with nothing that waits to be freed.
static bool finish_all_queues(struct scale *scale)
{
    bool is_good = true;
    for (unsigned i = 0; i < scale->live && is_good; i++)
        is_good = scale_ok(zepi.queue_finish(scale->objects[i]));
    return is_good;
}

// In another queue, after the one.
static bool launch_after_queue(struct scale *scale, unsigned i)
{
    zepi_event_t event;
    return scale_launch(scale,
                        (struct scale_launch){.queue = scale->objects[i], .out_event = &event}) &&
           scale_launch(scale, (struct scale_launch){.queue = scale->objects[scale->live - 1 - i],
                                                     .wait = event}) &&
           scale_ok(zepi.release(event));
}

// Copies memory that is freed while the queue may still use it.
// Few queues have commands: a free looks at each of those that have (scale_left_out).
#define BUSY_QUEUES 8

static bool use_and_free(struct scale *scale, unsigned i)
{
    void *memory;
    const zepi_wait_list_t none = {0};
    return scale_ok(zepi.usm_allocate(scale_context(scale), scale->row->host.device,
                                      ZEPI_USM_DEVICE, 4096, 0, &memory)) &&
           scale_ok(zepi.queue_copy(scale->objects[i % BUSY_QUEUES], memory, scale->row->memory[0],
                                    64, none, NULL)) &&
           scale_ok(zepi.usm_free(scale_context(scale), memory));
}

// ---- Events ----

// In the row's queue, or in the one that the case has opened.
bool scale_make_event(struct scale *scale, unsigned i)
{
    return scale_launch(scale,
                        (struct scale_launch){.queue = scale->common[0],
                                              .out_event = (zepi_event_t *)&scale->objects[i]});
}

static bool open_profiling(struct scale *scale)
{
    return scale_create_queue(scale, ZEPI_QUEUE_IN_ORDER | ZEPI_QUEUE_PROFILING, &scale->common[0]);
}

void scale_close_common(struct scale *scale)
{
    for (size_t i = 0; i < sizeof(scale->common) / sizeof(scale->common[0]); i++)
        host_release(scale->common[i]);
}

static bool get_times(struct scale *scale, unsigned i)
{
    zepi_event_times_t times = {.size = sizeof(times)};
    return scale_ok(zepi.event_get_times(scale->objects[i], &times));
}

static bool wait_for_event(struct scale *scale, unsigned i)
{
    return scale_ok(zepi.event_wait(1, (zepi_event_t *)&scale->objects[i], UINT64_MAX));
}

static bool launch_after_event(struct scale *scale, unsigned i)
{
    return scale_launch(
        scale, (struct scale_launch){.queue = scale->row->second, .wait = scale->objects[i]});
}

static bool make_host_event(struct scale *scale, unsigned i)
{
    return scale_ok(zepi.event_create(scale_context(scale), (zepi_event_t *)&scale->objects[i]));
}

static bool signal_host_event(struct scale *scale, unsigned i)
{
    zepi_event_t event;
    (void)i;
    return scale_ok(zepi.event_create(scale_context(scale), &event)) &&
           scale_ok(zepi.event_signal(event)) && scale_ok(zepi.event_wait(1, &event, UINT64_MAX)) &&
           scale_ok(zepi.release(event));
}

// ---- Kernel objects ----

static bool make_kernel(struct scale *scale, unsigned i)
{
    return scale_ok(zepi.module_get_kernel(scale->row->executable, "three",
                                           (zepi_kernel_t *)&scale->objects[i]));
}

static bool launch_kernel(struct scale *scale, unsigned i)
{
    return scale_launch(scale, (struct scale_launch){.kernel = scale->objects[i]});
}

#define QUEUE_OPERATIONS                                                                           \
    {"launch in one of them", scale_launch_in_queue}, {"launch, finish", finish_queue},            \
        {"allocate and free 4 KiB", scale_allocate},                                               \
    {                                                                                              \
        "allocate, copy in one of eight, free", use_and_free                                       \
    }
#define EVENT_OPERATIONS                                                                           \
    {"wait of the host", wait_for_event},                                                          \
    {                                                                                              \
        "launch that waits for one", launch_after_event                                            \
    }

const struct scale_case scale_objects[] = {
    {.name = "context",
     .types = "context",
     .make = make_context,
     .drop = scale_release,
     .operations = {{"allocate and free 4 KiB in one of them", allocate_in_context}}},
    {.name = "queue-in-order",
     .types = "queue command_list",
     .settle = finish_all_queues,
     .kind = ZEPI_QUEUE_IN_ORDER,
     .make = make_queue,
     .drop = scale_release,
     .operations = {QUEUE_OPERATIONS, {"launch after that of another", launch_after_queue}}},
    {.name = "queue-any-order",
     .types = "queue command_list",
     .settle = finish_all_queues,
     .make = make_queue,
     .drop = scale_release,
     .operations = {QUEUE_OPERATIONS}},
    {.name = "event-in-order",
     .types = "event",
     .make = scale_make_event,
     .drop = scale_release,
     .operations = {EVENT_OPERATIONS, {"allocate and free 4 KiB", scale_allocate}}},
    {.name = "event-profiling",
     .types = "event",
     .open = open_profiling,
     .close = scale_close_common,
     .make = scale_make_event,
     .drop = scale_release,
     .operations = {EVENT_OPERATIONS, {"times", get_times}}},
    {.name = "event-host",
     .types = "event",
     .make = make_host_event,
     .drop = scale_release,
     .operations = {{"create, signal, wait, release", signal_host_event},
                    {"launch that waits for one", launch_after_event}}},
    {.name = "kernel",
     .types = "kernel",
     .make = make_kernel,
     .drop = scale_release,
     .operations = {{"launch", launch_kernel},
                    {"one more: make, launch, release", launch_kernel, .is_new = true}}},
    {0}};
