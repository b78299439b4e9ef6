// SPDX-License-Identifier: MIT
#include "kernel/relaunch.h"

#include "base/ze.h"
#include "kernel/launch.h"

zepi_result_t zepi_relaunch_finish(struct zepi_queue *queue, bool somebody_sleeps, ze_result_t ze,
                                   struct zepi_event *event, zepi_event_t *out_event)
{
    if (somebody_sleeps)
        zepi_mutex_wake(&queue->mutex);
    const zepi_result_t result = zepi_check_ze(ze, zepi_launch_function);
    if (result == ZEPI_SUCCESS && event) {
        *out_event = event;
    } else if (event) {
        event->has_failed = true;
        zepi_release(event);
    }
    return result;
}

// Whether the launch asks for nothing but a kernel with arguments and sizes.
static inline bool is_plain(const zepi_launch_desc_t *desc)
{
    uint64_t more; // flags, number of values
    memcpy(&more, &desc->flags, sizeof(more));
    return (more | (uintptr_t)desc->module | (uintptr_t)desc->selector) == 0;
}
static_assert(offsetof(zepi_launch_desc_t, spec_value_count) ==
                  offsetof(zepi_launch_desc_t, flags) + sizeof(uint32_t),
              "both are read at once");

static inline zepi_lease_slot *find_leases(const struct zepi_queue *queue,
                                           const zepi_launch_desc_t *desc)
{
    if (!zepi_object_is(queue, &zepi_queue_type) || !desc || desc->size != sizeof(*desc) ||
        !zepi_object_is(desc->kernel, &zepi_kernel_type) || !is_plain(desc))
        return NULL;
    return zepi_relaunch_leases(queue, desc->kernel);
}

static __attribute__((noinline)) zepi_result_t unlock_and_launch(zepi_queue_t queue,
                                                                 const zepi_launch_desc_t *desc,
                                                                 zepi_wait_list_t wait,
                                                                 zepi_event_t *out_event)
{
    zepi_mutex_unlock(&queue->mutex);
    return zepi_launch_any(queue, desc, wait, out_event);
}

// Without parameters that the way to them would have to keep.
static __attribute__((noinline)) zepi_result_t
launch_any_without_events(zepi_queue_t queue, const zepi_launch_desc_t *desc)
{
    return zepi_launch_any(queue, desc, (zepi_wait_list_t){NULL, 0}, NULL);
}

static __attribute__((noinline)) zepi_result_t
unlock_and_launch_without_events(zepi_queue_t queue, const zepi_launch_desc_t *desc)
{
    return unlock_and_launch(queue, desc, (zepi_wait_list_t){NULL, 0}, NULL);
}

static __attribute__((noinline)) zepi_result_t launch_without_events(zepi_queue_t queue,
                                                                     const zepi_launch_desc_t *desc)
{
    zepi_lease_slot *leases = find_leases(queue, desc);
    if (__builtin_expect(!leases, 0) || !zepi_mutex_try_lock(&queue->mutex))
        return launch_any_without_events(queue, desc);
    struct zepi_kernel_lease *lease = zepi_relaunch_lease(leases, queue->launch_number);
    if (__builtin_expect(!zepi_kernel_lease_matches(lease, desc), 0))
        return unlock_and_launch_without_events(queue, desc);
    const struct zepi_relaunched done = zepi_relaunch(queue, lease);
    if (done.somebody_sleeps)
        return zepi_relaunch_finish(queue, true, done.ze, NULL, NULL);
    if (__builtin_expect(done.ze != ZE_RESULT_SUCCESS, 0))
        return zepi_relaunch_finish(queue, false, done.ze, NULL, NULL);
    return ZEPI_SUCCESS;
}

bool zepi_relaunch_dispatched(struct zepi_queue *queue, const zepi_launch_desc_t *desc,
                              struct zepi_kernel_pool *pool, zepi_result_t *out_result)
{
    if (!pool->has_known_sizes || desc->flags || !zepi_mutex_try_lock(&queue->mutex))
        return false;
    struct zepi_kernel_lease *lease = zepi_relaunch_lease(pool->of_queue, queue->launch_number);
    if (__builtin_expect(!zepi_kernel_lease_matches(lease, desc), 0)) {
        zepi_mutex_unlock(&queue->mutex);
        return false;
    }
    const struct zepi_relaunched done = zepi_relaunch(queue, lease);
    *out_result = ZEPI_SUCCESS;
    if (__builtin_expect(done.somebody_sleeps || done.ze != ZE_RESULT_SUCCESS, 0))
        *out_result = zepi_relaunch_finish(queue, done.somebody_sleeps, done.ze, NULL, NULL);
    return true;
}

static inline __attribute__((always_inline)) zepi_result_t
launch_for_event(zepi_queue_t queue, const zepi_launch_desc_t *desc, zepi_wait_list_t wait,
                 zepi_event_t *out_event)
{
    struct zepi_relaunched done;
    zepi_lease_slot *leases = find_leases(queue, desc);
    if (__builtin_expect(!leases, 0) || !zepi_mutex_try_lock(&queue->mutex))
        return zepi_launch_any(queue, desc, wait, out_event);
    struct zepi_kernel_lease *lease = zepi_relaunch_lease(leases, queue->launch_event_number);
    if (__builtin_expect(!zepi_kernel_lease_matches(lease, desc) ||
                             !zepi_relaunch_for_event(queue, lease, wait, &done),
                         0))
        return unlock_and_launch(queue, desc, wait, out_event);
    if (done.somebody_sleeps)
        return zepi_relaunch_finish(queue, true, done.ze, done.event, out_event);
    if (__builtin_expect(done.ze != ZE_RESULT_SUCCESS, 0))
        return zepi_relaunch_finish(queue, false, done.ze, done.event, out_event);
    *out_event = done.event;
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

zepi_result_t zepi_queue_launch(zepi_queue_t queue, const zepi_launch_desc_t *desc,
                                zepi_wait_list_t wait, zepi_event_t *out_event)
{
    if (wait.count == 0)
        return out_event ? launch_before_event(queue, desc, out_event)
                         : launch_without_events(queue, desc);
    if (!out_event)
        return zepi_launch_any(queue, desc, wait, NULL);
    return wait.count == 1 ? launch_after_one(queue, desc, wait.events, out_event)
                           : launch_after_several(queue, desc, wait, out_event);
}
