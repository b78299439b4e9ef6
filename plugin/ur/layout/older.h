// SPDX-License-Identifier: MIT
#ifndef ZEPI_UR_LAYOUT_OLDER_H
#define ZEPI_UR_LAYOUT_OLDER_H

#include "ur/ur.h"

// What older releases have in place of the newest one's functions. The list of those that stand in
// a release's tables is in CMakeLists.txt. Any thread.

// Up to 2026.1, where six queries have other numbers.
ur_result_t zepi_urDeviceGetInfo_older(ur_device_handle_t hDevice, ur_device_info_t query,
                                       size_t value_size, void *value, size_t *out_size);
// Up to 2026.1, where the event is an output alone.
ur_result_t zepi_urEnqueueEventsWaitWithBarrierExt_older(
    ur_queue_handle_t hQueue, const ur_exp_enqueue_ext_properties_t *pProperties,
    uint32_t wait_count, const ur_event_handle_t *wait_list, ur_event_handle_t *out_event);

// 2025.3, without flags.
ur_result_t zepi_urProgramBuildExp_older(ur_program_handle_t hProgram, uint32_t numDevices,
                                         ur_device_handle_t *phDevices, const char *pOptions);
ur_result_t zepi_urProgramCompileExp_older(ur_program_handle_t hProgram, uint32_t numDevices,
                                           ur_device_handle_t *phDevices, const char *pOptions);
ur_result_t zepi_urProgramLinkExp_older(ur_context_handle_t hContext, uint32_t numDevices,
                                        ur_device_handle_t *phDevices, uint32_t count,
                                        const ur_program_handle_t *phPrograms, const char *pOptions,
                                        ur_program_handle_t *phProgram);

// 2025.3, with properties in a list.
typedef struct ur_kernel_launch_property_t {
    int id;
    union {
        uint32_t cluster_dim[3];
        int cooperative;
        size_t work_group_memory_bytes;
    } value;
} ur_kernel_launch_property_t;
ur_result_t zepi_urEnqueueKernelLaunch_older(
    ur_queue_handle_t hQueue, ur_kernel_handle_t hKernel, uint32_t workDim,
    const size_t *pGlobalWorkOffset, const size_t *pGlobalWorkSize, const size_t *pLocalWorkSize,
    uint32_t numPropsInLaunchPropList, const ur_kernel_launch_property_t *launchPropList,
    uint32_t wait_count, const ur_event_handle_t *wait_list, ur_event_handle_t *out_event);

// 2025.3: a slot whose function its header does not name.
ur_result_t zepi_urReserved(void);

#endif
