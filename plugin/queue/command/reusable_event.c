// SPDX-License-Identifier: MIT
#include "queue/command/reusable_event.h"

#include "device/context.h"
#include "queue/command/barrier.h"
#include "queue/queue.h"

zepi_result_t zepi_reusable_event_create(struct zepi_context *context,
                                         enum zepi_reusable_event_times times,
                                         zepi_event_t *out_event)
{
    struct zepi_event *event = zepi_object_create(&zepi_event_type);
    if (!event)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    event->context = zepi_retain(context);
    event->is_reusable = true;
    event->takes_times = times == ZEPI_REUSABLE_EVENT_TIMES;
    *out_event = event;
    return ZEPI_SUCCESS;
}

// Of two threads that signal at the same time, the later one in a queue may be the first one here.
static bool is_later_in_same_queue(const struct zepi_event *left, const struct zepi_event *right)
{
    return left && left->queue == right->queue && left->capture == right->capture &&
           left->number > right->number;
}

// Consumes the reference to the signal.
static void reusable_event_set_signal(struct zepi_event *event, struct zepi_event *signal)
{
    struct zepi_event_pools *pools = zepi_event_pools_of(event->context);
    struct zepi_event *unused = signal;
    zepi_mutex_lock(&pools->mutex);
    if (!is_later_in_same_queue(event->signal, signal)) {
        unused = event->signal;
        event->signal = signal;
    }
    zepi_mutex_unlock(&pools->mutex);
    zepi_release(unused);
}

zepi_result_t zepi_queue_signal(struct zepi_queue *queue, zepi_wait_list_t wait,
                                struct zepi_event *event)
{
    struct zepi_event *signal;
    const bool has_times = event->takes_times && !(queue->flags & ZEPI_QUEUE_PROFILING);
    const zepi_result_t result = has_times ? zepi_queue_timed_barrier(queue, wait, &signal)
                                           : zepi_queue_barrier(queue, wait, &signal);
    if (result == ZEPI_SUCCESS)
        reusable_event_set_signal(event, signal);
    return result;
}
