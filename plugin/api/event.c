// SPDX-License-Identifier: MIT
#include "queue/event.h"
#include "api/api.h"
#include "api/check.h"
#include "queue/command/event_times.h"

zepi_result_t zepi_api_event_create(zepi_context_t context, zepi_event_t *out_event)
{
    const zepi_result_t result =
        zepi_api_check_context_pointer(context, out_event, "output for the event");
    return result ? result : zepi_event_create(context, out_event);
}

zepi_result_t zepi_api_event_signal(zepi_event_t event)
{
    const zepi_result_t result = zepi_check_object(event, &zepi_event_type);
    if (result != ZEPI_SUCCESS)
        return result;
    if (event->queue || event->is_reusable)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "the event belongs to a command; only events of event_create are "
                         "completed by the host");
    return zepi_event_signal(event);
}

zepi_result_t zepi_api_event_wait(uint32_t count, const zepi_event_t *events, uint64_t timeout_ns)
{
    if (count == 0 || !events)
        return zepi_fail(ZEPI_ERROR_INVALID_VALUE,
                         "the count of events is 0, or their list is NULL");
    for (uint32_t i = 0; i < count; i++) {
        const zepi_result_t result = zepi_check_object(events[i], &zepi_event_type);
        if (result != ZEPI_SUCCESS)
            return result;
    }
    return zepi_event_wait(count, events, timeout_ns);
}

zepi_result_t zepi_api_event_get_status(zepi_event_t event, zepi_event_status_t *out_status)
{
    const zepi_result_t result =
        zepi_api_check_pointer(event, &zepi_event_type, out_status, "output for the status");
    return result ? result : zepi_event_get_status(event, out_status);
}

zepi_result_t zepi_api_event_get_times(zepi_event_t event, zepi_event_times_t *out_times)
{
    const zepi_result_t result = zepi_check_object(event, &zepi_event_type);
    return result ? result : zepi_event_get_times(event, out_times);
}

zepi_result_t zepi_api_event_get_native(zepi_event_t event, void **out_native_handle)
{
    const zepi_result_t result =
        zepi_api_check_pointer(event, &zepi_event_type, out_native_handle, "output for the handle");
    return result ? result : zepi_event_get_native(event, out_native_handle);
}
