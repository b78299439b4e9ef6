// SPDX-License-Identifier: MIT
#ifndef ZEPI_UR_KERNEL_H
#define ZEPI_UR_KERNEL_H

#include "kernel/kernel.h"
#include "ur/program.h"

// The core's kernel, and the program that it is asked for.
struct zepi_ur_kernel {
    struct zepi_object object;
    struct zepi_kernel *kernel;      // retained
    struct zepi_ur_program *program; // retained
    ze_kernel_handle_t adopted;      // owned; that the kernel was made around; NULL: none
};

extern const struct zepi_type zepi_ur_kernel_type;

static inline struct zepi_ur_kernel *zepi_ur_kernel(ur_kernel_handle_t handle)
{
    return (struct zepi_ur_kernel *)handle;
}

static inline ur_result_t zepi_ur_check_kernel(ur_kernel_handle_t handle)
{
    return zepi_ur_check(handle, &zepi_ur_kernel_type, UR_RESULT_ERROR_INVALID_KERNEL);
}

#endif
