// SPDX-License-Identifier: MIT
#include "queue/queue.h"

#include "base/list.h"
#include "base/ze.h"
#include "device/context.h"
#include "device/device.h"
#include "device/platform.h"
#include "kernel/dispatch_memo.h"

static void queue_destroy(void *object)
{
    struct zepi_queue *queue = object;
    // Not there if a list could not be made.
    if (queue->retire.queue) {
        zepi_queue_wait(queue);
        zepi_retire_remove_queue(&queue->context->retire, &queue->retire);
        // For a probe that another thread sent meanwhile.
        zepi_queue_wait(queue);
        zepi_probe_finish(queue);
    }
    for (uint32_t i = 0; i < ZEPI_QUEUE_LISTS; i++) {
        if (queue->lists[i] && queue->ownership == ZEPI_OWNERSHIP_TRANSFER)
            zepi_ze.zeCommandListDestroy(queue->lists[i]);
    }
    if (queue->copy_list)
        zepi_ze.zeCommandListDestroy(queue->copy_list);
    zepi_queue_number_give(&queue->context->queue_numbers, queue->number);
    zepi_dispatch_memo_destroy(queue->memo);
    pthread_mutex_destroy(&queue->memo_mutex);
    zepi_release(queue->context);
}

ZEPI_DEFINE_TYPE(queue, queue_destroy);

static zepi_result_t check_flags(zepi_queue_flags_t flags)
{
    const zepi_queue_flags_t known = ZEPI_QUEUE_IN_ORDER | ZEPI_QUEUE_PROFILING |
                                     ZEPI_QUEUE_PRIORITY_LOW | ZEPI_QUEUE_PRIORITY_HIGH;
    const zepi_queue_flags_t both = ZEPI_QUEUE_PRIORITY_LOW | ZEPI_QUEUE_PRIORITY_HIGH;
    if (flags & ~known)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "queue flags 0x%x: only 0x%x are known", flags,
                         known);
    if ((flags & both) == both)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "a queue cannot have both high and low priority");
    return ZEPI_SUCCESS;
}

static zepi_result_t create_list(const struct zepi_queue *queue, uint32_t ordinal, uint32_t index,
                                 ze_command_list_handle_t *out_list)
{
    const ze_command_queue_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
        .ordinal = ordinal,
        .index = index,
        .flags = queue->has_in_order_list ? ZEPI_ZE_COMMAND_QUEUE_FLAG_IN_ORDER : 0,
        .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
        .priority = queue->flags & ZEPI_QUEUE_PRIORITY_LOW ? ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_LOW
                    : queue->flags & ZEPI_QUEUE_PRIORITY_HIGH
                        ? ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH
                        : ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
    ze_command_list_handle_t list;
    const zepi_result_t result =
        ZEPI_ZE(zeCommandListCreateImmediate, queue->context->ze, queue->device->ze, &desc, &list);
    if (result == ZEPI_SUCCESS)
        *out_list = list;
    return result;
}

static void choose_launch(struct zepi_queue *queue)
{
    const struct zepi_ze_optional *optional = &queue->device->platform->optional;
    queue->launch_number = ZEPI_NO_QUEUE_NUMBER;
    if (!optional->append_launch_kernel_with_arguments ||
        ((queue->flags & ZEPI_QUEUE_IN_ORDER) && !queue->has_in_order_list))
        return;
    queue->launch = optional->append_launch_kernel_with_arguments;
    queue->launch_number = queue->number;
    for (uint32_t i = 0; i < queue->list_count; i++)
        queue->launch_lists[i] =
            optional->is_launch_drivers ? queue->driver_lists[i] : queue->lists[i];
    queue->launch_takes_events =
        !optional->is_launch_drivers || queue->driver_lists[0] == queue->lists[0];
}

static zepi_result_t create_lists(struct zepi_queue *queue)
{
    const struct zepi_device *device = queue->device;
    const bool is_in_order = queue->flags & ZEPI_QUEUE_IN_ORDER;
    queue->list_count = is_in_order ? 1 : ZEPI_QUEUE_LISTS;
    queue->list_mask = queue->list_count - 1;
    for (uint32_t i = 0; i < queue->list_count; i++) {
        const zepi_result_t result = create_list(queue, device->compute_ordinal,
                                                 i % device->compute_count, &queue->lists[i]);
        if (result != ZEPI_SUCCESS)
            return result;
        queue->driver_lists[i] = zepi_ze_driver_handle(ZEL_HANDLE_COMMAND_LIST, queue->lists[i]);
    }
    if (is_in_order || device->copy_ordinal == UINT32_MAX)
        return ZEPI_SUCCESS;
    const zepi_result_t result = create_list(queue, device->copy_ordinal, 0, &queue->copy_list);
    if (result == ZEPI_SUCCESS)
        queue->driver_lists[ZEPI_QUEUE_LISTS] =
            zepi_ze_driver_handle(ZEL_HANDLE_COMMAND_LIST, queue->copy_list);
    return result;
}

static struct zepi_queue *create(struct zepi_context *context, struct zepi_device *device,
                                 uint32_t device_index, zepi_queue_flags_t flags)
{
    struct zepi_queue *queue = zepi_object_create(&zepi_queue_type);
    if (!queue)
        return NULL;
    queue->context = zepi_retain(context);
    queue->device = device;
    queue->device_index = device_index;
    queue->flags = flags;
    queue->ownership = ZEPI_OWNERSHIP_TRANSFER;
    queue->number = zepi_queue_number_take(&context->queue_numbers);
    pthread_mutex_init(&queue->memo_mutex, NULL);
    return queue;
}

zepi_result_t zepi_queue_create_from_native(struct zepi_context *context,
                                            struct zepi_device *device, zepi_queue_flags_t flags,
                                            void *native_handle, zepi_ownership_t ownership,
                                            zepi_queue_t *out_queue)
{
    const zepi_result_t result = check_flags(flags);
    if (result != ZEPI_SUCCESS)
        return result;
    if (!native_handle)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the native handle is NULL");
    struct zepi_queue *queue =
        create(context, device, zepi_context_device_index(context, device), flags);
    if (!queue)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    // Nothing tells whether the list keeps the order: barriers do.
    queue->ownership = ownership;
    queue->list_count = 1;
    queue->lists[0] = native_handle;
    queue->driver_lists[0] = zepi_ze_driver_handle(ZEL_HANDLE_COMMAND_LIST, native_handle);
    choose_launch(queue);
    zepi_retire_add_queue(&context->retire, &queue->retire, queue);
    *out_queue = queue;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_queue_create(zepi_context_t context, zepi_device_t device,
                                zepi_queue_flags_t flags, zepi_queue_t *out_queue)
{
    uint32_t index;
    zepi_result_t result = zepi_check_object(context, &zepi_context_type);
    if (result == ZEPI_SUCCESS)
        result = zepi_context_check_device(context, device, &index);
    if (result == ZEPI_SUCCESS)
        result = check_flags(flags);
    if (result != ZEPI_SUCCESS)
        return result;
    if (!out_queue)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the output for the queue is NULL");
    struct zepi_queue *queue = create(context, device, index, flags);
    if (!queue)
        return ZEPI_ERROR_OUT_OF_HOST_MEMORY;
    queue->has_in_order_list =
        (flags & ZEPI_QUEUE_IN_ORDER) && device->platform->optional.has_in_order_lists;
    result = create_lists(queue);
    if (result != ZEPI_SUCCESS) {
        struct zepi_error error;
        zepi_error_save(&error);
        zepi_release(queue);
        zepi_error_restore(&error);
        return result;
    }
    choose_launch(queue);
    zepi_retire_add_queue(&context->retire, &queue->retire, queue);
    *out_queue = queue;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_queue_get_info(zepi_queue_t queue, zepi_queue_info_t *out_info)
{
    const zepi_result_t result = zepi_check_object(queue, &zepi_queue_type);
    if (result != ZEPI_SUCCESS)
        return result;
    const zepi_queue_info_t info = {.context = queue->context,
                                    .device = queue->device,
                                    .flags = queue->flags,
                                    .is_empty = zepi_retire_is_idle(&queue->retire),
                                    .has_in_order_list = queue->has_in_order_list};
    return zepi_copy_info(out_info, &info, sizeof(info));
}

zepi_result_t zepi_queue_get_native(zepi_queue_t queue, void **out_native_handle)
{
    const zepi_result_t result = zepi_check_object(queue, &zepi_queue_type);
    if (result != ZEPI_SUCCESS)
        return result;
    if (!out_native_handle)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "the output for the handle is NULL");
    *out_native_handle = queue->lists[0];
    return ZEPI_SUCCESS;
}
