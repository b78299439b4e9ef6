// SPDX-License-Identifier: MIT
#ifndef ZEPI_QUEUE_QUEUE_WAIT_H
#define ZEPI_QUEUE_QUEUE_WAIT_H

#include "queue/queue.h"

// Waits for a queue, and queries of how far it is.

// Waits until everything submitted before is complete, and lets the driver end its work: it prints
// the output of kernels, and tells of commands that failed (quirk output-at-synchronize).
// Thread-safe. Other threads may go on submitting meanwhile.
zepi_result_t zepi_queue_wait(struct zepi_queue *queue);
// The same, but kernels may not have printed yet, and failed commands are not reported.
zepi_result_t zepi_queue_wait_for_commands(struct zepi_queue *queue);

// Whether everything submitted before is complete, without waiting: false if that is not known yet.
zepi_result_t zepi_queue_ask_empty(struct zepi_queue *queue, bool *out_is_empty);

// Finds out how far the queue is, as far as that is seen without waiting, or, behind everything
// that was submitted before, with waiting for at most `patience_ns`; UINT64_MAX: until everything
// submitted before is complete. An error leaves things as they are.
void zepi_queue_look(struct zepi_queue *queue, uint64_t patience_ns);

#endif
