// SPDX-License-Identifier: MIT
#ifndef ZEPI_QUEUE_CAPTURE_COMMAND_H
#define ZEPI_QUEUE_CAPTURE_COMMAND_H

#include "queue/capture.h"
#include "queue/queue.h"

// Commands of queues in capture mode. Any thread, under no lock.

// The capture that a command of the queue with this wait list belongs to, a new reference; NULL:
// none.
struct zepi_capture *zepi_capture_find(struct zepi_queue *queue, zepi_wait_list_t wait);

// Captures a command. Like enqueuing, with the same wait list and event. A failure leaves the
// capture as it was, unless it says ZEPI_ERROR_CAPTURE_INVALIDATED.
zepi_result_t zepi_capture_command(struct zepi_queue *queue,
                                   const struct zepi_captured_command *command,
                                   zepi_wait_list_t wait, zepi_event_t *out_event);

// Whether a command of the queue with this wait list is captured.
bool zepi_capture_takes(struct zepi_queue *queue, zepi_wait_list_t wait);

// For commands that have to be executed at once: ZEPI_ERROR_CAPTURE_UNSUPPORTED if the queue is in
// capture mode, or the wait list would put it there, ZEPI_ERROR_CAPTURED_EVENT if that is too late.
zepi_result_t zepi_capture_refuse(struct zepi_queue *queue, zepi_wait_list_t wait,
                                  const char *name);

// For commands that cannot be captured any more, or whose callers checked that before: turns
// ZEPI_CAPTURED, which means that another thread began a capture meanwhile, into an error.
zepi_result_t zepi_capture_fail_uncaptured(void) __attribute__((cold, noinline));
static inline zepi_result_t zepi_capture_check_uncaptured(zepi_result_t result)
{
    return __builtin_expect(result == ZEPI_CAPTURED, 0) ? zepi_capture_fail_uncaptured() : result;
}

// Part of something was captured, and the rest failed: the captured part cannot be executed.
void zepi_capture_invalidate(struct zepi_queue *queue);

// An event of a captured command of the queue. NULL without memory (noted).
struct zepi_event *zepi_capture_make_event(struct zepi_capture *capture, struct zepi_queue *queue);

// Under the queue's mutex: sets the queue's capture, and whether commands are appended as they are.
void zepi_queue_set_capture_locked(struct zepi_queue *queue, struct zepi_capture *capture);

#endif
