// SPDX-License-Identifier: MIT
#include "queue/command/barrier.h"
#include "queue/command/event_times.h"
#include "ur/handles.h"
#include "ur/info.h"

ZEPI_UR_DEFINE_REFERENCES(Event, , ur_event_handle_t, zepi_ur_check_event)

ur_result_t zepi_urEventWait(uint32_t numEvents, const ur_event_handle_t *wait_list)
{
    ur_result_t result = zepi_ur_check_pointer(wait_list, "phEventWaitList");
    if (result == UR_RESULT_SUCCESS && numEvents == 0)
        result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE, "no events to wait for");
    for (uint32_t i = 0; i < numEvents && result == UR_RESULT_SUCCESS; i++)
        result = zepi_ur_check_event(wait_list[i]);
    if (result != UR_RESULT_SUCCESS)
        return result;
    return zepi_ur_result(zepi_event_wait(numEvents, (const zepi_event_t *)wait_list, UINT64_MAX));
}

static zepi_result_t get_status(void *object, uint64_t parameter, uint64_t *out_number)
{
    zepi_event_status_t status = ZEPI_EVENT_COMPLETE;
    const zepi_result_t result = zepi_event_get_status(object, &status);
    (void)parameter;
    *out_number =
        status == ZEPI_EVENT_COMPLETE ? UR_EVENT_STATUS_COMPLETE : UR_EVENT_STATUS_SUBMITTED;
    return result;
}

// A reusable event belongs to the queue that signalled it last.
static ur_result_t get_queue(void *object, const struct zepi_ur_info *info)
{
    struct zepi_event *signal = zepi_event_take_signal(object);
    const ur_result_t result =
        signal->queue
            ? zepi_ur_info_return(info, &signal->queue, sizeof(signal->queue))
            : zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE, "the event belongs to no queue");
    zepi_release(signal);
    return result;
}

static const struct zepi_ur_query event_queries[] = {
    {ZEPI_UR_VALUE(EVENT_INFO_COMMAND_QUEUE, get_queue)},
    {ZEPI_UR_MEMBER(EVENT_INFO_CONTEXT, BYTES, zepi_event, context)},
    {ZEPI_UR_MEMBER(EVENT_INFO_COMMAND_TYPE, U32, zepi_event, label)},
    {ZEPI_UR_ASKED(EVENT_INFO_COMMAND_EXECUTION_STATUS, U32, get_status, 0)},
    {ZEPI_UR_REFERENCES(EVENT_INFO_REFERENCE_COUNT)},
};

ZEPI_UR_DEFINE_GET_INFO(Event, , event, zepi_ur_check_event, event_queries,
                        EVENT_INFO_REFERENCE_COUNT)

// A time of the event's command, complete or not.
static zepi_result_t get_time(void *object, uint64_t query, uint64_t *out_ns)
{
    struct zepi_event *event = object;
    zepi_event_times_t times = {.size = sizeof(times)};
    zepi_result_t result = zepi_event_get_times(event, &times);
    // Known before the command is complete. Afterwards it is no later than the start, though the
    // clock that tells it may be a little ahead.
    if (result == ZEPI_ERROR_NOT_READY && query <= UR_PROFILING_INFO_COMMAND_SUBMIT)
        result = zepi_event_get_submit_ns(event, &times.submit_ns);
    // A recorded time is one moment.
    const bool is_moment = event->label == UR_COMMAND_TIMESTAMP_RECORDING_EXP;
    *out_ns = times.end_ns;
    if (query <= UR_PROFILING_INFO_COMMAND_SUBMIT)
        *out_ns = times.submit_ns;
    else if (query == UR_PROFILING_INFO_COMMAND_START && !is_moment)
        *out_ns = times.start_ns;
    return result;
}

#define TIME(name) ZEPI_UR_ASKED(PROFILING_INFO_##name, U64, get_time, UR_PROFILING_INFO_##name)
static const struct zepi_ur_query time_queries[] = {
    {TIME(COMMAND_QUEUED)}, {TIME(COMMAND_SUBMIT)},   {TIME(COMMAND_START)},
    {TIME(COMMAND_END)},    {TIME(COMMAND_COMPLETE)},
};

ur_result_t zepi_urEventGetProfilingInfo(ur_event_handle_t hEvent, ur_profiling_info_t query,
                                         size_t value_size, void *value, size_t *out_size)
{
    ur_result_t result = zepi_ur_check_event(hEvent);
    if (result == UR_RESULT_SUCCESS && !zepi_event_has_times(zepi_ur_event(hEvent)))
        result = zepi_ur_refuse(UR_RESULT_ERROR_PROFILING_INFO_NOT_AVAILABLE,
                                "the event has no times: its queue was made without profiling");
    // The header has another result for this case than for all other queries.
    if (result == UR_RESULT_SUCCESS && value && value_size == 0)
        result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE,
                                "room for 0 bytes of the property's value");
    return zepi_ur_get_info(result, hEvent, ZEPI_UR_ROWS(time_queries), query,
                            UR_PROFILING_INFO_COMMAND_COMPLETE, value_size, value, out_size);
}

ur_result_t zepi_urEventGetNativeHandle(ur_event_handle_t hEvent, ur_native_handle_t *phNativeEvent)
{
    ur_result_t result = zepi_ur_check_event(hEvent);
    result = result ? result : zepi_ur_check_pointer(phNativeEvent, "phNativeEvent");
    return result ? result
                  : zepi_ur_result(
                        zepi_event_get_native(zepi_ur_event(hEvent), (void **)phNativeEvent));
}

ur_result_t zepi_urEventCreateWithNativeHandle(ur_native_handle_t hNativeEvent,
                                               ur_context_handle_t hContext,
                                               const ur_event_native_properties_t *pProperties,
                                               ur_event_handle_t *out_event)
{
    const ur_result_t result = zepi_ur_check_context_pointer(hContext, out_event, "phEvent");
    if (result != UR_RESULT_SUCCESS)
        return result;
    // An event without a native handle is over: that is how hosts describe a command that needed
    // none.
    if (!hNativeEvent)
        return zepi_ur_result(
            zepi_event_create_complete(zepi_ur_context(hContext), (zepi_event_t *)out_event));
    return zepi_ur_result(
        zepi_event_create_from_native(zepi_ur_context(hContext), (void *)hNativeEvent,
                                      ZEPI_UR_OWNERSHIP(pProperties), (zepi_event_t *)out_event));
}

ur_result_t zepi_urEventCreateExp(ur_context_handle_t hContext, ur_device_handle_t hDevice,
                                  const ur_exp_event_desc_t *pEventDesc,
                                  ur_event_handle_t *out_event)
{
    ur_result_t result = zepi_ur_check_context_device(hContext, hDevice);
    result = result ? result : zepi_ur_check_pointer(pEventDesc, "pEventDesc");
    result = result ? result : zepi_ur_check_pointer(out_event, "phEvent");
    result = result ? result : zepi_ur_check_flags(pEventDesc->flags, UR_EXP_EVENT_FLAGS_MASK);
    if (result == UR_RESULT_SUCCESS && pEventDesc->flags & UR_EXP_EVENT_FLAG_IPC_EXP)
        result = pEventDesc->flags & UR_EXP_EVENT_FLAG_ENABLE_PROFILING
                     ? zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE,
                                      "an event for other processes cannot have times")
                     : zepi_ur_refuse(UR_RESULT_ERROR_UNSUPPORTED_FEATURE,
                                      "zepi shares no events with other processes");
    if (result != UR_RESULT_SUCCESS)
        return result;
    zepi_event_t event;
    result = zepi_ur_result(zepi_reusable_event_create(
        zepi_ur_context(hContext),
        pEventDesc->flags & UR_EXP_EVENT_FLAG_ENABLE_PROFILING ? ZEPI_REUSABLE_EVENT_TIMES
                                                               : ZEPI_REUSABLE_EVENT_TIMES_OF_QUEUE,
        &event));
    if (result != UR_RESULT_SUCCESS)
        return result;
    event->label = UR_COMMAND_EVENTS_WAIT_WITH_BARRIER;
    *out_event = (ur_event_handle_t)event;
    return UR_RESULT_SUCCESS;
}
