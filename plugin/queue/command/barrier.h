// SPDX-License-Identifier: MIT
#ifndef ZEPI_QUEUE_COMMAND_BARRIER_H
#define ZEPI_QUEUE_COMMAND_BARRIER_H

#include "queue/queue.h"

// Commands that order others and do nothing. Any thread.

// Once the wait list is complete, or everything before if that is empty; a barrier also holds up
// all later commands.
zepi_result_t zepi_queue_barrier(zepi_queue_t queue, zepi_wait_list_t wait,
                                 zepi_event_t *out_event);
zepi_result_t zepi_queue_marker(zepi_queue_t queue, zepi_wait_list_t wait, zepi_event_t *out_event);
// Of one list: behind the barriers before it, whatever other lists have to do. Its event has no
// times. The queue has been checked, and captures nothing.
zepi_result_t zepi_queue_local_marker(zepi_queue_t queue, zepi_event_t *out_event);

// A marker whose event has times in queues without profiling, too.
zepi_result_t zepi_queue_record_time(zepi_queue_t queue, zepi_wait_list_t wait,
                                     zepi_event_t *out_event);
// A barrier with such an event.
zepi_result_t zepi_queue_timed_barrier(zepi_queue_t queue, zepi_wait_list_t wait,
                                       zepi_event_t *out_event);

#endif
