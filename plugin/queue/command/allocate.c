// SPDX-License-Identifier: MIT
#include "queue/command/allocate.h"

#include "device/device.h"
#include "memory/usm.h"
#include "queue/capture_command.h"
#include "queue/command/barrier.h"
#include "queue/command_list.h"
#include "queue/event.h"

// The points that the command comes after. Of a long wait list the first events count; the command
// waits for the others, too.
static struct zepi_usm_dependencies dependencies_of(const struct zepi_queue *queue,
                                                    zepi_wait_list_t wait)
{
    struct zepi_usm_dependencies dependencies = {0};
    if (queue->flags & ZEPI_QUEUE_IN_ORDER) {
        dependencies.points[0] = (struct zepi_point){queue->lists[0]->timeline, UINT64_MAX};
        dependencies.count = 1;
    }
    for (uint32_t i = 0; i < wait.count && dependencies.count < ZEPI_USM_MOST_DEPENDENCIES; i++) {
        if (wait.events[i]->point.timeline)
            dependencies.points[dependencies.count++] = wait.events[i]->point;
    }
    return dependencies;
}

zepi_result_t zepi_queue_allocate(zepi_queue_t queue, zepi_pool_t pool, zepi_usm_kind_t kind,
                                  size_t size_bytes, size_t alignment_bytes, zepi_wait_list_t wait,
                                  void **out_memory, zepi_event_t *out_event)
{
    zepi_result_t result = zepi_capture_refuse(queue, wait, "an allocation");
    if (result == ZEPI_SUCCESS && !pool)
        result = zepi_pool_get_current(queue->context, queue->device, &pool);
    if (result != ZEPI_SUCCESS)
        return result;
    const struct zepi_usm_dependencies dependencies = dependencies_of(queue, wait);
    struct zepi_device *device = pool->device ? pool->device : queue->device;
    const struct zepi_usm_alloc_desc desc = {.dependencies = &dependencies,
                                             .device = kind == ZEPI_USM_HOST ? NULL : device,
                                             .kind = kind,
                                             .size_bytes = size_bytes,
                                             .alignment_bytes = alignment_bytes};
    void *memory;
    result = zepi_usm_pool_allocate(pool->usm, &desc, &memory);
    if (result != ZEPI_SUCCESS)
        return result;
    if (wait.count > 0 || out_event)
        result = zepi_capture_check_uncaptured(zepi_queue_local_marker(queue, wait, out_event));
    if (result == ZEPI_SUCCESS)
        *out_memory = memory;
    else
        zepi_usm_put(queue->context, memory);
    return result;
}

// Where the memory is free, once the command of the free is appended. Without an event, no wait
// list can name a point of an out-of-order queue.
static struct zepi_point point_of_free(const struct zepi_queue *queue,
                                       const struct zepi_event *event)
{
    if (event)
        return event->point;
    // The commands that this thread knows of are counted.
    return queue->flags & ZEPI_QUEUE_IN_ORDER ? zepi_timeline_now(queue->lists[0]->timeline)
                                              : (struct zepi_point){NULL, 0};
}

zepi_result_t zepi_queue_free(zepi_queue_t queue, void *memory, zepi_wait_list_t wait,
                              zepi_event_t *out_event)
{
    zepi_event_t event = NULL;
    zepi_result_t result = zepi_capture_refuse(queue, wait, "a free");
    if (result == ZEPI_SUCCESS && (wait.count > 0 || out_event))
        result = zepi_capture_check_uncaptured(
            zepi_queue_marker(queue, wait, out_event ? &event : NULL));
    if (result == ZEPI_SUCCESS)
        result = zepi_usm_put_at(queue->context, memory, point_of_free(queue, event));
    if (result == ZEPI_SUCCESS && out_event)
        *out_event = event;
    else
        zepi_release(event);
    return result;
}
