// SPDX-License-Identifier: MIT
#ifndef ZEPI_QUEUE_QUEUE_CREATE_H
#define ZEPI_QUEUE_QUEUE_CREATE_H

#include "queue/queue.h"

// How queues begin and end. Any thread.

// Around an immediate ze_command_list_handle_t of the host's, which must be in order if the flags
// say so and the driver can. Context and device have been checked.
zepi_result_t zepi_queue_create_from_native(struct zepi_context *context,
                                            struct zepi_device *device, zepi_queue_flags_t flags,
                                            void *native_handle, zepi_ownership_t ownership,
                                            zepi_queue_t *out_queue);

// `compute_engine`: the number of one that the device has, or ZEPI_COMPUTE_ENGINE_ANY.
zepi_result_t zepi_queue_create(zepi_context_t context, zepi_device_t device,
                                zepi_queue_flags_t flags, uint32_t compute_engine,
                                zepi_queue_t *out_queue);
zepi_result_t zepi_queue_finish(zepi_queue_t queue);
zepi_result_t zepi_queue_get_native(zepi_queue_t queue, void **out_native_handle);

#endif
