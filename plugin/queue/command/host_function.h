// SPDX-License-Identifier: MIT
#ifndef ZEPI_QUEUE_COMMAND_HOST_FUNCTION_H
#define ZEPI_QUEUE_COMMAND_HOST_FUNCTION_H

#include "queue/queue.h"

// Whether the device's driver runs functions of the host.
bool zepi_device_has_host_functions(const struct zepi_device *device);

// Calls `function` with `data` once all commands before are complete, in an in-order queue, or the
// wait list, in others. On a thread of the driver's; the function must not call zepi or Level Zero.
// The command is complete once the function has returned; the times of its event are those of its
// end. ZEPI_ERROR_UNSUPPORTED: the driver does not do it. A queue in capture mode refuses. After an
// error the function is not called any more: where its event alone fails, the queue is waited for.
zepi_result_t zepi_queue_call_host(zepi_queue_t queue, zepi_host_function_fn *function, void *data,
                                   zepi_wait_list_t wait, zepi_event_t *out_event);

#endif
