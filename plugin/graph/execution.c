// SPDX-License-Identifier: MIT
#include "graph/execution.h"

#include "core/alloc.h"
#include "core/stats.h"
#include "device/context.h"
#include "device/device.h"
#include "device/platform.h"
#include "graph/mutable_launch.h"
#include "graph/recorder.h"
#include "queue/capture_command.h"
#include "queue/submit.h"
#include "ze/ze.h"

#include <utlist.h>

// ---- Recordings ----

static zepi_result_t add_recording(struct zepi_graph *graph, struct zepi_recording **out_recording)
{
    struct zepi_recording *recording;
    zepi_result_t result = zepi_recording_create(graph->context, graph->device, &graph->commands,
                                                 graph->is_updatable, &recording);
    if (result != ZEPI_SUCCESS)
        return result;
    recording->graph = graph;
    result = zepi_record_graph(recording);
    if (result != ZEPI_SUCCESS) {
        zepi_recording_destroy(recording);
        return result;
    }
    DL_PREPEND(graph->recordings, recording);
    graph->recording_count++;
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

// ---- Executions of a recording ----

// Under the queue's mutex.
static ze_result_t execution_append_lists(const struct zepi_recording *recording,
                                          struct zepi_submit *submit)
{
    const struct zepi_ze_optional *optional = &submit->queue->device->platform->optional;
    ze_command_list_handle_t list = submit->list;
    ze_event_handle_t signal = submit->signal;
    if (zepi_ze_appends_by_driver(optional)) {
        list = submit->queue_list->driver_ze;
        signal = signal ? zepi_ze_driver_handle(ZEL_HANDLE_EVENT, signal) : NULL;
        for (uint32_t i = 0; i < submit->wait_count; i++)
            submit->waits[i] = zepi_ze_driver_handle(ZEL_HANDLE_EVENT, submit->waits[i]);
    }
    return optional->append_command_lists
               ? optional->append_command_lists(list, recording->list_count, recording->lists,
                                                signal, submit->wait_count, submit->waits)
               : optional->append_lists_with_parameters(list, recording->list_count,
                                                        recording->lists, NULL, signal,
                                                        submit->wait_count, submit->waits);
}

static zepi_result_t execution_append(const struct zepi_recording *recording,
                                      struct zepi_queue *queue, zepi_wait_list_t wait,
                                      zepi_event_t *out_event)
{
    struct zepi_submit submit;
    const zepi_result_t result =
        zepi_submit_begin(&submit, queue, wait, out_event, ZEPI_ENGINE_COMPUTE);
    if (result != ZEPI_SUCCESS)
        return result;
    const ze_result_t ze = execution_append_lists(recording, &submit);
    return zepi_submit_end(
        &submit, zepi_check_ze(ze, "zeCommandListImmediateAppendCommandListsExp"), out_event);
}

// The buffers that move are brought to the device first.
static __attribute__((noinline)) zepi_result_t
execution_move(const struct zepi_recording *recording, struct zepi_buffer_uses *uses)
{
    void *address;
    zepi_result_t result = ZEPI_SUCCESS;
    for (size_t i = 0; i < recording->move_count && result == ZEPI_SUCCESS; i++)
        result = zepi_buffer_use(uses, &recording->moves[i]->part, recording->moves[i]->access,
                                 ZEPI_BUFFER_ON_DEVICE, &address);
    return result;
}

// Nothing of the recording runs: enqueues an execution, whose event is recording->last then; NULL
// on failure.
static zepi_result_t recording_execute(struct zepi_recording *recording, struct zepi_queue *queue,
                                       zepi_wait_list_t wait, zepi_event_t *out_event)
{
    struct zepi_buffer_uses uses;
    zepi_event_t event = NULL;
    zepi_result_t result = ZEPI_SUCCESS;
    const bool moves = recording->move_count > 0;
    if (__builtin_expect(moves, 0)) {
        zepi_buffer_uses_init(&uses, queue, wait);
        result = execution_move(recording, &uses);
        wait = uses.wait;
    }
    if (result == ZEPI_SUCCESS)
        result = recording->run ? zepi_list_run_start(recording->run, queue, recording->list_count,
                                                      recording->lists, wait, &event)
                                : execution_append(recording, queue, wait, &event);
    if (__builtin_expect(moves, 0))
        zepi_buffer_uses_finish(&uses);
    recording->last = event;
    if (result != ZEPI_SUCCESS)
        return result;
    zepi_stats_count(ZEPI_STAT_GRAPHS);
    if (out_event)
        *out_event = zepi_retain(event);
    return ZEPI_SUCCESS;
}

// ---- Executions of a graph ----

// Recordings that do not run follow updates; those that cannot have nothing recorded then.
// *out_idle is the one of them that was executed last; NULL: all run.
static zepi_result_t graph_follow(struct zepi_graph *graph, struct zepi_recording **out_idle)
{
    // Acquire: the launches of that version. A later one is seen by the next call.
    const uint64_t version = atomic_load_explicit(&graph->version, memory_order_acquire);
    *out_idle = NULL;
    for (struct zepi_recording *recording = graph->recordings; recording;
         recording = recording->next) {
        const zepi_result_t result = zepi_recording_ask_idle(recording);
        if (result == ZEPI_ERROR_NOT_READY)
            break; // those behind it run, too
        if (result != ZEPI_SUCCESS)
            return result;
        if (recording->version != 0 && recording->version < version)
            zepi_mutable_launch_follow(recording);
        *out_idle = recording;
    }
    return ZEPI_SUCCESS;
}

void zepi_graph_try_follow(struct zepi_graph *graph)
{
    struct zepi_recording *idle;
    if (!zepi_mutex_try_lock(&graph->submit_mutex))
        return;
    graph_follow(graph, &idle);
    zepi_mutex_unlock(&graph->submit_mutex);
}

// Chooses a recording that does not run, with the launches as they are or as an update makes them
// meanwhile.
static zepi_result_t choose_recording(struct zepi_graph *graph,
                                      struct zepi_recording **out_recording)
{
    // A host's own list cannot be recorded once more.
    const uint32_t most = graph->commands.native_count > 0 ? 1 : ZEPI_GRAPH_RECORDINGS;
    zepi_result_t result = graph_follow(graph, out_recording);
    // Executions of other threads have to wait, too, and updates do not.
    while (result == ZEPI_SUCCESS && !*out_recording && graph->recording_count == most) {
        result = zepi_event_wait(1, &graph->recordings->last, UINT64_MAX);
        if (result == ZEPI_SUCCESS)
            result = graph_follow(graph, out_recording);
    }
    if (result != ZEPI_SUCCESS)
        return result;
    if (!*out_recording)
        return add_recording(graph, out_recording);
    return (*out_recording)->version == 0 ? zepi_record_graph(*out_recording) : ZEPI_SUCCESS;
}

// The list has room for one more event.
static zepi_result_t graph_execute_locked(struct zepi_graph *graph, struct zepi_queue *queue,
                                          zepi_event_t *events, uint32_t count,
                                          zepi_event_t *out_event)
{
    struct zepi_recording *recording;
    // Finalizing makes the first one.
    if (!graph->recordings)
        return zepi_fail(ZEPI_ERROR_WRONG_STATE, "it was not finalized yet");
    zepi_result_t result = choose_recording(graph, &recording);
    if (result != ZEPI_SUCCESS)
        return result;
    struct zepi_recording *last = graph->recordings->prev;
    if (last->last && zepi_event_must_be_awaited(last->last, queue))
        events[count++] = last->last;
    result = recording_execute(recording, queue, (zepi_wait_list_t){events, count}, out_event);
    if (result == ZEPI_SUCCESS && recording != last) {
        DL_DELETE(graph->recordings, recording);
        DL_APPEND(graph->recordings, recording);
    }
    return result;
}

#define INLINE_WAITS 16

// The execution waits for the host's events, those from outside and the execution before it.
zepi_result_t zepi_graph_execute(struct zepi_graph *graph, struct zepi_queue *queue,
                                 zepi_wait_list_t wait, zepi_event_t *out_event)
{
    zepi_event_t inline_events[INLINE_WAITS];
    zepi_event_t *events = inline_events;
    zepi_result_t result = ZEPI_SUCCESS;
    uint32_t count = 0;
    if (wait.count + graph->outside_count >= INLINE_WAITS)
        events = zepi_allocate((size_t)wait.count + graph->outside_count + 1, sizeof(events[0]));
    if (!events)
        return zepi_fail_no_memory();
    while (count < wait.count) {
        events[count] = wait.events[count];
        count++;
    }
    // The graph is finalized: it gets no more events from outside.
    for (const struct zepi_graph_outside *outside = graph->outside; outside;
         outside = outside->next) {
        if (!zepi_event_is_known_complete(outside->event))
            events[count++] = outside->event;
    }
    if (count > 0)
        result = zepi_submit_await_unreachable(queue, (zepi_wait_list_t){events, count});
    if (result == ZEPI_SUCCESS) {
        zepi_mutex_lock(&graph->submit_mutex);
        result = graph_execute_locked(graph, queue, events, count, out_event);
        zepi_mutex_unlock(&graph->submit_mutex);
    }
    if (events != inline_events)
        zepi_free(events);
    return zepi_capture_check_uncaptured(result);
}
