// SPDX-License-Identifier: MIT
#include "graph/capture/capture_draft.h"

#include "core/alloc.h"
#include "device/context.h"
#include "queue/command_list.h"
#include "queue/event.h"

#include <utlist.h>

zepi_result_t zepi_capture_get_graph(struct zepi_capture *capture, struct zepi_graph **out_graph)
{
    zepi_mutex_lock(&capture->mutex);
    struct zepi_graph *graph = zepi_capture_graph_of(capture)->graph;
    if (graph)
        zepi_retain(graph);
    zepi_mutex_unlock(&capture->mutex);
    *out_graph = graph;
    return graph ? ZEPI_SUCCESS
                 : zepi_fail(ZEPI_ERROR_CAPTURED_EVENT,
                             "the wait list has an event of a command in a graph, whose capture is "
                             "over");
}

zepi_result_t zepi_capture_draft_init_behind(struct zepi_capture_draft *draft,
                                             struct zepi_queue *queue,
                                             const struct zepi_event *marker,
                                             enum zepi_command_kind kind)
{
    *draft = (struct zepi_capture_draft){.capture = marker->capture, .queue = queue};
    if (!draft->capture)
        return zepi_fail(ZEPI_ERROR_CAPTURE_INVALIDATED,
                         "another thread ended the capture while the command was enqueued");
    const zepi_result_t result = zepi_capture_get_graph(draft->capture, &draft->graph);
    if (result != ZEPI_SUCCESS)
        return result;
    draft->command = zepi_graph_make_command(draft->graph, kind, 0, NULL);
    return draft->command ? ZEPI_SUCCESS : ZEPI_ERROR_OUT_OF_HOST_MEMORY;
}

void zepi_capture_draft_finish(struct zepi_capture_draft *draft)
{
    zepi_graph_release_outside(draft->outside);
    zepi_free(draft->waits);
    zepi_release(draft->command);
    zepi_release(draft->graph);
}

// ---- The wait list ----

static zepi_result_t draft_hold_outside(struct zepi_capture_draft *draft, struct zepi_event *event)
{
    struct zepi_graph_outside *outside = zepi_allocate(1, sizeof(*outside));
    if (!outside)
        return zepi_fail_no_memory();
    outside->event = zepi_retain(event);
    LL_PREPEND(draft->outside, outside);
    return ZEPI_SUCCESS;
}

// The graph must not hold an event of the queue where the capture began. It waits for another event
// instead, which does not hold the queue, and which a barrier signals outside of the graph.
static zepi_result_t draft_await_origin(struct zepi_capture_draft *draft, struct zepi_event *event)
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
    zepi_timeline_submit(list->timeline);
    zepi_mutex_unlock(&queue->mutex);
    if (result == ZEPI_SUCCESS)
        result = draft_hold_outside(draft, after);
    zepi_release(after);
    return result;
}

zepi_result_t zepi_capture_draft_await(struct zepi_capture_draft *draft, struct zepi_event *event)
{
    return event->queue && event->queue == draft->capture->origin
               ? draft_await_origin(draft, event)
               : draft_hold_outside(draft, event);
}

// One that cannot be an event of the capture.
static zepi_result_t draft_read_other(struct zepi_capture_draft *draft, struct zepi_event *event)
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
    return zepi_capture_draft_await(draft, event);
}

// A reusable event stands for its last signal at this moment.
static zepi_result_t draft_read_wait(struct zepi_capture_draft *draft, struct zepi_event *event)
{
    zepi_result_t result = ZEPI_SUCCESS;
    struct zepi_event *signal = zepi_event_take_signal(event);
    if (signal->capture == draft->capture)
        draft->waits[draft->wait_count++] = (uint32_t)signal->number;
    else
        result = draft_read_other(draft, signal);
    zepi_release(signal);
    return result;
}

zepi_result_t zepi_capture_draft_read_waits(struct zepi_capture_draft *draft, zepi_wait_list_t wait)
{
    zepi_result_t result = ZEPI_SUCCESS;
    draft->waits = zepi_allocate(wait.count, sizeof(draft->waits[0]));
    if (!draft->waits)
        return zepi_fail_no_memory();
    for (uint32_t i = 0; i < wait.count && result == ZEPI_SUCCESS; i++)
        result = draft_read_wait(draft, wait.events[i]);
    return result;
}

// ---- Into the graph, under the queue's and the capture's mutex ----

zepi_result_t zepi_capture_draft_check_locked(const struct zepi_capture_draft *draft)
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
static bool is_last_captured_of(const struct zepi_graph_command *command,
                                const struct zepi_queue *queue)
{
    return command->queue == queue && !command->is_followed;
}

// The wait list may have what the queue demands, too. Demands alone differ from each other.
static void draft_list_wait(const struct zepi_capture_draft *draft, uint32_t number)
{
    struct zepi_graph_command *command = draft->command;
    for (uint32_t i = 0; i < command->wait_count && i < draft->wait_count; i++) {
        if (command->waits[i] == number)
            return;
    }
    command->waits[command->wait_count++] = number;
}

// The waits of the command, each once: its wait list, and those that its queue demands.
static zepi_result_t draft_list_waits_locked(struct zepi_capture_draft *draft)
{
    const struct zepi_graph_commands *commands = &draft->graph->commands;
    const struct zepi_queue *queue = draft->queue;
    struct zepi_graph_command *command = draft->command;
    const bool waits_for_all = draft->waits_for_all && !(queue->flags & ZEPI_QUEUE_IN_ORDER);
    size_t most = (size_t)draft->wait_count + 1;
    for (size_t i = queue->captured_since; i < commands->count && waits_for_all; i++)
        most += is_last_captured_of(commands->list[i], queue);
    command->waits = zepi_allocate(most, sizeof(command->waits[0]));
    if (!command->waits)
        return zepi_fail_no_memory();
    for (uint32_t i = 0; i < draft->wait_count; i++)
        draft_list_wait(draft, draft->waits[i]);
    if (queue->captured_last > 0)
        draft_list_wait(draft, queue->captured_last - 1);
    for (size_t i = queue->captured_since; i < commands->count && waits_for_all; i++) {
        if (is_last_captured_of(commands->list[i], queue))
            draft_list_wait(draft, (uint32_t)i);
    }
    return ZEPI_SUCCESS;
}

void zepi_capture_draft_note_order_locked(const struct zepi_capture_draft *draft,
                                          const struct zepi_graph_command *command)
{
    struct zepi_graph_command **list = draft->graph->commands.list;
    bool follows_last = command->number == 0;
    for (uint32_t i = 0; i < command->wait_count; i++) {
        struct zepi_graph_command *before = list[command->waits[i]];
        follows_last = follows_last || command->waits[i] + 1 == command->number;
        before->is_followed = before->is_followed || before->queue == draft->queue;
    }
    struct zepi_capture_graph *capture = zepi_capture_graph_of(draft->capture);
    capture->is_chain = capture->is_chain && follows_last;
}

static void draft_note_locked(const struct zepi_capture_draft *draft, uint32_t number)
{
    struct zepi_queue *queue = draft->queue;
    zepi_capture_draft_note_order_locked(draft, draft->command);
    if ((queue->flags & ZEPI_QUEUE_IN_ORDER) || draft->holds_up_all)
        queue->captured_last = number + 1;
    if (draft->holds_up_all)
        queue->captured_since = number + 1;
}

// Executions of the graph wait for the events from outside.
static void draft_give_outside_locked(struct zepi_capture_draft *draft)
{
    struct zepi_graph *graph = draft->graph;
    zepi_mutex_lock(&graph->mutex);
    while (draft->outside) {
        struct zepi_graph_outside *outside = draft->outside;
        LL_DELETE(draft->outside, outside);
        LL_PREPEND(graph->outside, outside);
        graph->outside_count++;
    }
    zepi_mutex_unlock(&graph->mutex);
}

static zepi_result_t draft_add_locked(struct zepi_capture_draft *draft, uint32_t *out_number)
{
    struct zepi_capture_graph *capture = zepi_capture_graph_of(draft->capture);
    zepi_result_t result = zepi_capture_draft_check_locked(draft);
    const bool is_fork = !zepi_queue_is_capturing(draft->queue);
    if (result == ZEPI_SUCCESS && is_fork)
        draft->queue->captured_last = draft->queue->captured_since = 0;
    if (result == ZEPI_SUCCESS)
        result = draft_list_waits_locked(draft);
    if (result != ZEPI_SUCCESS)
        return result;
    draft->command->queue = draft->queue;
    // Consumed in any case; on success the graph has it.
    result = zepi_graph_add(zepi_retain(draft->command), out_number);
    if (result != ZEPI_SUCCESS)
        return result;
    if (is_fork) {
        zepi_retain(draft->queue);
        LL_PREPEND2(capture->forks, draft->queue, next_fork);
        zepi_queue_set_capture_locked(draft->queue, zepi_retain(capture));
    }
    draft_give_outside_locked(draft);
    draft_note_locked(draft, *out_number);
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_capture_draft_add(struct zepi_capture_draft *draft, zepi_event_t *out_event)
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
        result = draft_add_locked(draft, &number);
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
