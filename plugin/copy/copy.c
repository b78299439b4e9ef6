// SPDX-License-Identifier: MIT
#include "copy/copy.h"

#include "core/stats.h"
#include "memory/usm.h"
#include "memory/usm_driver.h"
#include "queue/capture_command.h"
#include "queue/command/barrier.h"
#include "queue/command/event_times.h"
#include "queue/progress.h"
#include "queue/queue_create.h"
#include "ze/ze.h"

zepi_result_t zepi_queue_copy(zepi_queue_t queue, void *destination, const void *source,
                              size_t size_bytes, zepi_wait_list_t wait, zepi_event_t *out_event)
{
    struct zepi_copy copy;
    zepi_result_t result = zepi_copy_begin(&copy, queue, wait, out_event, ZEPI_ENGINE_COPY,
                                           destination, source, size_bytes);
    if (__builtin_expect(result == ZEPI_CAPTURED, 0)) {
        const struct zepi_transfer command = {.head.kind = ZEPI_COMMAND_COPY,
                                              .to = destination,
                                              .from = source,
                                              .size_bytes = size_bytes};
        return zepi_capture_command(queue, &command.head, wait, out_event);
    }
    if (result != ZEPI_SUCCESS)
        return result;
    zepi_stats_count_bytes(ZEPI_STAT_COPIES, size_bytes);
    result = ZEPI_ZE(zeCommandListAppendMemoryCopy, copy.submit.list, destination, copy.source,
                     size_bytes, copy.submit.signal, copy.submit.wait_count, copy.submit.waits);
    return zepi_copy_end(&copy, result, out_event);
}

// Any but a copy of bytes; a fill has its values.
static zepi_result_t enqueue_transfer(zepi_queue_t queue, const struct zepi_transfer *transfer,
                                      zepi_wait_list_t wait, zepi_event_t *out_event)
{
    struct zepi_copy frame;
    const bool is_rect = transfer->head.kind == ZEPI_COMMAND_COPY_RECT;
    const bool is_copy = is_rect || transfer->head.kind == ZEPI_COMMAND_COPY_IMAGE;
    // A fill by rows copies within its memory.
    const bool is_by_rows =
        transfer->head.kind == ZEPI_COMMAND_FILL && !zepi_fill_is_command(queue->device, transfer);
    const bool has_gaps = transfer->to_layout.region.height > 0; // its copies are of rectangles
    const void *source = is_by_rows ? transfer->to : transfer->from;
    zepi_result_t result = zepi_copy_begin(
        &frame, queue, wait, out_event, is_rect ? ZEPI_ENGINE_COPY : ZEPI_ENGINE_COMPUTE,
        is_copy || is_by_rows ? transfer->to : NULL, is_copy || is_by_rows ? source : NULL,
        is_by_rows && !has_gaps ? transfer->size_bytes : 0);
    if (__builtin_expect(result == ZEPI_CAPTURED, 0))
        return zepi_capture_command(queue, &transfer->head, wait, out_event);
    if (result != ZEPI_SUCCESS)
        return result;
    result = zepi_append_transfer(frame.submit.list, queue->device, transfer, frame.submit.signal,
                                  frame.submit.wait_count, frame.submit.waits);
    return zepi_copy_end(&frame, result, out_event);
}

zepi_result_t zepi_queue_copy_rect(zepi_queue_t queue, void *destination,
                                   const struct zepi_layout *to, const void *source,
                                   const struct zepi_layout *from, zepi_wait_list_t wait,
                                   zepi_event_t *out_event)
{
    const struct zepi_transfer copy = {.head.kind = ZEPI_COMMAND_COPY_RECT,
                                       .to = destination,
                                       .to_layout = *to,
                                       .from = source,
                                       .from_layout = *from};
    return enqueue_transfer(queue, &copy, wait, out_event);
}

// ---- Fills ----

static zepi_result_t enqueue_fill_by_rows(zepi_queue_t queue, const struct zepi_transfer *transfer,
                                          zepi_wait_list_t wait, zepi_event_t *out_event)
{
    // Times begin with a marker, as the event is that of the last copy.
    const bool is_timed = out_event && (queue->flags & ZEPI_QUEUE_PROFILING);
    struct zepi_transfer fill = *transfer;
    zepi_event_t before = NULL;
    void *values;
    if (zepi_capture_takes(queue, wait))
        return zepi_capture_command(queue, &transfer->head, wait, out_event);
    zepi_result_t result = zepi_fill_make_values(queue->context, queue->device, transfer, &values);
    if (result != ZEPI_SUCCESS)
        return result;
    fill.from = values;
    if (is_timed) {
        result = zepi_queue_marker(queue, wait, &before);
        wait = (zepi_wait_list_t){&before, 1};
    }
    if (result == ZEPI_SUCCESS)
        result = enqueue_transfer(queue, &fill, wait, out_event);
    if (result == ZEPI_SUCCESS && is_timed)
        zepi_event_set_begin(*out_event, before);
    zepi_release(before);
    if (values)
        zepi_usm_put(queue->context, values);
    return result;
}

zepi_result_t zepi_queue_transfer(zepi_queue_t queue, const struct zepi_transfer *transfer,
                                  zepi_wait_list_t wait, zepi_event_t *out_event)
{
    return transfer->head.kind == ZEPI_COMMAND_FILL &&
                   !zepi_fill_is_command(queue->device, transfer)
               ? enqueue_fill_by_rows(queue, transfer, wait, out_event)
               : enqueue_transfer(queue, transfer, wait, out_event);
}

// ---- Memory that the host does not reach ----

// Through a queue for this alone.
static zepi_result_t write_device_memory(struct zepi_context *context, struct zepi_device *device,
                                         void *memory, const void *data, size_t size_bytes)
{
    static const unsigned char zero;
    const zepi_wait_list_t no_wait = {NULL, 0};
    const struct zepi_transfer zeros = {.head.kind = ZEPI_COMMAND_FILL,
                                        .to = memory,
                                        .size_bytes = size_bytes,
                                        .pattern = &zero,
                                        .pattern_size_bytes = 1};
    zepi_queue_t queue;
    zepi_result_t result =
        zepi_queue_create(context, device, ZEPI_QUEUE_IN_ORDER, ZEPI_COMPUTE_ENGINE_ANY, &queue);
    if (result != ZEPI_SUCCESS)
        return result;
    result = data ? zepi_queue_copy(queue, memory, data, size_bytes, no_wait, NULL)
                  : zepi_queue_transfer(queue, &zeros, no_wait, NULL);
    if (result == ZEPI_SUCCESS)
        result = zepi_queue_wait(queue);
    zepi_release(queue);
    return result;
}

static zepi_result_t copy_init(struct zepi_context *context)
{
    *zepi_usm_write_of(context) = write_device_memory;
    return ZEPI_SUCCESS;
}

// Lets memory/ write to a device's memory, by a copy or a fill (zepi_usm_write).
ZEPI_DEFINE_COMPONENT(ZEPI_COMPONENT_COPY, .size_bytes = sizeof(zepi_usm_write *),
                      .init = copy_init);
