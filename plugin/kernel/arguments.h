// SPDX-License-Identifier: MIT
#ifndef ZEPI_KERNEL_ARGUMENTS_H
#define ZEPI_KERNEL_ARGUMENTS_H

#include "kernel/kernel_pool.h"

// Checks a launch's arguments against what the kernel takes.
zepi_result_t zepi_arguments_check(const struct zepi_kernel_pool *pool, uint32_t count,
                                   const zepi_argument_t *arguments);

// Sets on a handle what differs from what it last had.
zepi_result_t zepi_arguments_set(struct zepi_kernel_lease *lease, uint32_t count,
                                 const zepi_argument_t *arguments);

#endif
