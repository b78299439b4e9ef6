// SPDX-License-Identifier: MIT
#include "command/command_list.h"
#include "entry.h"

#include <string.h>

static ze_result_t append_barrier(ze_command_list_handle_t hCommandList, ze_event_handle_t signal,
                                  uint32_t wait_count, ze_event_handle_t *waits,
                                  const char *function)
{
    struct cpu_list *list = (struct cpu_list *)hCommandList;
    struct cpu_command *command;
    ze_result_t result = cpu_list_command(list, CPU_COMMAND_BARRIER, 0, signal, wait_count, waits,
                                          function, &command);
    return result == ZE_RESULT_SUCCESS ? cpu_list_add(list, command, function) : result;
}

ze_result_t ZE_APICALL cpu_zeCommandListAppendBarrier(ze_command_list_handle_t hCommandList,
                                                      ze_event_handle_t hSignalEvent,
                                                      uint32_t numWaitEvents,
                                                      ze_event_handle_t *phWaitEvents)
{
    return append_barrier(hCommandList, hSignalEvent, numWaitEvents, phWaitEvents, __func__);
}

ze_result_t ZE_APICALL cpu_zeCommandListAppendMemoryRangesBarrier(
    ze_command_list_handle_t hCommandList, uint32_t numRanges, const size_t *pRangeSizes,
    const void **pRanges, ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
    ze_event_handle_t *phWaitEvents)
{
    return append_barrier(hCommandList, hSignalEvent, numWaitEvents, phWaitEvents, __func__);
}

ze_result_t ZE_APICALL cpu_zeCommandListAppendSignalEvent(ze_command_list_handle_t hCommandList,
                                                          ze_event_handle_t hEvent)
{
    return append_barrier(hCommandList, hEvent, 0, NULL, __func__);
}

ze_result_t ZE_APICALL cpu_zeCommandListAppendWaitOnEvents(ze_command_list_handle_t hCommandList,
                                                           uint32_t numEvents,
                                                           ze_event_handle_t *phEvents)
{
    return append_barrier(hCommandList, NULL, numEvents, phEvents, __func__);
}

ze_result_t ZE_APICALL cpu_zeCommandListAppendEventReset(ze_command_list_handle_t hCommandList,
                                                         ze_event_handle_t hEvent)
{
    struct cpu_list *list = (struct cpu_list *)hCommandList;
    struct cpu_event *event = (struct cpu_event *)hEvent;
    if (event->is_counter_based) {
        cpu_report(__func__, "counter-based events cannot be reset");
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    struct cpu_command *command;
    ze_result_t result =
        cpu_list_command(list, CPU_COMMAND_RESET_EVENT, 0, NULL, 0, NULL, __func__, &command);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    command->u.reset.event = event;
    return cpu_list_add(list, command, __func__);
}

ze_result_t ZE_APICALL cpu_zeCommandListAppendWriteGlobalTimestamp(
    ze_command_list_handle_t hCommandList, uint64_t *dstptr, ze_event_handle_t hSignalEvent,
    uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    struct cpu_list *list = (struct cpu_list *)hCommandList;
    struct cpu_command *command;
    ze_result_t result = cpu_list_command(list, CPU_COMMAND_WRITE_TIMESTAMP, 0, hSignalEvent,
                                          numWaitEvents, phWaitEvents, __func__, &command);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    command->u.copy.target = dstptr;
    return cpu_list_add(list, command, __func__);
}

ze_result_t ZE_APICALL cpu_zeCommandListAppendQueryKernelTimestamps(
    ze_command_list_handle_t hCommandList, uint32_t numEvents, ze_event_handle_t *phEvents,
    void *dstptr, const size_t *pOffsets, ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
    ze_event_handle_t *phWaitEvents)
{
    struct cpu_list *list = (struct cpu_list *)hCommandList;
    ze_result_t result = cpu_objects_check(numEvents, phEvents, CPU_EVENT, __func__);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    size_t event_bytes = numEvents * sizeof(struct cpu_event *);
    size_t offset_bytes = pOffsets != NULL ? numEvents * sizeof(size_t) : 0;
    struct cpu_command *command;
    result = cpu_list_command(list, CPU_COMMAND_QUERY_TIMESTAMPS, event_bytes + offset_bytes + 32,
                              hSignalEvent, numWaitEvents, phWaitEvents, __func__, &command);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    command->u.timestamps.events = cpu_command_take(command, event_bytes);
    memcpy(command->u.timestamps.events, phEvents, event_bytes);
    command->u.timestamps.count = numEvents;
    command->u.timestamps.target = dstptr;
    if (pOffsets != NULL) {
        size_t *offsets = cpu_command_take(command, offset_bytes);
        memcpy(offsets, pOffsets, offset_bytes);
        command->u.timestamps.offsets = offsets;
    }
    return cpu_list_add(list, command, __func__);
}

// Extensions in the chain are ignored, as by Intel's driver.
ze_result_t ZE_APICALL cpu_zeCommandListAppendHostFunction(
    ze_command_list_handle_t hCommandList, ze_host_function_callback_t pfnHostFunction,
    void *pUserData, const void *pNext, ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
    ze_event_handle_t *phWaitEvents)
{
    struct cpu_list *list = (struct cpu_list *)hCommandList;
    if (pfnHostFunction == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    struct cpu_command *command;
    ze_result_t result = cpu_list_command(list, CPU_COMMAND_HOST_FUNCTION, 0, hSignalEvent,
                                          numWaitEvents, phWaitEvents, __func__, &command);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    command->u.host.function = pfnHostFunction;
    command->u.host.user = pUserData;
    return cpu_list_add(list, command, __func__);
}
