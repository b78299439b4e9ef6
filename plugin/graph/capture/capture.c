// SPDX-License-Identifier: MIT
#include "graph/capture/capture.h"

#include "device/context.h"
#include "graph/capture/capture_draft.h"
#include "graph/capture/captured_command.h"

// ---- What it is made of ----

static void capture_destroy(void *object)
{
    (void)object; // all that it had went as it ended
}

ZEPI_DEFINE_TYPE(capture_graph, capture_destroy);

// ---- Begin and end ----

static void capture_leave(struct zepi_queue *queue)
{
    void *owner;
    struct zepi_error error;
    zepi_error_save(&error);
    // A queue that came to it is held by it, so this one began it, or it is over.
    zepi_capture_end(queue, &owner);
    zepi_release(owner);
    zepi_error_restore(&error);
    zepi_release(atomic_exchange_explicit(&queue->capture, NULL, memory_order_relaxed));
}

static const struct zepi_capture_functions functions = {.command = zepi_captured_command_add,
                                                        .keep = zepi_captured_command_keep,
                                                        .get_list = zepi_captured_command_get_list,
                                                        .leave = capture_leave};

// The graph becomes part of a capture. *out_state is its state before.
static zepi_result_t capture_open_graph(struct zepi_graph *graph, enum zepi_graph_state *out_state)
{
    zepi_result_t result = ZEPI_SUCCESS;
    zepi_mutex_lock(&graph->mutex);
    const enum zepi_graph_state state = zepi_graph_get_state(graph);
    const char *reason = state == ZEPI_GRAPH_CAPTURE_FAILED ? "the capture of the graph failed"
                         : state == ZEPI_GRAPH_FINALIZED    ? "the graph was finalized"
                         : graph->commands.count > 0        ? "the graph has commands"
                                                            : NULL;
    if (state == ZEPI_GRAPH_CAPTURING)
        result = zepi_fail(ZEPI_ERROR_WRONG_STATE, "the graph is in another capture");
    else if (reason)
        result =
            zepi_fail(ZEPI_ERROR_INVALID_VALUE, "%s: a capture begins with a new graph", reason);
    else
        zepi_graph_set_state(graph, ZEPI_GRAPH_CAPTURING);
    // An empty capture before said that it was.
    if (result == ZEPI_SUCCESS)
        graph->commands.is_in_order = false;
    zepi_mutex_unlock(&graph->mutex);
    *out_state = state;
    return result;
}

static void capture_close_graph(struct zepi_graph *graph, enum zepi_graph_state state,
                                bool is_in_order)
{
    zepi_mutex_lock(&graph->mutex);
    graph->commands.is_in_order = is_in_order;
    zepi_graph_set_state(graph, state);
    zepi_mutex_unlock(&graph->mutex);
}

static struct zepi_capture *capture_create(struct zepi_queue *queue, struct zepi_graph *graph,
                                           void *owner)
{
    struct zepi_capture_graph *made = zepi_object_create(&zepi_capture_graph_type);
    if (!made)
        return NULL;
    made->graph = zepi_retain(graph);
    made->owner = zepi_retain(owner);
    made->is_chain = true;
    struct zepi_capture *capture = &made->capture;
    capture->functions = &functions;
    capture->origin = queue;
    capture->device = queue->device;
    capture->context = queue->context;
    return capture;
}

// One that has not begun, or is over. Takes its graph and its owner.
static void capture_give_up(struct zepi_capture *capture)
{
    struct zepi_capture_graph *own = zepi_capture_graph_of(capture);
    zepi_mutex_lock(&capture->mutex);
    struct zepi_graph *graph = own->graph;
    void *owner = own->owner;
    own->graph = NULL;
    own->owner = NULL;
    zepi_mutex_unlock(&capture->mutex);
    zepi_release(graph);
    zepi_release(owner);
}

zepi_result_t zepi_capture_begin(struct zepi_queue *queue, struct zepi_graph *graph, void *owner)
{
    if (graph->context != queue->context || graph->device != queue->device)
        return zepi_fail(ZEPI_ERROR_INVALID_OBJECT,
                         "the graph is of another context or device than the queue");
    enum zepi_graph_state before;
    const zepi_result_t result = capture_open_graph(graph, &before);
    if (result != ZEPI_SUCCESS)
        return result;
    struct zepi_capture *capture = capture_create(queue, graph, owner);
    bool is_free = false;
    if (capture) {
        zepi_mutex_lock(&queue->mutex);
        is_free = !zepi_queue_is_capturing(queue);
        if (is_free)
            zepi_queue_set_capture_locked(queue, capture);
        zepi_mutex_unlock(&queue->mutex);
    }
    if (is_free)
        return ZEPI_SUCCESS;
    capture_close_graph(graph, before, false);
    if (!capture)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    capture_give_up(capture);
    zepi_release(capture);
    return zepi_fail(ZEPI_ERROR_WRONG_STATE, "the queue is in another capture");
}

// Under the capture's mutex. What no command waits for is the origin's own.
static bool capture_is_joined_locked(const struct zepi_capture_graph *capture)
{
    const struct zepi_graph_commands *commands = &capture->graph->commands;
    for (size_t i = 0; i < commands->count; i++) {
        const struct zepi_graph_command *command = commands->list[i];
        if (!command->is_awaited && command->queue != capture->capture.origin)
            return false;
    }
    return true;
}

// Takes the capture out of a queue that came to it.
static void capture_release_fork(struct zepi_capture *capture, struct zepi_queue *queue)
{
    zepi_mutex_lock(&queue->mutex);
    const bool is_in = atomic_load_explicit(&queue->capture, memory_order_relaxed) == capture;
    if (is_in)
        zepi_queue_set_capture_locked(queue, NULL);
    zepi_mutex_unlock(&queue->mutex);
    if (is_in)
        zepi_release(capture);
    zepi_release(queue);
}

// No command is captured any more. The caller has a reference.
static zepi_result_t capture_close(struct zepi_capture *capture)
{
    struct zepi_capture_graph *own = zepi_capture_graph_of(capture);
    zepi_mutex_lock(&capture->mutex);
    // Release: the graph is as it stays.
    atomic_store_explicit(&capture->is_over, true, memory_order_release);
    const bool is_joined = capture_is_joined_locked(own);
    const bool is_valid = is_joined && !capture->is_invalid;
    struct zepi_queue *fork = own->forks;
    own->forks = NULL;
    zepi_mutex_unlock(&capture->mutex);
    capture_close_graph(own->graph, is_valid ? ZEPI_GRAPH_CAPTURED : ZEPI_GRAPH_CAPTURE_FAILED,
                        own->is_chain);
    while (fork) {
        struct zepi_queue *queue = fork;
        // Once it is out of the capture, it may come to another one.
        fork = queue->next_fork;
        capture_release_fork(capture, queue);
    }
    if (is_valid)
        return ZEPI_SUCCESS;
    if (!is_joined)
        return zepi_fail(ZEPI_ERROR_CAPTURE_UNJOINED,
                         "the queue waits for no event of the last command of another queue in the "
                         "capture");
    return zepi_fail(ZEPI_ERROR_CAPTURE_INVALIDATED, "a command failed that was partly captured");
}

zepi_result_t zepi_capture_end(struct zepi_queue *queue, void **out_owner)
{
    *out_owner = NULL;
    zepi_mutex_lock(&queue->mutex);
    struct zepi_capture *capture = atomic_load_explicit(&queue->capture, memory_order_relaxed);
    const bool is_in = capture && !zepi_capture_is_over(capture);
    const bool is_origin = is_in && capture->origin == queue;
    if (is_origin)
        zepi_queue_set_capture_locked(queue, NULL);
    zepi_mutex_unlock(&queue->mutex);
    if (!is_in)
        return zepi_fail(ZEPI_ERROR_NOT_CAPTURING, "the queue is not in capture mode");
    if (!is_origin)
        return zepi_fail(ZEPI_ERROR_WRONG_STATE, "the capture began on another queue");
    *out_owner = zepi_retain(zepi_capture_graph_of(capture)->owner);
    const zepi_result_t result = capture_close(capture);
    capture_give_up(capture);
    zepi_release(capture);
    return result;
}

void *zepi_capture_get_owner(struct zepi_queue *queue)
{
    struct zepi_capture *capture = zepi_capture_find(queue, (zepi_wait_list_t){NULL, 0});
    if (!capture)
        return NULL;
    zepi_mutex_lock(&capture->mutex);
    void *owner = zepi_capture_graph_of(capture)->owner;
    if (owner)
        zepi_retain(owner);
    zepi_mutex_unlock(&capture->mutex);
    zepi_release(capture);
    return owner;
}

static void capture_end_of_queue(void *owner, void *object)
{
    struct zepi_queue *queue = object;
    void *found = zepi_capture_get_owner(queue);
    void *ended = NULL;
    // A queue that came to the capture does not end it.
    if (found == owner)
        zepi_capture_end(queue, &ended);
    zepi_release(ended);
    zepi_release(found);
    zepi_release(queue);
}

void zepi_capture_end_of(void *owner)
{
    struct zepi_error error;
    zepi_error_save(&error);
    zepi_object_visit_all(&zepi_queue_type, capture_end_of_queue, owner);
    zepi_error_restore(&error);
}
