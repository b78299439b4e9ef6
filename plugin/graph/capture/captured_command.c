// SPDX-License-Identifier: MIT
#include "graph/capture/captured_command.h"

#include "copy/image_copy.h"
#include "core/alloc.h"
#include "device/context.h"
#include "queue/command/barrier.h"
#include "queue/command_list.h"
#include "queue/event.h"

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

zepi_result_t zepi_captured_command_keep(struct zepi_capture *capture, void *object,
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

// For an event of the queue where the capture began, which the graph must not hold: another one,
// which does not hold the queue, and which a barrier signals outside of the graph.
static zepi_result_t capture_await_origin(struct zepi_graph *graph, struct zepi_event *event)
{
    struct zepi_queue *queue = event->queue;
    zepi_event_t after;
    zepi_result_t result = zepi_event_create(queue->context, &after);
    if (result != ZEPI_SUCCESS)
        return result;
    zepi_mutex_lock(&queue->mutex);
    struct zepi_command_list *list = zepi_queue_next_list(queue);
    atomic_store_explicit(&event->is_awaited, true, memory_order_relaxed);
    zepi_event_note_list(after, list);
    result = ZEPI_ZE(zeCommandListAppendBarrier, list->ze, after->ze, 1, &event->ze);
    zepi_completion_point_count(queue->completion);
    zepi_mutex_unlock(&queue->mutex);
    if (result == ZEPI_SUCCESS)
        result = capture_await_outside(graph, after);
    zepi_release(after);
    return result;
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

static zepi_result_t capture_await(const struct capture_draft *draft, struct zepi_event *event)
{
    return event->queue && event->queue == draft->capture->origin
               ? capture_await_origin(draft->graph, event)
               : capture_await_outside(draft->graph, event);
}

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
    return capture_await(draft, event);
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
        [ZEPI_CAPTURED_COPY_IMAGE] = ZEPI_GRAPH_COPY_IMAGE,
        [ZEPI_CAPTURED_FILL] = ZEPI_GRAPH_FILL,
        [ZEPI_CAPTURED_PREFETCH] = ZEPI_GRAPH_PREFETCH,
        [ZEPI_CAPTURED_ADVISE] = ZEPI_GRAPH_ADVISE,
        [ZEPI_CAPTURED_LAUNCH] = ZEPI_GRAPH_LAUNCH,
        [ZEPI_CAPTURED_MARKER] = ZEPI_GRAPH_NOTHING,
        [ZEPI_CAPTURED_BARRIER] = ZEPI_GRAPH_NOTHING,
    };
    return kinds[kind];
}

static zepi_result_t capture_copy_image(struct zepi_graph_command *command,
                                        const struct zepi_image_copy *copy)
{
    command->image_copy = zepi_duplicate(copy, sizeof(*copy));
    if (!command->image_copy)
        return zepi_fail_no_memory();
    if (copy->to)
        command->memory[0].object = zepi_retain(copy->to);
    if (copy->from)
        command->memory[1].object = zepi_retain(copy->from);
    return ZEPI_SUCCESS;
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
    switch (from->kind) {
    case ZEPI_CAPTURED_COPY_RECT:
        command->to_rect = *from->to_rect;
        command->from_rect = *from->from_rect;
        memcpy(command->box, from->region, sizeof(command->box));
        return ZEPI_SUCCESS;
    case ZEPI_CAPTURED_COPY_IMAGE:
        return capture_copy_image(command, from->image_copy);
    case ZEPI_CAPTURED_ADVISE:
        command->advice = 1u << from->advice;
        return ZEPI_SUCCESS;
    case ZEPI_CAPTURED_LAUNCH:
        command->is_updatable = draft->graph->is_updatable;
        return zepi_graph_launch_make(draft->graph->context, draft->graph->device, from->kernel,
                                      from->launch, &command->launch);
    case ZEPI_CAPTURED_FILL:
        command->pattern_size_bytes = from->pattern_size_bytes;
        command->pattern = zepi_duplicate(from->pattern, from->pattern_size_bytes);
        return command->pattern ? ZEPI_SUCCESS : zepi_fail_no_memory();
    default:
        return ZEPI_SUCCESS;
    }
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
static void capture_note_order_locked(const struct capture_draft *draft,
                                      const struct zepi_graph_command *command)
{
    struct zepi_graph_command **list = draft->graph->commands.list;
    bool follows_last = command->number == 0;
    for (uint32_t i = 0; i < command->wait_count; i++) {
        struct zepi_graph_command *before = list[command->waits[i]];
        follows_last = follows_last || command->waits[i] + 1 == command->number;
        before->is_followed = before->is_followed || before->queue == draft->queue;
    }
    draft->capture->is_chain = draft->capture->is_chain && follows_last;
}

static void capture_note_locked(const struct capture_draft *draft, uint32_t number)
{
    struct zepi_queue *queue = draft->queue;
    capture_note_order_locked(draft, draft->command);
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

zepi_result_t zepi_captured_command_add(struct zepi_capture *capture, struct zepi_queue *queue,
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

// Of a marker before a command that is made of several steps.
static zepi_result_t capture_get_graph_of(const struct zepi_event *marker,
                                          struct zepi_graph **out_graph)
{
    return marker->capture
               ? capture_get_graph(marker->capture, out_graph)
               : zepi_fail(ZEPI_ERROR_CAPTURE_INVALIDATED,
                           "another thread ended the capture while the command was enqueued");
}

zepi_result_t zepi_captured_command_add_native(struct zepi_queue *queue,
                                               void (*function)(void *data), void *data,
                                               zepi_wait_list_t wait, zepi_event_t *out_event)
{
    zepi_event_t before = NULL;
    // With this the queue is in capture mode, if it was not.
    zepi_result_t result = zepi_queue_marker(queue, wait, &before);
    if (result != ZEPI_SUCCESS)
        return result;
    struct capture_draft draft = {.capture = before->capture, .queue = queue};
    result = capture_get_graph_of(before, &draft.graph);
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

ze_command_list_handle_t zepi_captured_command_get_list(struct zepi_capture *capture)
{
    struct zepi_graph *graph;
    if (capture_get_graph(capture, &graph) != ZEPI_SUCCESS)
        return NULL;
    const ze_command_list_handle_t list = zepi_graph_open_list(graph);
    zepi_release(graph);
    return list;
}

// ---- Graphs ----

// Another graph whose commands are captured: between two commands of the queue, the first of which
// has been captured.
struct nested_graph {
    struct zepi_graph *graph;             // borrowed; finalized
    uint32_t before;                      // the number of the first
    struct zepi_graph_command **commands; // owned list of references: copies
    size_t count;
    uint32_t *ends; // owned list: what the second one waits for
    uint32_t end_count;
};

static zepi_result_t nested_graph_check(struct zepi_graph *graph)
{
    if (!zepi_graph_is_finalized(graph))
        return zepi_fail(ZEPI_ERROR_WRONG_STATE, "it was not finalized yet");
    return graph->commands.native_count == 0 && graph->commands.event_count == 0
               ? ZEPI_SUCCESS
               : zepi_fail(ZEPI_ERROR_CAPTURE_UNSUPPORTED,
                           "an execution of a graph with native commands, or with events of single "
                           "commands, cannot be captured");
}

static zepi_result_t nested_graph_copy_command(struct nested_graph *nested,
                                               const struct capture_draft *draft, size_t index,
                                               struct zepi_graph_launch *launch)
{
    const struct zepi_graph_commands *commands = &nested->graph->commands;
    const struct zepi_graph_command *from = commands->list[index];
    struct zepi_graph_command *command = zepi_graph_command_copy(draft->graph, from, launch);
    if (!command)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    nested->commands[nested->count++] = command;
    command->is_updatable = command->launch && draft->graph->is_updatable;
    command->queue = draft->queue;
    command->is_followed = true; // by the command behind the graph
    // By the numbers of the nested graph, yet; one that waits for nothing waits for `before`.
    const bool is_first = commands->is_in_order ? index == 0 : from->wait_count == 0;
    const bool follows_one = commands->is_in_order || is_first;
    command->wait_count = follows_one ? 1 : from->wait_count;
    command->waits = zepi_allocate(command->wait_count, sizeof(command->waits[0]));
    if (!command->waits)
        return zepi_fail_no_memory();
    if (follows_one)
        command->waits[0] = is_first ? UINT32_MAX : (uint32_t)index - 1;
    else
        memcpy(command->waits, from->waits, from->wait_count * sizeof(from->waits[0]));
    const bool is_end = commands->is_in_order ? index + 1 == commands->count : !from->is_awaited;
    if (is_end)
        nested->ends[nested->end_count++] = (uint32_t)index;
    return ZEPI_SUCCESS;
}

static zepi_result_t nested_graph_init(struct nested_graph *nested,
                                       const struct capture_draft *draft)
{
    uint64_t version;
    const size_t count = nested->graph->commands.count;
    nested->commands = zepi_allocate(count, sizeof(nested->commands[0]));
    nested->ends = zepi_allocate(count + 1, sizeof(nested->ends[0]));
    if (!nested->commands || !nested->ends)
        return zepi_fail_no_memory();
    struct zepi_graph_launch **launches = zepi_graph_get_launches(nested->graph, &version);
    if (!launches)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    zepi_result_t result = ZEPI_SUCCESS;
    for (size_t i = 0; i < count; i++) {
        if (result == ZEPI_SUCCESS)
            result = nested_graph_copy_command(nested, draft, i, launches[i]);
        else
            zepi_graph_launch_release(launches[i]);
    }
    zepi_free(launches);
    return result;
}

static void nested_graph_finish(struct nested_graph *nested)
{
    for (size_t i = 0; i < nested->count; i++)
        zepi_release(nested->commands[i]);
    zepi_free(nested->commands);
    zepi_free(nested->ends);
}

// What the other graph's commands use, and wait for, becomes this one's.
static zepi_result_t nested_graph_keep(const struct nested_graph *nested,
                                       const struct capture_draft *draft)
{
    const struct zepi_graph *graph = nested->graph;
    zepi_result_t result = ZEPI_SUCCESS;
    for (size_t i = 0; i < graph->commands.kept_count && result == ZEPI_SUCCESS; i++)
        result = zepi_captured_command_keep(draft->capture, graph->commands.kept[i].object,
                                            &graph->commands.kept[i].part);
    for (size_t i = 0; i < graph->outside_count && result == ZEPI_SUCCESS; i++)
        result = capture_await(draft, graph->outside[i]);
    return result;
}

// The copies get their numbers.
static zepi_result_t nested_graph_add_locked(struct nested_graph *nested,
                                             struct capture_draft *draft)
{
    const uint32_t first = (uint32_t)draft->graph->commands.count;
    zepi_result_t result = capture_check_locked(draft);
    if (result != ZEPI_SUCCESS)
        return result;
    for (size_t i = 0; i < nested->count && result == ZEPI_SUCCESS; i++) {
        struct zepi_graph_command *command = nested->commands[i];
        uint32_t number;
        for (uint32_t j = 0; j < command->wait_count; j++)
            command->waits[j] =
                command->waits[j] == UINT32_MAX ? nested->before : first + command->waits[j];
        // Consumed in any case; on success the graph has it.
        result = zepi_graph_add(zepi_retain(command), &number);
        if (result == ZEPI_SUCCESS)
            capture_note_order_locked(draft, command);
    }
    for (uint32_t i = 0; i < nested->end_count; i++)
        nested->ends[i] += first;
    if (nested->count == 0)
        nested->ends[nested->end_count++] = nested->before;
    return result;
}

// The commands between the two, and the second one.
static zepi_result_t nested_graph_add(struct nested_graph *nested, struct capture_draft *draft,
                                      zepi_event_t *out_event)
{
    zepi_mutex_lock(&draft->queue->mutex);
    zepi_mutex_lock(&draft->capture->mutex);
    zepi_result_t result = nested_graph_add_locked(nested, draft);
    zepi_mutex_unlock(&draft->capture->mutex);
    zepi_mutex_unlock(&draft->queue->mutex);
    if (result != ZEPI_SUCCESS)
        return result;
    draft->wait_count = nested->end_count;
    draft->waits = nested->ends;
    nested->ends = NULL;
    return capture_add(draft, out_event);
}

zepi_result_t zepi_captured_command_add_graph(struct zepi_queue *queue, struct zepi_graph *graph,
                                              zepi_wait_list_t wait, zepi_event_t *out_event)
{
    zepi_event_t before = NULL;
    struct nested_graph nested = {.graph = graph};
    zepi_result_t result = nested_graph_check(graph);
    if (result == ZEPI_SUCCESS)
        result = zepi_queue_marker(queue, wait, &before);
    if (result != ZEPI_SUCCESS)
        return result;
    struct capture_draft draft = {.capture = before->capture, .queue = queue};
    nested.before = (uint32_t)before->number;
    result = capture_get_graph_of(before, &draft.graph);
    if (result == ZEPI_SUCCESS) {
        draft.command =
            zepi_graph_command_create(draft.graph, queue->context, ZEPI_GRAPH_NOTHING, 0, NULL);
        result = draft.command ? ZEPI_SUCCESS : ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (result == ZEPI_SUCCESS)
        result = nested_graph_init(&nested, &draft);
    if (result == ZEPI_SUCCESS)
        result = nested_graph_keep(&nested, &draft);
    if (result == ZEPI_SUCCESS) {
        result = nested_graph_add(&nested, &draft, out_event);
        if (result != ZEPI_SUCCESS)
            zepi_capture_invalidate(queue);
    }
    nested_graph_finish(&nested);
    capture_finish_draft(&draft);
    zepi_release(before);
    return result;
}
