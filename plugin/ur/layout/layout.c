// SPDX-License-Identifier: MIT
#include "ur/layout/layout.h"

#include "core/log.h"
#include "core/object.h"
#include "device/adapter.h"
#include "ur/command.h"
#include "ur/layout/set_arguments.h"

// ---- Functions of older releases, in place of the newest one's (CMakeLists.txt) ----

// A build without an older release's list has tables without these.
#define OLDER __attribute__((unused)) static

// Up to 2026.1, where six queries have other numbers.
OLDER ur_result_t zepi_urDeviceGetInfo_older(ur_device_handle_t hDevice, ur_device_info_t query,
                                             size_t value_size, void *value, size_t *out_size)
{
    // A query came in before these six. 2026.1.0 has the tables of 2026.0 and asks them, too.
    const bool is_moved =
        query >= UR_DEVICE_INFO_MAX_WORK_GROUPS && query < UR_DEVICE_INFO_MAX_LANES_PER_HW_THREAD;
    return zepi_urDeviceGetInfo(hDevice, is_moved ? query + 1 : query, value_size, value, out_size);
}

// Up to 2026.1, where the event is an output alone.
OLDER ur_result_t zepi_urEnqueueEventsWaitWithBarrierExt_older(
    ur_queue_handle_t hQueue, const ur_exp_enqueue_ext_properties_t *pProperties,
    ZEPI_UR_ENQUEUE_PARAMETERS)
{
    ur_event_handle_t event = NULL;
    const ur_result_t result = zepi_urEnqueueEventsWaitWithBarrierExt(
        hQueue, pProperties, wait_count, wait_list, out_event ? &event : NULL);
    if (result == UR_RESULT_SUCCESS && out_event)
        *out_event = event;
    return result;
}

// Up to 2026.1, where the first bit is the only flag, and means nothing.
OLDER ur_result_t zepi_urPhysicalMemCreate_older(ur_context_handle_t hContext,
                                                 ur_device_handle_t hDevice, size_t size,
                                                 const ur_physical_mem_properties_t *pProperties,
                                                 ur_physical_mem_handle_t *phPhysicalMem)
{
    const ur_result_t result = zepi_ur_check_flags(pProperties ? pProperties->flags : 0, ~1u);
    return result ? result : zepi_urPhysicalMemCreate(hContext, hDevice, size, NULL, phPhysicalMem);
}

// 2025.3 has no flags.
OLDER ur_result_t zepi_urProgramBuildExp_older(ur_program_handle_t hProgram, uint32_t numDevices,
                                               ur_device_handle_t *phDevices, const char *pOptions)
{
    return zepi_urProgramBuildExp(hProgram, numDevices, phDevices, 0, pOptions);
}

OLDER ur_result_t zepi_urProgramCompileExp_older(ur_program_handle_t hProgram, uint32_t numDevices,
                                                 ur_device_handle_t *phDevices,
                                                 const char *pOptions)
{
    return zepi_urProgramCompileExp(hProgram, numDevices, phDevices, 0, pOptions);
}

OLDER ur_result_t zepi_urProgramLinkExp_older(ur_context_handle_t hContext, uint32_t numDevices,
                                              ur_device_handle_t *phDevices, uint32_t count,
                                              const ur_program_handle_t *phPrograms,
                                              const char *pOptions, ur_program_handle_t *phProgram)
{
    return zepi_urProgramLinkExp(hContext, numDevices, phDevices, 0, count, phPrograms, pOptions,
                                 phProgram);
}

// 2025.3 has the properties of a launch in a list.
typedef struct ur_kernel_launch_property_t {
    enum { PROPERTY_IGNORE, PROPERTY_COOPERATIVE } id;
    union {
        uint32_t cluster_dim[3];
        int cooperative;
        size_t work_group_memory_bytes;
    } value;
} ur_kernel_launch_property_t;

OLDER ur_result_t read_launch_properties(uint32_t count,
                                         const ur_kernel_launch_property_t *properties,
                                         ur_kernel_launch_flags_t *out_flags)
{
    *out_flags = 0;
    if (count > 0 && !properties)
        return zepi_ur_refuse_null("launchPropList");
    for (uint32_t i = 0; i < count; i++) {
        switch (properties[i].id) {
        case PROPERTY_IGNORE:
            break;
        case PROPERTY_COOPERATIVE:
            if (properties[i].value.cooperative)
                *out_flags |= UR_KERNEL_LAUNCH_FLAG_COOPERATIVE;
            break;
        default:
            return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_OPERATION,
                                  "launch property %d is not supported by the device",
                                  (int)properties[i].id);
        }
    }
    return UR_RESULT_SUCCESS;
}

OLDER ur_result_t zepi_urEnqueueKernelLaunch_older(
    ur_queue_handle_t hQueue, ur_kernel_handle_t hKernel, uint32_t workDim,
    const size_t *pGlobalWorkOffset, const size_t *pGlobalWorkSize, const size_t *pLocalWorkSize,
    uint32_t numPropsInLaunchPropList, const ur_kernel_launch_property_t *launchPropList,
    ZEPI_UR_ENQUEUE_PARAMETERS)
{
    ur_kernel_launch_ext_properties_t chain = {.stype =
                                                   UR_STRUCTURE_TYPE_KERNEL_LAUNCH_EXT_PROPERTIES};
    const ur_result_t result =
        read_launch_properties(numPropsInLaunchPropList, launchPropList, &chain.flags);
    return result == UR_RESULT_SUCCESS
               ? zepi_urEnqueueKernelLaunch(
                     hQueue, hKernel, workDim, pGlobalWorkOffset, pGlobalWorkSize, pLocalWorkSize,
                     chain.flags ? &chain : NULL, wait_count, wait_list, out_event)
               : result;
}

// 2025.3: a slot whose function its header does not name.
OLDER ur_result_t zepi_urReserved(void)
{
    return zepi_ur_refuse(UR_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "the function is not in the header of its release");
}

// ---- Tables ----

#define SLOT(function, implementation) (zepi_ur_function *)(implementation),
#define SLOTS(word, release)                                                                       \
    static zepi_ur_function *const slots_##word[] = {ZEPI_UR_SLOTS_##word(SLOT)};
ZEPI_UR_RELEASES(SLOTS)

#define PLACE(name, first_slot, slot_count) [ZEPI_UR_TABLE_##name] = {first_slot, slot_count},
#define LAYOUT(word, release) {release, slots_##word, {ZEPI_UR_PLACES_##word(PLACE)}},
const struct zepi_ur_layout zepi_ur_layouts[] = {ZEPI_UR_RELEASES(LAYOUT)};

void zepi_ur_layout_use(const struct zepi_ur_layout *layout)
{
    zepi_ur_adapter.front_end = (void *)layout->slots;
    zepi_adapter_set_front_end((void *)layout->slots);
    zepi_ur_set_has_capture_results(layout == &zepi_ur_layouts[ZEPI_UR_RELEASE_COUNT - 1]);
}

// Bounds of this library's types; the linker defines them.
extern const char __start_zepi_types[] __attribute__((visibility("hidden")));
extern const char __stop_zepi_types[] __attribute__((visibility("hidden")));

// The core library may stay for another host.
__attribute__((destructor)) static void unload(void)
{
    zepi_log_set_host(NULL, ZEPI_LOG_OFF);
    zepi_object_unload_types(__start_zepi_types, __stop_zepi_types);
}
