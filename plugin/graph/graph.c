// SPDX-License-Identifier: MIT
#include "graph/graph.h"

#include "core/alloc.h"
#include "device/context.h"
#include "device/device.h"
#include "graph/execution.h"
#include "graph/mutable_launch.h"
#include "graph/recording.h"
#include "launch/launch.h"
#include "queue/capture_command.h"
#include "queue/event.h"
#include "queue/submit.h"
#include "ze/ze.h"

// ---- Commands ----

// The list that zepi_graph_open_list returns from now on; NULL: none. False: another function is
// recording.
static bool graph_set_open_list(struct zepi_graph *graph, ze_command_list_handle_t list)
{
    zepi_mutex_lock(&graph->mutex);
    const bool is_free = !list || !graph->open;
    if (is_free)
        graph->open = list;
    zepi_mutex_unlock(&graph->mutex);
    return is_free;
}

ze_command_list_handle_t zepi_graph_open_list(struct zepi_graph *graph)
{
    zepi_mutex_lock(&graph->mutex);
    const ze_command_list_handle_t list = graph->open;
    zepi_mutex_unlock(&graph->mutex);
    return list;
}

zepi_result_t zepi_graph_record_native(struct zepi_graph_command *command,
                                       void (*function)(void *data), void *data)
{
    struct zepi_graph *graph = command->graph;
    const zepi_result_t result =
        zepi_graph_native_create(graph->context, graph->device, &command->native);
    if (result != ZEPI_SUCCESS)
        return result;
    if (!graph_set_open_list(graph, command->native->ze))
        return zepi_fail(ZEPI_ERROR_WRONG_STATE, "another native command is being recorded");
    function(data);
    graph_set_open_list(graph, NULL);
    return ZEPI_ZE(zeCommandListClose, command->native->ze);
}

static zepi_result_t graph_check_add_locked(const struct zepi_graph *graph, bool is_captured,
                                            uint32_t wait_count, const uint32_t *waits)
{
    const enum zepi_graph_state state = zepi_graph_get_state(graph);
    if (state == ZEPI_GRAPH_FINALIZED)
        return zepi_fail(ZEPI_ERROR_WRONG_STATE, "it was finalized: nothing can be added any more");
    if (!is_captured && state != ZEPI_GRAPH_OPEN)
        return zepi_fail(ZEPI_ERROR_WRONG_STATE, "the graph gets its commands from queues");
    if (graph->commands.count == UINT32_MAX)
        return zepi_fail(ZEPI_ERROR_INVALID_SIZE, "too many commands");
    for (uint32_t i = 0; i < wait_count && !graph->commands.is_in_order; i++) {
        if (waits[i] >= graph->commands.count)
            return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                             "sync point %u of the wait list is of no command, the graph has %zu",
                             waits[i], graph->commands.count);
    }
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_graph_check_add(struct zepi_graph *graph, uint32_t wait_count,
                                   const uint32_t *waits)
{
    zepi_mutex_lock(&graph->mutex);
    const zepi_result_t result = graph_check_add_locked(graph, false, wait_count, waits);
    zepi_mutex_unlock(&graph->mutex);
    return result;
}

struct zepi_graph_command *zepi_graph_make_command(struct zepi_graph *graph,
                                                   enum zepi_command_kind kind, uint32_t wait_count,
                                                   const uint32_t *waits)
{
    struct zepi_graph_command *command = zepi_object_create(&zepi_graph_command_type);
    if (!command)
        return NULL;
    command->graph = graph;
    command->context = graph->context;
    command->kind = kind;
    if (wait_count == 0 || graph->commands.is_in_order)
        return command;
    command->waits = zepi_duplicate(waits, wait_count * sizeof(waits[0]));
    if (!command->waits) {
        zepi_fail_no_memory();
        zepi_release(command);
        return NULL;
    }
    command->wait_count = wait_count;
    return command;
}

zepi_result_t zepi_graph_make_launch(struct zepi_graph *graph, const struct zepi_launch *launch,
                                     struct zepi_launch_record **out_record)
{
    const zepi_result_t result = zepi_launch_check(graph->device, launch);
    if (result != ZEPI_SUCCESS)
        return result;
    *out_record = zepi_launch_record_create(launch);
    return *out_record ? ZEPI_SUCCESS : ZEPI_ERROR_OUT_OF_HOST_MEMORY;
}

static zepi_result_t graph_add_command_locked(struct zepi_graph *graph,
                                              struct zepi_graph_command *command)
{
    // The graph may have been finalized meanwhile, or a capture begun.
    const zepi_result_t result =
        graph_check_add_locked(graph, command->queue != NULL, command->wait_count, command->waits);
    if (result != ZEPI_SUCCESS)
        return result;
    struct zepi_graph_commands *commands = &graph->commands;
    struct zepi_graph_command **list =
        zepi_grow(commands->list, commands->count, &commands->capacity, sizeof(list[0]));
    if (!list)
        return zepi_fail_no_memory();
    for (uint32_t i = 0; i < command->wait_count; i++)
        list[command->waits[i]]->is_awaited = true;
    if (command->wait_count > commands->most_waits)
        commands->most_waits = command->wait_count;
    if (command->kind == ZEPI_COMMAND_NATIVE)
        commands->native_count++;
    command->number = (uint32_t)commands->count;
    list[commands->count++] = command;
    commands->list = list;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_graph_add(struct zepi_graph_command *command, uint32_t *out_number)
{
    struct zepi_graph *graph = command->graph;
    zepi_mutex_lock(&graph->mutex);
    const zepi_result_t result = graph_add_command_locked(graph, command);
    zepi_mutex_unlock(&graph->mutex);
    if (result == ZEPI_SUCCESS)
        *out_number = command->number;
    else
        zepi_release(command);
    return result;
}

// ---- Graphs ----

static void graph_destroy(void *object)
{
    struct zepi_graph *graph = object;
    // Executions follow each other: with the last one all are over.
    if (graph->last && graph->last->last)
        zepi_event_wait(1, &graph->last->last, UINT64_MAX);
    for (uint32_t i = 0; i < graph->recording_count; i++)
        zepi_recording_destroy(graph->recordings[i]);
    // The last one first: the C library joins the memory of each with that behind it.
    for (size_t i = graph->commands.count; i-- > 0;)
        zepi_release(graph->commands.list[i]);
    zepi_free(graph->commands.list);
    for (size_t i = 0; i < graph->commands.kept_count; i++)
        zepi_release(graph->commands.kept[i].object);
    zepi_free(graph->commands.kept);
    for (size_t i = 0; i < graph->outside_count; i++)
        zepi_release(graph->outside[i]);
    zepi_free(graph->outside);
    zepi_free(graph->spare);
    zepi_release(graph->context);
}

ZEPI_DEFINE_TYPE(graph, graph_destroy);

struct zepi_graph *zepi_graph_create(struct zepi_context *context, struct zepi_device *device)
{
    struct zepi_graph *graph = zepi_object_create(&zepi_graph_type);
    if (!graph)
        return NULL;
    graph->context = zepi_retain(context);
    graph->device = device;
    graph->device_index = zepi_context_device_index(context, device);
    atomic_init(&graph->version, 1);
    graph->oldest_version = 1;
    return graph;
}

size_t zepi_graph_count(struct zepi_graph *graph)
{
    zepi_mutex_lock(&graph->mutex);
    const size_t count = graph->commands.count;
    zepi_mutex_unlock(&graph->mutex);
    return count;
}

// ---- Recordings ----

// Records the commands with their launches as they are to a recording that does not run.
static zepi_result_t graph_record(struct zepi_graph *graph, struct zepi_recording *recording)
{
    if (recording->version != 0)
        zepi_recording_clear(recording);
    zepi_mutex_lock(&graph->mutex);
    const uint64_t version = atomic_load_explicit(&graph->version, memory_order_relaxed);
    const zepi_result_t result =
        zepi_recorded_uses_hold_launches(&recording->uses, &graph->commands);
    zepi_mutex_unlock(&graph->mutex);
    return result == ZEPI_SUCCESS ? zepi_recording_record(recording, &graph->commands, version)
                                  : result;
}

// Puts the launches that updates have changed since into the lists of a recording that does not
// run. False: it cannot, and has to be recorded anew. Then it may have been cleared.
static bool graph_follow(struct zepi_graph *graph, struct zepi_recording *recording)
{
    if (!recording->is_mutable || zepi_recording_wait_for_run(recording) != ZEPI_SUCCESS)
        return false;
    zepi_mutex_lock(&graph->mutex);
    const uint64_t version = atomic_load_explicit(&graph->version, memory_order_relaxed);
    const uint32_t count = zepi_recording_take_changes(recording, graph->dirty);
    zepi_mutex_unlock(&graph->mutex);
    return zepi_recording_apply_changes(recording, count, version);
}

static zepi_result_t add_recording(struct zepi_graph *graph, struct zepi_recording **out_recording)
{
    struct zepi_recording *recording = NULL;
    zepi_result_t result = zepi_recording_create(graph->context, graph->device, &recording);
    if (result == ZEPI_SUCCESS) {
        // With native commands there are several lists.
        recording->is_mutable = graph->is_updatable && graph->commands.native_count == 0 &&
                                zepi_mutable_launch_is_offered(graph->device);
        result = graph_record(graph, recording);
    }
    if (result != ZEPI_SUCCESS) {
        zepi_recording_destroy(recording);
        return result;
    }
    graph->recordings[graph->recording_count++] = recording;
    *out_recording = recording;
    return ZEPI_SUCCESS;
}

// *out_before is its state before.
static zepi_result_t graph_begin_finalize(struct zepi_graph *graph,
                                          enum zepi_graph_state *out_before)
{
    zepi_mutex_lock(&graph->mutex);
    const enum zepi_graph_state before = zepi_graph_get_state(graph);
    const bool is_right = before == ZEPI_GRAPH_OPEN || before == ZEPI_GRAPH_CAPTURED;
    if (is_right)
        zepi_graph_set_state(graph, ZEPI_GRAPH_FINALIZED);
    zepi_mutex_unlock(&graph->mutex);
    *out_before = before;
    return is_right
               ? ZEPI_SUCCESS
               : zepi_fail(ZEPI_ERROR_WRONG_STATE, "%s",
                           before == ZEPI_GRAPH_FINALIZED   ? "it was finalized before"
                           : before == ZEPI_GRAPH_CAPTURING ? "the graph is being captured"
                                                            : "the capture of the graph failed");
}

zepi_result_t zepi_graph_finalize(struct zepi_graph *graph)
{
    struct zepi_recording *recording;
    enum zepi_graph_state before;
    zepi_mutex_lock(&graph->submit_mutex);
    zepi_result_t result = graph_begin_finalize(graph, &before);
    if (result == ZEPI_SUCCESS) {
        result = add_recording(graph, &recording);
        if (result != ZEPI_SUCCESS) {
            zepi_mutex_lock(&graph->mutex);
            zepi_graph_set_state(graph, before);
            zepi_mutex_unlock(&graph->mutex);
        }
    }
    zepi_mutex_unlock(&graph->submit_mutex);
    return result;
}

// ---- Updates ----

zepi_result_t zepi_graph_check_update(const struct zepi_graph *graph)
{
    return graph->is_updatable && zepi_graph_get_state(graph) == ZEPI_GRAPH_FINALIZED
               ? ZEPI_SUCCESS
               : zepi_fail(ZEPI_ERROR_WRONG_STATE, "the graph %s",
                           graph->is_updatable ? "was not finalized yet"
                                               : "was not made to be updatable");
}

// A recording of earlier launches that does not run gets the new ones, and gives up objects that
// the earlier ones used. One that cannot be changed forgets all it has.
static void graph_follow_all(struct zepi_graph *graph)
{
    // Acquire: the launches of that version. A later one is seen by the next call.
    const uint64_t version = atomic_load_explicit(&graph->version, memory_order_acquire);
    uint64_t oldest = version;
    for (uint32_t i = 0; i < graph->recording_count; i++) {
        struct zepi_recording *recording = graph->recordings[i];
        if (recording->version == 0 || recording->version >= version)
            continue;
        if (zepi_recording_ask_idle(recording) != ZEPI_SUCCESS)
            oldest = recording->version < oldest ? recording->version : oldest;
        else if (!graph_follow(graph, recording) && recording->version != 0)
            zepi_recording_clear(recording);
    }
    graph->oldest_version = oldest;
}

void zepi_graph_try_follow(struct zepi_graph *graph)
{
    if (!zepi_mutex_try_lock(&graph->submit_mutex))
        return;
    graph_follow_all(graph);
    zepi_mutex_unlock(&graph->submit_mutex);
}

// ---- Executions ----

// One that does not run, if there is any: with the launches as they are, if possible. Else the one
// that began first, which is over first.
static zepi_result_t find_recording(struct zepi_graph *graph, uint64_t version,
                                    struct zepi_recording **out_idle,
                                    struct zepi_recording **out_oldest)
{
    *out_idle = NULL;
    *out_oldest = NULL;
    for (uint32_t i = 0; i < graph->recording_count; i++) {
        struct zepi_recording *recording = graph->recordings[i];
        const zepi_result_t result = zepi_recording_ask_idle(recording);
        if (result == ZEPI_SUCCESS) {
            if (!*out_idle || recording->version == version)
                *out_idle = recording;
            if (recording->version == version)
                return ZEPI_SUCCESS;
        } else if (result != ZEPI_ERROR_NOT_READY) {
            return result;
        } else if (!*out_oldest || recording->number < (*out_oldest)->number) {
            *out_oldest = recording;
        }
    }
    return ZEPI_SUCCESS;
}

// *recording: one that does not run, or NULL; becomes one with the launches as they are.
static __attribute__((noinline)) zepi_result_t make_recording(struct zepi_graph *graph,
                                                              struct zepi_recording **recording)
{
    struct zepi_recording *idle = *recording;
    if (!idle)
        return add_recording(graph, recording);
    return idle->version != 0 && graph_follow(graph, idle) ? ZEPI_SUCCESS
                                                           : graph_record(graph, idle);
}

// One that does not run, with the launches as they are or as an update makes them meanwhile.
static zepi_result_t choose_recording(struct zepi_graph *graph,
                                      struct zepi_recording **out_recording)
{
    // A host's own list cannot be recorded once more.
    const uint32_t most = graph->commands.native_count > 0 ? 1 : ZEPI_GRAPH_RECORDINGS;
    // Acquire: an update that was over before this execution.
    const uint64_t version = atomic_load_explicit(&graph->version, memory_order_acquire);
    struct zepi_recording *recording;
    struct zepi_recording *oldest;
    zepi_result_t result = find_recording(graph, version, &recording, &oldest);
    // All recordings run. Executions of other threads have to wait, too, and updates do not.
    while (result == ZEPI_SUCCESS && !recording && graph->recording_count == most) {
        result = zepi_event_wait(1, &oldest->last, UINT64_MAX);
        if (result == ZEPI_SUCCESS)
            result = find_recording(graph, version, &recording, &oldest);
    }
    if (result == ZEPI_SUCCESS && (!recording || recording->version < version))
        result = make_recording(graph, &recording);
    *out_recording = recording;
    return result;
}

#define INLINE_WAITS 16

// The execution waits for the one before it, too.
static __attribute__((noinline)) zepi_result_t
graph_execute_after(zepi_event_t before, struct zepi_recording *recording, struct zepi_queue *queue,
                    zepi_wait_list_t wait, zepi_event_t *out_event)
{
    zepi_event_t inline_events[INLINE_WAITS];
    zepi_event_t *events = inline_events;
    if (wait.count >= INLINE_WAITS)
        events = zepi_allocate((size_t)wait.count + 1, sizeof(events[0]));
    if (!events)
        return zepi_fail_no_memory();
    if (wait.count > 0)
        memcpy(events, wait.events, wait.count * sizeof(events[0]));
    events[wait.count] = before;
    const zepi_result_t result = zepi_recording_execute(
        recording, queue, (zepi_wait_list_t){events, wait.count + 1}, out_event);
    if (events != inline_events)
        zepi_free(events);
    return result;
}

static zepi_result_t graph_execute_locked(struct zepi_graph *graph, struct zepi_queue *queue,
                                          zepi_wait_list_t wait, zepi_event_t *out_event)
{
    struct zepi_recording *recording;
    // Finalizing makes the first one.
    if (graph->recording_count == 0)
        return zepi_fail(ZEPI_ERROR_WRONG_STATE, "it was not finalized yet");
    zepi_result_t result = choose_recording(graph, &recording);
    if (result != ZEPI_SUCCESS)
        return result;
    const zepi_event_t before = graph->last ? graph->last->last : NULL;
    result = before && zepi_event_must_be_awaited(before, queue)
                 ? graph_execute_after(before, recording, queue, wait, out_event)
                 : zepi_recording_execute(recording, queue, wait, out_event);
    if (result != ZEPI_SUCCESS)
        return result;
    recording->number = ++graph->execution_count;
    graph->last = recording;
    if (graph->oldest_version != atomic_load_explicit(&graph->version, memory_order_relaxed))
        graph_follow_all(graph);
    return result;
}

zepi_result_t zepi_graph_execute(struct zepi_graph *graph, struct zepi_queue *queue,
                                 zepi_wait_list_t wait, zepi_event_t *out_event)
{
    zepi_result_t result = ZEPI_SUCCESS;
    if (wait.count > 0)
        result = zepi_submit_await_unreachable(queue, wait);
    if (result != ZEPI_SUCCESS)
        return result;
    zepi_mutex_lock(&graph->submit_mutex);
    result = graph_execute_locked(graph, queue, wait, out_event);
    zepi_mutex_unlock(&graph->submit_mutex);
    return zepi_capture_check_uncaptured(result);
}
