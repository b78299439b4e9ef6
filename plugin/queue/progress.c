// SPDX-License-Identifier: MIT
#include "queue/progress.h"

#include "core/alloc.h"
#include "device/context.h"
#include "device/device.h"
#include "device/platform.h"
#include "sync/deferred.h"
#include "ze/ze.h"

// For how long a wait allows a list whose commands are complete to report that.
#define LAST_TIMEOUT_NS 100000000

bool zepi_queue_is_idle(const struct zepi_queue *queue)
{
    for (uint32_t i = 0; i < queue->list_count; i++) {
        if (!zepi_timeline_is_idle(queue->lists[i]->timeline))
            return false;
    }
    return true;
}

// ---- Markers ----

zepi_result_t zepi_event_cache_take_or_refill_locked(struct zepi_event_cache *cache,
                                                     struct zepi_event **out_event)
{
    struct zepi_queue *queue = cache->list->queue;
    zepi_result_t result = ZEPI_SUCCESS;
    // Another thread may take the events that this one made.
    while (!(*out_event = zepi_event_cache_take(cache)) && result == ZEPI_SUCCESS) {
        zepi_mutex_unlock(&queue->mutex);
        result = zepi_event_cache_refill(cache, queue);
        zepi_mutex_lock(&queue->mutex);
    }
    return *out_event ? ZEPI_SUCCESS : result;
}

zepi_result_t zepi_marker_begin_locked(struct zepi_command_list *list,
                                       struct zepi_event **out_marker)
{
    const zepi_result_t result = zepi_event_cache_take_or_refill_locked(
        list->events.kind & ZEPI_EVENT_TIMED ? &list->markers : &list->events, out_marker);
    // Nothing of it is under way yet.
    if (result == ZEPI_SUCCESS)
        zepi_event_set_complete(*out_marker);
    return result;
}

void zepi_marker_note_locked(struct zepi_command_list *list, struct zepi_event *marker)
{
    marker->point = zepi_timeline_now(list->timeline);
    marker->point.seqno++;
    atomic_store_explicit(&marker->is_complete, false, memory_order_relaxed);
}

zepi_result_t zepi_marker_append_locked(struct zepi_command_list *list, struct zepi_event *marker,
                                        uint32_t wait_count, ze_event_handle_t *waits)
{
    zepi_marker_note_locked(list, marker);
    const zepi_result_t result =
        ZEPI_ZE(zeCommandListAppendBarrier, list->ze, marker->ze, wait_count, waits);
    // A command like others: a queue that goes waits for it, too.
    zepi_timeline_submit(list->timeline);
    marker->has_failed = result != ZEPI_SUCCESS;
    return result;
}

void zepi_marker_give(struct zepi_event *marker)
{
    if (marker)
        zepi_event_cache_return(marker->cache, marker);
}

static zepi_result_t wait_for_marker(struct zepi_event *marker)
{
    const zepi_result_t result = ZEPI_ZE(zeEventHostSynchronize, marker->ze, UINT64_MAX);
    if (result != ZEPI_SUCCESS)
        return result;
    zepi_event_set_complete(marker);
    zepi_timeline_reach(marker->point.timeline, marker->point.seqno);
    return ZEPI_SUCCESS;
}

// ---- Waits ----

static zepi_result_t wait_for_lists(struct zepi_queue *queue, uint32_t count,
                                    struct zepi_command_list **lists)
{
    struct zepi_event *markers[ZEPI_QUEUE_MAX_LISTS] = {NULL};
    zepi_result_t result = ZEPI_SUCCESS;
    // All before the first wait: commands of one list may wait for those of another. All events
    // before the first marker: a poll for lack of events appends probes, which would come behind
    // it, and memory that was freed would wait for them.
    zepi_mutex_lock(&queue->mutex);
    for (uint32_t i = 0; i < count && result == ZEPI_SUCCESS; i++) {
        if (!zepi_timeline_is_idle(lists[i]->timeline))
            result = zepi_marker_begin_locked(lists[i], &markers[i]);
    }
    for (uint32_t i = 0; i < count && result == ZEPI_SUCCESS; i++) {
        if (markers[i])
            result = zepi_marker_append_locked(lists[i], markers[i], 0, NULL);
    }
    zepi_mutex_unlock(&queue->mutex);
    for (uint32_t i = 0; i < count; i++) {
        if (result == ZEPI_SUCCESS && markers[i])
            result = wait_for_marker(markers[i]);
        zepi_marker_give(markers[i]);
    }
    return result;
}

// Under the mutex (quirk hasty-synchronize). Lists whose commands are complete have some time to
// say so.
static zepi_result_t synchronize_list_locked(struct zepi_command_list *list,
                                             const struct zepi_ze_optional *optional)
{
    const struct zepi_point now = zepi_timeline_now(list->timeline);
    if (list->synchronized == now.seqno)
        return ZEPI_SUCCESS;
    const ze_result_t ze = optional->command_list_host_synchronize(
        optional->command_list_host_synchronize_is_drivers ? list->driver_ze : list->ze,
        zepi_point_is_reached(now) ? LAST_TIMEOUT_NS : 0);
    if (ze == ZE_RESULT_SUCCESS)
        list->synchronized = now.seqno;
    return ze == ZE_RESULT_NOT_READY ? ZEPI_SUCCESS
                                     : zepi_check_ze(ze, "zeCommandListHostSynchronize");
}

// Asks the driver for each list that has commands since it was asked last, and notes what is over.
static zepi_result_t synchronize_lists(const struct zepi_ze_optional *optional,
                                       struct zepi_queue *queue)
{
    struct zepi_point points[ZEPI_QUEUE_MAX_LISTS];
    const uint32_t count = queue->list_count;
    zepi_result_t result = ZEPI_SUCCESS;
    zepi_mutex_lock(&queue->mutex);
    for (uint32_t i = 0; i < count && result == ZEPI_SUCCESS; i++)
        result = synchronize_list_locked(queue->lists[i], optional);
    for (uint32_t i = 0; i < count; i++)
        points[i] = (struct zepi_point){queue->lists[i]->timeline, queue->lists[i]->synchronized};
    zepi_mutex_unlock(&queue->mutex);
    for (uint32_t i = 0; i < count; i++)
        zepi_timeline_reach(points[i].timeline, points[i].seqno);
    return result;
}

static zepi_result_t wait_for_queue(struct zepi_queue *queue, bool is_for_output)
{
    const struct zepi_ze_optional *optional = &queue->device->platform->optional;
    const bool can_ask = optional->command_list_host_synchronize != NULL;
    // One call of the driver is all that a list costs whose commands are over.
    zepi_result_t result = can_ask ? synchronize_lists(optional, queue) : ZEPI_SUCCESS;
    if (result != ZEPI_SUCCESS || zepi_queue_is_idle(queue))
        return result;
    result = wait_for_lists(queue, queue->list_count, queue->lists);
    return result == ZEPI_SUCCESS && can_ask && is_for_output ? synchronize_lists(optional, queue)
                                                              : result;
}

zepi_result_t zepi_queue_wait_for_commands(struct zepi_queue *queue)
{
    return zepi_queue_is_idle(queue) ? ZEPI_SUCCESS : wait_for_queue(queue, false);
}

zepi_result_t zepi_queue_wait(struct zepi_queue *queue)
{
    return wait_for_queue(queue, true);
}

// ---- Polls ----

// Whether the probe is over; gives it back then, and notes how far the list is.
static bool list_end_probe(struct zepi_command_list *list, uint64_t timeout_ns)
{
    struct zepi_event *probe = list->probe;
    const ze_result_t ze = timeout_ns > 0 ? zepi_ze.zeEventHostSynchronize(probe->ze, timeout_ns)
                                          : zepi_event_query(probe);
    if (ze != ZE_RESULT_SUCCESS)
        return false;
    const struct zepi_point point = probe->point;
    zepi_event_set_complete(probe);
    list->probe = NULL;
    zepi_marker_give(probe);
    zepi_timeline_reach(point.timeline, point.seqno);
    return true;
}

static bool list_append_probe(struct zepi_command_list *list)
{
    struct zepi_event *probe;
    zepi_mutex_lock(&list->queue->mutex);
    zepi_result_t result = zepi_marker_begin_locked(list, &probe);
    if (result == ZEPI_SUCCESS)
        result = zepi_marker_append_locked(list, probe, 0, NULL);
    zepi_mutex_unlock(&list->queue->mutex);
    if (result == ZEPI_SUCCESS)
        list->probe = probe;
    else
        zepi_marker_give(probe);
    return result == ZEPI_SUCCESS;
}

// A list that never runs dry has one probe in it at most.
static void command_list_poll(struct zepi_command_list *list, uint64_t timeout_ns)
{
    // Acquire, and release below: the probe as the last thread left it.
    if (atomic_exchange_explicit(&list->is_polled, true, memory_order_acquire))
        return;
    if ((!list->probe || list_end_probe(list, timeout_ns)) &&
        !zepi_timeline_is_idle(list->timeline) && list_append_probe(list))
        list_end_probe(list, timeout_ns);
    atomic_store_explicit(&list->is_polled, false, memory_order_release);
}

// For sync/: a release, or an allocation, reports no error of this.
static void poll_list_of_timeline(void *owner, uint64_t timeout_ns)
{
    struct zepi_command_list *list = owner;
    struct zepi_error error;
    zepi_error_save(&error);
    if (timeout_ns == UINT64_MAX)
        wait_for_lists(list->queue, 1, &list);
    else
        command_list_poll(list, timeout_ns);
    zepi_error_restore(&error);
}

bool zepi_queue_poll(struct zepi_queue *queue)
{
    const struct zepi_ze_optional *optional = &queue->device->platform->optional;
    struct zepi_error error;
    if (zepi_queue_is_idle(queue))
        return true;
    // One call for each list, and no probe. The next wait reports a failure.
    if (optional->command_list_host_synchronize) {
        zepi_error_save(&error);
        synchronize_lists(optional, queue);
        zepi_error_restore(&error);
        return zepi_queue_is_idle(queue);
    }
    for (uint32_t i = 0; i < queue->list_count; i++) {
        if (!zepi_timeline_is_idle(queue->lists[i]->timeline))
            poll_list_of_timeline(queue->lists[i], 0);
    }
    return zepi_queue_is_idle(queue);
}

// ---- Lists that come and go ----

zepi_result_t zepi_command_list_attach(struct zepi_command_list *list, struct zepi_queue *queue)
{
    const bool is_ordered = (queue->flags & ZEPI_QUEUE_IN_ORDER) ||
                            (list->kind.flags & ZEPI_ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
    list->queue = queue;
    const zepi_result_t result =
        zepi_timeline_add(zepi_sync_of(queue->context), list, poll_list_of_timeline, &queue->mutex,
                          is_ordered, &list->timeline);
    if (result != ZEPI_SUCCESS)
        return result;
    // A timeline goes on counting where its last list ended.
    list->synchronized = zepi_timeline_now(list->timeline).seqno;
    return ZEPI_SUCCESS;
}

bool zepi_queue_detach_lists(struct zepi_queue *queue)
{
    for (uint32_t i = 0; i < queue->list_count; i++)
        zepi_timeline_leave(queue->lists[i]->timeline);
    // For probes that another thread appended meanwhile.
    zepi_queue_wait(queue);
    const bool is_idle = zepi_queue_is_idle(queue);
    for (uint32_t i = 0; i < queue->list_count; i++) {
        struct zepi_command_list *list = queue->lists[i];
        if (is_idle && list->probe)
            zepi_event_set_complete(list->probe);
        zepi_marker_give(list->probe);
        list->probe = NULL;
        zepi_timeline_remove(list->timeline);
        list->timeline = NULL;
        list->queue = NULL;
    }
    return is_idle;
}

// ---- Objects of other contexts ----

struct later_release {
    struct zepi_deferred deferred;
    void *object; // a reference
};

static void release_now(struct zepi_deferred *deferred)
{
    struct later_release *later = (struct later_release *)deferred;
    zepi_release(later->object);
    zepi_free(later);
}

void zepi_queue_release_later(struct zepi_queue *queue, void *object)
{
    struct later_release *later = zepi_allocate(1, sizeof(*later));
    if (!later) {
        zepi_queue_wait(queue);
        return;
    }
    later->deferred.bytes = ZEPI_DEFERRED_EVENT_BYTES;
    later->deferred.run = release_now;
    later->object = zepi_retain(object);
    zepi_defer(queue->context, &later->deferred);
}
