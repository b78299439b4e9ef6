// SPDX-License-Identifier: MIT
#ifndef ZEPI_KERNEL_LAUNCH_H
#define ZEPI_KERNEL_LAUNCH_H

#include "kernel/kernel.h"

zepi_result_t zepi_queue_launch(zepi_queue_t queue, const zepi_launch_desc_t *desc,
                                zepi_wait_list_t wait, zepi_event_t *out_event);

// Whether a launch of a kernel object, which has been checked, would be refused on a device of the
// context: its arguments and sizes.
zepi_result_t zepi_launch_check(const struct zepi_context *context, struct zepi_device *device,
                                const zepi_launch_desc_t *desc);

#endif
