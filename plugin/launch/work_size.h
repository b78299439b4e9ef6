// SPDX-License-Identifier: MIT
#ifndef ZEPI_LAUNCH_WORK_SIZE_H
#define ZEPI_LAUNCH_WORK_SIZE_H

#include "core/status.h"

struct zepi_device;
struct zepi_device_kernel;
struct zepi_launch;

// A launch's sizes as Level Zero takes them, in dimensions that it does not have, too. Under the
// mutex of the queue: `ze` is one thread's.
struct zepi_work_size {
    uint32_t group[3]; // work-items in a group
    uint32_t offset[3];
    ze_group_count_t count;
    bool is_empty; // a global size is 0: nothing to launch, and the rest is not set
};

// Reads the sizes of the launch alone. A group size of zeros is chosen: the one that the kernel
// requires, else the driver's suggestion for `ze`. Without `ze` (NULL) the sizes are checked alone,
// and none is suggested. Errors name the size that does not fit.
zepi_result_t zepi_work_size_init(struct zepi_work_size *size,
                                  const struct zepi_device_kernel *device_kernel,
                                  const struct zepi_device *device, ze_kernel_handle_t ze,
                                  const struct zepi_launch *launch);

#endif
