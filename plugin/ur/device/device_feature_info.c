// SPDX-License-Identifier: MIT
#include "ur/device/device_info.h"

#include "device/device_details.h"
#include "device/platform.h"
#include "memory/interop/external_memory.h"
#include "memory/interop/host_memory.h"
#include "memory/interop/ipc.h"
#include "memory/virtual_memory.h"
#include "queue/command/host_function.h"
#include "ze/ze.h"

static bool device_is_available(const struct zepi_device *device)
{
    const ze_result_t ze = zepi_ze.zeDeviceGetStatus(device->ze);
    // An error of this query does not make the device unusable.
    return ze != ZE_RESULT_ERROR_DEVICE_LOST;
}

static ur_result_t get_info_virtual_memory(const struct zepi_device *device,
                                           const struct zepi_ur_info *info)
{
    bool has_it;
    const ur_result_t result =
        zepi_ur_result(zepi_device_has_virtual_memory((zepi_device_t)device, &has_it));
    return result == UR_RESULT_SUCCESS ? zepi_ur_info_return_bool(info, has_it) : result;
}

static ur_result_t get_info_ipc_memory(const struct zepi_device *device,
                                       const struct zepi_ur_info *info)
{
    bool is_offered;
    const ur_result_t result = zepi_ur_result(zepi_ipc_is_offered(device->platform, &is_offered));
    return result == UR_RESULT_SUCCESS ? zepi_ur_info_return_bool(info, is_offered) : result;
}

static ur_result_t get_info_ipc_physical_memory(const struct zepi_device *device,
                                                const struct zepi_ur_info *info)
{
    bool is_offered;
    const ur_result_t result = zepi_ur_result(zepi_physical_memory_shares(device, &is_offered));
    return result == UR_RESULT_SUCCESS ? zepi_ur_info_return_bool(info, is_offered) : result;
}

static ur_result_t get_info_external_memory(const struct zepi_device *device,
                                            ur_device_info_t query, const struct zepi_ur_info *info)
{
    struct zepi_external_kinds kinds;
    const ur_result_t result = zepi_ur_result(zepi_external_kinds_get(device, &kinds));
    const bool imports = query == UR_DEVICE_INFO_EXTERNAL_MEMORY_IMPORT_SUPPORT_EXP;
    return result == UR_RESULT_SUCCESS
               ? zepi_ur_info_return_bool(info, (imports ? kinds.imported : kinds.exported) != 0)
               : result;
}

static ur_result_t get_info_host_registration(const struct zepi_device *device,
                                              const struct zepi_ur_info *info)
{
    bool can;
    const ur_result_t result =
        zepi_ur_result(zepi_host_memory_can_register((zepi_device_t)device, &can));
    return result == UR_RESULT_SUCCESS ? zepi_ur_info_return_bool(info, can) : result;
}

static ur_result_t get_info_block_array(const struct zepi_device *device,
                                        const struct zepi_ur_info *info)
{
    uint32_t own;
    const ur_result_t result = zepi_ur_result(zepi_device_get_block_array(device, &own));
    const ur_exp_device_2d_block_array_capability_flags_t flags =
        (own & ZEPI_ZE_BLOCK_ARRAY_LOAD ? UR_EXP_DEVICE_2D_BLOCK_ARRAY_CAPABILITY_FLAG_LOAD : 0u) |
        (own & ZEPI_ZE_BLOCK_ARRAY_STORE ? UR_EXP_DEVICE_2D_BLOCK_ARRAY_CAPABILITY_FLAG_STORE : 0u);
    return result == UR_RESULT_SUCCESS ? zepi_ur_info_return_u32(info, flags) : result;
}

static ur_result_t queue_info(const struct zepi_device *device, ur_device_info_t query,
                              const struct zepi_ur_info *info)
{
    const ur_queue_flags_t flags = UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE |
                                   UR_QUEUE_FLAG_PROFILING_ENABLE | UR_QUEUE_FLAG_PRIORITY_LOW |
                                   UR_QUEUE_FLAG_PRIORITY_HIGH;
    switch ((int)query) {
    case UR_DEVICE_INFO_QUEUE_PROPERTIES:
    case UR_DEVICE_INFO_QUEUE_ON_HOST_PROPERTIES:
        return zepi_ur_info_return_u32(info, flags);
    case UR_DEVICE_INFO_QUEUE_ON_DEVICE_PROPERTIES:
        return zepi_ur_info_return_u32(info, 0);
    case UR_DEVICE_INFO_MAX_COMPUTE_QUEUE_INDICES:
        return zepi_ur_info_return_u32(info, device->compute_count);
    case UR_DEVICE_INFO_PROFILING_TIMER_RESOLUTION:
        return zepi_ur_info_return_size(info, zepi_device_timer_resolution_ns(device));
    default:
        return UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
    }
}

static ur_result_t capability_info(const struct zepi_device *device, ur_device_info_t query,
                                   const struct zepi_ur_info *info)
{
    switch ((int)query) {
    case UR_DEVICE_INFO_EXECUTION_CAPABILITIES:
        return zepi_ur_info_return_u32(info, UR_DEVICE_EXEC_CAPABILITY_FLAG_KERNEL);
    case UR_DEVICE_INFO_KERNEL_LAUNCH_CAPABILITIES:
        return zepi_ur_info_return_u32(info, UR_KERNEL_LAUNCH_PROPERTIES_FLAG_COOPERATIVE);
    case UR_DEVICE_INFO_COMMAND_BUFFER_UPDATE_CAPABILITIES_EXP:
        return zepi_ur_info_return_u32(
            info, UR_DEVICE_COMMAND_BUFFER_UPDATE_CAPABILITY_FLAG_KERNEL_ARGUMENTS |
                      UR_DEVICE_COMMAND_BUFFER_UPDATE_CAPABILITY_FLAG_LOCAL_WORK_SIZE |
                      UR_DEVICE_COMMAND_BUFFER_UPDATE_CAPABILITY_FLAG_GLOBAL_WORK_SIZE |
                      UR_DEVICE_COMMAND_BUFFER_UPDATE_CAPABILITY_FLAG_GLOBAL_WORK_OFFSET |
                      UR_DEVICE_COMMAND_BUFFER_UPDATE_CAPABILITY_FLAG_KERNEL_HANDLE);
    case UR_DEVICE_INFO_2D_BLOCK_ARRAY_CAPABILITIES_EXP:
        return get_info_block_array(device, info);
    case UR_DEVICE_INFO_COMPILER_AVAILABLE:
    case UR_DEVICE_INFO_LINKER_AVAILABLE:
        return zepi_ur_info_return_bool(info, device->module.spirvVersionSupported > 0);
    case UR_DEVICE_INFO_AVAILABLE:
        return zepi_ur_info_return_bool(info, device_is_available(device));
    default:
        return UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
    }
}

static ur_result_t switch_info(const struct zepi_device *device, ur_device_info_t query,
                               const struct zepi_ur_info *info)
{
    switch ((int)query) {
    case UR_DEVICE_INFO_ENDIAN_LITTLE:
    case UR_DEVICE_INFO_PREFERRED_INTEROP_USER_SYNC:
    // Code is compiled for each sub-device; the cache finds that it is the same code.
    case UR_DEVICE_INFO_BUILD_ON_SUBDEVICE:
    case UR_DEVICE_INFO_PROGRAM_SET_SPECIALIZATION_CONSTANTS:
    case UR_DEVICE_INFO_GLOBAL_VARIABLE_SUPPORT:
    case UR_DEVICE_INFO_USM_POOL_SUPPORT:
    case UR_DEVICE_INFO_ASYNC_USM_ALLOCATIONS_SUPPORT_EXP:
    case UR_DEVICE_INFO_COMMAND_BUFFER_SUPPORT_EXP:
    case UR_DEVICE_INFO_ENQUEUE_NATIVE_COMMAND_SUPPORT_EXP:
    case UR_DEVICE_INFO_MULTI_DEVICE_COMPILE_SUPPORT_EXP:
    case UR_DEVICE_INFO_DEVICE_WAIT_SUPPORT_EXP:
    case UR_DEVICE_INFO_TIMESTAMP_RECORDING_SUPPORT_EXP:
    case UR_DEVICE_INFO_USM_P2P_SUPPORT_EXP:
    case UR_DEVICE_INFO_USM_CONTEXT_MEMCPY_SUPPORT_EXP:
    case UR_DEVICE_INFO_GRAPH_RECORD_AND_REPLAY_SUPPORT_EXP:
    case UR_DEVICE_INFO_REUSABLE_EVENTS_SUPPORT_EXP:
    case UR_DEVICE_INFO_PER_EVENT_PROFILING_SUPPORT_EXP:
        return zepi_ur_info_return_bool(info, true);
    case UR_DEVICE_INFO_IMAGE_SRGB:
    case UR_DEVICE_INFO_KERNEL_SET_SPECIALIZATION_CONSTANTS:
    case UR_DEVICE_INFO_ASYNC_BARRIER:
    case UR_DEVICE_INFO_MEM_CHANNEL_SUPPORT:
    case UR_DEVICE_INFO_HOST_PIPE_READ_WRITE_SUPPORT:
    case UR_DEVICE_INFO_COMMAND_BUFFER_EVENT_SUPPORT_EXP:
    case UR_DEVICE_INFO_COMMAND_BUFFER_SUBGRAPH_SUPPORT_EXP:
    case UR_DEVICE_INFO_LOW_POWER_EVENTS_SUPPORT_EXP:
    case UR_DEVICE_INFO_IPC_EVENT_SUPPORT_EXP:
    case UR_DEVICE_INFO_CLOCK_SUB_GROUP_SUPPORT_EXP:
    case UR_DEVICE_INFO_CLOCK_WORK_GROUP_SUPPORT_EXP:
    case UR_DEVICE_INFO_CLOCK_DEVICE_SUPPORT_EXP:
    case UR_DEVICE_INFO_DYNAMIC_LINK_SUPPORT_EXP:
        return zepi_ur_info_return_bool(info, false);
    case UR_DEVICE_INFO_BFLOAT16_CONVERSIONS_NATIVE:
        return zepi_ur_info_return_bool(info, device->platform->optional.has_bfloat16);
    case UR_DEVICE_INFO_USE_NATIVE_ASSERT:
        return zepi_ur_info_return_bool(info, device->platform->quirks.bits &
                                                  ZEPI_QUIRK_UNTOLD_ASSERTS);
    case UR_DEVICE_INFO_ENQUEUE_HOST_TASK_SUPPORT_EXP:
        return zepi_ur_info_return_bool(info, zepi_device_has_host_functions(device));
    case UR_DEVICE_INFO_USM_HOST_ALLOC_REGISTER_SUPPORT_EXP:
        return get_info_host_registration(device, info);
    case UR_DEVICE_INFO_IPC_MEMORY_SUPPORT_EXP:
        return get_info_ipc_memory(device, info);
    case UR_DEVICE_INFO_EXTERNAL_MEMORY_IMPORT_SUPPORT_EXP:
    case UR_DEVICE_INFO_MEMORY_EXPORT_EXPORTABLE_DEVICE_MEM_EXP:
        return get_info_external_memory(device, query, info);
    case UR_DEVICE_INFO_IPC_PHYSICAL_MEMORY_SUPPORT_EXP:
        return get_info_ipc_physical_memory(device, info);
    case UR_DEVICE_INFO_VIRTUAL_MEMORY_SUPPORT:
        return get_info_virtual_memory(device, info);
    case UR_DEVICE_INFO_ESIMD_SUPPORT:
        return zepi_ur_info_return_bool(info, !device->platform->quirks.is_on_cpu &&
                                                  device->properties.type == ZE_DEVICE_TYPE_GPU);
    default:
        return UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
    }
}

// Images without binding, in the range that the header gives them.
static ur_result_t bindless_info(ur_device_info_t query, const struct zepi_ur_info *info)
{
    switch ((int)query) {
    case UR_DEVICE_INFO_IMAGE_PITCH_ALIGN_EXP:
    case UR_DEVICE_INFO_MIPMAP_MAX_ANISOTROPY_EXP:
        return zepi_ur_info_return_u32(info, 0);
    case UR_DEVICE_INFO_MAX_IMAGE_LINEAR_WIDTH_EXP:
    case UR_DEVICE_INFO_MAX_IMAGE_LINEAR_HEIGHT_EXP:
    case UR_DEVICE_INFO_MAX_IMAGE_LINEAR_PITCH_EXP:
        return zepi_ur_info_return_size(info, 0);
    default:
        return query >= UR_DEVICE_INFO_BINDLESS_IMAGES_SUPPORT_EXP &&
                       query <= UR_DEVICE_INFO_BINDLESS_IMAGES_GATHER_SUPPORT_EXP
                   ? zepi_ur_info_return_bool(info, false)
                   : UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
    }
}

ur_result_t zepi_ur_device_feature_info(const struct zepi_device *device, ur_device_info_t query,
                                        const struct zepi_ur_info *info)
{
    ur_result_t result = switch_info(device, query, info);
    if (result == UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION)
        result = queue_info(device, query, info);
    if (result == UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION)
        result = capability_info(device, query, info);
    return result == UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION ? bindless_info(query, info) : result;
}
