// SPDX-License-Identifier: MIT
#ifndef ZEPI_COPY_HINT_H
#define ZEPI_COPY_HINT_H

#include "queue/queue.h"

// Hints about USM, as commands of a queue: prefetch and advice. Any thread, under no lock. The
// caller has checked the arguments (checks/check.h), and hints at some bytes.

zepi_result_t zepi_queue_prefetch(zepi_queue_t queue, const void *memory, size_t size_bytes,
                                  zepi_wait_list_t wait, zepi_event_t *out_event);
zepi_result_t zepi_queue_advise(zepi_queue_t queue, const void *memory, size_t size_bytes,
                                zepi_advice_t advice, zepi_event_t *out_event);

// For a list that is recorded. `advice` has been checked.
zepi_result_t zepi_append_advice(ze_command_list_handle_t list, const struct zepi_device *device,
                                 const void *memory, size_t size_bytes, zepi_advice_t advice);

#endif
