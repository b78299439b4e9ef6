// SPDX-License-Identifier: MIT
#ifndef ZEPI_COPY_COPY_H
#define ZEPI_COPY_COPY_H

#include "copy/gate.h"
#include "copy/transfer.h"
#include "core/stats.h"
#include "queue/command_list.h"
#include "ze/ze.h"

// Copies, fills and hints as commands of a queue. Any thread, under no lock. The caller has checked
// queue, wait list, pattern and ranges (checks/check.h), and transfers some bytes (quirk
// empty-copies).

zepi_result_t zepi_queue_copy(zepi_queue_t queue, void *destination, const void *source,
                              size_t size_bytes, zepi_wait_list_t wait, zepi_event_t *out_event);
zepi_result_t zepi_queue_copy_rect(zepi_queue_t queue, void *destination,
                                   const struct zepi_layout *to, const void *source,
                                   const struct zepi_layout *from, zepi_wait_list_t wait,
                                   zepi_event_t *out_event);

// The pattern of a fill is read before the call returns.
zepi_result_t zepi_queue_transfer(zepi_queue_t queue, const struct zepi_transfer *transfer,
                                  zepi_wait_list_t wait, zepi_event_t *out_event);

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
