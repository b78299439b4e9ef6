// SPDX-License-Identifier: MIT
#include "graph/capture.h"

#include "core/alloc.h"
#include "device/context.h"
#include "queue/event.h"

// ---- What it is made of ----

static void capture_destroy(void *object)
{
    struct zepi_capture *capture = object;
    // The rest went as it ended.
    zepi_free(capture->forks);
}

ZEPI_DEFINE_TYPE(capture, capture_destroy);

enum zepi_graph_capture zepi_graph_get_capture(struct zepi_graph *graph)
{
    zepi_mutex_lock(&graph->mutex);
    const enum zepi_graph_capture capture = graph->capture;
    zepi_mutex_unlock(&graph->mutex);
    return capture;
}

// A new reference to the graph of a capture that goes on.
static zepi_result_t capture_get_graph(struct zepi_capture *capture, struct zepi_graph **out_graph)
{
    zepi_mutex_lock(&capture->mutex);
    struct zepi_graph *graph = capture->graph;
    if (graph)
        zepi_retain(graph);
    zepi_mutex_unlock(&capture->mutex);
    *out_graph = graph;
    return graph ? ZEPI_SUCCESS
                 : zepi_fail(ZEPI_ERROR_CAPTURED_EVENT,
                             "the wait list has an event of a command in a graph, whose capture is "
                             "over");
}

static zepi_result_t capture_keep(struct zepi_capture *capture, void *object,
                                  const struct zepi_buffer_part *part)
{
    struct zepi_graph *graph;
    const zepi_result_t result = capture_get_graph(capture, &graph);
    if (result != ZEPI_SUCCESS)
        return result;
    struct zepi_graph_commands *commands = &graph->commands;
    const struct zepi_buffer_part none = {0};
    zepi_mutex_lock(&graph->mutex);
    struct zepi_graph_memory *kept =
        zepi_grow(commands->kept, commands->kept_count, &commands->kept_capacity, sizeof(kept[0]));
    if (kept) {
        commands->kept = kept;
        kept[commands->kept_count++] =
            (struct zepi_graph_memory){zepi_retain(object), part ? *part : none};
    }
    zepi_mutex_unlock(&graph->mutex);
    zepi_release(graph);
    return kept ? ZEPI_SUCCESS : zepi_fail_no_memory();
}

// Executions wait for the event.
static zepi_result_t capture_await_outside(struct zepi_graph *graph, struct zepi_event *event)
{
    zepi_mutex_lock(&graph->mutex);
    zepi_event_t *outside = zepi_grow(graph->outside, graph->outside_count,
                                      &graph->outside_capacity, sizeof(outside[0]));
    if (outside) {
        graph->outside = outside;
        outside[graph->outside_count++] = zepi_retain(event);
    }
    zepi_mutex_unlock(&graph->mutex);
    return outside ? ZEPI_SUCCESS : zepi_fail_no_memory();
}

// ---- Commands ----

// A command on its way into a graph.
struct capture_draft {
    struct zepi_capture *capture;
    struct zepi_queue *queue;
    struct zepi_graph *graph; // a reference, as the next
    struct zepi_graph_command *command;
    bool waits_for_all; // of its queue
    bool holds_up_all;
    uint32_t wait_count;
    uint32_t *waits; // owned: what its wait list has of the graph
};

// One that cannot be an event of the capture.
static zepi_result_t capture_read_other(const struct capture_draft *draft, struct zepi_event *event)
{
    zepi_event_status_t status;
    if (event->capture)
        return zepi_capture_is_over(event->capture)
                   ? zepi_event_fail_captured(event)
                   : zepi_fail(ZEPI_ERROR_CAPTURE_MERGE,
                               "the wait list has an event of another capture");
    const zepi_result_t result = zepi_event_get_status(event, &status);
    if (result != ZEPI_SUCCESS || status == ZEPI_EVENT_COMPLETE)
        return result;
    if (event->context != draft->queue->context)
        return zepi_fail(ZEPI_ERROR_CAPTURE_UNSUPPORTED,
                         "a wait for an event of another context cannot be captured");
    return capture_await_outside(draft->graph, event);
}

static zepi_result_t capture_read_waits(struct capture_draft *draft, zepi_wait_list_t wait)
{
    zepi_result_t result = ZEPI_SUCCESS;
    if (wait.count > 0 && !wait.events)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the wait list is NULL, with a count of %u",
                         wait.count);
    draft->waits = zepi_allocate(wait.count, sizeof(draft->waits[0]));
    if (!draft->waits)
        return zepi_fail_no_memory();
    for (uint32_t i = 0; i < wait.count && result == ZEPI_SUCCESS; i++) {
        struct zepi_event *event = wait.events[i];
        result = zepi_check_object(event, &zepi_event_type);
        if (result == ZEPI_SUCCESS && event->capture == draft->capture)
            draft->waits[draft->wait_count++] = (uint32_t)event->number;
        else if (result == ZEPI_SUCCESS)
            result = capture_read_other(draft, event);
    }
    return result;
}

static enum zepi_graph_command_kind capture_kind(enum zepi_captured_kind kind)
{
    static const enum zepi_graph_command_kind kinds[] = {
        [ZEPI_CAPTURED_COPY] = ZEPI_GRAPH_COPY,
        [ZEPI_CAPTURED_COPY_RECT] = ZEPI_GRAPH_COPY_RECT,
        [ZEPI_CAPTURED_FILL] = ZEPI_GRAPH_FILL,
        [ZEPI_CAPTURED_PREFETCH] = ZEPI_GRAPH_PREFETCH,
        [ZEPI_CAPTURED_ADVISE] = ZEPI_GRAPH_ADVISE,
        [ZEPI_CAPTURED_LAUNCH] = ZEPI_GRAPH_LAUNCH,
        [ZEPI_CAPTURED_MARKER] = ZEPI_GRAPH_NOTHING,
        [ZEPI_CAPTURED_BARRIER] = ZEPI_GRAPH_NOTHING,
    };
    return kinds[kind];
}

static zepi_result_t capture_make_command(struct capture_draft *draft,
                                          const struct zepi_captured_command *from)
{
    struct zepi_graph_command *command = zepi_graph_command_create(
        draft->graph, draft->graph->context, capture_kind(from->kind), 0, NULL);
    draft->command = command;
    if (!command)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    command->to = from->to;
    command->from = from->from;
    command->size_bytes = from->size_bytes;
    if (from->kind == ZEPI_CAPTURED_COPY_RECT) {
        command->to_rect = *from->to_rect;
        command->from_rect = *from->from_rect;
        memcpy(command->box, from->region, sizeof(command->box));
    }
    if (from->kind == ZEPI_CAPTURED_ADVISE)
        command->advice = 1u << from->advice;
    if (from->kind == ZEPI_CAPTURED_LAUNCH)
        command->is_updatable = draft->graph->is_updatable;
    if (from->kind == ZEPI_CAPTURED_LAUNCH)
        return zepi_graph_launch_make(draft->graph->context, draft->graph->device, from->kernel,
                                      from->launch, &command->launch);
    if (from->kind != ZEPI_CAPTURED_FILL)
        return ZEPI_SUCCESS;
    command->pattern_size_bytes = from->pattern_size_bytes;
    command->pattern = zepi_duplicate(from->pattern, from->pattern_size_bytes);
    return command->pattern ? ZEPI_SUCCESS : zepi_fail_no_memory();
}

// ---- Into the graph, under the queue's and the capture's mutex ----

static zepi_result_t capture_check_locked(const struct capture_draft *draft)
{
    const struct zepi_capture *capture = draft->capture;
    const struct zepi_capture *current =
        atomic_load_explicit(&draft->queue->capture, memory_order_relaxed);
    if (zepi_capture_is_over(capture) || (current && current != capture))
        return zepi_fail(ZEPI_ERROR_CAPTURE_INVALIDATED,
                         "another thread ended the capture while the command was enqueued");
    if (capture->is_invalid)
        return zepi_fail(ZEPI_ERROR_CAPTURE_INVALIDATED,
                         "the capture is invalid since a command failed that was partly captured");
    return ZEPI_SUCCESS;
}

// Whether a command that waits for everything before in the queue waits for this one itself.
static bool capture_is_last_of(const struct zepi_graph_command *command,
                               const struct zepi_queue *queue)
{
    return command->queue == queue && !command->is_followed;
}

// What the command waits for: its wait list, and what its queue says.
static zepi_result_t capture_list_waits_locked(struct capture_draft *draft)
{
    const struct zepi_graph_commands *commands = &draft->graph->commands;
    const struct zepi_queue *queue = draft->queue;
    struct zepi_graph_command *command = draft->command;
    const bool waits_for_all = draft->waits_for_all && !(queue->flags & ZEPI_QUEUE_IN_ORDER);
    size_t most = (size_t)draft->wait_count + 1;
    uint32_t count = 0;
    for (size_t i = queue->captured_since; i < commands->count && waits_for_all; i++)
        most += capture_is_last_of(commands->list[i], queue);
    command->waits = zepi_allocate(most, sizeof(command->waits[0]));
    if (!command->waits)
        return zepi_fail_no_memory();
    for (; count < draft->wait_count; count++)
        command->waits[count] = draft->waits[count];
    if (queue->captured_last > 0)
        command->waits[count++] = queue->captured_last - 1;
    for (size_t i = queue->captured_since; i < commands->count && waits_for_all; i++) {
        if (capture_is_last_of(commands->list[i], queue))
            command->waits[count++] = (uint32_t)i;
    }
    command->wait_count = count;
    return ZEPI_SUCCESS;
}

// The command was added.
static void capture_note_locked(const struct capture_draft *draft, uint32_t number)
{
    struct zepi_queue *queue = draft->queue;
    struct zepi_graph_command **list = draft->graph->commands.list;
    bool follows_last = number == 0;
    for (uint32_t i = 0; i < draft->command->wait_count; i++) {
        struct zepi_graph_command *before = list[draft->command->waits[i]];
        follows_last = follows_last || draft->command->waits[i] + 1 == number;
        before->is_followed = before->is_followed || before->queue == queue;
    }
    draft->capture->is_chain = draft->capture->is_chain && follows_last;
    if ((queue->flags & ZEPI_QUEUE_IN_ORDER) || draft->holds_up_all)
        queue->captured_last = number + 1;
    if (draft->holds_up_all)
        queue->captured_since = number + 1;
}

// Room for the queue, if it comes to the capture with this command.
static zepi_result_t capture_reserve_fork_locked(const struct capture_draft *draft)
{
    struct zepi_capture *capture = draft->capture;
    if (zepi_queue_is_capturing(draft->queue))
        return ZEPI_SUCCESS;
    struct zepi_queue **forks =
        zepi_grow(capture->forks, capture->fork_count, &capture->fork_capacity, sizeof(forks[0]));
    if (!forks)
        return zepi_fail_no_memory();
    capture->forks = forks;
    return ZEPI_SUCCESS;
}

static zepi_result_t capture_add_locked(struct capture_draft *draft, uint32_t *out_number)
{
    struct zepi_capture *capture = draft->capture;
    zepi_result_t result = capture_check_locked(draft);
    if (result == ZEPI_SUCCESS)
        result = capture_reserve_fork_locked(draft);
    const bool is_fork = !zepi_queue_is_capturing(draft->queue);
    if (result == ZEPI_SUCCESS && is_fork)
        draft->queue->captured_last = draft->queue->captured_since = 0;
    if (result == ZEPI_SUCCESS)
        result = capture_list_waits_locked(draft);
    if (result != ZEPI_SUCCESS)
        return result;
    draft->command->queue = draft->queue;
    // Consumed in any case; on success the graph has it.
    result = zepi_graph_add(zepi_retain(draft->command), out_number);
    if (result != ZEPI_SUCCESS)
        return result;
    if (is_fork) {
        capture->forks[capture->fork_count++] = zepi_retain(draft->queue);
        zepi_queue_set_capture_locked(draft->queue, zepi_retain(capture));
    }
    capture_note_locked(draft, *out_number);
    return ZEPI_SUCCESS;
}

// Consumes what is in the draft.
static zepi_result_t capture_add(struct capture_draft *draft, zepi_event_t *out_event)
{
    uint32_t number;
    struct zepi_event *event = NULL;
    zepi_result_t result = ZEPI_SUCCESS;
    if (out_event) {
        event = zepi_capture_make_event(draft->capture, draft->queue);
        result = event ? ZEPI_SUCCESS : ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (result == ZEPI_SUCCESS) {
        zepi_mutex_lock(&draft->queue->mutex);
        zepi_mutex_lock(&draft->capture->mutex);
        result = capture_add_locked(draft, &number);
        zepi_mutex_unlock(&draft->capture->mutex);
        zepi_mutex_unlock(&draft->queue->mutex);
    }
    if (result == ZEPI_SUCCESS && event) {
        event->number = number;
        *out_event = event;
    } else {
        zepi_release(event);
    }
    return result;
}

static void capture_finish_draft(struct capture_draft *draft)
{
    zepi_free(draft->waits);
    zepi_release(draft->command);
    zepi_release(draft->graph);
}

static zepi_result_t capture_check_queue(const struct zepi_capture *capture,
                                         const struct zepi_queue *queue)
{
    return queue->context == capture->context && queue->device == capture->device
               ? ZEPI_SUCCESS
               : zepi_fail(ZEPI_ERROR_CAPTURE_UNSUPPORTED,
                           "a capture is of queues of one context and device");
}

static zepi_result_t capture_command(struct zepi_capture *capture, struct zepi_queue *queue,
                                     const struct zepi_captured_command *command,
                                     zepi_wait_list_t wait, zepi_event_t *out_event)
{
    struct capture_draft draft = {.capture = capture,
                                  .queue = queue,
                                  .waits_for_all =
                                      command->kind == ZEPI_CAPTURED_BARRIER ||
                                      (command->kind == ZEPI_CAPTURED_MARKER && wait.count == 0),
                                  .holds_up_all = command->kind == ZEPI_CAPTURED_BARRIER};
    zepi_result_t result = capture_check_queue(capture, queue);
    if (result == ZEPI_SUCCESS)
        result = capture_get_graph(capture, &draft.graph);
    if (result == ZEPI_SUCCESS)
        result = capture_make_command(&draft, command);
    if (result == ZEPI_SUCCESS)
        result = capture_read_waits(&draft, wait);
    if (result == ZEPI_SUCCESS)
        result = capture_add(&draft, out_event);
    capture_finish_draft(&draft);
    return result;
}

zepi_result_t zepi_capture_native(struct zepi_queue *queue, void (*function)(void *data),
                                  void *data, zepi_wait_list_t wait, zepi_event_t *out_event)
{
    zepi_event_t before = NULL;
    // With this the queue is in capture mode, if it was not.
    zepi_result_t result = zepi_queue_marker(queue, wait, &before);
    if (result != ZEPI_SUCCESS)
        return result;
    struct capture_draft draft = {.capture = before->capture, .queue = queue};
    result = before->capture
                 ? capture_get_graph(before->capture, &draft.graph)
                 : zepi_fail(ZEPI_ERROR_CAPTURE_INVALIDATED,
                             "another thread ended the capture while the command was enqueued");
    if (result == ZEPI_SUCCESS) {
        draft.command =
            zepi_graph_command_create(draft.graph, queue->context, ZEPI_GRAPH_NATIVE, 0, NULL);
        result = draft.command ? ZEPI_SUCCESS : ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (result == ZEPI_SUCCESS)
        result = capture_read_waits(&draft, (zepi_wait_list_t){&before, 1});
    if (result == ZEPI_SUCCESS)
        result = zepi_graph_record_native(draft.command, function, data);
    if (result == ZEPI_SUCCESS)
        result = capture_add(&draft, out_event);
    capture_finish_draft(&draft);
    zepi_release(before);
    return result;
}

static ze_command_list_handle_t capture_get_list(struct zepi_capture *capture)
{
    struct zepi_graph *graph;
    if (capture_get_graph(capture, &graph) != ZEPI_SUCCESS)
        return NULL;
    const ze_command_list_handle_t list = zepi_graph_open_list(graph);
    zepi_release(graph);
    return list;
}

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

static const struct zepi_capture_functions functions = {.command = capture_command,
                                                        .keep = capture_keep,
                                                        .get_list = capture_get_list,
                                                        .leave = capture_leave};

// The graph becomes part of a capture. *out_state: what it was before.
static zepi_result_t capture_open_graph(struct zepi_graph *graph,
                                        enum zepi_graph_capture *out_state)
{
    zepi_result_t result = ZEPI_SUCCESS;
    zepi_mutex_lock(&graph->mutex);
    *out_state = graph->capture;
    if (graph->capture == ZEPI_GRAPH_CAPTURING)
        result = zepi_fail(ZEPI_ERROR_WRONG_STATE, "the graph is in another capture");
    else if (graph->commands.count > 0 || graph->is_finalized ||
             graph->capture == ZEPI_GRAPH_CAPTURE_FAILED)
        result = zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                           "the graph has commands: a capture begins with none");
    else
        graph->capture = ZEPI_GRAPH_CAPTURING;
    zepi_mutex_unlock(&graph->mutex);
    return result;
}

static void capture_close_graph(struct zepi_graph *graph, enum zepi_graph_capture state,
                                bool is_in_order)
{
    zepi_mutex_lock(&graph->mutex);
    graph->capture = state;
    graph->commands.is_in_order = is_in_order;
    zepi_mutex_unlock(&graph->mutex);
}

static struct zepi_capture *capture_create(struct zepi_queue *queue, struct zepi_graph *graph,
                                           void *owner)
{
    struct zepi_capture *capture = zepi_object_create(&zepi_capture_type);
    if (!capture)
        return NULL;
    capture->functions = &functions;
    capture->graph = zepi_retain(graph);
    capture->owner = zepi_retain(owner);
    capture->origin = queue;
    capture->device = queue->device;
    capture->context = queue->context;
    capture->is_chain = true;
    return capture;
}

// One that has not begun, or is over. Takes its graph and its owner.
static void capture_give_up(struct zepi_capture *capture)
{
    zepi_mutex_lock(&capture->mutex);
    struct zepi_graph *graph = capture->graph;
    void *owner = capture->owner;
    capture->graph = NULL;
    capture->owner = NULL;
    zepi_mutex_unlock(&capture->mutex);
    zepi_release(graph);
    zepi_release(owner);
}

zepi_result_t zepi_capture_begin(struct zepi_queue *queue, struct zepi_graph *graph, void *owner)
{
    if (graph->context != queue->context || graph->device != queue->device)
        return zepi_fail(ZEPI_ERROR_INVALID_OBJECT,
                         "the graph is of another context or device than the queue");
    enum zepi_graph_capture before;
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
    // Without commands it is in order as before.
    capture_close_graph(graph, before, graph->commands.is_in_order);
    if (!capture)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    capture_give_up(capture);
    zepi_release(capture);
    return zepi_fail(ZEPI_ERROR_WRONG_STATE, "the queue is in another capture");
}

// Under the capture's mutex. What no command waits for is the origin's own.
static bool capture_is_joined_locked(const struct zepi_capture *capture)
{
    const struct zepi_graph_commands *commands = &capture->graph->commands;
    for (size_t i = 0; i < commands->count; i++) {
        const struct zepi_graph_command *command = commands->list[i];
        if (!command->is_awaited && command->queue != capture->origin)
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
    zepi_mutex_lock(&capture->mutex);
    // Release: the graph is as it stays.
    atomic_store_explicit(&capture->is_over, true, memory_order_release);
    const bool is_joined = capture_is_joined_locked(capture);
    const bool is_valid = is_joined && !capture->is_invalid;
    const size_t fork_count = capture->fork_count;
    capture->fork_count = 0;
    zepi_mutex_unlock(&capture->mutex);
    capture_close_graph(capture->graph, is_valid ? ZEPI_GRAPH_CAPTURED : ZEPI_GRAPH_CAPTURE_FAILED,
                        capture->is_chain);
    for (size_t i = 0; i < fork_count; i++)
        capture_release_fork(capture, capture->forks[i]);
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
    *out_owner = zepi_retain(capture->owner);
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
    void *owner = capture->owner ? zepi_retain(capture->owner) : NULL;
    zepi_mutex_unlock(&capture->mutex);
    zepi_release(capture);
    return owner;
}

// ---- Executions ----

// Adds the events from outside that are not complete to the wait list. References.
static uint32_t capture_list_outside(struct zepi_graph *graph, zepi_event_t *events)
{
    uint32_t count = 0;
    zepi_mutex_lock(&graph->mutex);
    for (size_t i = 0; i < graph->outside_count; i++) {
        if (!zepi_event_is_known_complete(graph->outside[i]))
            events[count++] = zepi_retain(graph->outside[i]);
    }
    zepi_mutex_unlock(&graph->mutex);
    return count;
}

zepi_result_t zepi_capture_execute(struct zepi_graph *graph, struct zepi_queue *queue,
                                   zepi_wait_list_t wait, zepi_event_t *out_event)
{
    // The graph is finalized: it gets no more of them.
    if (graph->outside_count == 0 || (wait.count > 0 && !wait.events))
        return zepi_graph_execute(graph, queue, wait, out_event);
    zepi_event_t *events = zepi_allocate(wait.count + graph->outside_count, sizeof(events[0]));
    if (!events)
        return zepi_fail_no_memory();
    for (uint32_t i = 0; i < wait.count; i++)
        events[i] = wait.events[i];
    const uint32_t count = capture_list_outside(graph, events + wait.count);
    const zepi_result_t result =
        zepi_graph_execute(graph, queue, (zepi_wait_list_t){events, wait.count + count}, out_event);
    for (uint32_t i = 0; i < count; i++)
        zepi_release(events[wait.count + i]);
    zepi_free(events);
    return result;
}
