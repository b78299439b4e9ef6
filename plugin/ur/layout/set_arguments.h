// SPDX-License-Identifier: MIT
#ifndef ZEPI_UR_LAYOUT_SET_ARGUMENTS_H
#define ZEPI_UR_LAYOUT_SET_ARGUMENTS_H

#include "ur/ur.h"

// Up to 2026.1 a host sets arguments on the kernel, one by one, and then launches. All other code
// has arguments with the launch: the functions of this file keep them as such a list, which the
// kernel owns. Any thread.

// Functions of later releases that every layout has, with or without a place for them in its
// tables.
ur_result_t zepi_urEnqueueKernelLaunchWithArgsExp(
    ur_queue_handle_t hQueue, ur_kernel_handle_t hKernel, uint32_t workDim,
    const size_t *pGlobalWorkOffset, const size_t *pGlobalWorkSize, const size_t *pLocalWorkSize,
    uint32_t numArgs, const ur_exp_kernel_arg_properties_t *pArgs,
    const ur_kernel_launch_ext_properties_t *launchPropList, uint32_t wait_count,
    const ur_event_handle_t *wait_list, ur_event_handle_t *out_event);
ur_result_t zepi_urCommandBufferAppendKernelLaunchWithArgsExp(
    ur_exp_command_buffer_handle_t hCommandBuffer, ur_kernel_handle_t hKernel, uint32_t workDim,
    const size_t *pGlobalWorkOffset, const size_t *pGlobalWorkSize, const size_t *pLocalWorkSize,
    uint32_t numArgs, const ur_exp_kernel_arg_properties_t *pArgs, uint32_t numKernelAlternatives,
    ur_kernel_handle_t *phKernelAlternatives, uint32_t numSyncPointsInWaitList,
    const ur_exp_command_buffer_sync_point_t *pSyncPointWaitList, uint32_t wait_count,
    const ur_event_handle_t *wait_list, ur_exp_command_buffer_sync_point_t *pSyncPoint,
    ur_event_handle_t *out_event, ur_exp_command_buffer_command_handle_t *phCommand);

// Launches with the arguments that were set on the kernel, as 2026.0 and 2026.1 have it.
ur_result_t zepi_urEnqueueKernelLaunch(ur_queue_handle_t hQueue, ur_kernel_handle_t hKernel,
                                       uint32_t workDim, const size_t *pGlobalWorkOffset,
                                       const size_t *pGlobalWorkSize, const size_t *pLocalWorkSize,
                                       const ur_kernel_launch_ext_properties_t *launchPropList,
                                       uint32_t wait_count, const ur_event_handle_t *wait_list,
                                       ur_event_handle_t *out_event);

#endif
