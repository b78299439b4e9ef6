// SPDX-License-Identifier: MIT
#include "queue/queue_wait.h"

#include "device/context.h"
#include "device/device.h"
#include "device/platform.h"
#include "queue/completion_events.h"
#include "queue/list_events.h"
#include "ze/ze.h"

// For how long a wait allows a list whose commands are complete to report that.
#define LAST_PATIENCE_NS 100000000

// Waits for a queue of any lists: appends an event to each, and waits for these.
static zepi_result_t wait_by_events(struct zepi_queue *queue)
{
    struct zepi_list_events events;
    struct zepi_command_list *lists[ZEPI_QUEUE_MAX_LISTS];
    const uint32_t count = zepi_queue_list_lists(queue, lists);
    zepi_result_t result = zepi_list_events_take(queue, count, &events);
    if (result != ZEPI_SUCCESS) {
        zepi_list_events_give(&events, zepi_event_slot_give);
        return result;
    }
    zepi_mutex_lock(&queue->mutex);
    for (uint32_t i = 0; i < count && result == ZEPI_SUCCESS; i++)
        result = zepi_list_events_signal(&events, i, lists[i], 0, NULL);
    zepi_mutex_unlock(&queue->mutex);
    for (uint32_t i = 0; i < count && result == ZEPI_SUCCESS; i++)
        result = ZEPI_ZE(zeEventHostSynchronize, events.handles[i], UINT64_MAX);
    zepi_list_events_give(&events,
                          result == ZEPI_SUCCESS ? zepi_event_slot_give : zepi_event_slot_defer);
    return result;
}

static ze_result_t synchronize_list(const struct zepi_ze_optional *optional,
                                    const struct zepi_command_list *list, uint64_t timeout_ns)
{
    return optional->command_list_host_synchronize(
        optional->is_synchronize_drivers ? list->driver_ze : list->ze, timeout_ns);
}

// Waits for lists without order, or where the driver has not the quirk hasty-synchronize.
static zepi_result_t wait_by_lists(struct zepi_queue *queue,
                                   const struct zepi_ze_optional *optional)
{
    struct zepi_command_list *lists[ZEPI_QUEUE_MAX_LISTS];
    const uint32_t count = zepi_queue_list_lists(queue, lists);
    zepi_result_t result = ZEPI_SUCCESS;
    for (uint32_t i = 0; i < count && result == ZEPI_SUCCESS; i++)
        result = zepi_check_ze(synchronize_list(optional, lists[i], UINT64_MAX),
                               "zeCommandListHostSynchronize");
    return result;
}

// Waits for in-order lists with events of the counter. The driver can wait for such a list, but
// under the mutex alone, as in query_lists_are_empty, which would keep other threads from
// submitting. Instead each list says how far its counter has to come, in an event, which is no
// command for the driver.
static zepi_result_t wait_by_counters(struct zepi_queue *queue)
{
    struct zepi_command_list *lists[ZEPI_QUEUE_MAX_LISTS];
    const uint32_t count = zepi_queue_list_lists(queue, lists);
    zepi_result_t result = ZEPI_SUCCESS;
    zepi_mutex_lock(&queue->wait_mutex);
    zepi_mutex_lock(&queue->mutex);
    for (uint32_t i = 0; i < count && result == ZEPI_SUCCESS; i++)
        result =
            ZEPI_ZE(zeCommandListAppendBarrier, lists[i]->ze, lists[i]->wait_event->ze, 0, NULL);
    zepi_mutex_unlock(&queue->mutex);
    for (uint32_t i = 0; i < count && result == ZEPI_SUCCESS; i++)
        result = ZEPI_ZE(zeEventHostSynchronize, lists[i]->wait_event->ze, UINT64_MAX);
    zepi_mutex_unlock(&queue->wait_mutex);
    return result;
}

static bool are_lists_without_order(const struct zepi_queue *queue)
{
    const struct zepi_command_list *list = queue->lists[0];
    // A list of the host's does not tell.
    return !(list->kind.flags & ZEPI_ZE_COMMAND_QUEUE_FLAG_IN_ORDER) &&
           !atomic_load_explicit(&list->is_exported, memory_order_relaxed);
}

zepi_result_t zepi_queue_wait_for_commands(struct zepi_queue *queue)
{
    const struct zepi_ze_optional *optional = &queue->device->platform->optional;
    const bool is_hasty = queue->device->platform->quirks.bits & ZEPI_QUIRK_HASTY_SYNCHRONIZE;
    struct zepi_context *context = queue->context;
    zepi_result_t result;
    if (zepi_completion_point_is_idle(queue->completion))
        return ZEPI_SUCCESS;
    const struct zepi_completion_mark mark =
        zepi_completion_begin_wait(zepi_completion_points_of(context), queue->completion);
    const bool has_synchronize = optional->command_list_host_synchronize != NULL;
    if (queue->lists[0]->wait_event && (is_hasty || !has_synchronize))
        result = wait_by_counters(queue);
    else if (has_synchronize && (!is_hasty || are_lists_without_order(queue)))
        result = wait_by_lists(queue, optional);
    else
        result = wait_by_events(queue);
    if (result == ZEPI_SUCCESS)
        zepi_deferred_end_wait(context, queue->completion, mark);
    return result;
}

// Under the mutex (quirk hasty-synchronize). Lists whose commands are complete have
// `last_patience_ns` each to say so.
static zepi_result_t query_lists_are_empty(struct zepi_queue *queue,
                                           const struct zepi_ze_optional *optional,
                                           uint64_t last_patience_ns, bool *out_is_empty)
{
    struct zepi_command_list *lists[ZEPI_QUEUE_MAX_LISTS];
    const uint32_t count = zepi_queue_list_lists(queue, lists);
    ze_result_t ze = ZE_RESULT_SUCCESS;
    zepi_mutex_lock(&queue->mutex);
    const uint64_t patience_ns =
        zepi_completion_point_is_idle(queue->completion) ? last_patience_ns : 0;
    for (uint32_t i = 0; i < count && ze == ZE_RESULT_SUCCESS; i++)
        ze = synchronize_list(optional, lists[i], patience_ns);
    *out_is_empty = ze == ZE_RESULT_SUCCESS;
    if (*out_is_empty)
        atomic_store_explicit(
            &queue->synchronized,
            atomic_load_explicit(&queue->completion->submitted, memory_order_relaxed),
            memory_order_relaxed);
    zepi_mutex_unlock(&queue->mutex);
    return ze == ZE_RESULT_NOT_READY ? ZEPI_SUCCESS
                                     : zepi_check_ze(ze, "zeCommandListHostSynchronize");
}

zepi_result_t zepi_queue_wait(struct zepi_queue *queue)
{
    const struct zepi_ze_optional *optional = &queue->device->platform->optional;
    bool is_empty;
    const zepi_result_t result = zepi_queue_wait_for_commands(queue);
    if (result != ZEPI_SUCCESS || !optional->command_list_host_synchronize ||
        atomic_load_explicit(&queue->synchronized, memory_order_relaxed) ==
            atomic_load_explicit(&queue->completion->submitted, memory_order_relaxed))
        return result;
    return query_lists_are_empty(queue, optional, LAST_PATIENCE_NS, &is_empty);
}

// Notes in the completion point if everything submitted before is complete.
static zepi_result_t query_queue_is_idle(struct zepi_queue *queue,
                                         const struct zepi_ze_optional *optional)
{
    struct zepi_context *context = queue->context;
    const struct zepi_completion_mark mark =
        zepi_completion_begin_wait(zepi_completion_points_of(context), queue->completion);
    bool is_empty;
    const zepi_result_t result = query_lists_are_empty(queue, optional, 0, &is_empty);
    if (result == ZEPI_SUCCESS && is_empty)
        zepi_deferred_end_wait(context, queue->completion, mark);
    return result;
}

zepi_result_t zepi_queue_ask_empty(struct zepi_queue *queue, bool *out_is_empty)
{
    const struct zepi_ze_optional *optional = &queue->device->platform->optional;
    zepi_result_t result = ZEPI_SUCCESS;
    if (zepi_completion_point_is_idle(queue->completion) ||
        !optional->command_list_host_synchronize)
        // Looks at the last completion events, and appends others if there are none.
        zepi_completion_events_look(queue, 0);
    else
        result = query_queue_is_idle(queue, optional);
    if (result == ZEPI_SUCCESS)
        *out_is_empty = zepi_completion_point_is_idle(queue->completion);
    return result;
}

// A queue that was idle by then, as events of other threads showed, counts as waited for, too.
static void look_until_complete(struct zepi_queue *queue)
{
    const struct zepi_completion_mark mark =
        zepi_completion_begin_wait(zepi_completion_points_of(queue->context), queue->completion);
    if (zepi_queue_wait(queue) == ZEPI_SUCCESS)
        zepi_deferred_end_wait(queue->context, queue->completion, mark);
}

void zepi_queue_look(struct zepi_queue *queue, uint64_t patience_ns)
{
    const struct zepi_ze_optional *optional = &queue->device->platform->optional;
    struct zepi_error error;
    zepi_error_save(&error);
    if (patience_ns == UINT64_MAX)
        look_until_complete(queue);
    else if (optional->command_list_host_synchronize)
        query_queue_is_idle(queue, optional);
    zepi_error_restore(&error);
    // Of a queue that never runs dry, too.
    if (patience_ns < UINT64_MAX && !zepi_completion_point_is_idle(queue->completion))
        zepi_completion_events_look(queue, patience_ns);
}
