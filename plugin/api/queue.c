// SPDX-License-Identifier: MIT
// Queues, and their commands that move no bytes and launch nothing.
#include "api/api.h"
#include "api/check.h"
#include "core/interface.h"
#include "device/device.h"
#include "memory/usm.h"
#include "queue/command/allocate.h"
#include "queue/command/barrier.h"
#include "queue/command/host_function.h"
#include "queue/progress.h"
#include "queue/queue_create.h"

static zepi_result_t check_queue_flags(zepi_queue_flags_t flags)
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

static zepi_result_t check_engine(const struct zepi_device *device, uint32_t compute_engine)
{
    if (compute_engine == ZEPI_COMPUTE_ENGINE_ANY || compute_engine < device->compute_count)
        return ZEPI_SUCCESS;
    return zepi_fail(ZEPI_ERROR_INVALID_VALUE, "compute engine %u: device '%s' has %u",
                     compute_engine, device->properties.name, device->compute_count);
}

zepi_result_t zepi_api_queue_create_on_engine(zepi_context_t context, zepi_device_t device,
                                              zepi_queue_flags_t flags, uint32_t compute_engine,
                                              zepi_queue_t *out_queue)
{
    zepi_result_t result;
    if ((result = zepi_api_check_context_device(context, device)) ||
        (result = check_queue_flags(flags)) || (result = check_engine(device, compute_engine)) ||
        (result = zepi_api_check_output(out_queue, "output for the queue")))
        return result;
    return zepi_queue_create(context, device, flags, compute_engine, out_queue);
}

zepi_result_t zepi_api_queue_create(zepi_context_t context, zepi_device_t device,
                                    zepi_queue_flags_t flags, zepi_queue_t *out_queue)
{
    return zepi_api_queue_create_on_engine(context, device, flags, ZEPI_COMPUTE_ENGINE_ANY,
                                           out_queue);
}

zepi_result_t zepi_api_queue_get_info(zepi_queue_t queue, zepi_queue_info_t *out_info)
{
    const zepi_result_t result = zepi_check_object(queue, &zepi_queue_type);
    if (result != ZEPI_SUCCESS)
        return result;
    const zepi_queue_info_t info = {.context = queue->context,
                                    .device = queue->device,
                                    .flags = queue->flags,
                                    .is_empty = zepi_queue_is_idle(queue),
                                    .has_in_order_list = queue->has_in_order_list,
                                    .compute_engine = queue->compute_engine};
    return zepi_copy_info(out_info, &info, sizeof(info));
}

zepi_result_t zepi_api_queue_finish(zepi_queue_t queue)
{
    const zepi_result_t result = zepi_check_object(queue, &zepi_queue_type);
    return result ? result : zepi_queue_finish(queue);
}

zepi_result_t zepi_api_queue_get_native(zepi_queue_t queue, void **out_native_handle)
{
    const zepi_result_t result =
        zepi_api_check_pointer(queue, &zepi_queue_type, out_native_handle, "output for the handle");
    return result ? result : zepi_queue_get_native(queue, out_native_handle);
}

zepi_result_t zepi_api_queue_barrier(zepi_queue_t queue, zepi_wait_list_t wait,
                                     zepi_event_t *out_event)
{
    const zepi_result_t result = zepi_api_check_command(queue, wait);
    return result ? result : zepi_queue_barrier(queue, wait, out_event);
}

zepi_result_t zepi_api_queue_marker(zepi_queue_t queue, zepi_wait_list_t wait,
                                    zepi_event_t *out_event)
{
    const zepi_result_t result = zepi_api_check_command(queue, wait);
    return result ? result : zepi_queue_marker(queue, wait, out_event);
}

zepi_result_t zepi_api_queue_call_host(zepi_queue_t queue, zepi_host_function_fn *function,
                                       void *data, zepi_wait_list_t wait, zepi_event_t *out_event)
{
    zepi_result_t result;
    if ((result = zepi_api_check_command(queue, wait)) ||
        (!function && (result = zepi_api_check_output(NULL, "function of the host"))))
        return result;
    return zepi_queue_call_host(queue, function, data, wait, out_event);
}

// ---- Memory in the order of a queue ----

zepi_result_t zepi_api_queue_allocate(zepi_queue_t queue, zepi_pool_t pool, zepi_usm_kind_t kind,
                                      size_t size_bytes, size_t alignment_bytes,
                                      zepi_wait_list_t wait, void **out_memory,
                                      zepi_event_t *out_event)
{
    zepi_result_t result;
    if ((result = zepi_api_check_command(queue, wait)) ||
        (pool && (result = zepi_check_object(pool, &zepi_pool_type))) ||
        (pool && pool->context != queue->context &&
         (result = zepi_fail(ZEPI_ERROR_INVALID_OBJECT, "the pool is of another context"))) ||
        (result = zepi_api_check_output(out_memory, "output for the memory")))
        return result;
    const struct zepi_usm_alloc_desc desc = {.device = kind == ZEPI_USM_HOST ? NULL : queue->device,
                                             .kind = kind,
                                             .size_bytes = size_bytes,
                                             .alignment_bytes = alignment_bytes};
    if ((result = zepi_api_check_usm_desc(queue->context, &desc)))
        return result;
    return zepi_queue_allocate(queue, pool, kind, size_bytes, alignment_bytes, wait, out_memory,
                               out_event);
}

zepi_result_t zepi_api_queue_free(zepi_queue_t queue, void *memory, zepi_wait_list_t wait,
                                  zepi_event_t *out_event)
{
    zepi_result_t result;
    if ((result = zepi_api_check_command(queue, wait)) ||
        (result = zepi_api_check_output(memory, "memory")))
        return result;
    return zepi_queue_free(queue, memory, wait, out_event);
}
