// SPDX-License-Identifier: MIT
// Refusals of queues, events and commands without memory.
#include "checks.h"

#include <criterion/criterion.h>

TestSuite(checks_queue, .init = checks_set_up, .fini = checks_tear_down);

#define WRONG UR_RESULT_ERROR_INVALID_QUEUE
#define WRONG_CONTEXT UR_RESULT_ERROR_INVALID_CONTEXT
#define WRONG_DEVICE UR_RESULT_ERROR_INVALID_DEVICE
#define NULL_POINTER UR_RESULT_ERROR_INVALID_NULL_POINTER

Test(checks_queue, of_its_creation)
{
    ur_queue_properties_t properties = {.stype = UR_STRUCTURE_TYPE_QUEUE_PROPERTIES};
    ur_queue_handle_t *const out = OUT(ur_queue_handle_t);
    REFUSES_HANDLE(CONTEXT, ur_context_handle_t, WRONG_CONTEXT,
                   urQueueCreate(handle, gear.device, NULL, out));
    REFUSES_HANDLE(DEVICE, ur_device_handle_t, WRONG_DEVICE,
                   urQueueCreate(gear.context, handle, NULL, out));
    REFUSES(WRONG_DEVICE, urQueueCreate(other.context, gear.device, NULL, out));
    REFUSES(NULL_POINTER, urQueueCreate(gear.context, gear.device, NULL, NULL));
    REFUSES_FLAGS(
        UR_QUEUE_FLAGS_MASK,
        (properties.flags = flags, urQueueCreate(gear.context, gear.device, &properties, out)));
    static const ur_queue_flags_t contradictions[] = {
        UR_QUEUE_FLAG_PRIORITY_LOW | UR_QUEUE_FLAG_PRIORITY_HIGH,
        UR_QUEUE_FLAG_SUBMISSION_BATCHED | UR_QUEUE_FLAG_SUBMISSION_IMMEDIATE,
        UR_QUEUE_FLAG_ON_DEVICE, UR_QUEUE_FLAG_ON_DEVICE | UR_QUEUE_FLAG_ON_DEVICE_DEFAULT};
    for (size_t i = 0; i < sizeof(contradictions) / sizeof(contradictions[0]); i++) {
        properties.flags = contradictions[i];
        REFUSES(UR_RESULT_ERROR_INVALID_QUEUE_PROPERTIES,
                urQueueCreate(gear.context, gear.device, &properties, out));
    }
    ur_queue_index_properties_t index = {.stype = UR_STRUCTURE_TYPE_QUEUE_INDEX_PROPERTIES,
                                         .computeIndex = UINT32_MAX};
    properties =
        (ur_queue_properties_t){.stype = UR_STRUCTURE_TYPE_QUEUE_PROPERTIES, .pNext = &index};
    REFUSES(UR_RESULT_ERROR_INVALID_QUEUE_PROPERTIES,
            urQueueCreate(gear.context, gear.device, &properties, out));
}

Test(checks_queue, of_its_life)
{
    REFUSES_HANDLE(QUEUE, ur_queue_handle_t, WRONG, urQueueRetain(handle));
    REFUSES_HANDLE(QUEUE, ur_queue_handle_t, WRONG, urQueueRelease(handle));
    REFUSES_HANDLE(QUEUE, ur_queue_handle_t, WRONG, urQueueFinish(handle));
    REFUSES_HANDLE(QUEUE, ur_queue_handle_t, WRONG, urQueueFlush(handle));
    REFUSES_HANDLE(QUEUE, ur_queue_handle_t, WRONG,
                   urQueueGetInfo(handle, UR_QUEUE_INFO_CONTEXT, 8, OUT(void), NULL));
    REFUSES_INFO(ur_queue_info_t, UR_QUEUE_INFO_CONTEXT, UR_QUEUE_INFO_EMPTY,
                 urQueueGetInfo(own.queue, query, size, value, out_size));
    // Queries about queues on the device.
    REFUSES(WRONG, urQueueGetInfo(own.queue, UR_QUEUE_INFO_SIZE, 8, OUT(void), NULL));
    REFUSES(WRONG, urQueueGetInfo(own.queue, UR_QUEUE_INFO_DEVICE_DEFAULT, 8, OUT(void), NULL));
}

Test(checks_queue, of_native_handles)
{
    ur_queue_native_desc_t desc = {.stype = UR_STRUCTURE_TYPE_QUEUE_NATIVE_DESC};
    int32_t is_command_list = 1;
    ur_native_handle_t native;
    desc.pNativeData = &is_command_list;
    UR_OK(urQueueGetNativeHandle(own.queue, &desc, &native));
    REFUSES_HANDLE(QUEUE, ur_queue_handle_t, WRONG,
                   urQueueGetNativeHandle(handle, NULL, OUT(ur_native_handle_t)));
    REFUSES(NULL_POINTER, urQueueGetNativeHandle(own.queue, NULL, NULL));
    REFUSES_HANDLE(
        CONTEXT, ur_context_handle_t, WRONG_CONTEXT,
        urQueueCreateWithNativeHandle(native, handle, gear.device, NULL, OUT(ur_queue_handle_t)));
    REFUSES_OTHER_HANDLE(
        DEVICE, ur_device_handle_t, WRONG_DEVICE,
        urQueueCreateWithNativeHandle(native, gear.context, handle, NULL, OUT(ur_queue_handle_t)));
    REFUSES(WRONG_DEVICE, urQueueCreateWithNativeHandle(native, other.context, gear.device, NULL,
                                                        OUT(ur_queue_handle_t)));
    REFUSES(NULL_POINTER,
            urQueueCreateWithNativeHandle(native, gear.context, gear.device, NULL, NULL));
    REFUSES(
        UR_RESULT_ERROR_INVALID_VALUE,
        urQueueCreateWithNativeHandle(0, gear.context, gear.device, NULL, OUT(ur_queue_handle_t)));
    // A command queue, which zepi does not use.
    ur_queue_native_properties_t properties = {.stype = UR_STRUCTURE_TYPE_QUEUE_NATIVE_PROPERTIES,
                                               .pNext = &desc};
    is_command_list = 0;
    REFUSES(UR_RESULT_ERROR_UNSUPPORTED_FEATURE,
            urQueueCreateWithNativeHandle(native, gear.context, gear.device, &properties,
                                          OUT(ur_queue_handle_t)));
}

Test(checks_queue, of_events)
{
    const ur_result_t wrong = UR_RESULT_ERROR_INVALID_EVENT;
    REFUSES_HANDLE(EVENT, ur_event_handle_t, wrong, urEventRetain(handle));
    REFUSES_HANDLE(EVENT, ur_event_handle_t, wrong, urEventRelease(handle));
    REFUSES(NULL_POINTER, urEventWait(1, NULL));
    REFUSES(UR_RESULT_ERROR_INVALID_VALUE, urEventWait(0, &own.event));
    REFUSES_HANDLE(EVENT, ur_event_handle_t, wrong, urEventWait(1, &handle));
    const ur_event_handle_t list[] = {own.event, (ur_event_handle_t)own.queue};
    REFUSES(wrong, urEventWait(2, list));
    REFUSES_HANDLE(EVENT, ur_event_handle_t, wrong,
                   urEventGetInfo(handle, UR_EVENT_INFO_CONTEXT, 8, OUT(void), NULL));
    REFUSES_INFO(ur_event_info_t, UR_EVENT_INFO_CONTEXT, UR_EVENT_INFO_REFERENCE_COUNT,
                 urEventGetInfo(own.event, query, size, value, out_size));
    REFUSES_HANDLE(EVENT, ur_event_handle_t, wrong,
                   urEventGetNativeHandle(handle, OUT(ur_native_handle_t)));
    REFUSES(NULL_POINTER, urEventGetNativeHandle(own.event, NULL));
    ur_native_handle_t native;
    UR_OK(urEventGetNativeHandle(own.event, &native));
    REFUSES_HANDLE(CONTEXT, ur_context_handle_t, WRONG_CONTEXT,
                   urEventCreateWithNativeHandle(native, handle, NULL, OUT(ur_event_handle_t)));
    REFUSES(NULL_POINTER, urEventCreateWithNativeHandle(native, gear.context, NULL, NULL));
}

Test(checks_queue, of_reusable_events)
{
    const ur_result_t wrong = UR_RESULT_ERROR_INVALID_EVENT;
    ur_event_handle_t *const out = OUT(ur_event_handle_t);
    ur_exp_event_desc_t desc = {.stype = UR_STRUCTURE_TYPE_EXP_EVENT_DESC};
    REFUSES_HANDLE(CONTEXT, ur_context_handle_t, WRONG_CONTEXT,
                   urEventCreateExp(handle, gear.device, &desc, out));
    REFUSES_HANDLE(DEVICE, ur_device_handle_t, WRONG_DEVICE,
                   urEventCreateExp(gear.context, handle, &desc, out));
    REFUSES(WRONG_DEVICE, urEventCreateExp(other.context, gear.device, &desc, out));
    REFUSES(NULL_POINTER, urEventCreateExp(gear.context, gear.device, NULL, out));
    REFUSES(NULL_POINTER, urEventCreateExp(gear.context, gear.device, &desc, NULL));
    REFUSES_FLAGS(UR_EXP_EVENT_FLAGS_MASK,
                  (desc.flags = flags, urEventCreateExp(gear.context, gear.device, &desc, out)));
    desc.flags = UR_EXP_EVENT_FLAG_IPC_EXP | UR_EXP_EVENT_FLAG_ENABLE_PROFILING;
    REFUSES(UR_RESULT_ERROR_INVALID_VALUE, urEventCreateExp(gear.context, gear.device, &desc, out));
    desc.flags = UR_EXP_EVENT_FLAG_ENABLE_PROFILING;
    ur_event_handle_t event;
    UR_OK(urEventCreateExp(gear.context, gear.device, &desc, &event));
    // The commands that signal it, which leaves it alone if they are refused.
    ur_exp_enqueue_ext_properties_t properties = {.stype =
                                                      UR_STRUCTURE_TYPE_EXP_ENQUEUE_EXT_PROPERTIES};
    const ur_event_handle_t before = event;
    REFUSES_HANDLE(QUEUE, ur_queue_handle_t, WRONG,
                   urEnqueueEventsWaitWithBarrierExt(handle, NULL, 0, NULL, &event));
    REFUSES_WAIT_LISTS(
        urEnqueueEventsWaitWithBarrierExt(own.queue, NULL, wait_count, wait_list, &event));
    REFUSES_FLAGS(UR_EXP_ENQUEUE_EXT_FLAGS_MASK,
                  (properties.flags = flags,
                   urEnqueueEventsWaitWithBarrierExt(own.queue, &properties, 0, NULL, &event)));
    REFUSES(wrong, urEnqueueEventsWaitWithBarrierExt(other.queue, NULL, 0, NULL, &event));
    cr_assert_eq(event, before);
    cr_assert_eq(ur_event_status(event), UR_EVENT_STATUS_COMPLETE);
    REFUSES(UR_RESULT_ERROR_PROFILING_INFO_NOT_AVAILABLE,
            urEventGetProfilingInfo(event, UR_PROFILING_INFO_COMMAND_END, 8, OUT(void), NULL));
    UR_OK(urEnqueueEventsWaitWithBarrierExt(own.queue, NULL, 0, NULL, &event));
    UR_OK(urEventWait(1, &event));
    REFUSES_INFO_SIZED(ur_profiling_info_t, UR_PROFILING_INFO_COMMAND_START,
                       UR_PROFILING_INFO_COMMAND_COMPLETE, UR_RESULT_ERROR_INVALID_VALUE,
                       urEventGetProfilingInfo(event, query, size, value, out_size));
    REFUSES_INFO(ur_event_info_t, UR_EVENT_INFO_CONTEXT, UR_EVENT_INFO_REFERENCE_COUNT,
                 urEventGetInfo(event, query, size, value, out_size));
    REFUSES(NULL_POINTER, urEventGetNativeHandle(event, NULL));
    UR_OK(urEventRelease(event));
}

Test(checks_queue, of_profiling)
{
    ur_event_handle_t profiled;
    UR_OK(urEnqueueEventsWait(gear.queue, 0, NULL, &profiled));
    UR_OK(urEventWait(1, &profiled));
    REFUSES_HANDLE(
        EVENT, ur_event_handle_t, UR_RESULT_ERROR_INVALID_EVENT,
        urEventGetProfilingInfo(handle, UR_PROFILING_INFO_COMMAND_START, 8, OUT(void), NULL));
    REFUSES_INFO_SIZED(ur_profiling_info_t, UR_PROFILING_INFO_COMMAND_START,
                       UR_PROFILING_INFO_COMMAND_COMPLETE, UR_RESULT_ERROR_INVALID_VALUE,
                       urEventGetProfilingInfo(profiled, query, size, value, out_size));
    // own.event is of a queue without profiling.
    for (ur_profiling_info_t query = UR_PROFILING_INFO_COMMAND_QUEUED;
         query <= UR_PROFILING_INFO_COMMAND_COMPLETE; query++)
        REFUSES(UR_RESULT_ERROR_PROFILING_INFO_NOT_AVAILABLE,
                urEventGetProfilingInfo(own.event, query, 8, OUT(void), NULL));
    UR_OK(urEventRelease(profiled));
}

Test(checks_queue, of_markers_and_barriers)
{
    ur_event_handle_t *const out = OUT(ur_event_handle_t);
    ur_exp_enqueue_ext_properties_t properties = {.stype =
                                                      UR_STRUCTURE_TYPE_EXP_ENQUEUE_EXT_PROPERTIES};
    REFUSES_HANDLE(QUEUE, ur_queue_handle_t, WRONG, urEnqueueEventsWait(handle, 0, NULL, out));
    REFUSES_WAIT_LISTS(urEnqueueEventsWait(own.queue, wait_count, wait_list, out));
    REFUSES_HANDLE(QUEUE, ur_queue_handle_t, WRONG,
                   urEnqueueEventsWaitWithBarrier(handle, 0, NULL, out));
    REFUSES_WAIT_LISTS(urEnqueueEventsWaitWithBarrier(own.queue, wait_count, wait_list, out));
    REFUSES_HANDLE(QUEUE, ur_queue_handle_t, WRONG,
                   urEnqueueEventsWaitWithBarrierExt(handle, &properties, 0, NULL, out));
    REFUSES_WAIT_LISTS(
        urEnqueueEventsWaitWithBarrierExt(own.queue, &properties, wait_count, wait_list, out));
    REFUSES_FLAGS(UR_EXP_ENQUEUE_EXT_FLAGS_MASK,
                  (properties.flags = flags,
                   urEnqueueEventsWaitWithBarrierExt(own.queue, &properties, 0, NULL, out)));
    REFUSES_HANDLE(QUEUE, ur_queue_handle_t, WRONG,
                   urEnqueueTimestampRecordingExp(handle, false, 0, NULL, out));
    REFUSES(NULL_POINTER, urEnqueueTimestampRecordingExp(own.queue, false, 0, NULL, NULL));
    REFUSES_WAIT_LISTS(
        urEnqueueTimestampRecordingExp(own.queue, false, wait_count, wait_list, out));
}

static void never(void *data)
{
    *(bool *)data = true;
}

Test(checks_queue, of_host_tasks)
{
    ur_exp_host_task_properties_t properties = {.stype =
                                                    UR_STRUCTURE_TYPE_EXP_HOST_TASK_PROPERTIES};
    ur_event_handle_t *const out = OUT(ur_event_handle_t);
    bool was_called = false;
    REFUSES_HANDLE(QUEUE, ur_queue_handle_t, WRONG,
                   urEnqueueHostTaskExp(handle, never, &was_called, &properties, 0, NULL, out));
    REFUSES(NULL_POINTER,
            urEnqueueHostTaskExp(own.queue, NULL, &was_called, &properties, 0, NULL, out));
    REFUSES_FLAGS(UR_EXP_HOST_TASK_FLAGS_MASK,
                  (properties.flags = flags,
                   urEnqueueHostTaskExp(own.queue, never, &was_called, &properties, 0, NULL, out)));
    REFUSES_WAIT_LISTS(
        urEnqueueHostTaskExp(own.queue, never, &was_called, NULL, wait_count, wait_list, out));
    UR_OK(urQueueFinish(own.queue));
    cr_assert(!was_called);
}
