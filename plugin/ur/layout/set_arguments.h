// SPDX-License-Identifier: MIT
#ifndef ZEPI_UR_LAYOUT_SET_ARGUMENTS_H
#define ZEPI_UR_LAYOUT_SET_ARGUMENTS_H

#include "ur/command.h"
#include "ur/graph/command_buffer.h"

// Up to 2026.1 a host sets arguments on the kernel, one by one, and then launches. All other code
// has arguments with the launch: the functions of this file keep them as such a list, which the
// kernel owns. Any thread.

ur_result_t zepi_urKernelSetArgValue(ur_kernel_handle_t hKernel, uint32_t argIndex, size_t argSize,
                                     const ur_kernel_arg_value_properties_t *pProperties,
                                     const void *pArgValue);
ur_result_t zepi_urKernelSetArgLocal(ur_kernel_handle_t hKernel, uint32_t argIndex, size_t argSize,
                                     const ur_kernel_arg_local_properties_t *pProperties);
ur_result_t zepi_urKernelSetArgPointer(ur_kernel_handle_t hKernel, uint32_t argIndex,
                                       const ur_kernel_arg_pointer_properties_t *pProperties,
                                       const void *pArgValue);
ur_result_t zepi_urKernelSetArgSampler(ur_kernel_handle_t hKernel, uint32_t argIndex,
                                       const ur_kernel_arg_sampler_properties_t *pProperties,
                                       ur_sampler_handle_t hArgValue);
ur_result_t zepi_urKernelSetArgMemObj(ur_kernel_handle_t hKernel, uint32_t argIndex,
                                      const ur_kernel_arg_mem_obj_properties_t *pProperties,
                                      ur_mem_handle_t hArgValue);

// Launches with the arguments that were set on the kernel.
ur_result_t zepi_urEnqueueKernelLaunch(ur_queue_handle_t hQueue, ur_kernel_handle_t hKernel,
                                       uint32_t workDim, const size_t *pGlobalWorkOffset,
                                       const size_t *pGlobalWorkSize, const size_t *pLocalWorkSize,
                                       const ur_kernel_launch_ext_properties_t *launchPropList,
                                       ZEPI_UR_ENQUEUE_PARAMETERS);
ur_result_t zepi_urCommandBufferAppendKernelLaunchExp_older(
    ur_exp_command_buffer_handle_t hCommandBuffer, ur_kernel_handle_t hKernel, uint32_t workDim,
    const size_t *pGlobalWorkOffset, const size_t *pGlobalWorkSize, const size_t *pLocalWorkSize,
    uint32_t numKernelAlternatives, ur_kernel_handle_t *phKernelAlternatives,
    ZEPI_UR_APPEND_PARAMETERS);

#endif
