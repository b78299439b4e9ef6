// SPDX-License-Identifier: MIT
#ifndef ZEPI_COPY_COPY_H
#define ZEPI_COPY_COPY_H

#include "copy/gate.h"
#include "core/stats.h"
#include "queue/command_list.h"
#include "ze/ze.h"

// Copies between memories, as commands of a queue. Any thread, under no lock. The caller has
// checked queue, wait list and ranges (checks/check.h), and copies some bytes (quirk empty-copies).

struct zepi_image;

// A rectangle of bytes as Level Zero takes it.
struct zepi_layout {
    ze_copy_region_t region;
    uint32_t row_pitch_bytes;
    uint32_t slice_pitch_bytes; // 0: one slice
};

// A copy, fill or hint, as a command of a queue or a graph. Borrowed for one call, with what it
// points to.
struct zepi_transfer {
    struct zepi_captured_command head;
    void *to;         // memory; NULL: an image
    const void *from; // the same; memory of hints, too
    size_t size_bytes;
    struct zepi_layout to_layout; // rectangles
    struct zepi_layout from_layout;
    // Copies of images. NULL: memory, whose rows have no gaps if the pitches are 0.
    struct zepi_image *to_image; // borrowed
    struct zepi_image *from_image;
    ze_image_region_t to_region; // of an image; a width of 0: all of it
    ze_image_region_t from_region;
    uint32_t row_pitch_bytes;
    uint32_t slice_pitch_bytes;
    const void *pattern; // of any size
    size_t pattern_size_bytes;
    uint32_t advice; // a bit for each zepi_advice_t
};

zepi_result_t zepi_queue_copy(zepi_queue_t queue, void *destination, const void *source,
                              size_t size_bytes, zepi_wait_list_t wait, zepi_event_t *out_event);
zepi_result_t zepi_queue_copy_rect(zepi_queue_t queue, void *destination,
                                   const struct zepi_layout *to, const void *source,
                                   const struct zepi_layout *from, zepi_wait_list_t wait,
                                   zepi_event_t *out_event);

// Enqueues a copy of a rectangle or an image, a fill that the driver has a command for, or a hint.
// ZEPI_ERROR_UNSUPPORTED: the memory of an image has pitches, and the loader knows no such copies.
zepi_result_t zepi_queue_transfer(zepi_queue_t queue, const struct zepi_transfer *transfer,
                                  zepi_wait_list_t wait, zepi_event_t *out_event);

// Appends to a list of the device. The driver has a command for a fill's pattern
// (zepi_has_fill_command).
zepi_result_t zepi_append_transfer(ze_command_list_handle_t list, const struct zepi_device *device,
                                   const struct zepi_transfer *transfer, ze_event_handle_t signal,
                                   uint32_t wait_count, ze_event_handle_t *waits);

// ---- Copies without events, of a front end that has checked queue and ranges ----

// False: the copy takes more than zepi_queue_copy_end does. Else the queue's mutex is held.
static inline bool zepi_queue_copy_begin(struct zepi_queue *queue)
{
    // A capture that another thread begins at this moment may miss the copy.
    return __builtin_expect(zepi_queue_is_plain(queue), 1) && zepi_mutex_try_lock(&queue->mutex);
}

// Appends and unlocks.
static inline zepi_result_t zepi_queue_copy_end(struct zepi_queue *queue, void *destination,
                                                const void *source, size_t size_bytes)
{
    const struct zepi_command_list *list =
        queue->copy_list ? queue->copy_list : zepi_queue_next_list(queue);
    zepi_stats_count_bytes(ZEPI_STAT_COPIES, size_bytes);
    const zepi_result_t result = ZEPI_ZE(zeCommandListAppendMemoryCopy, list->ze, destination,
                                         source, size_bytes, NULL, 0, NULL);
    zepi_timeline_submit(list->timeline);
    zepi_mutex_unlock(&queue->mutex);
    return result;
}

#endif
