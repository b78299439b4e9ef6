// SPDX-License-Identifier: MIT
#include "command/command_list.h"
#include "entry.h"
#include "memory/memory.h"
#include "options.h"

#include <string.h>

// Whether a copy reads its source while it is appended.
static bool copies_early(const struct cpu_list *list, const void *source, uint32_t wait_count)
{
    struct cpu_allocation memory;
    return cpu_options()->copies_early && list->is_immediate && wait_count == 0 &&
           !cpu_memory_find(source, &memory);
}

ze_result_t ZE_APICALL cpu_zeCommandListAppendMemoryCopy(
    ze_command_list_handle_t hCommandList, void *dstptr, const void *srcptr, size_t size,
    ze_event_handle_t hSignalEvent, uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    struct cpu_list *list = (struct cpu_list *)hCommandList;
    struct cpu_command *command;
    const bool is_early = copies_early(list, srcptr, numWaitEvents);
    ze_result_t result = cpu_list_command(list, CPU_COMMAND_COPY, is_early ? size : 0, hSignalEvent,
                                          numWaitEvents, phWaitEvents, __func__, &command);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    command->u.copy.source =
        is_early ? memcpy(cpu_command_take(command, size), srcptr, size) : srcptr;
    command->u.copy.target = dstptr;
    command->u.copy.region = (struct cpu_copy_region){.width_bytes = size, .height = 1, .depth = 1};
    return cpu_list_add(list, command, __func__);
}

ze_result_t ZE_APICALL cpu_zeCommandListAppendMemoryCopyFromContext(
    ze_command_list_handle_t hCommandList, void *dstptr, ze_context_handle_t hContextSrc,
    const void *srcptr, size_t size, ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
    ze_event_handle_t *phWaitEvents)
{
    return cpu_zeCommandListAppendMemoryCopy(hCommandList, dstptr, srcptr, size, hSignalEvent,
                                             numWaitEvents, phWaitEvents);
}

ze_result_t ZE_APICALL cpu_zeCommandListAppendMemoryFill(ze_command_list_handle_t hCommandList,
                                                         void *ptr, const void *pattern,
                                                         size_t pattern_size, size_t size,
                                                         ze_event_handle_t hSignalEvent,
                                                         uint32_t numWaitEvents,
                                                         ze_event_handle_t *phWaitEvents)
{
    struct cpu_list *list = (struct cpu_list *)hCommandList;
    if (pattern_size == 0 || (pattern_size & (pattern_size - 1)) != 0)
        return ZE_RESULT_ERROR_INVALID_SIZE;
    struct cpu_command *command;
    ze_result_t result = cpu_list_command(list, CPU_COMMAND_FILL, pattern_size, hSignalEvent,
                                          numWaitEvents, phWaitEvents, __func__, &command);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    void *kept = cpu_command_take(command, pattern_size);
    memcpy(kept, pattern, pattern_size);
    command->u.copy.source = kept;
    command->u.copy.target = ptr;
    command->u.copy.size_bytes = size;
    command->u.copy.pattern_bytes = pattern_size;
    return cpu_list_add(list, command, __func__);
}

ze_result_t ZE_APICALL cpu_zeCommandListAppendMemoryCopyRegion(
    ze_command_list_handle_t hCommandList, void *dstptr, const ze_copy_region_t *dstRegion,
    uint32_t dstPitch, uint32_t dstSlicePitch, const void *srcptr,
    const ze_copy_region_t *srcRegion, uint32_t srcPitch, uint32_t srcSlicePitch,
    ze_event_handle_t hSignalEvent, uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    struct cpu_list *list = (struct cpu_list *)hCommandList;
    if (dstRegion->width != srcRegion->width || dstRegion->height != srcRegion->height ||
        dstRegion->depth != srcRegion->depth)
        return ZE_RESULT_ERROR_INVALID_SIZE;
    struct cpu_command *command;
    ze_result_t result = cpu_list_command(list, CPU_COMMAND_COPY, 0, hSignalEvent, numWaitEvents,
                                          phWaitEvents, __func__, &command);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    command->u.copy.source = (const unsigned char *)srcptr + srcRegion->originX +
                             (size_t)srcRegion->originY * srcPitch +
                             (size_t)srcRegion->originZ * srcSlicePitch;
    command->u.copy.target = (unsigned char *)dstptr + dstRegion->originX +
                             (size_t)dstRegion->originY * dstPitch +
                             (size_t)dstRegion->originZ * dstSlicePitch;
    // Two-dimensional regions have a depth of 0 or 1.
    command->u.copy.region = (struct cpu_copy_region){
        .width_bytes = dstRegion->width,
        .height = dstRegion->height,
        .depth = dstRegion->depth != 0 ? dstRegion->depth : 1,
        .source_row_bytes = srcPitch,
        .source_slice_bytes = srcSlicePitch,
        .target_row_bytes = dstPitch,
        .target_slice_bytes = dstSlicePitch,
    };
    return cpu_list_add(list, command, __func__);
}

ze_result_t ZE_APICALL cpu_zeCommandListAppendMemoryPrefetch(ze_command_list_handle_t hCommandList,
                                                             const void *ptr, size_t size)
{
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeCommandListAppendMemAdvise(ze_command_list_handle_t hCommandList,
                                                        ze_device_handle_t hDevice, const void *ptr,
                                                        size_t size, ze_memory_advice_t advice)
{
    // not needed here; Intel's driver ignores unknown values, too
    return ZE_RESULT_SUCCESS;
}
