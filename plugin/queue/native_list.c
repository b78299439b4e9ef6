// SPDX-License-Identifier: MIT
#include "queue/native_list.h"

#include "core/alloc.h"
#include "device/context.h"
#include "device/device.h"
#include "queue/event.h"
#include "ze/ze.h"

// ---- The list ----

// Not a wait for the command queue: runs that wait for the host may have followed. Twice, as lists
// that are still being executed cannot be changed or destroyed: a failure may be of the moment.
static zepi_result_t wait_for_run(struct zepi_native_list *list)
{
    if (!list->is_submitted)
        return ZEPI_SUCCESS;
    ze_result_t ze = zepi_ze.zeFenceHostSynchronize(list->fence, UINT64_MAX);
    if (ze != ZE_RESULT_SUCCESS)
        ze = zepi_ze.zeFenceHostSynchronize(list->fence, UINT64_MAX);
    list->is_submitted = ze != ZE_RESULT_SUCCESS;
    return zepi_check_ze(ze, "zeFenceHostSynchronize");
}

static void list_destroy_now(struct zepi_deferred *deferred)
{
    struct zepi_native_list *list = (struct zepi_native_list *)deferred;
    // The last event is signalled, but the command queue may not be done with the lists.
    wait_for_run(list);
    if (list->fence)
        zepi_ze.zeFenceDestroy(list->fence);
    if (list->queue)
        zepi_ze.zeCommandQueueDestroy(list->queue);
    if (list->before)
        zepi_ze.zeCommandListDestroy(list->before);
    if (list->ze)
        zepi_ze.zeCommandListDestroy(list->ze);
    if (list->after)
        zepi_ze.zeCommandListDestroy(list->after);
    zepi_free(list);
}

void zepi_native_list_destroy(struct zepi_native_list *list)
{
    if (!list)
        return;
    list->deferred.weight = ZEPI_DEFERRED_WEIGHT_HANDLE;
    list->deferred.destroy = list_destroy_now;
    zepi_defer_free(list->context, &list->deferred);
}

static zepi_result_t create_list(const struct zepi_native_list *list,
                                 ze_command_list_handle_t *out_list)
{
    const ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
                                         .commandQueueGroupOrdinal = list->device->compute_ordinal};
    ze_command_list_handle_t ze;
    const zepi_result_t result =
        ZEPI_ZE(zeCommandListCreate, list->context->ze, list->device->ze, &desc, &ze);
    if (result == ZEPI_SUCCESS)
        *out_list = ze;
    return result;
}

static zepi_result_t create_queue(const struct zepi_native_list *list,
                                  ze_command_queue_handle_t *out_queue)
{
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .ordinal = list->device->compute_ordinal,
                                          .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    ze_command_queue_handle_t ze;
    const zepi_result_t result =
        ZEPI_ZE(zeCommandQueueCreate, list->context->ze, list->device->ze, &desc, &ze);
    if (result == ZEPI_SUCCESS)
        *out_queue = ze;
    return result;
}

static zepi_result_t create_fence(const struct zepi_native_list *list, ze_fence_handle_t *out_fence)
{
    const ze_fence_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
    ze_fence_handle_t ze;
    const zepi_result_t result = ZEPI_ZE(zeFenceCreate, list->queue, &desc, &ze);
    if (result == ZEPI_SUCCESS)
        *out_fence = ze;
    return result;
}

zepi_result_t zepi_native_list_create(struct zepi_context *context, struct zepi_device *device,
                                      struct zepi_native_list **out_list)
{
    struct zepi_native_list *list = zepi_allocate(1, sizeof(*list));
    if (!list)
        return zepi_fail_no_memory();
    list->context = context;
    list->device = device;
    zepi_result_t result = create_list(list, &list->ze);
    if (result == ZEPI_SUCCESS)
        result = create_list(list, &list->before);
    if (result == ZEPI_SUCCESS)
        result = create_list(list, &list->after);
    if (result == ZEPI_SUCCESS)
        result = create_queue(list, &list->queue);
    if (result == ZEPI_SUCCESS)
        result = create_fence(list, &list->fence);
    if (result != ZEPI_SUCCESS) {
        list_destroy_now(&list->deferred);
        return result;
    }
    *out_list = list;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_native_list_close(struct zepi_native_list *list)
{
    return ZEPI_ZE(zeCommandListClose, list->ze);
}

// ---- A run ----

// The list goes to a command queue between two of ours: the first waits for an event of the queue
// that it runs in, the last signals one that this queue waits for. A driver may write to lists as
// they are submitted (Intel's does, at the end of each): so the last run has to be over.
static zepi_result_t begin_run(struct zepi_native_list *list)
{
    const zepi_result_t result = wait_for_run(list);
    return result == ZEPI_SUCCESS ? ZEPI_ZE(zeFenceReset, list->fence) : result;
}

// A list of one barrier: its own commands and those of lists around it keep to its sides.
static zepi_result_t record_barrier(ze_command_list_handle_t ze, ze_event_handle_t signal,
                                    ze_event_handle_t wait)
{
    zepi_result_t result = ZEPI_ZE(zeCommandListReset, ze);
    if (result == ZEPI_SUCCESS)
        result = ZEPI_ZE(zeCommandListAppendBarrier, ze, signal, wait ? 1 : 0, wait ? &wait : NULL);
    return result == ZEPI_SUCCESS ? ZEPI_ZE(zeCommandListClose, ze) : result;
}

static zepi_result_t record_barriers(struct zepi_native_list *list, struct zepi_event *before,
                                     struct zepi_event *after)
{
    zepi_result_t result = ZEPI_SUCCESS;
    if (before) {
        // A command waits for it that no queue of ours knows of.
        atomic_store_explicit(&before->is_awaited, true, memory_order_relaxed);
        result = record_barrier(list->before, NULL, before->ze);
    }
    return result == ZEPI_SUCCESS ? record_barrier(list->after, after->ze, NULL) : result;
}

// Hands the lists over, and has the queue wait for the last.
static zepi_result_t submit(struct zepi_queue *queue, struct zepi_native_list *list,
                            bool has_before, struct zepi_event *after, zepi_event_t *out_event)
{
    ze_command_list_handle_t lists[] = {list->before, list->ze, list->after};
    const uint32_t first = has_before ? 0 : 1;
    zepi_result_t result = ZEPI_ZE(zeCommandQueueExecuteCommandLists, list->queue, 3 - first,
                                   &lists[first], list->fence);
    if (result != ZEPI_SUCCESS)
        return result;
    list->is_submitted = true;
    result = zepi_queue_marker(queue, (zepi_wait_list_t){&after, 1}, out_event);
    // A caller without an event needs none, nor its memory, for the queue to know when the run is
    // over. A wait may never end: what the run waits for may be this thread's to do.
    if (result != ZEPI_SUCCESS &&
        (!out_event ||
         zepi_queue_marker(queue, (zepi_wait_list_t){&after, 1}, NULL) != ZEPI_SUCCESS)) {
        struct zepi_error error;
        zepi_error_save(&error);
        wait_for_run(list);
        zepi_error_restore(&error);
    }
    return result;
}

zepi_result_t zepi_queue_run_native(zepi_queue_t queue, struct zepi_native_list *list,
                                    zepi_wait_list_t wait, zepi_event_t *out_event)
{
    const bool follows = wait.count > 0 || (queue->flags & ZEPI_QUEUE_IN_ORDER);
    zepi_event_t before = NULL;
    zepi_event_t after = NULL;
    zepi_result_t result = begin_run(list);
    if (result == ZEPI_SUCCESS && follows)
        result = zepi_queue_marker(queue, wait, &before);
    if (result == ZEPI_SUCCESS)
        result = zepi_event_create(queue->context, &after);
    if (result == ZEPI_SUCCESS)
        result = record_barriers(list, before, after);
    if (result == ZEPI_SUCCESS)
        result = submit(queue, list, before != NULL, after, out_event);
    zepi_release(before);
    zepi_release(after);
    return result;
}
