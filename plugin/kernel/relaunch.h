// SPDX-License-Identifier: MIT
#ifndef ZEPI_KERNEL_RELAUNCH_H
#define ZEPI_KERNEL_RELAUNCH_H

#include "kernel/kernel.h"
#include "kernel/kernel_lease.h"
#include "kernel/launch.h"
#include "queue/queue.h"
#include "queue/submit.h"

// Launches of a kernel object that look like the queue's last one of this kernel: what a launch
// costs. Whatever is not as usual is left to launch.c, before anything has happened. A front door
// compares a launch in its own words with what the lease remembers, and calls its own way to
// launch.c last, so that no register has to be saved for it:
//
//     zepi_lease_slot *leases = ... zepi_relaunch_leases(queue, kernel) ...
//     if (!leases || !zepi_mutex_try_lock(&queue->mutex))
//         return slowly(...);
//     struct zepi_kernel_lease *lease = zepi_relaunch_lease(leases, queue->launch_number);
//     if (!... matches ...)
//         return unlock_and_slowly(...);
//     const struct zepi_relaunched done = zepi_relaunch(queue, lease);

struct zepi_relaunched {
    ze_result_t ze;
    bool somebody_sleeps;     // at the mutex: zepi_mutex_wake
    struct zepi_event *event; // that the command signals
};

// Where the kernel's leases are if it may be launched in one call and needs to know nothing else.
// The queue has been checked.
static inline zepi_lease_slot *zepi_relaunch_leases(const struct zepi_queue *queue,
                                                    const struct zepi_kernel *kernel)
{
    return kernel->context == queue->context ? kernel->leases[queue->device_index] : NULL;
}

// Under the queue's mutex, as all that follows. `number`: the queue's launch_number, or
// launch_event_number.
static inline struct zepi_kernel_lease *zepi_relaunch_lease(zepi_lease_slot *leases,
                                                            uint32_t number)
{
    // Relaxed: the mutex orders.
    return atomic_load_explicit(&leases[number], memory_order_relaxed);
}

// What the wait list comes to, in the queue's own. False: there is something about it.
static inline bool zepi_relaunch_gather(struct zepi_queue *queue, zepi_wait_list_t wait,
                                        uint32_t *out_count)
{
    uint32_t count = 0;
    if (!wait.events || wait.count > ZEPI_QUEUE_WAITS)
        return false;
    for (uint32_t i = 0; i < wait.count; i++) {
        struct zepi_event *event = wait.events[i];
        if (!zepi_object_is(event, &zepi_event_type) || !zepi_event_is_within_reach(event, queue))
            return false;
        if (!zepi_event_must_be_awaited(event, queue))
            continue;
        atomic_store_explicit(&event->is_awaited, true, memory_order_relaxed);
        queue->waits[count++] = event->ze;
    }
    *out_count = count;
    return true;
}

// The launch, once its lease was found to match. Unlocks.
static inline __attribute__((always_inline)) struct zepi_relaunched
zepi_relaunch_with(struct zepi_queue *queue, struct zepi_kernel_lease *lease,
                   struct zepi_command_list *list, struct zepi_event *event, uint32_t wait_count,
                   ze_event_handle_t *waits)
{
    struct zepi_relaunched done = {.event = event};
    done.ze =
        zepi_append_with_arguments(queue, lease, list, event ? event->ze : NULL, wait_count, waits);
    const uint64_t number = zepi_retire_count(queue->retire);
    if (event)
        event->number = number;
    done.somebody_sleeps = zepi_mutex_unlock_and_tell(&queue->mutex);
    return done;
}

// Without events.
static inline __attribute__((always_inline)) struct zepi_relaunched
zepi_relaunch(struct zepi_queue *queue, struct zepi_kernel_lease *lease)
{
    return zepi_relaunch_with(queue, lease, zepi_queue_next_list(queue), NULL, 0, NULL);
}

// With an output event, which the list may not have: *out_done says. A constant count leaves out
// what is for other counts.
static inline __attribute__((always_inline)) bool
zepi_relaunch_for_event(struct zepi_queue *queue, struct zepi_kernel_lease *lease,
                        zepi_wait_list_t wait, struct zepi_relaunched *out_done)
{
    uint32_t wait_count = 0;
    if (__builtin_expect(wait.count > 0 && !zepi_relaunch_gather(queue, wait, &wait_count), 0))
        return false;
    struct zepi_command_list *list = queue->next_list;
    struct zepi_event *event = zepi_event_cache_take(&list->events, queue);
    if (__builtin_expect(!event, 0))
        return false;
    queue->next_list = list->next;
    *out_done = zepi_relaunch_with(queue, lease, list, event, wait_count,
                                   wait.count > 0 ? queue->waits : NULL);
    return true;
}

// A launch without events of a kernel that dispatch found, by name or with values. False: it takes
// more than this, and nothing has happened.
bool zepi_relaunch_dispatched(struct zepi_queue *queue, const zepi_launch_desc_t *desc,
                              struct zepi_kernel_pool *pool, zepi_result_t *out_result);

// What is left to do when somebody sleeps or the driver refused: called once for either, with what
// is known then. The event goes to *out_event (may be NULL), or is released.
zepi_result_t zepi_relaunch_finish(struct zepi_queue *queue, bool somebody_sleeps, ze_result_t ze,
                                   struct zepi_event *event, zepi_event_t *out_event)
    __attribute__((cold, noinline));

#endif
