// SPDX-License-Identifier: MIT
#ifndef ZEPI_QUEUE_SUBMIT_H
#define ZEPI_QUEUE_SUBMIT_H

#include "device/device.h"
#include "queue/event.h"
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
    struct zepi_command_list *queue_list; // borrowed: whose `list` is
    ze_command_list_handle_t list;
    ze_event_handle_t signal; // NULL: no event was asked for
    uint32_t wait_count;
    ze_event_handle_t *waits; // NULL if there are none
    struct zepi_event *event; // that `signal` belongs to
    uint64_t ticks;           // of the device's clock, if the event is timed
    // Owned list of borrowed events out of reach that are waited for; NULL: none.
    struct zepi_event **strangers;
    uint32_t stranger_count;
    ze_event_handle_t inline_waits[ZEPI_QUEUE_WAITS];
};

// Whether a command of the queue needs to be told to wait for the event.
static inline bool zepi_event_must_be_awaited(const struct zepi_event *event,
                                              const struct zepi_queue *queue)
{
    return !zepi_event_is_known_complete(event) &&
           (event->queue != queue || !(queue->flags & ZEPI_QUEUE_IN_ORDER));
}

// Whether a list of the queue can wait for the event. Intel's driver keeps the times of an event in
// memory that only the device of its command reaches, and a wait reads them.
static inline bool zepi_event_is_within_reach(const struct zepi_event *event,
                                              const struct zepi_queue *queue)
{
    return event->context == queue->context &&
           (!event->queue || event->queue->device == queue->device ||
            event->slot->kind != ZEPI_EVENT_TIMED ||
            zepi_device_root(event->queue->device) == zepi_device_root(queue->device));
}

// On success the queue's mutex is held. `queue` has been checked.
zepi_result_t zepi_submit_begin(struct zepi_submit *submit, struct zepi_queue *queue,
                                zepi_wait_list_t wait, const zepi_event_t *out_event,
                                enum zepi_engine engine);

// `appended`: what became of the command; the answer of this function. On success *out_event (may
// be NULL) is the event, on failure it is left alone.
zepi_result_t zepi_submit_end(struct zepi_submit *submit, zepi_result_t appended,
                              zepi_event_t *out_event);

// In place of the end, before anything was appended for the command: nothing has happened.
void zepi_submit_cancel(struct zepi_submit *submit);

#endif
