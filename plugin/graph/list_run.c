// SPDX-License-Identifier: MIT
#include "graph/list_run.h"

#include "core/alloc.h"
#include "device/context.h"
#include "device/device.h"
#include "queue/command/barrier.h"
#include "queue/command/event_times.h"
#include "queue/command_list.h"
#include "queue/event.h"
#include "ze/ze.h"

// ---- Queue, fence and lists ----

// Twice, as lists that are still being executed cannot be changed or destroyed: a failure may be of
// the moment.
zepi_result_t zepi_list_run_wait(struct zepi_list_run *run)
{
    if (!run->is_submitted)
        return ZEPI_SUCCESS;
    ze_result_t ze = zepi_ze.zeFenceHostSynchronize(run->fence, UINT64_MAX);
    if (ze != ZE_RESULT_SUCCESS)
        ze = zepi_ze.zeFenceHostSynchronize(run->fence, UINT64_MAX);
    run->is_submitted = ze != ZE_RESULT_SUCCESS;
    return zepi_check_ze(ze, "zeFenceHostSynchronize");
}

void zepi_list_run_destroy(struct zepi_list_run *run)
{
    if (!run)
        return;
    // The last event is signalled, but the command queue may not be done with the lists.
    zepi_list_run_wait(run);
    if (run->fence)
        zepi_ze.zeFenceDestroy(run->fence);
    if (run->queue)
        zepi_ze.zeCommandQueueDestroy(run->queue);
    // Unless they may still be used.
    if (run->before)
        zepi_command_list_give(run->before, !run->is_submitted);
    if (run->after)
        zepi_command_list_give(run->after, !run->is_submitted);
    zepi_free(run);
}

static zepi_result_t list_run_create_queue(struct zepi_list_run *run)
{
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .ordinal = run->device->compute_ordinal,
                                          .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    const ze_fence_desc_t fence_desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
    ze_command_queue_handle_t queue;
    ze_fence_handle_t fence;
    zepi_result_t result =
        ZEPI_ZE(zeCommandQueueCreate, run->context->ze, run->device->ze, &desc, &queue);
    if (result != ZEPI_SUCCESS)
        return result;
    run->queue = queue;
    result = ZEPI_ZE(zeFenceCreate, queue, &fence_desc, &fence);
    if (result == ZEPI_SUCCESS)
        run->fence = fence;
    return result;
}

zepi_result_t zepi_list_run_create(struct zepi_context *context, struct zepi_device *device,
                                   struct zepi_list_run **out_run)
{
    struct zepi_list_run *run = zepi_allocate(1, sizeof(*run));
    if (!run)
        return zepi_fail_no_memory();
    run->context = context;
    run->device = device;
    zepi_result_t result = zepi_closed_list_take(context, device, NULL, &run->before);
    if (result == ZEPI_SUCCESS)
        result = zepi_closed_list_take(context, device, NULL, &run->after);
    if (result == ZEPI_SUCCESS)
        result = list_run_create_queue(run);
    if (result != ZEPI_SUCCESS) {
        zepi_list_run_destroy(run);
        return result;
    }
    *out_run = run;
    return ZEPI_SUCCESS;
}

// ---- A run ----

// The first list waits for an event of the queue that the run belongs to, the last signals one that
// this queue waits for. Submission may write to them (quirk
// submission-writes-to-list): so the last run has to be over.
static zepi_result_t list_run_begin(struct zepi_list_run *run)
{
    const zepi_result_t result = zepi_list_run_wait(run);
    return result == ZEPI_SUCCESS ? ZEPI_ZE(zeFenceReset, run->fence) : result;
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

static zepi_result_t record_barriers(struct zepi_list_run *run, struct zepi_event *before,
                                     struct zepi_event *after)
{
    // A command waits for it that no queue of ours knows of.
    atomic_store_explicit(&before->is_awaited, true, memory_order_relaxed);
    const zepi_result_t result = record_barrier(run->before->ze, NULL, before->ze);
    return result == ZEPI_SUCCESS ? record_barrier(run->after->ze, after->ze, NULL) : result;
}

static zepi_result_t list_run_execute(struct zepi_list_run *run, uint32_t count,
                                      const ze_command_list_handle_t *lists)
{
    ze_command_list_handle_t *all = zepi_allocate((size_t)count + 2, sizeof(lists[0]));
    uint32_t total = 0;
    if (!all)
        return zepi_fail_no_memory();
    all[total++] = run->before->ze;
    for (uint32_t i = 0; i < count; i++)
        all[total++] = lists[i];
    all[total++] = run->after->ze;
    const zepi_result_t result =
        ZEPI_ZE(zeCommandQueueExecuteCommandLists, run->queue, total, all, run->fence);
    zepi_free(all);
    run->is_submitted = result == ZEPI_SUCCESS;
    return result;
}

// Has the queue wait for the run.
static zepi_result_t list_run_follow(struct zepi_list_run *run, struct zepi_queue *queue,
                                     struct zepi_event *after, zepi_event_t *out_event)
{
    const zepi_wait_list_t wait = {&after, 1};
    const zepi_result_t result = zepi_queue_marker(queue, wait, out_event);
    // A caller that gets no event needs none, nor its memory, for the queue to know when the run is
    // over. A wait may never end: the run may wait for an event that this thread is to signal.
    if (result != ZEPI_SUCCESS &&
        (!out_event || zepi_queue_marker(queue, wait, NULL) != ZEPI_SUCCESS)) {
        struct zepi_error error;
        zepi_error_save(&error);
        zepi_list_run_wait(run);
        zepi_error_restore(&error);
    }
    return result;
}

zepi_result_t zepi_list_run_start(struct zepi_list_run *run, struct zepi_queue *queue,
                                  uint32_t count, const ze_command_list_handle_t *lists,
                                  zepi_wait_list_t wait, zepi_event_t *out_event)
{
    // Times begin with the first of the barriers.
    const bool is_timed = out_event && (queue->flags & ZEPI_QUEUE_PROFILING);
    // In a queue that keeps no order, a run that waits for nothing follows barriers alone.
    const bool follows = wait.count > 0 || (queue->flags & ZEPI_QUEUE_IN_ORDER) || is_timed;
    zepi_event_t before = NULL;
    zepi_event_t after = NULL;
    zepi_result_t result = list_run_begin(run);
    if (result == ZEPI_SUCCESS)
        result = follows ? zepi_queue_marker(queue, wait, &before)
                         : zepi_queue_local_marker(queue, (zepi_wait_list_t){NULL, 0}, &before);
    if (result == ZEPI_SUCCESS)
        result = zepi_event_create(queue->context, &after);
    if (result == ZEPI_SUCCESS)
        result = record_barriers(run, before, after);
    if (result == ZEPI_SUCCESS)
        result = list_run_execute(run, count, lists);
    if (result == ZEPI_SUCCESS)
        result = list_run_follow(run, queue, after, out_event);
    if (result == ZEPI_SUCCESS && is_timed)
        zepi_event_set_begin(*out_event, before);
    zepi_release(before);
    zepi_release(after);
    return result;
}
