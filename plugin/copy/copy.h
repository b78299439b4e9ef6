// SPDX-License-Identifier: MIT
#ifndef ZEPI_COPY_COPY_H
#define ZEPI_COPY_COPY_H

#include "device/device.h"
#include "device/platform.h"
#include "queue/command_list.h"
#include "queue/submit.h"
#include "ze/ze.h"

// Copies between memories, as commands of a queue. Any thread, under no lock. Pointers are not
// looked up in the table of allocations: checked_copy.h does so before. A copy of no bytes is a
// marker (quirk empty-copies): it waits, and its event completes.
//
// ZEPI_ERROR_INVALID_VALUE: a pointer is NULL. ZEPI_ERROR_INVALID_SIZE: a range passes the end of
// the address space, or a rectangle has rows that overlap, or passes Level Zero's 32 bits: for its
// origin, its region, its row pitch and, unless it is the first slice alone, its slice pitch.

zepi_result_t zepi_queue_copy(zepi_queue_t queue, void *destination, const void *source,
                              size_t size_bytes, zepi_wait_list_t wait, zepi_event_t *out_event);
zepi_result_t zepi_queue_copy_rect(zepi_queue_t queue, void *destination,
                                   const zepi_rect_t *destination_rect, const void *source,
                                   const zepi_rect_t *source_rect, const size_t region[3],
                                   zepi_wait_list_t wait, zepi_event_t *out_event);

// Under the mutex, as zepi_submit_await_list_locked, for a command that reads `source`: nothing if
// zepi allocated that, or the driver reads it in its turn.
zepi_result_t zepi_copy_await_source(struct zepi_submit *submit, const void *source)
    __attribute__((noinline));

// Whether the driver has the quirk early-copies.
static inline bool zepi_queue_copies_early(const struct zepi_queue *queue)
{
    return queue->device->platform->quirks.bits & ZEPI_QUIRK_EARLY_COPIES;
}

// zepi_submit_begin for a command that reads `source`. If zepi did not allocate that, and the
// driver would read it as it appends, the command has an event to wait for, unless nothing is
// before it.
static inline zepi_result_t zepi_copy_begin(struct zepi_submit *submit, struct zepi_queue *queue,
                                            zepi_wait_list_t wait, const zepi_event_t *out_event,
                                            enum zepi_engine engine, const void *source)
{
    const zepi_result_t result = zepi_submit_begin(submit, queue, wait, out_event, engine);
    return result != ZEPI_SUCCESS || submit->wait_count > 0 ||
                   zepi_submit_has_nothing_before(submit)
               ? result
               : zepi_copy_await_source(submit, source);
}

// Whether `size_bytes` from `memory` on can be a range of memory. `name` stands for it in the
// message.
zepi_result_t zepi_copy_check_range(const char *name, const void *memory, size_t size_bytes);

// Bytes from the memory's begin to the end of the rectangle. False: more than there can be. The
// region is not empty.
bool zepi_copy_rect_extent(const zepi_rect_t *rect, const size_t region[3], size_t *out_size_bytes);

// Two rectangles of a copy as Level Zero takes them, checked.
struct zepi_copy_regions {
    ze_copy_region_t to, from;
    uint32_t to_pitch, to_slice_pitch, from_pitch, from_slice_pitch;
};
zepi_result_t zepi_copy_regions_init(struct zepi_copy_regions *regions, const void *destination,
                                     const zepi_rect_t *to, const void *source,
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
