// SPDX-License-Identifier: MIT
#include "queue/command/host_function.h"

#include "device/device.h"
#include "device/platform.h"
#include "queue/capture_command.h"
#include "queue/progress.h"
#include "queue/submit.h"
#include "ze/ze.h"

bool zepi_device_has_host_functions(const struct zepi_device *device)
{
    return device->platform->optional.append_host_function != NULL;
}

// Under the queue's mutex. Barriers wait and signal (quirk host-function-signals): where the
// function came from the driver, it would take the driver's events, too.
static zepi_result_t host_function_append(const struct zepi_submit *submit,
                                          const struct zepi_ze_optional *optional,
                                          zepi_host_function_fn *function, void *data,
                                          bool *out_is_appended)
{
    zepi_result_t result = ZEPI_SUCCESS;
    if (submit->wait_count > 0)
        result = ZEPI_ZE(zeCommandListAppendBarrier, submit->list, NULL, submit->wait_count,
                         submit->waits);
    if (result == ZEPI_SUCCESS)
        result =
            zepi_check_ze(optional->append_host_function(optional->append_host_function_is_drivers
                                                             ? submit->queue_list->driver_ze
                                                             : submit->list,
                                                         function, data, NULL, NULL, 0, NULL),
                          "zeCommandListAppendHostFunction");
    *out_is_appended = result == ZEPI_SUCCESS;
    if (result == ZEPI_SUCCESS && submit->signal)
        result = ZEPI_ZE(zeCommandListAppendBarrier, submit->list, submit->signal, 0, NULL);
    return result;
}

zepi_result_t zepi_queue_call_host(zepi_queue_t queue, zepi_host_function_fn *function, void *data,
                                   zepi_wait_list_t wait, zepi_event_t *out_event)
{
    struct zepi_submit submit;
    if (!zepi_device_has_host_functions(queue->device))
        return zepi_fail(ZEPI_ERROR_UNSUPPORTED, "the driver runs no functions of the host "
                                                 "(zeCommandListAppendHostFunction)");
    zepi_result_t result = zepi_capture_refuse(queue, wait, "a function of the host");
    if (result == ZEPI_SUCCESS)
        result = zepi_capture_check_uncaptured(
            zepi_submit_begin(&submit, queue, wait, out_event, ZEPI_ENGINE_COMPUTE));
    if (result != ZEPI_SUCCESS)
        return result;
    bool is_appended;
    result = host_function_append(&submit, &queue->device->platform->optional, function, data,
                                  &is_appended);
    result = zepi_submit_end(&submit, result, out_event);
    // The function has run before its host hears of a failure, and frees the data.
    if (result != ZEPI_SUCCESS && is_appended) {
        struct zepi_error error;
        zepi_error_save(&error);
        zepi_queue_wait(queue);
        zepi_error_restore(&error);
    }
    return result;
}
