// SPDX-License-Identifier: MIT
#ifndef ZEPI_COPY_COPY_H
#define ZEPI_COPY_COPY_H

#include "queue/command_list.h"
#include "queue/queue.h"
#include "ze/ze.h"

// Copies between memories, as commands of a queue. Any thread, under no lock. Pointers are not
// looked up in the table of allocations: checked_copy.h does so before. A copy of no bytes is a
// marker: it waits, and its event completes.
//
// ZEPI_ERROR_INVALID_VALUE: a pointer is NULL. ZEPI_ERROR_INVALID_SIZE: a range passes the end of
// the address space, or a rectangle passes Level Zero's 32 bits or has rows that overlap.

zepi_result_t zepi_queue_copy(zepi_queue_t queue, void *destination, const void *source,
                              size_t size_bytes, zepi_wait_list_t wait, zepi_event_t *out_event);
zepi_result_t zepi_queue_copy_rect(zepi_queue_t queue, void *destination,
                                   const zepi_rect_t *destination_rect, const void *source,
                                   const zepi_rect_t *source_rect, const size_t region[3],
                                   zepi_wait_list_t wait, zepi_event_t *out_event);

// Whether `size_bytes` from `memory` on can be a range of memory. `name` stands for it in the
// message.
zepi_result_t zepi_copy_check_range(const char *name, const void *memory, size_t size_bytes);

// Two rectangles of a copy as Level Zero takes them, checked.
struct zepi_copy_regions {
    ze_copy_region_t to, from;
    uint32_t to_pitch, to_slice_pitch, from_pitch, from_slice_pitch;
};
zepi_result_t zepi_copy_regions_init(struct zepi_copy_regions *regions, const zepi_rect_t *to,
                                     const zepi_rect_t *from, const size_t region[3]);

// ---- Copies without events, of a front door that has checked queue and ranges ----

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
    const zepi_result_t result = ZEPI_ZE(zeCommandListAppendMemoryCopy, list->ze, destination,
                                         source, size_bytes, NULL, 0, NULL);
    zepi_completion_point_count(queue->completion);
    zepi_mutex_unlock(&queue->mutex);
    return result;
}

#endif
