// SPDX-License-Identifier: MIT
#ifndef ZEPI_KERNEL_LAUNCH_H
#define ZEPI_KERNEL_LAUNCH_H

#include "kernel/kernel.h"

zepi_result_t zepi_queue_launch(zepi_queue_t queue, const zepi_launch_desc_t *desc,
                                zepi_wait_list_t wait, zepi_event_t *out_event);

#endif
