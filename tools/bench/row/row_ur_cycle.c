// SPDX-License-Identifier: MIT
#include "row_ur.h"

#include <stdlib.h>

enum memory { DEVICE, HOST, SHARED };

struct cycle {
    bool (*run)(struct ur_row *ur, const struct cycle *cycle, unsigned i);
    enum memory kind;
    enum ur_row_queue queue;
    size_t bytes;
    unsigned commands;
};

static bool is_good(ur_result_t result)
{
    return result == UR_RESULT_SUCCESS;
}

// ---- Memory ----

static ur_result_t allocate_bytes(const struct ur_row *ur, enum memory kind, size_t bytes,
                                  void **out_memory)
{
    switch (kind) {
    case DEVICE:
        return ur->table.USM.pfnDeviceAlloc(ur->context, ur->device, NULL, NULL, bytes, out_memory);
    case HOST:
        return ur->table.USM.pfnHostAlloc(ur->context, NULL, NULL, bytes, out_memory);
    default:
        return ur->table.USM.pfnSharedAlloc(ur->context, ur->device, NULL, NULL, bytes, out_memory);
    }
}

static bool allocate_and_free(const struct ur_row *ur, enum memory kind, size_t bytes)
{
    void *memory;
    return is_good(allocate_bytes(ur, kind, bytes, &memory)) &&
           is_good(ur->table.USM.pfnFree(ur->context, memory));
}

static bool allocate(struct ur_row *ur, const struct cycle *cycle, unsigned i)
{
    (void)i;
    return allocate_and_free(ur, cycle->kind, cycle->bytes);
}

// The same sizes in each loop.
static bool allocate_random(struct ur_row *ur, const struct cycle *cycle, unsigned i)
{
    const size_t most = 3 * BENCH_MIB;
    const size_t random = (size_t)((i * 0x9e3779b97f4a7c15u) >> 32) % most;
    return allocate_and_free(ur, cycle->kind, BENCH_MIB + random);
}

static bool allocate_batch(struct ur_row *ur, const struct cycle *cycle, unsigned i)
{
    enum { BATCH = 512 };
    void *memory[BATCH];
    (void)i;
    for (int at = 0; at < BATCH; at++) {
        if (!is_good(allocate_bytes(ur, cycle->kind, cycle->bytes, &memory[at])))
            return false;
    }
    for (int at = 0; at < BATCH; at++) {
        if (!is_good(ur->table.USM.pfnFree(ur->context, memory[at])))
            return false;
    }
    return true;
}

// Sizes whose logarithms are spread evenly.
static size_t random_size(unsigned *seed)
{
    const size_t most = (size_t)512 << (unsigned)rand_r(seed) % 16;
    return most - (size_t)rand_r(seed) % (most / 2);
}

static bool renew(const struct ur_row *ur, enum memory kind, size_t bytes, char **memory)
{
    char *old = *memory;
    *memory = NULL;
    if (old && !is_good(ur->table.USM.pfnFree(ur->context, old)))
        return false;
    if (bytes == 0)
        return true;
    if (!is_good(allocate_bytes(ur, kind, bytes, (void **)memory)))
        return false;
    for (size_t at = 0; at < bytes && kind != DEVICE; at += 4096)
        (*memory)[at] = 1;
    return true;
}

bool ur_row_use_random_sizes(struct ur_row *ur, unsigned steps)
{
    enum { LIVE = 64 };
    char *memory[LIVE] = {NULL};
    unsigned seed = 1;
    bool is_fine = true;
    for (unsigned i = 0; i < steps && is_fine; i++)
        is_fine = renew(ur, (enum memory)(i % 3), random_size(&seed),
                        &memory[(unsigned)rand_r(&seed) % LIVE]);
    for (int at = 0; at < LIVE; at++)
        is_fine = renew(ur, DEVICE, 0, &memory[at]) && is_fine;
    return is_fine;
}

int64_t ur_row_free_device_bytes(const struct ur_row *ur)
{
    uint64_t bytes;
    return is_good(ur->table.Device.pfnGetInfo(ur->device, UR_DEVICE_INFO_GLOBAL_MEM_FREE,
                                               sizeof(bytes), &bytes, NULL))
               ? (int64_t)bytes
               : -1;
}

static bool use_buffer(struct ur_row *ur, const struct cycle *cycle, unsigned i)
{
    static char bytes[BENCH_MIB];
    ur_mem_handle_t buffer;
    (void)i;
    if (!is_good(ur->table.Mem.pfnBufferCreate(ur->context, UR_MEM_FLAG_READ_WRITE, cycle->bytes,
                                               NULL, &buffer)))
        return false;
    const bool is_used =
        is_good(ur->table.Enqueue.pfnMemBufferWrite(ur->queues[IN_ORDER], buffer, true, 0,
                                                    cycle->bytes, bytes, 0, NULL, NULL)) &&
        is_good(ur->table.Enqueue.pfnMemBufferRead(ur->queues[IN_ORDER], buffer, true, 0,
                                                   cycle->bytes, bytes, 0, NULL, NULL));
    return is_good(ur->table.Mem.pfnRelease(buffer)) && is_used;
}

// ---- Work and the wait for it ----

static bool finish(const struct ur_row *ur, ur_queue_handle_t queue)
{
    return is_good(ur->table.Queue.pfnFinish(queue));
}

static bool launch_and_finish(struct ur_row *ur, const struct cycle *cycle, unsigned i)
{
    const ur_queue_handle_t queue = ur->queues[cycle->queue];
    (void)i;
    for (unsigned at = 0; at < cycle->commands; at++) {
        if (!ur_row_launch_three(ur, queue, ur->kernels[BENCH_THREE], NULL, NULL))
            return false;
    }
    return finish(ur, queue);
}

static bool copy_and_finish(struct ur_row *ur, const struct cycle *cycle, unsigned i)
{
    const ur_queue_handle_t queue = ur->queues[cycle->queue];
    (void)i;
    return is_good(ur->table.Enqueue.pfnUSMMemcpy(queue, false, ur->memory[BENCH_COPY_TO],
                                                  ur->memory[BENCH_COPY_FROM], cycle->bytes, 0,
                                                  NULL, NULL)) &&
           finish(ur, queue);
}

static bool execute_and_finish(struct ur_row *ur, const struct cycle *cycle, unsigned i)
{
    const ur_queue_handle_t queue = ur->queues[cycle->queue];
    struct ur_row_graph *graph = &ur->finished_graphs[cycle->queue];
    (void)i;
    if (!graph->handle &&
        !ur_row_graph_record(ur, cycle->commands, cycle->queue == IN_ORDER, false, graph))
        return false;
    return is_good(ur->table.EnqueueExp.pfnCommandBufferExp(queue, graph->handle, 0, NULL, NULL)) &&
           finish(ur, queue);
}

static bool launch_in_queues(struct ur_row *ur, const struct cycle *cycle, unsigned i)
{
    bool is_fine = true;
    (void)cycle;
    (void)i;
    for (int at = IN_ORDER; at <= PROFILING && is_fine; at++)
        is_fine = ur_row_launch_three(ur, ur->queues[at], ur->kernels[BENCH_THREE], NULL, NULL);
    for (int at = IN_ORDER; at <= PROFILING && is_fine; at++)
        is_fine = finish(ur, ur->queues[at]);
    return is_fine;
}

// ---- Events with times ----

enum { EVENTS = 8 };

static bool read_times(const struct ur_row *ur, ur_event_handle_t event)
{
    static const ur_profiling_info_t names[] = {UR_PROFILING_INFO_COMMAND_SUBMIT,
                                                UR_PROFILING_INFO_COMMAND_START,
                                                UR_PROFILING_INFO_COMMAND_END};
    for (int i = 0; i < 3; i++) {
        uint64_t value;
        if (!is_good(
                ur->table.Event.pfnGetProfilingInfo(event, names[i], sizeof(value), &value, NULL)))
            return false;
    }
    return true;
}

static bool launch_and_read_times(const struct ur_row *ur, ur_queue_handle_t queue)
{
    ur_event_handle_t events[EVENTS] = {NULL};
    bool is_fine = true;
    for (int i = 0; i < EVENTS && is_fine; i++)
        is_fine = ur_row_launch_three(ur, queue, ur->kernels[i & 1 ? BENCH_THREE_TOO : BENCH_THREE],
                                      NULL, &events[i]);
    is_fine = is_fine && is_good(ur->table.Event.pfnWait(EVENTS, events));
    for (int i = 0; i < EVENTS && is_fine; i++)
        is_fine = read_times(ur, events[i]);
    for (int i = 0; i < EVENTS; i++) {
        if (events[i])
            ur->table.Event.pfnRelease(events[i]);
    }
    return is_fine;
}

static bool launch_with_times(struct ur_row *ur, const struct cycle *cycle, unsigned i)
{
    (void)i;
    return launch_and_read_times(ur, ur->queues[cycle->queue]);
}

static bool launch_with_times_cold(struct ur_row *ur, const struct cycle *cycle, unsigned i)
{
    static const ur_queue_properties_t properties = {.stype = UR_STRUCTURE_TYPE_QUEUE_PROPERTIES,
                                                     .flags = UR_QUEUE_FLAG_PROFILING_ENABLE};
    ur_queue_handle_t queue;
    (void)cycle;
    (void)i;
    if (!is_good(ur->table.Queue.pfnCreate(ur->context, ur->device, &properties, &queue)))
        return false;
    const bool is_fine = launch_and_read_times(ur, queue);
    return is_good(ur->table.Queue.pfnRelease(queue)) && is_fine;
}

// ---- The list ----

bool ur_row_cycle(void *state, enum bench_operation operation, unsigned i)
{
    static const struct cycle cycles[] = {
#define CYCLE(constant, name, title, less, ...)                                                    \
    [BENCH_##constant - BENCH_FIRST_CYCLE] = {__VA_ARGS__},
        BENCH_CYCLES(CYCLE)
#undef CYCLE
    };
    const struct cycle *cycle = &cycles[operation - BENCH_FIRST_CYCLE];
    return cycle->run(state, cycle, i);
}
