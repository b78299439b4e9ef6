// SPDX-License-Identifier: MIT
#ifndef ZEPI_KERNEL_ARGUMENTS_H
#define ZEPI_KERNEL_ARGUMENTS_H

#include "kernel/kernel_pool.h"

struct zepi_device;

// Checks a launch's arguments against what the kernel takes and the device has.
zepi_result_t zepi_arguments_check(const struct zepi_kernel_pool *pool,
                                   const struct zepi_device *device, uint32_t count,
                                   const zepi_argument_t *arguments);

#endif
