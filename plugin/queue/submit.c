// SPDX-License-Identifier: MIT
#include "queue/submit.h"

#include "base/alloc.h"
#include "base/ze.h"
#include "device/context.h"

// Whether a command of the queue needs to be told to wait for the event.
static bool must_wait(const struct zepi_queue *queue, const struct zepi_event *event)
{
    if (zepi_event_is_known_complete(event))
        return false;
    return event->queue != queue || !(queue->flags & ZEPI_QUEUE_IN_ORDER);
}

static zepi_result_t gather_waits(struct zepi_submit *submit, zepi_wait_list_t wait)
{
    const struct zepi_queue *queue = submit->queue;
    if (!wait.events)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the wait list is NULL, with a count of %u",
                         wait.count);
    submit->waits = submit->inline_waits;
    if (wait.count > ZEPI_SUBMIT_INLINE_WAITS) {
        submit->waits = zepi_allocate(wait.count, sizeof(submit->waits[0]));
        if (!submit->waits)
            return zepi_fail_no_memory();
    }
    for (uint32_t i = 0; i < wait.count; i++) {
        struct zepi_event *event = wait.events[i];
        const zepi_result_t result = zepi_check_object(event, &zepi_event_type);
        if (result != ZEPI_SUCCESS)
            return result;
        if (event->context != queue->context)
            return zepi_fail(ZEPI_ERROR_INVALID_OBJECT,
                             "event %u of the wait list is of another context than the queue", i);
        if (!must_wait(queue, event))
            continue;
        atomic_store_explicit(&event->is_awaited, true, memory_order_relaxed);
        submit->waits[submit->wait_count++] = event->slot->ze;
    }
    return ZEPI_SUCCESS;
}

static void free_waits(struct zepi_submit *submit)
{
    if (submit->waits && submit->waits != submit->inline_waits)
        zepi_free(submit->waits);
}

static void choose_list(struct zepi_submit *submit, enum zepi_engine engine)
{
    struct zepi_queue *queue = submit->queue;
    if (engine == ZEPI_ENGINE_COPY && queue->copy_list) {
        submit->list_index = ZEPI_QUEUE_LISTS;
        submit->list = queue->copy_list;
        return;
    }
    submit->list_index = zepi_queue_next_list(queue);
    submit->list = queue->lists[submit->list_index];
}

zepi_result_t zepi_submit_begin(struct zepi_submit *submit, struct zepi_queue *queue,
                                zepi_wait_list_t wait, const zepi_event_t *out_event,
                                enum zepi_engine engine)
{
    zepi_result_t result = ZEPI_SUCCESS;
    submit->queue = queue;
    submit->signal = NULL;
    submit->wait_count = 0;
    submit->waits = NULL;
    submit->event = NULL;
    if (wait.count > 0)
        result = gather_waits(submit, wait);
    if (result == ZEPI_SUCCESS && out_event) {
        result = zepi_event_create_for(queue, &submit->event);
        if (result == ZEPI_SUCCESS)
            submit->signal = submit->event->slot->ze;
    }
    if (result != ZEPI_SUCCESS) {
        free_waits(submit);
        return result;
    }
    if (submit->wait_count == 0) {
        free_waits(submit);
        submit->waits = NULL;
    }
    zepi_mutex_lock(&queue->mutex);
    choose_list(submit, engine);
    if ((queue->flags & ZEPI_QUEUE_IN_ORDER) && !queue->has_in_order_list) {
        result = ZEPI_ZE(zeCommandListAppendBarrier, submit->list, NULL, 0, NULL);
        if (result != ZEPI_SUCCESS)
            return zepi_submit_end(submit, result, NULL);
    }
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_submit_end(struct zepi_submit *submit, zepi_result_t appended,
                              zepi_event_t *out_event)
{
    struct zepi_queue *queue = submit->queue;
    // A failed append counts, too: part of it may have been appended.
    const uint64_t number = zepi_retire_count(&queue->retire);
    if (submit->event)
        submit->event->number = number;
    zepi_mutex_unlock(&queue->mutex);
    free_waits(submit);
    if (appended != ZEPI_SUCCESS) {
        // Not known to be complete, so that it is kept from others until the queue is empty.
        zepi_release(submit->event);
        return appended;
    }
    if (submit->event)
        *out_event = submit->event;
    return ZEPI_SUCCESS;
}

void zepi_submit_cancel(struct zepi_submit *submit)
{
    // For the barrier that may have been appended.
    zepi_retire_count(&submit->queue->retire);
    zepi_mutex_unlock(&submit->queue->mutex);
    free_waits(submit);
    if (submit->event)
        zepi_event_abandon(submit->event);
}
