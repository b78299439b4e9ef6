// SPDX-License-Identifier: MIT
#ifndef ZEPI_API_LAUNCH_H
#define ZEPI_API_LAUNCH_H

#include "launch/launch_record.h"

// Whether a launch description is right by itself.
zepi_result_t zepi_api_check_launch_desc(const zepi_launch_desc_t *desc);
// Whether the kernel and the module of a launch by name, if it names them, are of the queue's
// context and each other's.
zepi_result_t zepi_api_check_named(const struct zepi_queue *queue, const zepi_launch_desc_t *desc);
// Fills in the rest of a launch that has a target, from a description that was checked. On success
// the room is to be finished.
zepi_result_t zepi_api_read_launch(struct zepi_launch *launch, struct zepi_launch_room *room,
                                   const struct zepi_context *context,
                                   const struct zepi_device *device,
                                   const zepi_launch_desc_t *desc);

#endif
