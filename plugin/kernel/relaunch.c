// SPDX-License-Identifier: MIT
//
// Launches of a kernel object that look like the queue's last one of this kernel: what a launch
// costs. Whatever is not as usual goes to launch.c, before anything has happened, by a last call,
// so that no register has to be saved for it.
#include "base/ze.h"
#include "kernel/launch.h"
#include "queue/submit.h"

// The leases for a launch of a kernel object that needs to know nothing else and may be made in one
// call; NULL: look closer.
static inline zepi_lease_slot *find_leases(const struct zepi_queue *queue,
                                           const zepi_launch_desc_t *desc)
{
    if (!zepi_object_is(queue, &zepi_queue_type) || !desc || desc->size != sizeof(*desc))
        return NULL;
    const struct zepi_kernel *kernel = desc->kernel;
    if (!zepi_object_is(kernel, &zepi_kernel_type) || kernel->context != queue->context ||
        desc->flags || desc->spec_value_count > 0 || desc->module || desc->selector)
        return NULL;
    return kernel->leases[queue->device_index];
}

// Under the queue's mutex: its lease, if this launch is one more like the last.
static inline __attribute__((always_inline)) struct zepi_kernel_lease *
find_again(zepi_lease_slot *leases, uint32_t number, const zepi_launch_desc_t *desc)
{
    // Relaxed: the mutex orders.
    struct zepi_kernel_lease *lease = atomic_load_explicit(&leases[number], memory_order_relaxed);
    return __builtin_expect(lease && zepi_kernel_lease_matches(lease, desc), 1) ? lease : NULL;
}

static __attribute__((noinline)) zepi_result_t unlock_and_launch(zepi_queue_t queue,
                                                                 const zepi_launch_desc_t *desc,
                                                                 zepi_wait_list_t wait,
                                                                 zepi_event_t *out_event)
{
    zepi_mutex_unlock(&queue->mutex);
    return zepi_launch_any(queue, desc, wait, out_event);
}

// What is left to do after a launch when somebody sleeps, or when it failed.
static __attribute__((cold, noinline)) zepi_result_t finish(struct zepi_queue *queue,
                                                            bool somebody_sleeps, ze_result_t ze)
{
    if (somebody_sleeps)
        zepi_mutex_wake(&queue->mutex);
    return zepi_check_ze(ze, zepi_launch_function);
}

// ---- With events ----

// Under the queue's mutex: what the wait list comes to, in the queue's own list. False: there is
// something about it.
static inline bool gather(struct zepi_queue *queue, zepi_wait_list_t wait, uint32_t *out_count)
{
    uint32_t count = 0;
    if (!wait.events || wait.count > ZEPI_QUEUE_WAITS)
        return false;
    for (uint32_t i = 0; i < wait.count; i++) {
        struct zepi_event *event = wait.events[i];
        if (!zepi_object_is(event, &zepi_event_type) || event->context != queue->context)
            return false;
        if (!zepi_event_must_be_awaited(event, queue))
            continue;
        atomic_store_explicit(&event->is_awaited, true, memory_order_relaxed);
        queue->waits[count++] = event->ze;
    }
    *out_count = count;
    return true;
}

static __attribute__((cold, noinline)) zepi_result_t
finish_with_event(struct zepi_queue *queue, bool somebody_sleeps, ze_result_t ze,
                  struct zepi_event *event, zepi_event_t *out_event)
{
    const zepi_result_t result = finish(queue, somebody_sleeps, ze);
    if (result == ZEPI_SUCCESS) {
        *out_event = event;
    } else {
        event->has_failed = true;
        zepi_release(event);
    }
    return result;
}

static __attribute__((noinline)) zepi_result_t
refill_and_launch(zepi_queue_t queue, struct zepi_queue_list *list, const zepi_launch_desc_t *desc,
                  zepi_wait_list_t wait, zepi_event_t *out_event)
{
    zepi_mutex_unlock(&queue->mutex);
    const zepi_result_t result = zepi_event_cache_refill(&list->events, queue);
    return result == ZEPI_SUCCESS ? zepi_queue_launch(queue, desc, wait, out_event) : result;
}

// With an output event. A constant count leaves out what is for other counts.
static inline __attribute__((always_inline)) zepi_result_t
launch_for_event(zepi_queue_t queue, const zepi_launch_desc_t *desc, zepi_wait_list_t wait,
                 zepi_event_t *out_event)
{
    uint32_t wait_count = 0;
    zepi_lease_slot *leases = find_leases(queue, desc);
    if (__builtin_expect(!leases, 0) || !zepi_mutex_try_lock(&queue->mutex))
        return zepi_launch_any(queue, desc, wait, out_event);
    struct zepi_kernel_lease *lease = find_again(leases, queue->launch_event_number, desc);
    if (__builtin_expect(!lease || (wait.count > 0 && !gather(queue, wait, &wait_count)), 0))
        return unlock_and_launch(queue, desc, wait, out_event);
    struct zepi_queue_list *list = zepi_queue_next_list(queue);
    struct zepi_event *event = zepi_event_cache_take(&list->events, queue);
    if (__builtin_expect(!event, 0))
        return refill_and_launch(queue, list, desc, wait, out_event);
    const ze_result_t ze = zepi_append_with_arguments(queue, lease, list, event->ze, wait_count,
                                                      wait.count > 0 ? queue->waits : NULL);
    event->number = zepi_retire_count(&queue->retire);
    const bool somebody_sleeps = zepi_mutex_unlock_and_tell(&queue->mutex);
    if (somebody_sleeps)
        return finish_with_event(queue, true, ze, event, out_event);
    if (__builtin_expect(ze != ZE_RESULT_SUCCESS, 0))
        return finish_with_event(queue, false, ze, event, out_event);
    *out_event = event;
    return ZEPI_SUCCESS;
}

static __attribute__((noinline)) zepi_result_t
launch_before_event(zepi_queue_t queue, const zepi_launch_desc_t *desc, zepi_event_t *out_event)
{
    return launch_for_event(queue, desc, (zepi_wait_list_t){NULL, 0}, out_event);
}

static __attribute__((noinline)) zepi_result_t launch_after_one(zepi_queue_t queue,
                                                                const zepi_launch_desc_t *desc,
                                                                const zepi_event_t *events,
                                                                zepi_event_t *out_event)
{
    return launch_for_event(queue, desc, (zepi_wait_list_t){events, 1}, out_event);
}

static __attribute__((noinline)) zepi_result_t launch_after_several(zepi_queue_t queue,
                                                                    const zepi_launch_desc_t *desc,
                                                                    zepi_wait_list_t wait,
                                                                    zepi_event_t *out_event)
{
    return launch_for_event(queue, desc, wait, out_event);
}

// ---- Without ----

static __attribute__((noinline)) zepi_result_t
launch_without_events(zepi_queue_t queue, const zepi_launch_desc_t *desc, zepi_wait_list_t wait)
{
    zepi_lease_slot *leases = find_leases(queue, desc);
    if (__builtin_expect(!leases, 0) || !zepi_mutex_try_lock(&queue->mutex))
        return zepi_launch_any(queue, desc, wait, NULL);
    struct zepi_kernel_lease *lease = find_again(leases, queue->launch_number, desc);
    if (!lease)
        return unlock_and_launch(queue, desc, (zepi_wait_list_t){NULL, 0}, NULL);
    const ze_result_t ze =
        zepi_append_with_arguments(queue, lease, zepi_queue_next_list(queue), NULL, 0, NULL);
    zepi_retire_count(&queue->retire);
    const bool somebody_sleeps = zepi_mutex_unlock_and_tell(&queue->mutex);
    if (somebody_sleeps)
        return finish(queue, true, ze);
    return __builtin_expect(ze == ZE_RESULT_SUCCESS, 1) ? ZEPI_SUCCESS : finish(queue, false, ze);
}

zepi_result_t zepi_queue_launch(zepi_queue_t queue, const zepi_launch_desc_t *desc,
                                zepi_wait_list_t wait, zepi_event_t *out_event)
{
    if (wait.count == 0)
        return out_event ? launch_before_event(queue, desc, out_event)
                         : launch_without_events(queue, desc, wait);
    if (!out_event)
        return zepi_launch_any(queue, desc, wait, NULL);
    return wait.count == 1 ? launch_after_one(queue, desc, wait.events, out_event)
                           : launch_after_several(queue, desc, wait, out_event);
}
