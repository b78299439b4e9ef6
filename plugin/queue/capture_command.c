// SPDX-License-Identifier: MIT
#include "queue/capture_command.h"

#include "device/context.h"
#include "queue/event.h"
#include "queue/queue.h"

// Never signalled, and without an event of the driver.
struct zepi_event *zepi_capture_make_event(struct zepi_capture *capture, struct zepi_queue *queue)
{
    struct zepi_event *event = zepi_object_create(&zepi_event_type);
    if (!event)
        return NULL;
    event->context = queue->context;
    event->queue = zepi_retain(queue);
    event->capture = zepi_retain(capture);
    return event;
}

void zepi_queue_set_capture_locked(struct zepi_queue *queue, struct zepi_capture *capture)
{
    // Relaxed: the capture is read under the mutex.
    atomic_store_explicit(&queue->capture, capture, memory_order_relaxed);
    __atomic_store_n(&queue->is_plain, !queue->needs_barriers && !capture, __ATOMIC_RELAXED);
    queue->captured_last = 0;
    queue->captured_since = 0;
}

// The capture that the queue itself is in; a new reference, or NULL.
static struct zepi_capture *capture_of_queue(struct zepi_queue *queue)
{
    if (!zepi_queue_is_capturing(queue))
        return NULL;
    zepi_mutex_lock(&queue->mutex);
    struct zepi_capture *capture = atomic_load_explicit(&queue->capture, memory_order_relaxed);
    if (capture && zepi_capture_is_over(capture))
        capture = NULL;
    if (capture)
        zepi_retain(capture);
    zepi_mutex_unlock(&queue->mutex);
    return capture;
}

// The capture of the event, or of the last signal of a reusable one. A new reference, or NULL.
static struct zepi_capture *capture_of_event(struct zepi_event *event)
{
    struct zepi_event *signal = zepi_event_take_signal(event);
    struct zepi_capture *capture = signal->capture;
    if (capture)
        zepi_retain(capture);
    zepi_release(signal);
    return capture;
}

struct zepi_capture *zepi_capture_find(struct zepi_queue *queue, zepi_wait_list_t wait)
{
    struct zepi_capture *capture = capture_of_queue(queue);
    for (uint32_t i = 0; !capture && i < wait.count; i++)
        capture = capture_of_event(wait.events[i]);
    return capture;
}

zepi_result_t zepi_capture_command(struct zepi_queue *queue,
                                   const struct zepi_captured_command *command,
                                   zepi_wait_list_t wait, zepi_event_t *out_event)
{
    struct zepi_capture *capture = zepi_capture_find(queue, wait);
    if (!capture)
        return zepi_fail(ZEPI_ERROR_CAPTURE_INVALIDATED,
                         "another thread ended the capture while the command was enqueued");
    const zepi_result_t result =
        capture->functions->command(capture, queue, command, wait, out_event);
    zepi_release(capture);
    return result;
}

bool zepi_capture_takes(struct zepi_queue *queue, zepi_wait_list_t wait)
{
    struct zepi_capture *capture = zepi_capture_find(queue, wait);
    zepi_release(capture);
    return capture != NULL;
}

zepi_result_t zepi_capture_refuse(struct zepi_queue *queue, zepi_wait_list_t wait, const char *name)
{
    struct zepi_capture *capture = zepi_capture_find(queue, wait);
    if (!capture)
        return ZEPI_SUCCESS;
    const bool is_over = zepi_capture_is_over(capture);
    zepi_release(capture);
    return is_over ? zepi_fail(ZEPI_ERROR_CAPTURED_EVENT,
                               "the wait list has an event of a command in a graph, whose capture "
                               "is over")
                   : zepi_fail(ZEPI_ERROR_CAPTURE_UNSUPPORTED, "%s cannot be captured", name);
}

zepi_result_t zepi_capture_fail_uncaptured(void)
{
    return zepi_fail(ZEPI_ERROR_CAPTURE_INVALIDATED,
                     "another thread began a capture while the command was enqueued");
}

void zepi_capture_invalidate(struct zepi_queue *queue)
{
    struct zepi_capture *capture = capture_of_queue(queue);
    if (!capture)
        return;
    zepi_mutex_lock(&capture->mutex);
    capture->is_invalid = true;
    zepi_mutex_unlock(&capture->mutex);
    zepi_release(capture);
}
