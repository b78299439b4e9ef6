// SPDX-License-Identifier: MIT
// From 2026.2 on kernels have no arguments of their own.
#include "ur/ur.h"

// For kernels that take no arguments: others come with
// urCommandBufferAppendKernelLaunchWithArgsExp.
ur_result_t zepi_urCommandBufferAppendKernelLaunchExp(
    ur_exp_command_buffer_handle_t hCommandBuffer, ur_kernel_handle_t hKernel, uint32_t workDim,
    const size_t *pGlobalWorkOffset, const size_t *pGlobalWorkSize, const size_t *pLocalWorkSize,
    uint32_t numKernelAlternatives, ur_kernel_handle_t *phKernelAlternatives,
    uint32_t numSyncPointsInWaitList, const ur_exp_command_buffer_sync_point_t *pSyncPointWaitList,
    uint32_t wait_count, const ur_event_handle_t *wait_list,
    ur_exp_command_buffer_sync_point_t *pSyncPoint, ur_event_handle_t *out_event,
    ur_exp_command_buffer_command_handle_t *phCommand)
{
    return zepi_urCommandBufferAppendKernelLaunchWithArgsExp(
        hCommandBuffer, hKernel, workDim, pGlobalWorkOffset, pGlobalWorkSize, pLocalWorkSize, 0,
        NULL, numKernelAlternatives, phKernelAlternatives, numSyncPointsInWaitList,
        pSyncPointWaitList, wait_count, wait_list, pSyncPoint, out_event, phCommand);
}
