// SPDX-License-Identifier: MIT
#include "queue/native_list.h"

#include "base/alloc.h"
#include "base/ze.h"
#include "device/context.h"
#include "device/device.h"
#include "queue/event.h"

// ---- The list ----

static void list_release(struct zepi_native_list *list)
{
    // Acquire and release: what others did with the queue is over before it goes.
    if (atomic_fetch_sub_explicit(&list->references, 1, memory_order_acq_rel) > 1)
        return;
    if (list->queue)
        zepi_ze.zeCommandQueueDestroy(list->queue);
    if (list->ze)
        zepi_ze.zeCommandListDestroy(list->ze);
    zepi_free(list);
}

static void list_destroy_now(struct zepi_retired *retired)
{
    list_release((struct zepi_native_list *)retired);
}

void zepi_native_list_destroy(struct zepi_native_list *list)
{
    if (!list)
        return;
    list->retired.weight = ZEPI_RETIRE_WEIGHT_HANDLE;
    list->retired.destroy = list_destroy_now;
    zepi_retire_later(&list->context->retire, &list->retired);
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

zepi_result_t zepi_native_list_create(struct zepi_context *context, struct zepi_device *device,
                                      struct zepi_native_list **out_list)
{
    struct zepi_native_list *list = zepi_allocate(1, sizeof(*list));
    if (!list)
        return zepi_fail_no_memory();
    list->context = context;
    list->device = device;
    atomic_init(&list->references, 1);
    zepi_result_t result = create_list(list, &list->ze);
    if (result == ZEPI_SUCCESS)
        result = create_queue(list, &list->queue);
    if (result != ZEPI_SUCCESS) {
        list_destroy_now(&list->retired);
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
// that it runs in, the last signals one that this queue waits for.
struct run {
    struct zepi_retired retired;
    struct zepi_native_list *list; // reference
    ze_fence_handle_t fence;       // owned
    bool was_submitted;
    ze_command_list_handle_t lists[3]; // owned, but for the middle one; the first may be NULL
};

// Not a wait for the command queue: runs that wait for the host may have followed. Twice, as lists
// that are still being executed cannot be destroyed: a failure may be of the moment.
static void wait_for_run(const struct run *run)
{
    if (zepi_ze.zeFenceHostSynchronize(run->fence, UINT64_MAX) != ZE_RESULT_SUCCESS)
        zepi_ze.zeFenceHostSynchronize(run->fence, UINT64_MAX);
}

static void run_destroy(struct zepi_retired *retired)
{
    struct run *run = (struct run *)retired;
    // Its last event is signalled, but the command queue may not be done with the lists.
    if (run->was_submitted)
        wait_for_run(run);
    if (run->fence)
        zepi_ze.zeFenceDestroy(run->fence);
    for (int i = 0; i < 3; i += 2) {
        if (run->lists[i])
            zepi_ze.zeCommandListDestroy(run->lists[i]);
    }
    list_release(run->list);
    zepi_free(run);
}

// A list of one barrier: its own commands and those of lists around it keep to its sides.
static zepi_result_t make_barrier(const struct zepi_native_list *list, ze_event_handle_t signal,
                                  ze_event_handle_t wait, ze_command_list_handle_t *out_list)
{
    zepi_result_t result = create_list(list, out_list);
    if (result == ZEPI_SUCCESS)
        result = ZEPI_ZE(zeCommandListAppendBarrier, *out_list, signal, wait ? 1 : 0,
                         wait ? &wait : NULL);
    if (result == ZEPI_SUCCESS)
        result = ZEPI_ZE(zeCommandListClose, *out_list);
    return result;
}

static zepi_result_t run_create(struct zepi_native_list *list, struct zepi_event *before,
                                struct zepi_event *after, struct run **out_run)
{
    zepi_result_t result = ZEPI_SUCCESS;
    struct run *run = zepi_allocate(1, sizeof(*run));
    if (!run)
        return zepi_fail_no_memory();
    run->retired.weight = ZEPI_RETIRE_WEIGHT_HANDLE;
    run->retired.destroy = run_destroy;
    run->lists[1] = list->ze;
    // Relaxed: a reference is made from a reference.
    atomic_fetch_add_explicit(&list->references, 1, memory_order_relaxed);
    run->list = list;
    const ze_fence_desc_t fence = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
    result = ZEPI_ZE(zeFenceCreate, list->queue, &fence, &run->fence);
    if (result != ZEPI_SUCCESS)
        run->fence = NULL;
    if (result == ZEPI_SUCCESS && before) {
        // A command waits for it that no queue of ours knows of.
        atomic_store_explicit(&before->is_awaited, true, memory_order_relaxed);
        result = make_barrier(list, NULL, before->ze, &run->lists[0]);
    }
    if (result == ZEPI_SUCCESS)
        result = make_barrier(list, after->ze, NULL, &run->lists[2]);
    if (result != ZEPI_SUCCESS) {
        run_destroy(&run->retired);
        return result;
    }
    *out_run = run;
    return ZEPI_SUCCESS;
}

// Hands the lists over, and has the queue wait for the last.
static zepi_result_t submit(struct zepi_queue *queue, const struct zepi_native_list *list,
                            struct run *run, struct zepi_event *after, zepi_event_t *out_event)
{
    const uint32_t first = run->lists[0] ? 0 : 1;
    zepi_result_t result = ZEPI_ZE(zeCommandQueueExecuteCommandLists, list->queue, 3 - first,
                                   &run->lists[first], run->fence);
    if (result != ZEPI_SUCCESS)
        return result;
    run->was_submitted = true;
    result = zepi_queue_marker(queue, (zepi_wait_list_t){&after, 1}, out_event);
    // Who gets no event needs none, nor its memory, for the queue to know when the run is over. A
    // wait may never end: what the run waits for may be this thread's to do.
    if (result != ZEPI_SUCCESS &&
        (!out_event ||
         zepi_queue_marker(queue, (zepi_wait_list_t){&after, 1}, NULL) != ZEPI_SUCCESS))
        wait_for_run(run);
    return result;
}

zepi_result_t zepi_queue_run_native(zepi_queue_t queue, struct zepi_native_list *list,
                                    zepi_wait_list_t wait, zepi_event_t *out_event)
{
    const bool follows = wait.count > 0 || (queue->flags & ZEPI_QUEUE_IN_ORDER);
    zepi_event_t before = NULL;
    zepi_event_t after = NULL;
    struct run *run = NULL;
    zepi_result_t result = follows ? zepi_queue_marker(queue, wait, &before) : ZEPI_SUCCESS;
    if (result == ZEPI_SUCCESS)
        result = zepi_event_create(queue->context, &after);
    if (result == ZEPI_SUCCESS)
        result = run_create(list, before, after, &run);
    if (result == ZEPI_SUCCESS) {
        result = submit(queue, list, run, after, out_event);
        zepi_retire_later(&queue->context->retire, &run->retired);
    }
    zepi_release(before);
    zepi_release(after);
    return result;
}
