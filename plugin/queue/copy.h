// SPDX-License-Identifier: MIT
#ifndef ZEPI_QUEUE_COPY_H
#define ZEPI_QUEUE_COPY_H

#include "device/context.h"
#include "queue/command_list.h"
#include "queue/queue.h"
#include "ze/ze.h"

struct zepi_image;

// Lets memory/ write to a device's memory (zepi_usm_write).
extern const struct zepi_context_part zepi_copy_part;

zepi_result_t zepi_queue_copy(zepi_queue_t queue, void *destination, const void *source,
                              size_t size_bytes, zepi_wait_list_t wait, zepi_event_t *out_event);
zepi_result_t zepi_queue_copy_rect(zepi_queue_t queue, void *destination,
                                   const zepi_rect_t *destination_rect, const void *source,
                                   const zepi_rect_t *source_rect, const size_t region[3],
                                   zepi_wait_list_t wait, zepi_event_t *out_event);
zepi_result_t zepi_queue_fill(zepi_queue_t queue, void *destination, const void *pattern,
                              size_t pattern_size_bytes, size_t size_bytes, zepi_wait_list_t wait,
                              zepi_event_t *out_event);
// The same with a pattern of any size.
zepi_result_t zepi_queue_fill_any(zepi_queue_t queue, void *destination, const void *pattern,
                                  size_t pattern_size_bytes, size_t size_bytes,
                                  zepi_wait_list_t wait, zepi_event_t *out_event);
// Rows of `width_bytes`, each `pitch_bytes` after the one before; the pattern goes on from row to
// row. All rows together are a multiple of it.
struct zepi_fill_rect {
    size_t pitch_bytes;
    size_t width_bytes;
    size_t height;
};
zepi_result_t zepi_queue_fill_rect(zepi_queue_t queue, void *destination,
                                   const struct zepi_fill_rect *rect, const void *pattern,
                                   size_t pattern_size_bytes, zepi_wait_list_t wait,
                                   zepi_event_t *out_event);
zepi_result_t zepi_queue_prefetch(zepi_queue_t queue, const void *memory, size_t size_bytes,
                                  zepi_wait_list_t wait, zepi_event_t *out_event);
zepi_result_t zepi_queue_advise(zepi_queue_t queue, const void *memory, size_t size_bytes,
                                zepi_advice_t advice, zepi_event_t *out_event);

// A fill with any pattern, checked, that is captured (capture.h).
zepi_result_t zepi_capture_fill(struct zepi_queue *queue, void *destination, const void *pattern,
                                size_t pattern_size_bytes, size_t size_bytes, zepi_wait_list_t wait,
                                zepi_event_t *out_event);

// ---- Images ----

// Commands between images, and between images and memory. Thread-safe. A region of NULL is the
// whole image; memory is rows without gaps if a pitch is 0.
zepi_result_t zepi_queue_copy_image(zepi_queue_t queue, struct zepi_image *destination,
                                    const ze_image_region_t *to, struct zepi_image *source,
                                    const ze_image_region_t *from, zepi_wait_list_t wait,
                                    zepi_event_t *out_event);
zepi_result_t zepi_queue_write_image(zepi_queue_t queue, struct zepi_image *destination,
                                     const ze_image_region_t *to, const void *source,
                                     uint32_t row_pitch_bytes, uint32_t slice_pitch_bytes,
                                     zepi_wait_list_t wait, zepi_event_t *out_event);
zepi_result_t zepi_queue_read_image(zepi_queue_t queue, void *destination,
                                    struct zepi_image *source, const ze_image_region_t *from,
                                    uint32_t row_pitch_bytes, uint32_t slice_pitch_bytes,
                                    zepi_wait_list_t wait, zepi_event_t *out_event);

// ---- For lists that are recorded ----

// Two rectangles of a copy as Level Zero takes them, checked.
struct zepi_copy_regions {
    ze_copy_region_t to, from;
    uint32_t to_pitch, to_slice_pitch, from_pitch, from_slice_pitch;
};
zepi_result_t zepi_copy_regions_init(struct zepi_copy_regions *regions, const zepi_rect_t *to,
                                     const zepi_rect_t *from, const size_t region[3]);
// Whether the driver fills with patterns of this size.
bool zepi_has_fill_command(const struct zepi_device *device, size_t pattern_size_bytes);
// `advice` has been checked.
zepi_result_t zepi_append_advice(ze_command_list_handle_t list, const struct zepi_device *device,
                                 const void *memory, size_t size_bytes, zepi_advice_t advice);

// ---- Copies without events, of a front door that has checked queue and ranges ----

// False: it takes more than zepi_queue_copy_end does. Else the queue's mutex is held.
static inline bool zepi_queue_copy_begin(struct zepi_queue *queue)
{
    // A capture that another thread begins at this moment may miss the copy.
    return __builtin_expect(zepi_queue_is_plain(queue), 1) && zepi_mutex_try_lock(&queue->mutex);
}

// The rest of it, where a thread sleeps at the mutex or the driver refused.
zepi_result_t zepi_queue_copy_finish(struct zepi_queue *queue, bool somebody_sleeps, ze_result_t ze)
    __attribute__((cold, noinline));

// Appends and unlocks.
static inline zepi_result_t zepi_queue_copy_end(struct zepi_queue *queue, void *destination,
                                                const void *source, size_t size_bytes)
{
    const struct zepi_command_list *list =
        queue->copy_list ? queue->copy_list : zepi_queue_next_list(queue);
    // Where the mutex is need not be kept over the call.
    __asm__("" : "+r"(queue));
    const ze_result_t ze = zepi_ze.zeCommandListAppendMemoryCopy(list->ze, destination, source,
                                                                 size_bytes, NULL, 0, NULL);
    zepi_completion_point_count(queue->completion);
    if (zepi_mutex_unlock_and_tell(&queue->mutex))
        return zepi_queue_copy_finish(queue, true, ze);
    return __builtin_expect(ze == ZE_RESULT_SUCCESS, 1) ? ZEPI_SUCCESS
                                                        : zepi_queue_copy_finish(queue, false, ze);
}

#endif
