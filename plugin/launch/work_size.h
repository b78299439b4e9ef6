// SPDX-License-Identifier: MIT
#ifndef ZEPI_LAUNCH_WORK_SIZE_H
#define ZEPI_LAUNCH_WORK_SIZE_H

#include "core/status.h"

struct zepi_device;
struct zepi_device_kernel;

// A launch's sizes as Level Zero takes them. Under the mutex of the queue: `ze` is one thread's.
struct zepi_work_size {
    uint32_t group[3]; // work-items in a group
    ze_group_count_t count;
    bool is_empty; // a global size is 0: nothing to launch
};

// From sizes in work-items, of which the first `work_dim`, 1 to 3, are read; a group size of zeros
// is chosen: the one that the kernel requires, else the driver's suggestion for `ze`. Without `ze`
// (NULL) the sizes are checked alone, and none is suggested. Errors name the size that does not
// fit.
zepi_result_t zepi_work_size_init(struct zepi_work_size *size,
                                  const struct zepi_device_kernel *device_kernel,
                                  const struct zepi_device *device, ze_kernel_handle_t ze,
                                  uint32_t work_dim, const size_t *global_size,
                                  const size_t *group_size);

// An offset of `work_dim` dimensions, which is 0 in the others.
zepi_result_t zepi_work_offset_init(uint32_t offset[3], const struct zepi_device *device,
                                    uint32_t work_dim, const size_t *global_offset);

#endif
