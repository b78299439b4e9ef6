// SPDX-License-Identifier: MIT
#include "copy/fill.h"

#include "copy/copy.h"
#include "core/alloc.h"
#include "device/context.h"
#include "device/device.h"
#include "memory/usm.h"
#include "memory/usm_driver.h"
#include "queue/capture_command.h"
#include "queue/progress.h"
#include "queue/queue_create.h"

#include <string.h>

#define MAX_PATTERN_BYTES 128

bool zepi_has_fill_command(const struct zepi_device *device, size_t pattern_size_bytes)
{
    const size_t most = device->max_fill_pattern_bytes;
    return pattern_size_bytes <= MAX_PATTERN_BYTES &&
           (pattern_size_bytes & (pattern_size_bytes - 1)) == 0 &&
           (most == 0 || pattern_size_bytes <= most);
}

// ---- Fills that the driver has no command for: each copy doubles the filled bytes ----

// Commands that follow each other. In a queue of any order each waits for the event of the one
// before.
struct fill_chain {
    struct zepi_queue *queue;
    zepi_wait_list_t wait;   // of the next command
    zepi_event_t *out_event; // the caller's: of the last command
    zepi_event_t last;       // that `wait` has; NULL: none, or the queue keeps the order
    zepi_event_t next;
    bool has_begun;
};

// Where the next command's event goes.
static zepi_event_t *fill_chain_event(struct fill_chain *chain, bool is_last)
{
    chain->next = NULL;
    if (is_last)
        return chain->out_event;
    return chain->queue->flags & ZEPI_QUEUE_IN_ORDER ? NULL : &chain->next;
}

// `result`: of the next command.
static zepi_result_t fill_chain_go_on(struct fill_chain *chain, zepi_result_t result)
{
    if (result != ZEPI_SUCCESS)
        return result;
    zepi_release(chain->last);
    chain->last = chain->next;
    chain->wait = chain->last ? (zepi_wait_list_t){&chain->last, 1} : (zepi_wait_list_t){NULL, 0};
    chain->has_begun = true;
    return ZEPI_SUCCESS;
}

// The first rows are there, up to where the pattern begins with a row again: each copy doubles
// them.
static zepi_result_t fill_rows(struct fill_chain *chain, char *destination,
                               const struct zepi_fill_rect *rect, size_t done)
{
    const size_t pitch_bytes = rect->pitch_bytes;
    zepi_result_t result = ZEPI_SUCCESS;
    while (done < rect->height && result == ZEPI_SUCCESS) {
        const size_t rows = done < rect->height - done ? done : rect->height - done;
        const struct zepi_layout layout = {
            .region = {.width = (uint32_t)rect->width_bytes, .height = (uint32_t)rows, .depth = 1},
            .row_pitch_bytes = (uint32_t)pitch_bytes};
        // A number: ranges that reach beyond all memory are refused by the copy.
        void *to = (void *)((uintptr_t)destination + done * pitch_bytes);
        zepi_event_t *event = fill_chain_event(chain, done + rows == rect->height);
        result = pitch_bytes == rect->width_bytes
                     ? zepi_queue_copy(chain->queue, to, destination, rows * pitch_bytes,
                                       chain->wait, event)
                     : zepi_queue_copy_rect(chain->queue, to, &layout, destination, &layout,
                                            chain->wait, event);
        result = fill_chain_go_on(chain, result);
        done += rows;
    }
    return result;
}

zepi_result_t zepi_queue_fill(zepi_queue_t queue, void *destination, const void *pattern,
                              size_t pattern_size_bytes, size_t size_bytes, zepi_wait_list_t wait,
                              zepi_event_t *out_event)
{
    const struct zepi_transfer fill = {.head.kind = ZEPI_COMMAND_FILL,
                                       .to = destination,
                                       .size_bytes = size_bytes,
                                       .pattern = pattern,
                                       .pattern_size_bytes = pattern_size_bytes};
    const struct zepi_fill_rect rect = {pattern_size_bytes, pattern_size_bytes,
                                        size_bytes / pattern_size_bytes};
    struct fill_chain chain = {.queue = queue, .wait = wait, .out_event = out_event};
    void *values;
    if (zepi_has_fill_command(queue->device, pattern_size_bytes))
        return zepi_queue_transfer(queue, &fill, wait, out_event);
    if (zepi_capture_takes(queue, wait))
        return zepi_capture_command(queue, &fill.head, wait, out_event);
    // The caller may change its pattern once this returns.
    zepi_result_t result =
        zepi_usm_allocate(queue->context, NULL, ZEPI_USM_HOST, pattern_size_bytes, &values);
    if (result != ZEPI_SUCCESS)
        return result;
    memcpy(values, pattern, pattern_size_bytes);
    zepi_event_t *event = fill_chain_event(&chain, rect.height == 1);
    result = fill_chain_go_on(
        &chain, zepi_queue_copy(queue, destination, values, pattern_size_bytes, wait, event));
    if (result == ZEPI_SUCCESS)
        result = fill_rows(&chain, destination, &rect, 1);
    zepi_release(chain.last);
    zepi_usm_put(queue->context, values);
    return result;
}

// A pattern of a power of two bytes begins with a row again after so many rows.
static size_t pattern_period(size_t pattern_size_bytes, size_t width_bytes)
{
    const size_t largest_power = width_bytes & (~width_bytes + 1); // that divides the width
    return pattern_size_bytes > largest_power ? pattern_size_bytes / largest_power : 1;
}

// The first rows, each for itself: with the pattern, or, if no row has that whole, with the bytes
// of the row.
static zepi_result_t fill_first_rows(struct fill_chain *chain, char *destination,
                                     const struct zepi_fill_rect *rect, size_t rows,
                                     const void *pattern, size_t pattern_size_bytes)
{
    const size_t width_bytes = rect->width_bytes;
    const size_t step_bytes = rows > 1 ? width_bytes : pattern_size_bytes;
    char *values = zepi_allocate(rows, step_bytes);
    zepi_result_t result = ZEPI_SUCCESS;
    if (!values)
        return zepi_fail_no_memory();
    for (size_t at = 0; at < rows * step_bytes; at += pattern_size_bytes)
        memcpy(values + at, pattern, pattern_size_bytes);
    for (size_t row = 0; row < rows && result == ZEPI_SUCCESS; row++) {
        zepi_event_t *event = fill_chain_event(chain, row + 1 == rect->height);
        result =
            zepi_queue_fill(chain->queue, destination + row * rect->pitch_bytes,
                            values + row * step_bytes, step_bytes, width_bytes, chain->wait, event);
        result = fill_chain_go_on(chain, result);
    }
    zepi_free(values);
    return result;
}

zepi_result_t zepi_queue_fill_rect(zepi_queue_t queue, void *destination,
                                   const struct zepi_fill_rect *rect, const void *pattern,
                                   size_t pattern_size_bytes, zepi_wait_list_t wait,
                                   zepi_event_t *out_event)
{
    if (rect->pitch_bytes == rect->width_bytes || rect->height <= 1)
        return zepi_queue_fill(queue, destination, pattern, pattern_size_bytes,
                               rect->width_bytes * rect->height, wait, out_event);
    struct fill_chain chain = {.queue = queue, .wait = wait, .out_event = out_event};
    const size_t rows = pattern_period(pattern_size_bytes, rect->width_bytes);
    zepi_result_t result =
        fill_first_rows(&chain, destination, rect, rows, pattern, pattern_size_bytes);
    if (result == ZEPI_SUCCESS)
        result = fill_rows(&chain, destination, rect, rows);
    if (result != ZEPI_SUCCESS && chain.has_begun)
        zepi_capture_invalidate(queue);
    zepi_release(chain.last);
    return result;
}

// ---- Memory that the host does not reach ----

// Through a queue for this alone.
static zepi_result_t write_device_memory(struct zepi_context *context, struct zepi_device *device,
                                         void *memory, const void *data, size_t size_bytes)
{
    static const unsigned char zero;
    const zepi_wait_list_t no_wait = {NULL, 0};
    zepi_queue_t queue;
    zepi_result_t result =
        zepi_queue_create(context, device, ZEPI_QUEUE_IN_ORDER, ZEPI_COMPUTE_ENGINE_ANY, &queue);
    if (result != ZEPI_SUCCESS)
        return result;
    result = data ? zepi_queue_copy(queue, memory, data, size_bytes, no_wait, NULL)
                  : zepi_queue_fill(queue, memory, &zero, 1, size_bytes, no_wait, NULL);
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
