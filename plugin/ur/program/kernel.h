// SPDX-License-Identifier: MIT
#ifndef ZEPI_UR_PROGRAM_KERNEL_H
#define ZEPI_UR_PROGRAM_KERNEL_H

#include "launch/device_kernel.h"
#include "launch/kernel.h"
#include "ur/program/program.h"

// A kernel of the core that keeps its program. Threads may launch and query it at once.

ZEPI_UR_DEFINE_HANDLE(kernel, ur_kernel_handle_t, zepi_kernel, UR_RESULT_ERROR_INVALID_KERNEL)

// The kernel on some device that it has code for: there is one. Borrowed.
const struct zepi_device_kernel *zepi_ur_kernel_any_device_kernel(const struct zepi_kernel *kernel);

#endif
