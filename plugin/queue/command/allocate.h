// SPDX-License-Identifier: MIT
#ifndef ZEPI_QUEUE_COMMAND_ALLOCATE_H
#define ZEPI_QUEUE_COMMAND_ALLOCATE_H

#include "memory/pool.h"
#include "queue/queue.h"

// Allocations and frees of memory in the order of a queue, as in zepi.h. Any thread.
//
// Level Zero has no such commands. The address is handed out at once; a command is appended only
// for a wait list or an event. An allocation comes after all earlier commands of the same in-order
// queue, and after the events of its wait list: memory that was freed there serves it although
// commands still use it (memory/usm_pool.h). Nothing waits for events that the host did not name,
// so that two queues never come to wait for each other.

zepi_result_t zepi_queue_allocate(zepi_queue_t queue, zepi_pool_t pool, zepi_usm_kind_t kind,
                                  size_t size_bytes, size_t alignment_bytes, zepi_wait_list_t wait,
                                  void **out_memory, zepi_event_t *out_event);
zepi_result_t zepi_queue_free(zepi_queue_t queue, void *memory, zepi_wait_list_t wait,
                              zepi_event_t *out_event);

#endif
