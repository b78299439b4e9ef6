// SPDX-License-Identifier: MIT
#ifndef ZEPI_QUEUE_PROGRESS_H
#define ZEPI_QUEUE_PROGRESS_H

#include "queue/command_list.h"
#include "queue/queue.h"

// How far the lists of a queue are: waits, queries, and the polls of sync/. The driver
// is asked for a whole list where it can be; else a marker is, which is an event of the list's own
// that the list signals behind everything before it.

// Whether all commands of the queue are known to be over.
bool zepi_queue_is_idle(const struct zepi_queue *queue);

// ---- Markers ----

// Under the queue's mutex, and when it returns; it is given up if the cache is empty: an event for
// the list's next command, which is no handle yet. *out_event is NULL after an error.
zepi_result_t zepi_event_cache_take_or_refill_locked(struct zepi_event_cache *cache,
                                                     struct zepi_event **out_event);
// Takes a marker, which has no times, and is to be given back.
zepi_result_t zepi_marker_begin_locked(struct zepi_command_list *list,
                                       struct zepi_event **out_marker);
// Under the queue's mutex: the next command of the list signals it.
void zepi_marker_note_locked(struct zepi_command_list *list, struct zepi_event *marker);
// Under the queue's mutex: has the list signal the marker, once the events in `waits` are
// signalled, too. An error leaves the marker to be given back.
zepi_result_t zepi_marker_append_locked(struct zepi_command_list *list, struct zepi_event *marker,
                                        uint32_t wait_count, ze_event_handle_t *waits);
// NULL is fine.
void zepi_marker_give(struct zepi_event *marker);

// ---- Waits and queries ----

// Waits until everything submitted before is complete, and lets the driver end its work: it prints
// the output of kernels, and tells of commands that failed (quirk output-at-synchronize).
// Thread-safe. Other threads may go on submitting meanwhile.
zepi_result_t zepi_queue_wait(struct zepi_queue *queue);
// Waits for a queue; kernels may not have printed yet, and failed commands are not reported.
zepi_result_t zepi_queue_wait_for_commands(struct zepi_queue *queue);

// Whether everything submitted before is complete, without waiting: false if that is not known yet.
bool zepi_queue_poll(struct zepi_queue *queue);

// Ties the list to a queue of its context: its commands are counted from now on.
zepi_result_t zepi_command_list_attach(struct zepi_command_list *list, struct zepi_queue *queue);
// The queue is empty, or cannot be waited for, and goes. True: all commands of the list are over.
bool zepi_queue_detach_lists(struct zepi_queue *queue);

// ---- Objects of other contexts ----

// Keeps `object`, which commands of the queue use and whose own context does not know these: until
// all that was submitted up to now is over. Without memory it waits for them. Under no lock.
void zepi_queue_release_later(struct zepi_queue *queue, void *object);

#endif
