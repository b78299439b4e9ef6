// SPDX-License-Identifier: MIT
#include "copy/fill.h"

#include "copy/copy.h"
#include "core/stats.h"
#include "device/context.h"
#include "device/device.h"
#include "memory/usm.h"
#include "memory/usm_driver.h"
#include "queue/capture_command.h"
#include "queue/command/barrier.h"
#include "queue/event.h"
#include "queue/progress.h"
#include "queue/queue_create.h"
#include "queue/submit.h"
#include "ze/ze.h"

#include <string.h>

#define MAX_PATTERN_BYTES 128

bool zepi_has_fill_command(const struct zepi_device *device, size_t pattern_size_bytes)
{
    const size_t most = device->max_fill_pattern_bytes;
    return pattern_size_bytes <= MAX_PATTERN_BYTES &&
           (pattern_size_bytes & (pattern_size_bytes - 1)) == 0 &&
           (most == 0 || pattern_size_bytes <= most);
}

// A fill with any pattern, checked, that is captured.
static zepi_result_t capture_fill(struct zepi_queue *queue, void *destination, const void *pattern,
                                  size_t pattern_size_bytes, size_t size_bytes,
                                  zepi_wait_list_t wait, zepi_event_t *out_event)
{
    const struct zepi_transfer command = {.head.kind = ZEPI_COMMAND_FILL,
                                          .to = destination,
                                          .size_bytes = size_bytes,
                                          .pattern = pattern,
                                          .pattern_size_bytes = pattern_size_bytes};
    return zepi_capture_command(queue, &command.head, wait, out_event);
}

zepi_result_t zepi_queue_fill(zepi_queue_t queue, void *destination, const void *pattern,
                              size_t pattern_size_bytes, size_t size_bytes, zepi_wait_list_t wait,
                              zepi_event_t *out_event)
{
    struct zepi_submit submit;
    zepi_result_t result = zepi_submit_begin(&submit, queue, wait, out_event, ZEPI_ENGINE_COMPUTE);
    if (__builtin_expect(result == ZEPI_CAPTURED, 0))
        return capture_fill(queue, destination, pattern, pattern_size_bytes, size_bytes, wait,
                            out_event);
    if (result != ZEPI_SUCCESS)
        return result;
    zepi_stats_count_bytes(ZEPI_STAT_FILLS, size_bytes);
    result =
        ZEPI_ZE(zeCommandListAppendMemoryFill, submit.list, destination, pattern,
                pattern_size_bytes, size_bytes, submit.signal, submit.wait_count, submit.waits);
    return zepi_submit_end(&submit, result, out_event);
}

// ---- Fills that the driver has no command for: each copy doubles the filled bytes ----

// Commands that follow each other. In a queue of any order each waits for the event of the one
// before.
struct fill_chain {
    struct zepi_queue *queue;
    zepi_wait_list_t wait; // of the first command
    zepi_event_t last;     // NULL: none, or the queue keeps the order
    bool has_begun;
};

static zepi_wait_list_t fill_chain_wait(const struct fill_chain *chain)
{
    if (!chain->has_begun)
        return chain->wait;
    return chain->last ? (zepi_wait_list_t){&chain->last, 1} : (zepi_wait_list_t){NULL, 0};
}

// Where the next command's event goes; the caller's, if it is the last one.
static zepi_event_t *fill_chain_event(const struct fill_chain *chain, zepi_event_t *next,
                                      bool is_last, zepi_event_t *out_event)
{
    if (is_last)
        return out_event;
    return chain->queue->flags & ZEPI_QUEUE_IN_ORDER ? NULL : next;
}

static void fill_chain_go_on(struct fill_chain *chain, zepi_event_t next)
{
    zepi_release(chain->last);
    chain->last = next;
    chain->has_begun = true;
}

// Rows of a fill as a copy takes them.
static struct zepi_layout layout_of_rows(const struct zepi_fill_rect *rect, size_t pitch_bytes,
                                         size_t rows)
{
    return (struct zepi_layout){
        .region = {.width = (uint32_t)rect->width_bytes, .height = (uint32_t)rows, .depth = 1},
        .row_pitch_bytes = (uint32_t)pitch_bytes};
}

// The first rows are there, up to where the pattern begins with a row again: each copy doubles
// them.
static zepi_result_t fill_rows(struct fill_chain *chain, char *destination,
                               const struct zepi_fill_rect *rect, size_t done,
                               zepi_event_t *out_event)
{
    const size_t pitch_bytes = rect->pitch_bytes;
    zepi_result_t result = ZEPI_SUCCESS;
    while (done < rect->height && result == ZEPI_SUCCESS) {
        zepi_event_t next = NULL;
        const size_t rows = done < rect->height - done ? done : rect->height - done;
        const struct zepi_layout layout = layout_of_rows(rect, pitch_bytes, rows);
        // A number: ranges that reach beyond all memory are refused by the copy.
        void *to = (void *)((uintptr_t)destination + done * pitch_bytes);
        zepi_event_t *event =
            fill_chain_event(chain, &next, done + rows == rect->height, out_event);
        result = pitch_bytes == rect->width_bytes
                     ? zepi_queue_copy(chain->queue, to, destination, rows * pitch_bytes,
                                       fill_chain_wait(chain), event)
                     : zepi_queue_copy_rect(chain->queue, to, &layout, destination, &layout,
                                            fill_chain_wait(chain), event);
        if (result == ZEPI_SUCCESS)
            fill_chain_go_on(chain, next);
        done += rows;
    }
    return result;
}

zepi_result_t zepi_queue_fill_any(zepi_queue_t queue, void *destination, const void *pattern,
                                  size_t pattern_size_bytes, size_t size_bytes,
                                  zepi_wait_list_t wait, zepi_event_t *out_event)
{
    void *values;
    zepi_event_t first = NULL;
    const struct zepi_fill_rect rect = {pattern_size_bytes, pattern_size_bytes,
                                        size_bytes / pattern_size_bytes};
    if (zepi_has_fill_command(queue->device, pattern_size_bytes))
        return zepi_queue_fill(queue, destination, pattern, pattern_size_bytes, size_bytes, wait,
                               out_event);
    if (zepi_capture_takes(queue, wait))
        return capture_fill(queue, destination, pattern, pattern_size_bytes, size_bytes, wait,
                            out_event);
    // The caller may change its pattern once this returns.
    zepi_result_t result =
        zepi_usm_allocate(queue->context, NULL, ZEPI_USM_HOST, pattern_size_bytes, 0, &values);
    if (result != ZEPI_SUCCESS)
        return result;
    memcpy(values, pattern, pattern_size_bytes);
    struct fill_chain chain = {.queue = queue, .wait = wait};
    result = zepi_queue_copy(queue, destination, values, pattern_size_bytes, wait,
                             fill_chain_event(&chain, &first, rect.height == 1, out_event));
    if (result == ZEPI_SUCCESS && rect.height > 1) {
        fill_chain_go_on(&chain, first);
        result = fill_rows(&chain, destination, &rect, 1, out_event);
    }
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

// Each of the first rows for itself: nothing keeps memory of the host for a graph.
static zepi_result_t capture_first_rows(struct fill_chain *chain, char *destination,
                                        const struct zepi_fill_rect *rect, size_t rows,
                                        const char *values, zepi_event_t *out_event)
{
    zepi_result_t result = ZEPI_SUCCESS;
    for (size_t row = 0; row < rows && result == ZEPI_SUCCESS; row++) {
        zepi_event_t next = NULL;
        result = capture_fill(chain->queue, destination + row * rect->pitch_bytes,
                              values + row * rect->width_bytes, rect->width_bytes,
                              rect->width_bytes, fill_chain_wait(chain),
                              fill_chain_event(chain, &next, row + 1 == rows, out_event));
        if (result == ZEPI_SUCCESS && row + 1 < rows)
            fill_chain_go_on(chain, next);
    }
    return result;
}

// The first `rows`, of a pattern that no single row has whole: a copy of the host's.
static zepi_result_t fill_first_rows(struct fill_chain *chain, char *destination,
                                     const struct zepi_fill_rect *rect, size_t rows,
                                     const void *pattern, size_t pattern_size_bytes,
                                     zepi_event_t *out_event)
{
    void *values;
    const struct zepi_layout to = layout_of_rows(rect, rect->pitch_bytes, rows);
    const struct zepi_layout from = layout_of_rows(rect, rect->width_bytes, rows);
    const size_t size = rect->width_bytes * rows;
    struct zepi_context *context = chain->queue->context;
    zepi_result_t result = zepi_usm_allocate(context, NULL, ZEPI_USM_HOST, size, 0, &values);
    if (result != ZEPI_SUCCESS)
        return result;
    for (size_t at = 0; at < size; at += pattern_size_bytes)
        memcpy((char *)values + at, pattern, pattern_size_bytes);
    if (zepi_capture_takes(chain->queue, chain->wait))
        result = capture_first_rows(chain, destination, rect, rows, values, out_event);
    else
        result = zepi_queue_copy_rect(chain->queue, destination, &to, values, &from, chain->wait,
                                      out_event);
    zepi_usm_put(context, values);
    return result;
}

zepi_result_t zepi_queue_fill_rect(zepi_queue_t queue, void *destination,
                                   const struct zepi_fill_rect *rect, const void *pattern,
                                   size_t pattern_size_bytes, zepi_wait_list_t wait,
                                   zepi_event_t *out_event)
{
    zepi_event_t first = NULL;
    if (rect->pitch_bytes == rect->width_bytes || rect->height <= 1)
        return zepi_queue_fill_any(queue, destination, pattern, pattern_size_bytes,
                                   rect->width_bytes * rect->height, wait, out_event);
    struct fill_chain chain = {.queue = queue, .wait = wait};
    const size_t rows = pattern_period(pattern_size_bytes, rect->width_bytes);
    zepi_event_t *event = fill_chain_event(&chain, &first, rows == rect->height, out_event);
    zepi_result_t result =
        rows == 1
            ? zepi_queue_fill_any(queue, destination, pattern, pattern_size_bytes,
                                  rect->width_bytes, wait, event)
            : fill_first_rows(&chain, destination, rect, rows, pattern, pattern_size_bytes, event);
    if (result == ZEPI_SUCCESS && rows < rect->height) {
        fill_chain_go_on(&chain, first);
        result = fill_rows(&chain, destination, rect, rows, out_event);
    }
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
    zepi_result_t result = zepi_queue_create(context, device, ZEPI_QUEUE_IN_ORDER, &queue);
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
