// SPDX-License-Identifier: MIT
#include "graph/execution.h"

#include "core/alloc.h"
#include "core/stats.h"
#include "device/context.h"
#include "device/device.h"
#include "device/platform.h"
#include "graph/list_run.h"
#include "queue/command/barrier.h"
#include "queue/command/event_times.h"
#include "queue/submit.h"
#include "ze/ze.h"

// Lists of a recording, which one call appends.
struct execution_part {
    ze_command_list_handle_t *lists;
    uint32_t list_count;
};

static const struct zepi_ze_optional *execution_optional(const struct zepi_submit *submit)
{
    return &submit->queue->device->platform->optional;
}

static ze_result_t execution_call_append(const struct zepi_ze_optional *optional,
                                         struct execution_part part, ze_command_list_handle_t list,
                                         ze_event_handle_t signal, uint32_t wait_count,
                                         ze_event_handle_t *waits)
{
    return optional->append_command_lists
               ? optional->append_command_lists(list, part.list_count, part.lists, signal,
                                                wait_count, waits)
               : optional->append_lists_with_parameters(list, part.list_count, part.lists, NULL,
                                                        signal, wait_count, waits);
}

// Under the queue's mutex. The function came from the driver, and takes its handles.
static ze_result_t execution_append_by_driver(struct execution_part part,
                                              const struct zepi_submit *submit)
{
    ze_event_handle_t inline_waits[ZEPI_QUEUE_WAITS];
    ze_event_handle_t *waits = inline_waits;
    if (submit->wait_count > ZEPI_QUEUE_WAITS)
        waits = zepi_allocate(submit->wait_count, sizeof(waits[0]));
    if (!waits)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < submit->wait_count; i++)
        waits[i] = zepi_ze_driver_handle(ZEL_HANDLE_EVENT, submit->waits[i]);
    const ze_event_handle_t signal =
        submit->signal ? zepi_ze_driver_handle(ZEL_HANDLE_EVENT, submit->signal) : NULL;
    const ze_result_t ze =
        execution_call_append(execution_optional(submit), part, submit->queue_list->driver_ze,
                              signal, submit->wait_count, submit->wait_count > 0 ? waits : NULL);
    if (waits != inline_waits)
        zepi_free(waits);
    return ze;
}

static zepi_result_t execution_append(struct execution_part part, struct zepi_queue *queue,
                                      zepi_wait_list_t wait, zepi_event_t *out_event)
{
    struct zepi_submit submit;
    const zepi_result_t result =
        zepi_submit_begin(&submit, queue, wait, out_event, ZEPI_ENGINE_COMPUTE);
    if (result != ZEPI_SUCCESS)
        return result;
    const struct zepi_ze_optional *optional = execution_optional(&submit);
    const ze_result_t ze = optional->is_append_lists_drivers
                               ? execution_append_by_driver(part, &submit)
                               : execution_call_append(optional, part, submit.list, submit.signal,
                                                       submit.wait_count, submit.waits);
    return zepi_submit_end(
        &submit, zepi_check_ze(ze, "zeCommandListImmediateAppendCommandListsExp"), out_event);
}

// ---- Events of single commands ----

// As if no execution had been yet.
static zepi_result_t execution_renew_events(const struct zepi_recording *recording)
{
    zepi_result_t result = ZEPI_SUCCESS;
    for (uint32_t i = 0; i < recording->segment_count && result == ZEPI_SUCCESS; i++) {
        if (recording->segments[i].signaling)
            result = zepi_event_renew(recording->segments[i].signaling->signal);
    }
    return result;
}

// A command of the queue that signals the event once `after` is complete.
static zepi_result_t execution_signal(struct zepi_queue *queue, zepi_event_t after,
                                      struct zepi_event *event)
{
    struct zepi_submit submit;
    zepi_result_t result =
        zepi_submit_begin(&submit, queue, (zepi_wait_list_t){&after, 1}, NULL, ZEPI_ENGINE_COMPUTE);
    if (result != ZEPI_SUCCESS)
        return result;
    zepi_event_note_list(event, submit.queue_list);
    result = ZEPI_ZE(zeCommandListAppendBarrier, submit.list, event->ze, submit.wait_count,
                     submit.waits);
    return zepi_submit_end(&submit, result, NULL);
}

// `run`: on drivers without the one-call append; else NULL. *last: the event of the segment before,
// NULL for the first; becomes that of this one.
static zepi_result_t execution_run_segment(struct execution_part part, struct zepi_list_run *run,
                                           const struct zepi_recorded_segment *segment,
                                           struct zepi_queue *queue, zepi_wait_list_t wait,
                                           zepi_event_t *last)
{
    const struct zepi_graph_command *waiting = segment->waiting;
    const uint32_t count = waiting ? waiting->awaited_count : 0;
    const zepi_wait_list_t before = *last ? (zepi_wait_list_t){last, 1} : wait;
    zepi_event_t event;
    zepi_event_t *events = zepi_allocate((size_t)before.count + count, sizeof(events[0]));
    if (!events)
        return zepi_fail_no_memory();
    if (before.count > 0)
        memcpy(events, before.events, before.count * sizeof(events[0]));
    if (count > 0)
        memcpy(events + before.count, waiting->awaited, count * sizeof(events[0]));
    const uint32_t total = before.count + count;
    const zepi_wait_list_t all = {total > 0 ? events : NULL, total};
    const zepi_result_t result =
        run ? zepi_list_run_start(run, queue, part.list_count, part.lists, all, &event)
            : execution_append(part, queue, all, &event);
    zepi_free(events);
    if (result != ZEPI_SUCCESS)
        return result;
    zepi_release(*last);
    *last = event;
    return segment->signaling ? execution_signal(queue, event, segment->signaling->signal)
                              : ZEPI_SUCCESS;
}

static void execution_signal_rest(const struct zepi_recording *recording, uint32_t first)
{
    struct zepi_error error;
    zepi_error_save(&error);
    for (uint32_t i = first; i < recording->segment_count; i++) {
        if (recording->segments[i].signaling)
            zepi_event_signal(recording->segments[i].signaling->signal);
    }
    zepi_error_restore(&error);
}

// *out_event: of the last segment that was enqueued, on failure, too; NULL: of none.
static __attribute__((noinline)) zepi_result_t
execution_run_segments(const struct zepi_recording *recording, struct zepi_queue *queue,
                       zepi_wait_list_t wait, zepi_event_t *out_event)
{
    zepi_event_t begin = NULL;
    uint32_t done = 0;
    uint32_t first = 0;
    *out_event = NULL;
    zepi_result_t result = execution_renew_events(recording);
    // Times begin with the first segment, not with the last.
    if (result == ZEPI_SUCCESS && (queue->flags & ZEPI_QUEUE_PROFILING))
        result = zepi_queue_marker(queue, wait, &begin);
    while (result == ZEPI_SUCCESS && done < recording->segment_count) {
        const struct zepi_recorded_segment *segment = &recording->segments[done];
        const struct execution_part part = {recording->lists + first, segment->end - first};
        struct zepi_list_run *run = recording->run_count > 0 ? recording->runs[done] : NULL;
        result = execution_run_segment(part, run, segment, queue, wait, out_event);
        first = segment->end;
        if (result == ZEPI_SUCCESS)
            done++;
    }
    if (result != ZEPI_SUCCESS)
        execution_signal_rest(recording, done);
    else if (begin)
        zepi_event_set_begin(*out_event, begin);
    zepi_release(begin);
    return result;
}

// ---- Executions ----

static zepi_result_t execution_start(struct zepi_recording *recording, struct zepi_queue *queue,
                                     zepi_wait_list_t wait, zepi_event_t *out_event)
{
    if (recording->has_events)
        return execution_run_segments(recording, queue, wait, out_event);
    if (recording->run_count > 0)
        return zepi_list_run_start(recording->runs[0], queue, recording->list_count,
                                   recording->lists, wait, out_event);
    const struct execution_part part = {recording->lists, recording->list_count};
    return execution_append(part, queue, wait, out_event);
}

// With buffers that move, which are brought to the device first.
static __attribute__((noinline)) zepi_result_t
execution_move_and_start(struct zepi_recording *recording, struct zepi_queue *queue,
                         zepi_wait_list_t wait, zepi_event_t *out_event)
{
    struct zepi_buffer_uses uses;
    void *address;
    zepi_result_t result = ZEPI_SUCCESS;
    zepi_buffer_uses_init(&uses, queue, wait);
    for (size_t i = 0; i < recording->move_count && result == ZEPI_SUCCESS; i++)
        result = zepi_buffer_use(&uses, &recording->moves[i].part, recording->moves[i].access,
                                 ZEPI_BUFFER_ON_DEVICE, &address);
    if (result == ZEPI_SUCCESS)
        result = execution_start(recording, queue, uses.wait, out_event);
    zepi_buffer_uses_finish(&uses);
    return result;
}

zepi_result_t zepi_recording_execute(struct zepi_recording *recording, struct zepi_queue *queue,
                                     zepi_wait_list_t wait, zepi_event_t *out_event)
{
    zepi_event_t event = NULL;
    const zepi_result_t result = recording->move_count > 0
                                     ? execution_move_and_start(recording, queue, wait, &event)
                                     : execution_start(recording, queue, wait, &event);
    if (recording->last)
        zepi_release(recording->last);
    recording->last = event;
    if (result != ZEPI_SUCCESS)
        return result;
    zepi_stats_count(ZEPI_STAT_GRAPHS);
    if (out_event)
        *out_event = zepi_retain(event);
    return ZEPI_SUCCESS;
}
