// SPDX-License-Identifier: MIT
#include "queue/event_times.h"

#include "core/list.h"
#include "device/device.h"
#include "queue/event.h"
#include "queue/queue.h"
#include "ze/ze.h"

uint64_t zepi_timestamp_after(uint64_t mask, uint64_t ticks, uint64_t since)
{
    return since + ((ticks - since) & mask);
}

uint64_t zepi_timestamp_near(uint64_t mask, uint64_t ticks, uint64_t since)
{
    const uint64_t before = (since - ticks) & mask;
    return before <= mask / 16 && before <= since ? since - before
                                                  : zepi_timestamp_after(mask, ticks, since);
}

// When the command began and ended, in ticks, of an event that is complete.
static zepi_result_t read_times(const struct zepi_event *event, uint64_t *out_start,
                                uint64_t *out_end)
{
    ze_kernel_timestamp_result_t stamps;
    const uint64_t mask = event->queue->device->timestamp_mask;
    const zepi_result_t result = ZEPI_ZE(zeEventQueryKernelTimestamp, event->ze, &stamps);
    if (result != ZEPI_SUCCESS)
        return result;
    *out_start = zepi_timestamp_near(mask, stamps.global.kernelStart, event->submit_ticks);
    *out_end = zepi_timestamp_after(mask, stamps.global.kernelEnd, *out_start);
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_event_get_times(zepi_event_t event, zepi_event_times_t *out_times)
{
    uint64_t start;
    uint64_t end;
    zepi_event_status_t status;
    zepi_result_t result = zepi_event_get_status(event, &status);
    if (result != ZEPI_SUCCESS)
        return result;
    if (event->slot->kind != ZEPI_EVENT_TIMED)
        return zepi_fail(ZEPI_ERROR_UNSUPPORTED,
                         "the event has no times: its queue was created without profiling");
    if (status != ZEPI_EVENT_COMPLETE)
        return zepi_fail(ZEPI_ERROR_NOT_READY, "the event is not complete");
    result = read_times(event, &start, &end);
    if (result == ZEPI_SUCCESS && event->begin) {
        uint64_t first;
        result = read_times(event->begin, &first, &start);
    }
    if (result != ZEPI_SUCCESS)
        return result;
    const struct zepi_device *device = event->queue->device;
    // Nothing starts before it is submitted, whatever the clocks say.
    const uint64_t submit = event->submit_ticks < start ? event->submit_ticks : start;
    const zepi_event_times_t times = {.submit_ns = zepi_device_ticks_to_ns(device, submit),
                                      .start_ns = zepi_device_ticks_to_ns(device, start),
                                      .end_ns = zepi_device_ticks_to_ns(device, end)};
    return zepi_copy_info(out_times, &times, sizeof(times));
}
