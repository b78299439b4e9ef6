// SPDX-License-Identifier: MIT
#include "queue/submit.h"

#include "base/alloc.h"
#include "base/ze.h"
#include "device/context.h"
#include "device/device.h"

static __attribute__((cold, noinline)) void hold_strangers(struct zepi_submit *submit)
{
    for (uint32_t i = 0; i < submit->stranger_count; i++)
        zepi_queue_hold(submit->queue, submit->strangers[i]);
    zepi_free(submit->strangers);
}

// Under no lock.
static void finish_waits(struct zepi_submit *submit)
{
    if (submit->waits && submit->waits != submit->inline_waits)
        zepi_free(submit->waits);
    if (__builtin_expect(submit->strangers != NULL, 0))
        hold_strangers(submit);
}

static __attribute__((cold, noinline)) zepi_result_t
add_stranger(struct zepi_submit *submit, zepi_wait_list_t wait, uint32_t index)
{
    struct zepi_event *event = wait.events[index];
    if (event->context->platform != submit->queue->context->platform)
        return zepi_fail(ZEPI_ERROR_INVALID_OBJECT,
                         "event %u of the wait list is of another platform than the queue", index);
    if (zepi_event_is_known_complete(event))
        return ZEPI_SUCCESS;
    if (!submit->strangers)
        submit->strangers = zepi_allocate(wait.count, sizeof(submit->strangers[0]));
    if (!submit->strangers)
        return zepi_fail_no_memory();
    atomic_store_explicit(&event->is_awaited, true, memory_order_relaxed);
    submit->strangers[submit->stranger_count++] = event;
    return ZEPI_SUCCESS;
}

static zepi_result_t gather_waits(struct zepi_submit *submit, zepi_wait_list_t wait)
{
    const struct zepi_queue *queue = submit->queue;
    if (!wait.events)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the wait list is NULL, with a count of %u",
                         wait.count);
    submit->waits = submit->inline_waits;
    if (wait.count > ZEPI_QUEUE_WAITS) {
        submit->waits = zepi_allocate(wait.count, sizeof(submit->waits[0]));
        if (!submit->waits)
            return zepi_fail_no_memory();
    }
    for (uint32_t i = 0; i < wait.count; i++) {
        struct zepi_event *event = wait.events[i];
        zepi_result_t result = zepi_check_object(event, &zepi_event_type);
        const bool is_stranger =
            result == ZEPI_SUCCESS && !zepi_event_is_within_reach(event, queue);
        if (is_stranger)
            result = add_stranger(submit, wait, i);
        if (result != ZEPI_SUCCESS)
            return result;
        if (is_stranger || !zepi_event_must_be_awaited(event, queue))
            continue;
        atomic_store_explicit(&event->is_awaited, true, memory_order_relaxed);
        submit->waits[submit->wait_count++] = event->ze;
    }
    if (submit->wait_count == 0) {
        if (submit->waits != submit->inline_waits)
            zepi_free(submit->waits);
        submit->waits = NULL;
    }
    return ZEPI_SUCCESS;
}

static void choose_list(struct zepi_submit *submit, enum zepi_engine engine)
{
    struct zepi_queue *queue = submit->queue;
    submit->queue_list = engine == ZEPI_ENGINE_COPY && queue->copy_list
                             ? queue->copy_list
                             : zepi_queue_next_list(queue);
    submit->list = submit->queue_list->ze;
}

// Under the queue's mutex, and on success still: the event that the command signals. Without it
// meanwhile, if there is none.
static zepi_result_t take_event_locked(struct zepi_submit *submit)
{
    struct zepi_queue *queue = submit->queue;
    struct zepi_event_cache *cache = &submit->queue_list->events;
    struct zepi_event *event = zepi_event_cache_take(cache, queue);
    while (__builtin_expect(!event, 0)) {
        zepi_mutex_unlock(&queue->mutex);
        const zepi_result_t result = zepi_event_cache_refill(cache, queue);
        if (result != ZEPI_SUCCESS)
            return result;
        zepi_mutex_lock(&queue->mutex);
        event = zepi_event_cache_take(cache, queue);
    }
    event->submit_ticks = submit->ticks;
    submit->event = event;
    submit->signal = event->ze;
    return ZEPI_SUCCESS;
}

// Whether the driver has the memory of an event of another context on the queue's device.
static bool is_known_on_device_of(const struct zepi_event *event, const struct zepi_queue *queue)
{
    const struct zepi_device *device =
        event->queue ? event->queue->device : event->context->devices[0];
    return event->slot->kind == ZEPI_EVENT_COUNTER ||
           zepi_device_root(device) == zepi_device_root(queue->device);
}

// Under the queue's mutex, and when it returns: what follows in the list waits for events that are
// out of reach. For those that the driver does not take there this thread waits, without the mutex.
static __attribute__((cold, noinline)) zepi_result_t
await_strangers_locked(struct zepi_submit *submit)
{
    struct zepi_queue *queue = submit->queue;
    zepi_result_t result = ZEPI_SUCCESS;
    for (uint32_t i = 0; i < submit->stranger_count && result == ZEPI_SUCCESS; i++) {
        struct zepi_event *event = submit->strangers[i];
        if (is_known_on_device_of(event, queue)) {
            const ze_result_t ze =
                zepi_ze.zeCommandListAppendBarrier(submit->list, NULL, 1, &event->ze);
            result = zepi_check_ze_answer(ze, "zeCommandListAppendBarrier");
            if (ze == ZE_RESULT_SUCCESS || result != ZEPI_SUCCESS)
                continue;
        }
        zepi_mutex_unlock(&queue->mutex);
        result = zepi_event_wait(1, &event, UINT64_MAX);
        zepi_mutex_lock(&queue->mutex);
    }
    return result;
}

// Before the mutex is taken: what may fail or take long.
static zepi_result_t prepare(struct zepi_submit *submit, zepi_wait_list_t wait,
                             const zepi_event_t *out_event)
{
    const struct zepi_queue *queue = submit->queue;
    zepi_result_t result = ZEPI_SUCCESS;
    uint64_t host_ns;
    if (wait.count > 0)
        result = gather_waits(submit, wait);
    if (result == ZEPI_SUCCESS && out_event && (queue->flags & ZEPI_QUEUE_PROFILING))
        result = ZEPI_ZE(zeDeviceGetGlobalTimestamps, queue->device->ze, &host_ns, &submit->ticks);
    return result;
}

zepi_result_t zepi_submit_begin(struct zepi_submit *submit, struct zepi_queue *queue,
                                zepi_wait_list_t wait, const zepi_event_t *out_event,
                                enum zepi_engine engine)
{
    submit->queue = queue;
    submit->signal = NULL;
    submit->wait_count = 0;
    submit->waits = NULL;
    submit->event = NULL;
    submit->ticks = 0;
    submit->strangers = NULL;
    submit->stranger_count = 0;
    zepi_result_t result = prepare(submit, wait, out_event);
    if (result == ZEPI_SUCCESS) {
        zepi_mutex_lock(&queue->mutex);
        choose_list(submit, engine);
        if (out_event)
            result = take_event_locked(submit);
    }
    if (result != ZEPI_SUCCESS) {
        finish_waits(submit);
        return result;
    }
    if (__builtin_expect(submit->strangers != NULL, 0)) {
        result = await_strangers_locked(submit);
        if (result != ZEPI_SUCCESS)
            return zepi_submit_end(submit, result, NULL);
    }
    if (queue->needs_barriers) {
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
    const uint64_t number = zepi_retire_count(queue->retire);
    if (submit->event) {
        submit->event->number = number;
        submit->event->has_failed = appended != ZEPI_SUCCESS;
    }
    zepi_mutex_unlock(&queue->mutex);
    finish_waits(submit);
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
    zepi_retire_count(submit->queue->retire);
    zepi_mutex_unlock(&submit->queue->mutex);
    finish_waits(submit);
    if (submit->event)
        zepi_event_abandon(submit->event);
}
