// SPDX-License-Identifier: MIT
// Barriers, markers, timestamps, functions of the host.
#include "queue/command/host_function.h"

#include "queue/command/barrier.h"
#include "queue/progress.h"
#include "ur/command.h"

ur_result_t zepi_urEnqueueEventsWait(ur_queue_handle_t hQueue, ZEPI_UR_ENQUEUE_PARAMETERS)
{
    struct zepi_ur_command command = ZEPI_UR_COMMAND(hQueue, false);
    const ur_result_t result = zepi_ur_command_begin(&command);
    if (result != UR_RESULT_SUCCESS)
        return result;
    return zepi_ur_command_end(
        &command, zepi_queue_marker(command.queue, command.wait, zepi_ur_command_event(&command)),
        UR_COMMAND_EVENTS_WAIT);
}

ur_result_t zepi_urEnqueueEventsWaitWithBarrier(ur_queue_handle_t hQueue,
                                                ZEPI_UR_ENQUEUE_PARAMETERS)
{
    struct zepi_ur_command command = ZEPI_UR_COMMAND(hQueue, false);
    const ur_result_t result = zepi_ur_command_begin(&command);
    if (result != UR_RESULT_SUCCESS)
        return result;
    return zepi_ur_command_end(
        &command, zepi_queue_barrier(command.queue, command.wait, zepi_ur_command_event(&command)),
        UR_COMMAND_EVENTS_WAIT_WITH_BARRIER);
}

// Hosts fill in the event before: a reusable one, or NULL. A handle that is no reusable event, or
// was released, is an output alone.
static bool has_reusable_event(const ur_event_handle_t *event)
{
    return event && zepi_object_is(*event, &zepi_event_type) && zepi_ur_event(*event)->is_reusable;
}

static ur_result_t enqueue_signal(ur_queue_handle_t queue, uint32_t wait_count,
                                  const ur_event_handle_t *wait_list, ur_event_handle_t event)
{
    struct zepi_ur_command command = {.queue = zepi_ur_queue(queue),
                                      .wait = {(const zepi_event_t *)wait_list, wait_count}};
    ur_result_t result;
    if ((result = zepi_ur_command_begin(&command)) ||
        (result = zepi_ur_check_same_context(command.queue->context, zepi_ur_event(event)->context,
                                             UR_RESULT_ERROR_INVALID_EVENT, "the reusable event")))
        return result;
    const zepi_result_t done = zepi_queue_signal(command.queue, command.wait, zepi_ur_event(event));
    return zepi_ur_result(done);
}

ur_result_t
zepi_urEnqueueEventsWaitWithBarrierExt(ur_queue_handle_t hQueue,
                                       const ur_exp_enqueue_ext_properties_t *pProperties,
                                       ZEPI_UR_ENQUEUE_PARAMETERS)
{
    // The one flag there is asks for events of low power: a hint.
    const ur_result_t result =
        zepi_ur_check_flags(pProperties ? pProperties->flags : 0, UR_EXP_ENQUEUE_EXT_FLAGS_MASK);
    if (result != UR_RESULT_SUCCESS)
        return result;
    return has_reusable_event(out_event)
               ? enqueue_signal(hQueue, wait_count, wait_list, *out_event)
               : zepi_urEnqueueEventsWaitWithBarrier(hQueue, wait_count, wait_list, out_event);
}

ur_result_t zepi_urEnqueueTimestampRecordingExp(ur_queue_handle_t hQueue, bool blocking,
                                                ZEPI_UR_ENQUEUE_PARAMETERS)
{
    struct zepi_ur_command command = ZEPI_UR_COMMAND(hQueue, blocking);
    ur_result_t result;
    if ((result = zepi_ur_command_begin(&command)) ||
        (result = zepi_ur_check_pointer(out_event, "phEvent")))
        return result;
    return zepi_ur_command_end(&command,
                               zepi_queue_record_time(command.queue, command.wait, &command.event),
                               UR_COMMAND_TIMESTAMP_RECORDING_EXP);
}

ur_result_t zepi_urEnqueueHostTaskExp(ur_queue_handle_t hQueue,
                                      ur_exp_host_task_function_t pfnHostTask, void *data,
                                      const ur_exp_host_task_properties_t *pProperties,
                                      ZEPI_UR_ENQUEUE_PARAMETERS)
{
    struct zepi_ur_command command = ZEPI_UR_COMMAND(hQueue, false);
    ur_result_t result;
    if ((result = zepi_ur_command_begin(&command)) ||
        (!pfnHostTask && (result = zepi_ur_refuse_null("pfnHostTask"))) ||
        (result = zepi_ur_check_flags(pProperties ? pProperties->flags : 0,
                                      UR_EXP_HOST_TASK_FLAGS_MASK)))
        return result;
    return zepi_ur_command_end(&command,
                               zepi_queue_call_host(command.queue, pfnHostTask, data, command.wait,
                                                    zepi_ur_command_event(&command)),
                               UR_COMMAND_HOST_TASK_EXP);
}

struct device_wait {
    const struct zepi_device *device;
    zepi_result_t result;
};

static void wait_for_queue(void *user, void *object)
{
    struct device_wait *wait = user;
    struct zepi_queue *queue = object;
    const struct zepi_device *device = queue->device;
    // Queues of a part are on the whole device, too.
    while (device && device != wait->device)
        device = device->parent;
    if (device && wait->result == ZEPI_SUCCESS)
        wait->result = zepi_queue_wait(queue);
    zepi_release(queue);
}

ur_result_t zepi_urDeviceWaitExp(ur_device_handle_t hDevice)
{
    struct device_wait wait = {.device = zepi_ur_device(hDevice)};
    const ur_result_t result = zepi_ur_check_device(hDevice);
    if (result != UR_RESULT_SUCCESS)
        return result;
    zepi_object_visit_all(&zepi_queue_type, wait_for_queue, &wait);
    return zepi_ur_result(wait.result);
}
