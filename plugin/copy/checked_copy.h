// SPDX-License-Identifier: MIT
#ifndef ZEPI_COPY_CHECKED_COPY_H
#define ZEPI_COPY_CHECKED_COPY_H

#include "queue/queue.h"

// Copies, fills and hints as the function table has them: copy.h with a check of the ranges against
// the table of allocations, before anything is enqueued. Callers that made the memory or checked it
// themselves use copy.h. Any thread, under no lock.

zepi_result_t zepi_queue_copy_checked(zepi_queue_t queue, void *destination, const void *source,
                                      size_t size_bytes, zepi_wait_list_t wait,
                                      zepi_event_t *out_event);
zepi_result_t zepi_queue_copy_rect_checked(zepi_queue_t queue, void *destination,
                                           const zepi_rect_t *destination_rect, const void *source,
                                           const zepi_rect_t *source_rect, const size_t region[3],
                                           zepi_wait_list_t wait, zepi_event_t *out_event);
zepi_result_t zepi_queue_fill_checked(zepi_queue_t queue, void *destination, const void *pattern,
                                      size_t pattern_size_bytes, size_t size_bytes,
                                      zepi_wait_list_t wait, zepi_event_t *out_event);
zepi_result_t zepi_queue_prefetch_checked(zepi_queue_t queue, const void *memory, size_t size_bytes,
                                          zepi_wait_list_t wait, zepi_event_t *out_event);
zepi_result_t zepi_queue_advise_checked(zepi_queue_t queue, const void *memory, size_t size_bytes,
                                        zepi_advice_t advice, zepi_event_t *out_event);

#endif
