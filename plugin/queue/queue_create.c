// SPDX-License-Identifier: MIT
#include "queue/queue_create.h"

#include "device/context.h"
#include "device/device.h"
#include "device/platform.h"
#include "memory/pool.h"
#include "queue/capture_command.h"
#include "queue/command_list.h"
#include "queue/progress.h"
#include "ze/ze.h"

static void queue_destroy(void *object)
{
    struct zepi_queue *queue = object;
    struct zepi_capture *capture = atomic_load_explicit(&queue->capture, memory_order_relaxed);
    if (capture)
        capture->functions->leave(queue);
    zepi_queue_wait(queue);
    const bool is_idle = zepi_queue_detach_lists(queue);
    // The next queue gets the one that was given last first, and then the one after it.
    for (uint32_t i = queue->list_count; i-- > 0;)
        zepi_command_list_give(queue->lists[i], is_idle);
    zepi_queue_number_give(queue->context, queue->number);
    zepi_release(queue->context);
}

ZEPI_DEFINE_TYPE(queue, queue_destroy);

// Of the integrated GPUs all have the quirk, of the others those before Xe HPC.
static bool waits_for_engine(const struct zepi_device *device)
{
    return device->platform->quirks.bits & ZEPI_QUIRK_WAITS_FOR_ENGINE &&
           (device->properties.flags & ZE_DEVICE_PROPERTY_FLAG_INTEGRATED ||
            device->ip_version < ZEPI_QUIRK_IP_XE_HPC);
}

// Whether the driver's lists keep the order. With times they do not do so on a device of several
// tiles (quirk tiles-run-ahead), and elsewhere their events cannot be asked (waits-for-engine).
static bool has_ordered_lists(const struct zepi_device *device, zepi_queue_flags_t flags)
{
    return device->platform->optional.has_in_order_lists &&
           !(flags & ZEPI_QUEUE_PROFILING &&
             (device->sub_device_count > 1 || waits_for_engine(device)));
}

static enum zepi_event_kind event_kind_of(const struct zepi_queue *queue)
{
    const struct zepi_ze_optional *optional = &queue->device->platform->optional;
    unsigned kind = ZEPI_EVENT_PLAIN;
    if (queue->flags & ZEPI_QUEUE_PROFILING)
        kind |= ZEPI_EVENT_TIMED;
    if (has_ordered_lists(queue->device, queue->flags) && optional->has_counter_based_events)
        kind |= ZEPI_EVENT_COUNTER;
    return kind;
}

static ze_command_queue_priority_t queue_priority_of(const struct zepi_queue *queue)
{
    return queue->flags & ZEPI_QUEUE_PRIORITY_LOW    ? ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_LOW
           : queue->flags & ZEPI_QUEUE_PRIORITY_HIGH ? ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH
                                                     : ZE_COMMAND_QUEUE_PRIORITY_NORMAL;
}

static ze_command_queue_flags_t list_flags_of_queue(const struct zepi_queue *queue,
                                                    uint32_t ordinal, enum zepi_event_kind events)
{
    const struct zepi_device *device = queue->device;
    ze_command_queue_flags_t flags = 0;
    // In a queue without order, too: its parallel commands are in different lists, and events of
    // the counter are worth more than parallel commands in one list.
    if (queue->has_in_order_list || events & ZEPI_EVENT_COUNTER)
        flags |= ZEPI_ZE_COMMAND_QUEUE_FLAG_IN_ORDER;
    // The driver then chooses the engine for each copy and fill (quirk copies-without-hint).
    if (ordinal == device->compute_ordinal && device->platform->optional.has_copy_offload_hint)
        flags |= ZEPI_ZE_COMMAND_QUEUE_FLAG_COPY_OFFLOAD_HINT;
    return flags;
}

// Consumes the reference to the list.
static zepi_result_t queue_add_list(struct zepi_queue *queue, struct zepi_command_list *list)
{
    const zepi_result_t result = zepi_command_list_attach(list, queue);
    if (result == ZEPI_SUCCESS)
        queue->lists[queue->list_count++] = list;
    else
        zepi_command_list_give(list, true);
    return result;
}

static zepi_result_t queue_take_list(struct zepi_queue *queue, uint32_t ordinal, uint32_t index)
{
    const enum zepi_event_kind events = event_kind_of(queue);
    const struct zepi_command_list_kind kind = {.device = queue->device,
                                                .ordinal = ordinal,
                                                .index = index,
                                                .flags =
                                                    list_flags_of_queue(queue, ordinal, events),
                                                .priority = queue_priority_of(queue),
                                                .events = events};
    struct zepi_command_list *list;
    const zepi_result_t result = zepi_command_list_take(queue->context, &kind, &list);
    return result == ZEPI_SUCCESS ? queue_add_list(queue, list) : result;
}

static void queue_link_lists(struct zepi_queue *queue)
{
    for (uint32_t i = 0; i < queue->list_count; i++)
        queue->lists[i]->next = queue->lists[(i + 1) % queue->list_count];
    queue->next_list = queue->lists[0];
    queue->copy_list = queue->list_count == 1 ? queue->lists[0] : NULL;
}

static uint32_t compute_list_count(const struct zepi_queue *queue)
{
    const uint32_t engines = queue->device->compute_count;
    if (queue->flags & ZEPI_QUEUE_IN_ORDER)
        return 1;
    if (queue->compute_engine != ZEPI_COMPUTE_ENGINE_ANY || engines < ZEPI_QUEUE_MIN_LISTS)
        return ZEPI_QUEUE_MIN_LISTS;
    return engines < ZEPI_QUEUE_MAX_COMPUTE_LISTS ? engines : ZEPI_QUEUE_MAX_COMPUTE_LISTS;
}

static zepi_result_t queue_take_lists(struct zepi_queue *queue)
{
    const struct zepi_device *device = queue->device;
    const bool is_in_order = queue->flags & ZEPI_QUEUE_IN_ORDER;
    uint32_t engine = queue->compute_engine;
    const uint32_t count = compute_list_count(queue);
    for (uint32_t i = 0; i < count; i++) {
        const zepi_result_t result = queue_take_list(queue, device->compute_ordinal, engine);
        if (result != ZEPI_SUCCESS)
            return result;
        if (queue->compute_engine == ZEPI_COMPUTE_ENGINE_ANY)
            engine = (queue->lists[i]->kind.index + 1) % device->compute_count;
    }
    queue_link_lists(queue);
    if (is_in_order || device->copy_ordinal == UINT32_MAX)
        return ZEPI_SUCCESS;
    const zepi_result_t result = queue_take_list(queue, device->copy_ordinal, 0);
    if (result == ZEPI_SUCCESS)
        queue->copy_list = queue->lists[count];
    return result;
}

// A queue without lists. `keeps_order`: its lists do.
static struct zepi_queue *queue_create_empty(struct zepi_context *context,
                                             struct zepi_device *device, zepi_queue_flags_t flags,
                                             bool keeps_order)
{
    const bool is_in_order = flags & ZEPI_QUEUE_IN_ORDER;
    struct zepi_queue *queue = zepi_object_create(&zepi_queue_type);
    if (!queue)
        return NULL;
    queue->context = zepi_retain(context);
    queue->device = device;
    queue->device_index = zepi_context_device_index(context, device);
    queue->flags = flags;
    queue->compute_engine = ZEPI_COMPUTE_ENGINE_ANY;
    queue->has_in_order_list = is_in_order && keeps_order;
    queue->needs_barriers = is_in_order && !keeps_order;
    queue->is_plain = !queue->needs_barriers;
    queue->number = zepi_queue_number_take(context);
    return queue;
}

// `result`: of giving the queue its lists.
static zepi_result_t queue_hand_out(struct zepi_queue *queue, zepi_result_t result,
                                    zepi_queue_t *out_queue)
{
    struct zepi_error error;
    if (result == ZEPI_SUCCESS) {
        zepi_object_publish(queue);
        *out_queue = queue;
        return ZEPI_SUCCESS;
    }
    zepi_error_save(&error);
    zepi_release(queue);
    zepi_error_restore(&error);
    return result;
}

zepi_result_t zepi_queue_create_from_native(struct zepi_context *context,
                                            struct zepi_device *device, zepi_queue_flags_t flags,
                                            void *native_handle, zepi_ownership_t ownership,
                                            zepi_queue_t *out_queue)
{
    // Nothing tells whether the list keeps the order: barriers do.
    struct zepi_queue *queue = queue_create_empty(context, device, flags, false);
    if (!queue)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    const struct zepi_command_list_kind kind = {
        .device = device,
        .events = flags & ZEPI_QUEUE_PROFILING ? ZEPI_EVENT_TIMED : ZEPI_EVENT_PLAIN};
    struct zepi_command_list *list;
    zepi_result_t result =
        zepi_command_list_adopt(context, &kind, native_handle, ZEPI_OWNERSHIP_KEEP, &list);
    if (result == ZEPI_SUCCESS)
        result = queue_add_list(queue, list);
    if (result == ZEPI_SUCCESS) {
        list->ownership = ownership;
        queue_link_lists(queue);
    }
    return queue_hand_out(queue, result, out_queue);
}

zepi_result_t zepi_queue_create(zepi_context_t context, zepi_device_t device,
                                zepi_queue_flags_t flags, uint32_t compute_engine,
                                zepi_queue_t *out_queue)
{
    struct zepi_queue *queue =
        queue_create_empty(context, device, flags, has_ordered_lists(device, flags));
    if (!queue)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    queue->compute_engine = compute_engine;
    return queue_hand_out(queue, queue_take_lists(queue), out_queue);
}

// While a host's function records to it, the queue's list is one of the graph's.
zepi_result_t zepi_queue_finish(zepi_queue_t queue)
{
    if (zepi_queue_is_capturing(queue))
        return zepi_fail(ZEPI_ERROR_CAPTURE_UNSUPPORTED,
                         "the queue is in capture mode: there is nothing to wait for");
    const zepi_result_t result = zepi_queue_wait(queue);
    zepi_usm_trim_unused(queue->context);
    return result;
}

static zepi_result_t get_captured_native(struct zepi_queue *queue, void **out_native_handle)
{
    ze_command_list_handle_t list = NULL;
    struct zepi_capture *capture = zepi_capture_find(queue, (zepi_wait_list_t){NULL, 0});
    if (capture)
        list = capture->functions->get_list(capture);
    zepi_release(capture);
    if (!list)
        return zepi_fail(ZEPI_ERROR_CAPTURE_UNSUPPORTED,
                         "the queue is in capture mode: it has a command list in a native command "
                         "alone");
    *out_native_handle = list;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_queue_get_native(zepi_queue_t queue, void **out_native_handle)
{
    if (zepi_queue_is_capturing(queue))
        return get_captured_native(queue, out_native_handle);
    // The host may go on using it: it serves no other queue.
    atomic_store_explicit(&queue->lists[0]->is_exported, true, memory_order_relaxed);
    *out_native_handle = queue->lists[0]->ze;
    return ZEPI_SUCCESS;
}
