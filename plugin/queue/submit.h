// SPDX-License-Identifier: MIT
#ifndef ZEPI_QUEUE_SUBMIT_H
#define ZEPI_QUEUE_SUBMIT_H

#include "queue/capture.h"
#include "queue/command_list.h"
#include "queue/event.h"
#include "queue/progress.h"
#include "queue/queue.h"

// The frame around every command: checks the wait list, makes the output event, chooses a list,
// locks the queue; then the command is appended with `list`, `signal`, `waits` and `wait_count`;
// then the queue is unlocked and the event handed out.
//
//     struct zepi_submit submit;
//     result = zepi_submit_begin(&submit, queue, wait, out_event, ZEPI_ENGINE_COMPUTE);
//     if (result != ZEPI_SUCCESS)
//         return result;
//     result = ZEPI_ZE(zeCommandListAppend..., submit.list, ..., submit.signal,
//                      submit.wait_count, submit.waits);
//     return zepi_submit_end(&submit, result, out_event);

enum zepi_engine {
    ZEPI_ENGINE_COMPUTE,
    ZEPI_ENGINE_COPY, // a copy engine where the queue has one
};

struct zepi_submit {
    struct zepi_queue *queue;             // borrowed
    struct zepi_command_list *queue_list; // borrowed
    ze_command_list_handle_t list;        // the driver's handle of it
    ze_event_handle_t signal;             // NULL: no event was asked for
    uint32_t wait_count;
    ze_event_handle_t *waits; // NULL if there are none
    struct zepi_event *event; // that `signal` belongs to
    // Owned: room for the lists below and for `waits`, of as many as the wait list has. NULL: that
    // is not needed, and the members below are not set.
    void **slow_waits;
    // Signals of reusable events, a reference to each.
    struct zepi_event **signals;
    uint32_t signal_count;
    // Borrowed events of the wait list that a command list of the queue cannot wait for as they
    // are: of another context, or with times in memory of another device. Once begun, those that a
    // barrier in the list waits for: the queue holds them.
    struct zepi_event **distant_waits;
    uint32_t distant_wait_count;
    ze_event_handle_t inline_waits[ZEPI_QUEUE_WAITS];
};

// Whether a command of the queue needs to be told to wait for the event.
static inline bool zepi_event_must_be_awaited(const struct zepi_event *event,
                                              const struct zepi_queue *queue)
{
    return !zepi_event_is_known_complete(event) &&
           (event->queue != queue || !(queue->flags & ZEPI_QUEUE_IN_ORDER));
}

// ---- Steps that few commands need, in submit.c ----

// Before the mutex is taken: reads the wait list, which is not empty. On failure there is nothing
// to finish.
zepi_result_t zepi_submit_prepare(struct zepi_submit *submit, zepi_wait_list_t wait);
// Under the mutex, which it gives up on failure: makes an event, as the list has none.
zepi_result_t zepi_submit_make_event_locked(struct zepi_submit *submit,
                                            struct zepi_event **out_event)
    __attribute__((noinline));
// Under the mutex, which it gives up on failure: appends the barriers and waits that come before
// the command.
zepi_result_t zepi_submit_append_first_locked(struct zepi_submit *submit);
void zepi_submit_finish_slow_waits(struct zepi_submit *submit) __attribute__((cold, noinline));

// For a caller that is to hold a lock while it appends: waits for the events of the wait list for
// which the append would wait, since no command list of the queue can.
zepi_result_t zepi_submit_await_unreachable(struct zepi_queue *queue, zepi_wait_list_t wait);

// ---- The frame ----

// On success the queue's mutex is held. `queue` has been checked. ZEPI_CAPTURED: nothing is to be
// appended (capture.h).
static inline zepi_result_t zepi_submit_begin(struct zepi_submit *submit, struct zepi_queue *queue,
                                              zepi_wait_list_t wait, const zepi_event_t *out_event,
                                              enum zepi_engine engine)
{
    zepi_result_t result = ZEPI_SUCCESS;
    submit->queue = queue;
    submit->signal = NULL;
    submit->wait_count = 0;
    submit->waits = NULL;
    submit->event = NULL;
    submit->slow_waits = NULL;
    if (wait.count > 0)
        result = zepi_submit_prepare(submit, wait);
    if (result != ZEPI_SUCCESS)
        return result;
    zepi_mutex_lock(&queue->mutex);
    submit->queue_list = engine == ZEPI_ENGINE_COPY && queue->copy_list
                             ? queue->copy_list
                             : zepi_queue_next_list(queue);
    submit->list = submit->queue_list->ze;
    if (out_event) {
        struct zepi_event *event = zepi_event_cache_take(&submit->queue_list->events);
        if (__builtin_expect(!event, 0))
            result = zepi_submit_make_event_locked(submit, &event);
        if (result != ZEPI_SUCCESS)
            return result;
        zepi_event_hand_out(event, queue);
        if (queue->flags & ZEPI_QUEUE_PROFILING)
            zepi_event_note_submit(event);
        submit->event = event;
        submit->signal = event->ze;
    }
    return __builtin_expect(submit->slow_waits || !queue->is_plain, 0)
               ? zepi_submit_append_first_locked(submit)
               : ZEPI_SUCCESS;
}

// `appended`: the status of the command, and of this function; a failure of what came before the
// append ends the frame, too. On success *out_event (may be NULL) is the event, on failure it is
// left alone.
static inline zepi_result_t zepi_submit_end(struct zepi_submit *submit, zepi_result_t appended,
                                            zepi_event_t *out_event)
{
    struct zepi_queue *queue = submit->queue;
    struct zepi_event *event = submit->event;
    // What failed counts, too: barriers before it, or part of it, may have been appended.
    struct zepi_timeline *timeline = submit->queue_list->timeline;
    const uint64_t seqno = zepi_timeline_submit(timeline);
    if (event) {
        event->point = (struct zepi_point){timeline, seqno};
        event->has_failed = appended != ZEPI_SUCCESS;
        if (appended == ZEPI_SUCCESS)
            *out_event = event;
    }
    zepi_mutex_unlock(&queue->mutex);
    if (__builtin_expect(submit->slow_waits != NULL, 0))
        zepi_submit_finish_slow_waits(submit);
    if (__builtin_expect(appended != ZEPI_SUCCESS, 0))
        // Not known to be complete, so that it is kept from others until the queue is empty.
        zepi_release(event);
    return appended;
}

#endif
